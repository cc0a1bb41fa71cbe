/* Random draws: seeds, distributions; jitter against order statistics. */
#include <criterion/criterion.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "ar_draw.h"

static struct ar_arena arena; /* of a test, which is a process */

Test(draw, the_seed_and_the_name_decide_what_is_drawn)
{
    struct ar_draw *first = ar_draw_create(7, "a", &arena);
    struct ar_draw *again = ar_draw_create(7, "a", &arena);
    struct ar_draw *other_seed = ar_draw_create(8, "a", &arena);
    struct ar_draw *other_name = ar_draw_create(7, "b", &arena);
    int same_seed = 0, same_name = 0;
    for (int i = 0; i < 100; i++) {
        double value = ar_draw_uniform(first, 0, 1);
        cr_expect_eq(value, ar_draw_uniform(again, 0, 1));
        same_seed += value == ar_draw_uniform(other_seed, 0, 1);
        same_name += value == ar_draw_uniform(other_name, 0, 1);
    }
    cr_expect_lt(same_seed + same_name, 3);
}

/* Moments of the uniform distribution; four standard errors of 10,000 draws. */
Test(draw, numbers_and_choices_are_equally_likely)
{
    enum { DRAWS = 10000, CHOICES = 3 };
    struct ar_draw *draw = ar_draw_create(1, "", &arena);
    double sum = 0;
    int counts[CHOICES] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double value = ar_draw_uniform(draw, 2, 5);
        cr_assert(value >= 2 && value < 5);
        sum += value;
        counts[ar_draw_choice(draw, CHOICES)]++;
    }
    cr_expect_float_eq(sum / DRAWS, 3.5, 4 * 3 / sqrt(12.0 * DRAWS));
    for (int i = 0; i < CHOICES; i++) {
        cr_expect_float_eq(counts[i], DRAWS / 3.0, 4 * sqrt(DRAWS * 2 / 9.0), "%d", counts[i]);
    }
    cr_expect_eq(ar_draw_uniform(draw, 4, 4), 4);
}

/* --- jitter -------------------------------------------------------------------------------- */

/* The slowest of `ranks` ranks in the next step. */
static double slowest(struct ar_draw *draw, double frac, uint32_t ranks)
{
    static double factors[4096];
    double largest = 0;
    cr_assert_leq(ranks, sizeof factors / sizeof factors[0]);
    ar_jitter_factors(draw, frac, ranks, factors);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        largest = fmax(largest, factors[rank]);
    }
    return largest;
}

/* The expected maximum of `ranks` factors: the integral of 1 - F(x)^ranks over x >= 0. */
static double expected_slowest(double frac, uint32_t ranks)
{
    double sigma = sqrt(log1p(frac * frac));
    double step = 1e-4;
    double sum = 0;
    for (double x = step / 2; x < 4; x += step) {
        sum += 1 - pow(gsl_cdf_lognormal_P(x, -sigma * sigma / 2, sigma), ranks);
    }
    return sum * step;
}

Test(jitter, the_mean_of_the_slowest_is_that_of_order_statistics)
{
    static const uint32_t ranks[] = {1, 4, 64, 1024, 4096};
    enum { STEPS = 400 };
    cr_expect_float_eq(slowest(ar_draw_create(1, NULL, &arena), 0, 100), 1, 1e-15, "no jitter");
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        struct ar_draw *draw = ar_draw_create(7 + i, NULL, &arena);
        double sum = 0, squares = 0;
        for (int step = 0; step < STEPS; step++) {
            double factor = slowest(draw, 0.05, ranks[i]);
            sum += factor;
            squares += factor * factor;
        }
        double expected = expected_slowest(0.05, ranks[i]);
        /* Twice the half width of 95 %: 4 standard errors. */
        double tolerance = 2 * ar_confidence95(squares - sum * sum / STEPS, STEPS);
        cr_expect_float_eq(sum / STEPS, expected, tolerance, "%u ranks: %g, expected %g +- %g",
                           ranks[i], sum / STEPS, expected, tolerance);
    }
}

/* 1, 2, 3: squared deviations 1, 0, 1; t(0.975, 2) = 4.302653 */
Test(jitter, the_confidence_interval_is_students)
{
    cr_expect_float_eq(ar_confidence95(2, 3), 4.302653 / sqrt(3), 1e-6);
    cr_expect_eq(ar_confidence95(0, 1), 0);
}

/* 400,000 factors: four standard errors of the mean are half a per cent. */
Test(jitter, factors_have_the_mean_1_and_the_coefficient_of_variation_that_is_asked_for)
{
    enum { RANKS = 4000, STEPS = 100 };
    static double factors[RANKS];
    struct ar_draw *draw = ar_draw_create(1, NULL, &arena);
    double sum = 0, squares = 0, count = (double)RANKS * STEPS;
    for (int step = 0; step < STEPS; step++) {
        ar_jitter_factors(draw, 0.8, RANKS, factors);
        for (int rank = 0; rank < RANKS; rank++) {
            sum += factors[rank];
            squares += factors[rank] * factors[rank];
        }
    }
    double mean = sum / count;
    cr_expect_float_eq(mean, 1, 0.006, "%g", mean);
    cr_expect_float_eq(sqrt(squares / count - mean * mean), 0.8, 0.02);
}

Test(jitter, the_slowest_rank_is_as_slow_as_order_statistics_say)
{
    static const uint32_t ranks[] = {2, 8, 512};
    cr_expect_eq(ar_jitter_slowest(0.02, 1), 1);
    cr_expect_eq(ar_jitter_slowest(0, 512), 1);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        cr_expect_float_eq(ar_jitter_slowest(0.02, ranks[i]), expected_slowest(0.02, ranks[i]),
                           2e-3, "%u", ranks[i]);
    }
}
