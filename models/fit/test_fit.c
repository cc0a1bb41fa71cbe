/* The solver, on a model of two numbers: time = latency + bytes / bandwidth. */
#include <math.h>

#include "ar_fit.h"
#include "test_outcome.h"

enum { ROWS = 24 };

/* Memory of a fit of two parameters. */
#define VALUES                                                                                     \
    (double[2]){0}, (double[4]){0}, (bool[2])                                                      \
    {                                                                                              \
        0                                                                                          \
    }

static bool predict(const double *values, const bool *is_asked, double *times_s, void *data)
{
    const double *bytes = data;
    (void)is_asked;
    for (size_t i = 0; i < ROWS; i++) {
        times_s[i] = values[0] + bytes[i] / values[1];
    }
    return true;
}

/* The same, and nothing of the rows that are not asked for. */
static bool predict_asked(const double *values, const bool *is_asked, double *times_s, void *data)
{
    double all_s[ROWS];
    predict(values, NULL, all_s, data);
    for (size_t i = 0; i < ROWS; i++) {
        times_s[i] = is_asked == NULL || is_asked[i] ? all_s[i] : NAN;
    }
    return true;
}

static bool refuse(const double *values, const bool *is_asked, double *times_s, void *data)
{
    (void)values;
    (void)is_asked;
    (void)times_s;
    (void)data;
    return false;
}

static struct ar_fit_problem problem_of(double bytes[ROWS], double times_s[ROWS])
{
    static const double priors[] = {2e-6, 5e9};
    const double truth[] = {3e-6, 12e9};
    for (size_t i = 0; i < ROWS; i++) {
        bytes[i] = 1024 << (i / 2);
    }
    predict(truth, NULL, times_s, bytes);
    return (struct ar_fit_problem){.parameters_count = 2,
                                   .priors = priors,
                                   .prior_spread = 1,
                                   .start_spread = 0.5,
                                   .identified_max = 0.25,
                                   .rows_count = ROWS,
                                   .times_s = times_s,
                                   .bytes = bytes,
                                   .stride = 1,
                                   .predict = predict,
                                   .data = bytes,
                                   .expected = "lines"};
}

Test(fit, numbers_come_back_though_one_row_is_far_off)
{
    double bytes[ROWS], times_s[ROWS];
    struct ar_fit_problem problem = problem_of(bytes, times_s);
    struct ar_fit fit = {VALUES, 0};
    times_s[5] *= 20;
    TEST_OK(ar_fit_solve(&problem, &fit, &why));
    cr_expect_lt(fabs(fit.values[0] / 3e-6 - 1), 0.01, "%g", fit.values[0]);
    cr_expect_lt(fabs(fit.values[1] / 12e9 - 1), 0.01, "%g", fit.values[1]);
    cr_expect(fit.is_identified[0] && fit.is_identified[1]);
}

/* Messages of next to nothing: the bandwidth hangs on its prior alone. */
Test(fit, a_number_that_no_row_tells_stays_at_its_prior_with_the_spread_of_it)
{
    double bytes[ROWS], times_s[ROWS];
    struct ar_fit_problem problem = problem_of(bytes, times_s);
    struct ar_fit fit = {VALUES, 0};
    for (size_t i = 0; i < ROWS; i++) {
        bytes[i] = (double)(i % 2);
        times_s[i] = i % 2 == 0 ? 3.1e-6 : 2.9e-6;
    }
    problem.prior_spread = 0.4;
    TEST_OK(ar_fit_solve(&problem, &fit, &why));
    cr_expect_lt(fabs(fit.values[0] / 3e-6 - 1), 0.01, "%g", fit.values[0]);
    cr_expect_lt(fabs(fit.values[1] / 5e9 - 1), 0.01, "%g", fit.values[1]);
    cr_expect_float_eq(sqrt(fit.covariance[3]), 0.4, 1e-3);
    cr_expect(fit.is_identified[0] && !fit.is_identified[1]);
}

/* Empty messages do not use the bandwidth. */
Test(fit, rows_are_predicted_anew_only_where_they_use_the_parameter_that_moves)
{
    double bytes[ROWS], times_s[ROWS];
    struct ar_fit_problem problem = problem_of(bytes, times_s);
    struct ar_fit all = {VALUES, 0}, asked = {VALUES, 0};
    for (size_t i = 0; i < ROWS; i += 3) {
        bytes[i] = 0;
        times_s[i] = 2.5e-6 + 1e-7 * (double)i;
    }
    TEST_OK(ar_fit_solve(&problem, &all, &why));
    problem.predict = predict_asked;
    TEST_OK(ar_fit_solve(&problem, &asked, &why));
    cr_expect_arr_eq(asked.values, all.values, 2 * sizeof *all.values);
    cr_expect_arr_eq(asked.covariance, all.covariance, 4 * sizeof *all.covariance);
    cr_expect_eq(asked.residual_frac, all.residual_frac);
}

Test(fit, what_cannot_be_fitted_is_bad_data_and_leaves_the_fit)
{
    double bytes[ROWS], times_s[ROWS];
    struct ar_fit_problem problem = problem_of(bytes, times_s);
    struct ar_fit fit = {VALUES, 7};
    problem.predict = refuse;
    TEST_FAILS(AR_BAD_DATA, "fit: no start of 8 converged on 24 rows; expected lines",
               ar_fit_solve(&problem, &fit, &why));
    problem.rows_count = AR_FIT_ROWS_MIN - 1;
    TEST_FAILS(AR_BAD_DATA, "", ar_fit_solve(&problem, &fit, &why));
    cr_expect_eq(fit.residual_frac, 7);
}
