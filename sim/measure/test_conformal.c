/* Bands from rows of other machines. */
#include <criterion/criterion.h>
#include <math.h>

#include "ar_conformal.h"

enum { OTHERS = 19 };

static struct ar_left_out rows[OTHERS + 1];
static struct ar_library_prediction predictions[OTHERS + 1];

/* Rows of machine `other` that are 1 %, 2 %, ... too slow, and a last one of machine `mine`. */
static void make_rows(void)
{
    for (size_t i = 0; i <= OTHERS; i++) {
        predictions[i] = (struct ar_library_prediction){.time_s = 1};
        rows[i] = (struct ar_left_out){.machine = i < OTHERS ? "other" : "mine",
                                       .measured_s = exp(-0.01 * (double)(i + 1)),
                                       .scatter = 1,
                                       .prediction = &predictions[i]};
    }
    rows[OTHERS].measured_s = 100;
}

TestSuite(conformal, .init = make_rows);

/* The 95 % quantile of 19 errors is place 0.95 * (19 + 1) = 19: the largest. */
Test(conformal, a_band_reaches_as_far_as_the_rows_of_other_machines)
{
    ar_conformal_bands(rows, OTHERS + 1);
    cr_expect_float_eq(rows[OTHERS].reach, 0.19, 1e-9, "its own row does not count");
    cr_expect_float_eq(predictions[OTHERS].high_s, exp(0.19), 1e-9);
    cr_expect_float_eq(predictions[OTHERS].low_s, exp(-0.19), 1e-9);
}

Test(conformal, fewer_rows_than_a_95_percent_band_takes_give_none)
{
    ar_conformal_bands(rows + 1, OTHERS);
    cr_expect(isnan(predictions[OTHERS].low_s), "18 rows");
    cr_expect(isnan(predictions[1].low_s), "one row");
}

Test(conformal, kinds_do_not_mix_and_scatter_scales)
{
    rows[OTHERS].scatter = 3;
    ar_conformal_bands(rows, OTHERS + 1);
    cr_expect_float_eq(predictions[OTHERS].high_s, exp(3 * 0.19), 1e-9);
    rows[OTHERS].kind = 1;
    ar_conformal_bands(rows, OTHERS + 1);
    cr_expect(isnan(predictions[OTHERS].high_s));
}

/* The far rows are 2.5 % of all, but half of the machines. */
Test(conformal, a_machine_with_many_rows_does_not_decide_alone)
{
    enum { ROWS = 400, FEW = 10 };
    struct ar_left_out unlike[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        unlike[i] = rows[0];
        unlike[i].machine = i < FEW ? "few" : "many";
        unlike[i].measured_s = i < FEW ? exp(0.5) : exp(0.1);
    }
    cr_expect_float_eq(ar_conformal_reach(unlike, ROWS, 0, NULL), 0.5, 1e-9);
    cr_expect_float_eq(ar_conformal_reach(unlike, ROWS, 0, "few"), 0.1, 1e-9);
}
