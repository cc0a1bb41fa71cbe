#include "ar_fit.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_randist.h>

#include "ar_gsl.h"
#include "ar_numbers.h"

enum {
    STARTS = 8,
    ROUNDS = 12,      /* of reweighting */
    ITERATIONS = 200, /* of a least-squares problem */
    SEED = 0
};

#define TOLERANCE      1e-9
#define RESIDUAL_FIRST 0.05
#define RESIDUAL_MIN   1e-4 /* of rows that fit exactly */
#define HUBER          1.345
#define MAD_TO_SIGMA   1.4826
#define SETTLED        1e-3 /* relative change of the residual's spread */

/* One attempt: the problem and where it is. */
struct attempt {
    const struct ar_fit_problem *problem;
    double residual; /* standard deviation of a row */
    gsl_rng *generator;
    gsl_multifit_nlinear_workspace *work;
    double *predicted_s;     /* of rows */
    double *errors;          /* of rows; room for sorting */
    gsl_vector_view point;   /* logarithms of the values */
    gsl_vector_view weights; /* of rows, then 1 for each prior */
};

static void free_work(void *work)
{
    gsl_multifit_nlinear_free(work);
}

/* How wide the prior of a parameter is, compared with the others. */
static double share_of(const struct ar_fit_problem *problem, size_t parameter)
{
    return problem->prior_spreads == NULL
               ? 1
               : problem->prior_spreads[parameter] / problem->prior_spread;
}

/* A point is the logarithms of the values, but GSL takes derivatives by steps that are relative to
 * it: what is near 0 is moved away. */
static double shift_of(const struct ar_fit_problem *problem, size_t parameter)
{
    return fabs(log(problem->priors[parameter])) < 1 ? 16 : 0;
}

/* Where a prior lies. */
static double origin_of(const struct ar_fit_problem *problem, size_t parameter)
{
    return log(problem->priors[parameter]) + shift_of(problem, parameter);
}

static void take_values(const struct ar_fit_problem *problem, const gsl_vector *point,
                        double *values)
{
    for (size_t i = 0; i < point->size; i++) {
        values[i] = exp(gsl_vector_get(point, i) - shift_of(problem, i));
    }
}

static bool predict_rows(const struct attempt *attempt, const gsl_vector *point)
{
    double values[AR_FIT_PARAMETERS_MAX];
    take_values(attempt->problem, point, values);
    return attempt->problem->predict(values, attempt->predicted_s, attempt->problem->data);
}

/* Relative error of a row, by the last prediction. */
static double error_of(const struct attempt *attempt, size_t row)
{
    const struct ar_fit_problem *problem = attempt->problem;
    return log(attempt->predicted_s[row] / problem->times_s[row * problem->stride]);
}

/* Residuals in standard deviations: rows, then priors. */
static int write_residuals(const gsl_vector *point, void *data, gsl_vector *result)
{
    const struct attempt *attempt = data;
    const struct ar_fit_problem *problem = attempt->problem;
    if (!predict_rows(attempt, point)) {
        return GSL_EFAILED;
    }
    for (size_t i = 0; i < problem->rows_count; i++) {
        gsl_vector_set(result, i, error_of(attempt, i) / attempt->residual);
    }
    for (size_t i = 0; i < problem->parameters_count; i++) {
        gsl_vector_set(result, problem->rows_count + i,
                       (gsl_vector_get(point, i) - origin_of(problem, i)) /
                           (problem->prior_spread * share_of(problem, i)));
    }
    return GSL_SUCCESS;
}

/* Solves the weighted problem from the present point. */
static bool solve_weighted(struct attempt *attempt)
{
    const struct ar_fit_problem *problem = attempt->problem;
    size_t count = problem->parameters_count;
    gsl_multifit_nlinear_fdf system = {
        .f = write_residuals, .n = problem->rows_count + count, .p = count, .params = attempt};
    int info;
    if (gsl_multifit_nlinear_winit(&attempt->point.vector, &attempt->weights.vector, &system,
                                   attempt->work) != GSL_SUCCESS) {
        return false;
    }
    double tolerance = problem->tolerance > 0 ? problem->tolerance : TOLERANCE;
    int found = gsl_multifit_nlinear_driver(ITERATIONS, tolerance, TOLERANCE, TOLERANCE, NULL, NULL,
                                            &info, attempt->work);
    bool is_on_edge = problem->has_kinks && found == GSL_ENOPROG;
    bool is_near = problem->may_creep && found == GSL_EMAXITER;
    if (found != GSL_SUCCESS && !is_on_edge && !is_near) {
        return false;
    }
    gsl_vector_memcpy(&attempt->point.vector, gsl_multifit_nlinear_position(attempt->work));
    return true;
}

/* New weights from the errors, new spread from their median. Writes the relative change. */
static bool reweigh_rows(struct attempt *attempt, double *change)
{
    size_t rows = attempt->problem->rows_count;
    size_t count = attempt->problem->parameters_count;
    if (!predict_rows(attempt, &attempt->point.vector)) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        attempt->errors[i] = fabs(error_of(attempt, i));
        double size = attempt->errors[i] / attempt->residual;
        gsl_vector_set(&attempt->weights.vector, i, size > HUBER ? HUBER / size : 1);
    }
    ar_sort(attempt->errors, rows);
    double median = ar_quantile(attempt->errors, rows, 0.5);
    /* The fitted parameters use up degrees of freedom. */
    double freedom = rows > 2 * count ? sqrt((double)rows / (double)(rows - count)) : M_SQRT2;
    double residual =
        fmax(fmax(RESIDUAL_MIN, attempt->problem->residual_min), MAD_TO_SIGMA * median * freedom);
    *change = fabs(residual / attempt->residual - 1);
    attempt->residual = residual;
    return true;
}

/* Fits from the present point with weights of its own. */
static bool run_attempt(struct attempt *attempt)
{
    double change;
    attempt->residual = RESIDUAL_FIRST;
    gsl_vector_set_all(&attempt->weights.vector, 1);
    for (int round = 0; round < ROUNDS; round++) {
        if (!solve_weighted(attempt) || !reweigh_rows(attempt, &change)) {
            return false;
        }
        if (change < SETTLED) {
            break;
        }
    }
    return solve_weighted(attempt);
}

/* Keeps the present point, if its covariance can be had. */
static bool keep_point(const struct attempt *attempt, struct ar_fit *fit)
{
    size_t count = attempt->problem->parameters_count;
    double covariance[AR_FIT_PARAMETERS_MAX * AR_FIT_PARAMETERS_MAX];
    gsl_matrix_view view = gsl_matrix_view_array(covariance, count, count);
    if (gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(attempt->work), 0, &view.matrix) !=
        GSL_SUCCESS) {
        return false;
    }
    take_values(attempt->problem, &attempt->point.vector, fit->values);
    memcpy(fit->covariance, covariance, count * count * sizeof *covariance);
    fit->residual_frac = attempt->residual;
    for (size_t i = 0; i < count; i++) {
        fit->is_identified[i] = sqrt(covariance[i * (count + 1)]) <
                                attempt->problem->identified_max * share_of(attempt->problem, i);
    }
    return true;
}

/* The best of several starts; the first is from the priors themselves. */
static bool run_starts(struct attempt *attempt, uint32_t starts, struct ar_fit *fit)
{
    const struct ar_fit_problem *problem = attempt->problem;
    double best = HUGE_VAL;
    for (uint32_t start = 0; start < starts; start++) {
        for (size_t i = 0; i < problem->parameters_count; i++) {
            double away = start == 0
                              ? 0
                              : gsl_ran_gaussian(attempt->generator,
                                                 problem->start_spread * share_of(problem, i));
            gsl_vector_set(&attempt->point.vector, i, origin_of(problem, i) + away);
        }
        if (run_attempt(attempt) && predict_rows(attempt, &attempt->point.vector)) {
            double cost = 0; /* the sum of the errors */
            for (size_t i = 0; i < problem->rows_count; i++) {
                cost += fabs(error_of(attempt, i));
            }
            if (cost < best && keep_point(attempt, fit)) {
                best = cost;
            }
        }
    }
    return best < HUGE_VAL;
}

enum ar_status ar_fit_solve(const struct ar_fit_problem *problem, struct ar_fit *fit,
                            struct ar_error *err)
{
    assert(problem->parameters_count > 0 && problem->parameters_count <= AR_FIT_PARAMETERS_MAX);
    bool is_one_size = true;
    for (size_t i = 1; i < problem->rows_count; i++) {
        is_one_size = is_one_size && problem->bytes[i * problem->stride] == problem->bytes[0];
    }
    if (problem->rows_count < AR_FIT_ROWS_MIN) {
        return ar_error_set(err, AR_BAD_DATA, "fit: found %zu row%s to fit; expected at least %d",
                            problem->rows_count, problem->rows_count == 1 ? "" : "s",
                            AR_FIT_ROWS_MIN);
    }
    if (is_one_size) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found one size, %.0f bytes, in all rows; expected several",
                            problem->bytes[0]);
    }
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    ar_gsl_hold(&arena); /* a step it cannot take: the start fails */
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    size_t rows = problem->rows_count, count = problem->parameters_count;
    uint32_t starts = problem->starts_count > 0 ? problem->starts_count : STARTS;
    settings.solver = gsl_multifit_nlinear_solver_svd; /* some parameters hang on the prior alone */
    struct attempt attempt = {
        .problem = problem,
        .generator = ar_gsl_generator(&arena, SEED),
        .work =
            gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, rows + count, count),
        .predicted_s = ar_arena_alloc(&arena, rows, sizeof *attempt.predicted_s),
        .errors = ar_arena_alloc(&arena, rows, sizeof *attempt.errors),
        .point = gsl_vector_view_array(ar_arena_alloc(&arena, count, sizeof(double)), count),
        .weights = gsl_vector_view_array(ar_arena_alloc(&arena, rows + count, sizeof(double)),
                                         rows + count)};
    ar_arena_own(&arena, attempt.work, free_work);
    return run_starts(&attempt, starts, fit)
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "fit: no start of %" PRIu32 " converged on %zu rows; expected %s",
                              starts, problem->rows_count, problem->expected);
}
