/* Errors of rows from those of their neighbours. */
#include <criterion/criterion.h>
#include <math.h>

#include "ar_residual.h"

static const struct ar_residual known[] = {
    {.bytes = 1024, .nodes = 2, .error = 0.2},
    {.bytes = 1024, .nodes = 4, .error = 0.1},
    {.bytes = 1 << 20, .nodes = 4, .way = 1, .error = -0.3},
};

/* The error that is expected, and how much is known of it. */
static double expect(const struct ar_residual *rows, size_t count, struct ar_residual asked,
                     double *share)
{
    ar_residual_expect(rows, count, 0.1, &asked, 1);
    *share = asked.share;
    return asked.error;
}

Test(residual, rows_err_as_their_neighbours_and_less_the_farther_they_are)
{
    double share, farther_share;
    struct ar_residual near = {.bytes = 1024, .nodes = 8};
    struct ar_residual far = {.bytes = 1024, .nodes = 512};
    double error = expect(known, 3, near, &share);
    double farther = expect(known, 3, far, &farther_share);
    cr_expect(error > 0.02 && error < 0.15, "%g", error);
    cr_expect(farther > 0 && farther < error / 2, "%g of %g", farther, error);
    cr_expect(share < farther_share && farther_share < 1, "%g < %g", share, farther_share);
    near.way = 7;
    cr_expect_lt(fabs(expect(known, 3, near, &share)), error / 2);
    near.operation = 7;
    cr_expect_lt(fabs(expect(known, 3, near, &share)), error / 5);
}

/* An odd row counts as three standard deviations. */
Test(residual, a_row_is_believed_by_its_share_of_the_noise_and_no_row_not_at_all)
{
    double share;
    const struct ar_residual odd = {.bytes = 1024, .nodes = 2, .error = 5};
    cr_expect_float_eq(expect(known, 1, known[0], &share), 0.2 / 1.3, 1e-12);
    cr_expect_float_eq(share, (1.3 - 1 / 1.3) / 1.3, 1e-12);
    cr_expect_float_eq(expect(&odd, 1, odd, &share), 0.3 / 1.3, 1e-12);
    cr_expect_eq(expect(NULL, 0, known[0], &share), 0);
    cr_expect_eq(share, 1);
}

Test(residual, nodes_beyond_the_fitted_ones_are_less_certain)
{
    cr_expect_eq(ar_residual_away(8, 8), 0);
    cr_expect_eq(ar_residual_away(4, 8), 0);
    cr_expect_eq(ar_residual_away(8, 0), 0);
    cr_expect_float_eq(ar_residual_away(32, 8), 2 * ar_residual_away(16, 8), 1e-15);
}
