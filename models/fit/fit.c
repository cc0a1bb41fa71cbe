#include "ar_fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>

enum {
    STARTS = 8,
    ROUNDS = 12,     /* of reweighting */
    ITERATIONS = 200 /* of a least-squares problem */
};

#define RESIDUAL_FIRST 0.05
#define RESIDUAL_MIN   1e-4 /* of rows that fit exactly */
#define HUBER          1.345
#define MAD_TO_SIGMA   1.4826
#define SETTLED        1e-3 /* relative change of the residual's spread */

/* One attempt: the problem and where it is. */
struct attempt {
    const struct ar_fit_problem *problem;
    double residual; /* standard deviation of a row */
    gsl_multifit_nlinear_workspace *work;
    gsl_vector *point;   /* logarithms of the values */
    gsl_vector *weights; /* of rows, then 1 for each prior */
    double *predicted_s; /* of rows */
    double *errors;      /* of rows; room for sorting */
};

static void take_values(const gsl_vector *point, double *values)
{
    for (size_t i = 0; i < point->size; i++) {
        values[i] = exp(gsl_vector_get(point, i));
    }
}

static bool predict(const struct attempt *attempt, const gsl_vector *point)
{
    double values[AR_FIT_PARAMETERS_MAX];
    take_values(point, values);
    return attempt->problem->predict(values, attempt->predicted_s, attempt->problem->data);
}

/* Relative error of a row, by the last prediction. */
static double error_of(const struct attempt *attempt, size_t row)
{
    return log(attempt->predicted_s[row] / attempt->problem->times_s[row]);
}

/* Residuals in standard deviations: rows, then priors. */
static int residuals(const gsl_vector *point, void *data, gsl_vector *result)
{
    const struct attempt *attempt = data;
    const struct ar_fit_problem *problem = attempt->problem;
    if (!predict(attempt, point)) {
        return GSL_EFAILED;
    }
    for (size_t i = 0; i < problem->rows_count; i++) {
        gsl_vector_set(result, i, error_of(attempt, i) / attempt->residual);
    }
    for (size_t i = 0; i < problem->parameters_count; i++) {
        gsl_vector_set(result, problem->rows_count + i,
                       (gsl_vector_get(point, i) - log(problem->priors[i])) /
                           problem->prior_spread);
    }
    return GSL_SUCCESS;
}

/* Solves the weighted problem from the present point. */
static bool solve(struct attempt *attempt)
{
    const struct ar_fit_problem *problem = attempt->problem;
    size_t count = problem->parameters_count;
    gsl_multifit_nlinear_fdf system = {
        .f = residuals, .n = problem->rows_count + count, .p = count, .params = attempt};
    int info;
    if (gsl_multifit_nlinear_winit(attempt->point, attempt->weights, &system, attempt->work) !=
        GSL_SUCCESS) {
        return false;
    }
    int found =
        gsl_multifit_nlinear_driver(ITERATIONS, 1e-9, 1e-9, 1e-9, NULL, NULL, &info, attempt->work);
    if (found != GSL_SUCCESS && !(problem->has_kinks && found == GSL_ENOPROG)) {
        return false;
    }
    gsl_vector_memcpy(attempt->point, gsl_multifit_nlinear_position(attempt->work));
    return true;
}

/* New weights from the errors, new spread from their median. Writes the relative change. */
static bool reweigh(struct attempt *attempt, double *change)
{
    size_t rows = attempt->problem->rows_count;
    size_t count = attempt->problem->parameters_count;
    if (!predict(attempt, attempt->point)) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        attempt->errors[i] = fabs(error_of(attempt, i));
        double size = attempt->errors[i] / attempt->residual;
        gsl_vector_set(attempt->weights, i, size > HUBER ? HUBER / size : 1);
    }
    double median = gsl_stats_median(attempt->errors, 1, rows);
    /* The fitted parameters use up degrees of freedom. */
    double freedom = rows > 2 * count ? sqrt((double)rows / (double)(rows - count)) : M_SQRT2;
    double residual = fmax(RESIDUAL_MIN, MAD_TO_SIGMA * median * freedom);
    *change = fabs(residual / attempt->residual - 1);
    attempt->residual = residual;
    return true;
}

/* Sum of the errors at the present point; infinite if it cannot be predicted. */
static double cost_of(const struct attempt *attempt)
{
    double sum = 0;
    if (!predict(attempt, attempt->point)) {
        return HUGE_VAL;
    }
    for (size_t i = 0; i < attempt->problem->rows_count; i++) {
        sum += fabs(error_of(attempt, i));
    }
    return sum;
}

/* Fits from the present point with weights of its own. */
static bool run_attempt(struct attempt *attempt)
{
    double change;
    attempt->residual = RESIDUAL_FIRST;
    gsl_vector_set_all(attempt->weights, 1);
    for (int round = 0; round < ROUNDS; round++) {
        if (!solve(attempt) || !reweigh(attempt, &change)) {
            return false;
        }
        if (change < SETTLED) {
            break;
        }
    }
    return solve(attempt);
}

static void keep(struct attempt *attempt, struct ar_fit *fit)
{
    size_t count = attempt->problem->parameters_count;
    gsl_matrix *covariance = gsl_matrix_alloc(count, count);
    take_values(attempt->point, fit->values);
    fit->residual_frac = attempt->residual;
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(attempt->work), 0, covariance);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            fit->covariance[i][j] = gsl_matrix_get(covariance, i, j);
        }
        fit->is_identified[i] = sqrt(fit->covariance[i][i]) < attempt->problem->identified_max;
    }
    gsl_matrix_free(covariance);
}

/* The best of several starts; the first is from the priors themselves. */
static bool run_starts(struct attempt *attempt, struct ar_fit *fit)
{
    const struct ar_fit_problem *problem = attempt->problem;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    double best = HUGE_VAL;
    for (int start = 0; start < STARTS; start++) {
        for (size_t i = 0; i < problem->parameters_count; i++) {
            double away = start == 0 ? 0 : gsl_ran_gaussian(generator, problem->start_spread);
            gsl_vector_set(attempt->point, i, log(problem->priors[i]) + away);
        }
        if (run_attempt(attempt)) {
            double cost = cost_of(attempt);
            if (cost < best) {
                best = cost;
                keep(attempt, fit);
            }
        }
    }
    gsl_rng_free(generator);
    return best < HUGE_VAL;
}

static enum ar_status check_rows(const struct ar_fit_problem *problem, struct ar_error *err)
{
    bool is_one_size = true;
    for (size_t i = 1; i < problem->rows_count; i++) {
        is_one_size = is_one_size && problem->bytes[i] == problem->bytes[0];
    }
    if (problem->rows_count < AR_FIT_ROWS_MIN) {
        return ar_error_set(err, AR_BAD_DATA, "fit: found %zu rows; expected at least %d",
                            problem->rows_count, AR_FIT_ROWS_MIN);
    }
    if (is_one_size) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found one size, %.0f bytes, in all rows; expected several",
                            problem->bytes[0]);
    }
    return AR_OK;
}

static enum ar_status fit_rows(struct attempt *attempt, struct ar_fit *fit, struct ar_error *err)
{
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    size_t rows = attempt->problem->rows_count;
    size_t count = attempt->problem->parameters_count;
    settings.solver = gsl_multifit_nlinear_solver_svd; /* some parameters hang on the prior alone */
    attempt->work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, rows + count, count);
    attempt->point = gsl_vector_alloc(count);
    attempt->weights = gsl_vector_alloc(rows + count);
    struct ar_fit found = {.residual_frac = 0};
    bool is_found = run_starts(attempt, &found);
    gsl_multifit_nlinear_free(attempt->work);
    gsl_vector_free(attempt->point);
    gsl_vector_free(attempt->weights);
    if (!is_found) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: no start of %d converged on %zu rows; expected %s", STARTS, rows,
                            attempt->problem->expected);
    }
    *fit = found;
    return AR_OK;
}

enum ar_status ar_fit_solve(const struct ar_fit_problem *problem, struct ar_fit *fit,
                            struct ar_error *err)
{
    assert(problem->parameters_count > 0 && problem->parameters_count <= AR_FIT_PARAMETERS_MAX);
    enum ar_status status = check_rows(problem, err);
    if (status != AR_OK) {
        return status;
    }
    struct attempt attempt = {.problem = problem,
                              .predicted_s = calloc(problem->rows_count, sizeof(double)),
                              .errors = calloc(problem->rows_count, sizeof(double))};
    if (attempt.predicted_s == NULL || attempt.errors == NULL) {
        status = ar_error_no_memory(err, "the rows of a fit");
    } else {
        /* GSL aborts on errors unless told not to; a step it cannot take is a start that fails. */
        gsl_error_handler_t *old = gsl_set_error_handler_off();
        status = fit_rows(&attempt, fit, err);
        gsl_set_error_handler(old);
    }
    free(attempt.predicted_s);
    free(attempt.errors);
    return status;
}
