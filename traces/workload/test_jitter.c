/* Jitter against order statistics. */
#include <criterion/criterion.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "ar_draw.h"

static struct ar_arena arena; /* of a test, which is a process */

/* The draws of a test, and what they are for. */
struct jitter {
    struct ar_draw *draw;
    double frac;
};

static struct jitter make(double frac, uint64_t seed)
{
    struct jitter jitter = {.frac = frac};
    jitter.draw = ar_draw_create(seed, NULL, &arena);
    return jitter;
}

/* The slowest of `ranks` ranks in the next step. */
static double slowest(struct jitter jitter, uint32_t ranks)
{
    static double factors[4096];
    double largest = 0;
    cr_assert_leq(ranks, sizeof factors / sizeof factors[0]);
    ar_jitter_factors(jitter.draw, jitter.frac, ranks, factors);
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
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        struct jitter jitter = make(0.05, 7 + i);
        double sum = 0;
        double squares = 0;
        for (int step = 0; step < STEPS; step++) {
            double factor = slowest(jitter, ranks[i]);
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

static double mean_slowest(uint32_t ranks)
{
    enum { STEPS = 200 };
    struct jitter jitter = make(0.05, 3);
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
        sum += slowest(jitter, ranks);
    }
    return sum / STEPS;
}

Test(jitter, grows_with_the_number_of_ranks)
{
    cr_expect_lt(mean_slowest(1), mean_slowest(4));
    cr_expect_lt(mean_slowest(4), mean_slowest(1024));
}

Test(jitter, of_zero_changes_nothing)
{
    struct jitter jitter = make(0, 1);
    cr_expect_float_eq(slowest(jitter, 100), 1, 1e-15);
}

Test(jitter, with_the_same_seed_is_the_same)
{
    struct jitter first = make(0.1, 42);
    struct jitter second = make(0.1, 42);
    struct jitter other = make(0.1, 43);
    double factor = slowest(first, 10);
    cr_expect_eq(factor, slowest(second, 10));
    cr_expect_neq(factor, slowest(other, 10));
}

Test(jitter, the_confidence_interval_is_students)
{
    /* 1, 2, 3: squared deviations 1, 0, 1; t(0.975, 2) = 4.302653 */
    cr_expect_float_eq(ar_confidence95(2, 3), 4.302653 / sqrt(3), 1e-6);
    cr_expect_eq(ar_confidence95(0, 1), 0);
}

/* 400,000 factors: four standard errors of the mean are half a per cent. */
Test(jitter, factors_have_the_mean_1_and_the_coefficient_of_variation_that_is_asked_for)
{
    enum { RANKS = 4000, STEPS = 100 };
    static double factors[RANKS];
    struct jitter jitter = make(0.8, 1);
    double sum = 0, squares = 0, count = (double)RANKS * STEPS;
    for (int step = 0; step < STEPS; step++) {
        ar_jitter_factors(jitter.draw, jitter.frac, RANKS, factors);
        for (int rank = 0; rank < RANKS; rank++) {
            sum += factors[rank];
            squares += factors[rank] * factors[rank];
        }
    }
    double mean = sum / count;
    cr_expect_float_eq(mean, 1, 0.006, "%g", mean);
    cr_expect_float_eq(sqrt(squares / count - mean * mean), 0.8, 0.02);
}
