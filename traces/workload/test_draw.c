/* Draws of what is not known. */
#include <criterion/criterion.h>
#include <math.h>

#include "ar_draw.h"

static struct ar_arena arena; /* of a test, which is a process */

static struct ar_draw *make(uint64_t seed, const char *name)
{
    struct ar_draw *draw;
    draw = ar_draw_create(seed, name, &arena);
    return draw;
}

Test(draw, the_seed_and_the_name_decide_what_is_drawn)
{
    struct ar_draw *first = make(7, "a");
    struct ar_draw *again = make(7, "a");
    struct ar_draw *other_seed = make(8, "a");
    struct ar_draw *other_name = make(7, "b");
    int same_seed = 0;
    int same_name = 0;
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
    struct ar_draw *draw = make(1, "");
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
