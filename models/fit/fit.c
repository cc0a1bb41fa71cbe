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
#define PROBE          1e9  /* a factor by which a term becomes all of a time, or nothing of it */

/* A point and the values of all parameters there. */
struct place {
    double point[AR_FIT_PARAMETERS_MAX], values[AR_FIT_PARAMETERS_MAX];
};

/* One attempt: the problem and where it is. */
struct attempt {
    const struct ar_fit_problem *problem;
    double residual; /* standard deviation of a row */
    gsl_rng *generator;
    gsl_multifit_nlinear_workspace *work;
    /* Parameters that rows use: dimension i of points is the parameter used[i]. */
    size_t used[AR_FIT_PARAMETERS_MAX], used_count;
    gsl_vector_view point;   /* logarithms of the values */
    gsl_vector_view weights; /* of rows, then 1 for each prior */
    /* A point is shifted, since GSL takes derivatives by steps that are relative to it: what is
     * near 0 is moved away. Priors lie at `origins`. */
    double shifts[AR_FIT_PARAMETERS_MAX], origins[AR_FIT_PARAMETERS_MAX];
    struct place base;                          /* where all rows were predicted last */
    double *base_errors, *errors, *predicted_s; /* of rows: there; and room */
    bool *uses; /* [dimension][row]: whether the row's time hangs on it */
};

AR_DESTROYER(free_work, gsl_multifit_nlinear_free)

/* How wide the prior of a parameter is, compared with the others. */
static double share_of(const struct ar_fit_problem *problem, size_t parameter)
{
    return problem->prior_spreads == NULL
               ? 1
               : problem->prior_spreads[parameter] / problem->prior_spread;
}

/* Finds which parameters the rows use: those of which another value changes a time. The rest stays
 * at its priors, but for the first one: points need a dimension. */
static void find_uses(struct attempt *attempt)
{
    const struct ar_fit_problem *problem = attempt->problem;
    size_t rows = problem->rows_count, count = problem->parameters_count;
    double *values = attempt->base.values, *prior_s = attempt->base_errors;
    memcpy(values, problem->priors, count * sizeof *values);
    bool has_all = problem->predict(values, NULL, prior_s, problem->data);
    for (size_t k = 0; k < 2 * count; k++) {
        bool *uses = attempt->uses + attempt->used_count * rows;
        values[k / 2] = problem->priors[k / 2] * (k % 2 == 0 ? PROBE : 1 / PROBE);
        has_all = has_all && problem->predict(values, NULL, attempt->predicted_s, problem->data);
        for (size_t i = 0; i < rows; i++) {
            uses[i] = uses[i] || !has_all || !(attempt->predicted_s[i] == prior_s[i]);
        }
        values[k / 2] = problem->priors[k / 2];
        if (k % 2 == 1 && (k == 1 || memchr(uses, true, rows) != NULL)) {
            attempt->used[attempt->used_count++] = k / 2;
        }
    }
}

/* Relative errors of the rows at a point; NULL: they cannot be had. GSL's derivatives move one
 * parameter at a time: then only rows that use it are predicted anew. */
static const double *find_errors(struct attempt *attempt, const gsl_vector *point)
{
    const struct ar_fit_problem *problem = attempt->problem;
    struct place at = attempt->base;
    size_t changes = 0, changed = 0, rows = problem->rows_count;
    for (size_t i = 0; i < point->size; i++) {
        if (gsl_vector_get(point, i) != at.point[i]) {
            at.point[i] = gsl_vector_get(point, i);
            at.values[attempt->used[i]] = exp(at.point[i] - attempt->shifts[i]);
            changed = i;
            changes++;
        }
    }
    const bool *uses = changes == 1 && point->size > 1 ? attempt->uses + changed * rows : NULL;
    double *errors = uses == NULL ? attempt->base_errors : attempt->errors;
    if (changes > 0 && !problem->predict(at.values, uses, attempt->predicted_s, problem->data)) {
        return NULL;
    }
    for (size_t i = 0; changes > 0 && i < rows; i++) {
        errors[i] = uses == NULL || uses[i]
                        ? log(attempt->predicted_s[i] / problem->times_s[i * problem->stride])
                        : attempt->base_errors[i];
    }
    attempt->base = uses == NULL ? at : attempt->base;
    return errors;
}

/* Residuals in standard deviations: rows, then priors. */
static int write_residuals(const gsl_vector *point, void *data, gsl_vector *result)
{
    struct attempt *attempt = data;
    const struct ar_fit_problem *problem = attempt->problem;
    const double *errors = find_errors(attempt, point);
    if (errors == NULL) {
        return GSL_EFAILED;
    }
    for (size_t i = 0; i < problem->rows_count; i++) {
        gsl_vector_set(result, i, errors[i] / attempt->residual);
    }
    for (size_t i = 0; i < point->size; i++) {
        gsl_vector_set(result, problem->rows_count + i,
                       (gsl_vector_get(point, i) - attempt->origins[i]) /
                           (problem->prior_spread * share_of(problem, attempt->used[i])));
    }
    return GSL_SUCCESS;
}

/* Solves the weighted problem from the present point. */
static bool solve_weighted(struct attempt *attempt)
{
    const struct ar_fit_problem *problem = attempt->problem;
    size_t count = attempt->used_count;
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
    bool is_on_edge = found == GSL_ENOPROG; /* of two smooth functions: no step leads down */
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
    size_t rows = attempt->problem->rows_count, count = attempt->problem->parameters_count;
    const double *errors = find_errors(attempt, &attempt->point.vector);
    if (errors == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        attempt->errors[i] = fabs(errors[i]);
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

/* Fits from the present point with weights of its own. Returns the rows' errors; NULL: none. */
static const double *run_attempt(struct attempt *attempt)
{
    double change = HUGE_VAL;
    attempt->residual = RESIDUAL_FIRST;
    gsl_vector_set_all(&attempt->weights.vector, 1);
    for (int round = 0; round < ROUNDS && !(change < SETTLED); round++) {
        if (!solve_weighted(attempt) || !reweigh_rows(attempt, &change)) {
            return NULL;
        }
    }
    return solve_weighted(attempt) ? find_errors(attempt, &attempt->point.vector) : NULL;
}

/* Keeps the present point, if its covariance can be had. */
static bool keep_point(const struct attempt *attempt, struct ar_fit *fit)
{
    const struct ar_fit_problem *problem = attempt->problem;
    size_t count = problem->parameters_count, used_count = attempt->used_count;
    double covariance[AR_FIT_PARAMETERS_MAX * AR_FIT_PARAMETERS_MAX];
    gsl_matrix_view view = gsl_matrix_view_array(covariance, used_count, used_count);
    if (gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(attempt->work), 0, &view.matrix) !=
        GSL_SUCCESS) {
        return false;
    }
    memset(fit->covariance, 0, count * count * sizeof *covariance);
    fit->residual_frac = attempt->residual;
    for (size_t k = 0; k < count; k++) {
        fit->values[k] = problem->priors[k];
        fit->covariance[k * (count + 1)] = pow(problem->prior_spread * share_of(problem, k), 2);
        fit->is_identified[k] = false;
    }
    for (size_t i = 0; i < used_count; i++) {
        size_t k = attempt->used[i];
        fit->values[k] = exp(gsl_vector_get(&attempt->point.vector, i) - attempt->shifts[i]);
        for (size_t j = 0; j < used_count; j++) {
            fit->covariance[k * count + attempt->used[j]] = covariance[i * used_count + j];
        }
        fit->is_identified[k] =
            sqrt(covariance[i * (used_count + 1)]) < problem->identified_max * share_of(problem, k);
    }
    return true;
}

/* The best of several starts; the first is from the priors themselves. */
static bool run_starts(struct attempt *attempt, uint32_t starts, struct ar_fit *fit)
{
    const struct ar_fit_problem *problem = attempt->problem;
    double best = HUGE_VAL;
    for (uint32_t start = 0; start < starts; start++) {
        for (size_t i = 0, k = 0; k < problem->parameters_count; k++) {
            double away = start == 0
                              ? 0
                              : gsl_ran_gaussian(attempt->generator,
                                                 problem->start_spread * share_of(problem, k));
            if (i < attempt->used_count && attempt->used[i] == k) {
                gsl_vector_set(&attempt->point.vector, i, attempt->origins[i] + away);
                i++;
            }
        }
        const double *errors = run_attempt(attempt);
        if (errors != NULL) {
            double cost = 0; /* the sum of the errors */
            for (size_t i = 0; i < problem->rows_count; i++) {
                cost += fabs(errors[i]);
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
    AR_REFUSE(problem->rows_count < AR_FIT_ROWS_MIN, err, AR_BAD_DATA,
              "fit: found %zu row%s to fit; expected at least %d", problem->rows_count,
              problem->rows_count == 1 ? "" : "s", AR_FIT_ROWS_MIN);
    AR_REFUSE(is_one_size, err, AR_BAD_DATA,
              "fit: found one size, %.0f bytes, in all rows; expected several", problem->bytes[0]);
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    ar_gsl_hold(&arena); /* a step it cannot take: the start fails */
    /* Its steps come from a QR decomposition: rows of priors give the matrix full rank. */
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    size_t rows = problem->rows_count, count = problem->parameters_count;
    uint32_t starts = problem->starts_count > 0 ? problem->starts_count : STARTS;
    struct attempt attempt = {
        .problem = problem,
        .generator = ar_gsl_generator(&arena, SEED),
        .predicted_s = ar_arena_alloc(&arena, rows, sizeof *attempt.predicted_s),
        .base_errors = ar_arena_alloc(&arena, rows, sizeof *attempt.base_errors),
        .errors = ar_arena_alloc(&arena, rows, sizeof *attempt.errors),
        .uses = ar_arena_alloc(&arena, rows * count, sizeof *attempt.uses)};
    find_uses(&attempt);
    count = attempt.used_count;
    attempt.work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, rows + count, count);
    ar_arena_own(&arena, attempt.work, free_work);
    attempt.point = gsl_vector_view_array(ar_arena_alloc(&arena, count, sizeof(double)), count);
    attempt.weights =
        gsl_vector_view_array(ar_arena_alloc(&arena, rows + count, sizeof(double)), rows + count);
    for (size_t i = 0; i < count; i++) {
        double log_of_prior = log(problem->priors[attempt.used[i]]);
        attempt.shifts[i] = fabs(log_of_prior) < 1 ? 16 : 0;
        attempt.origins[i] = log_of_prior + attempt.shifts[i];
        attempt.base.point[i] = NAN;
    }
    AR_REFUSE(!run_starts(&attempt, starts, fit), err, AR_BAD_DATA,
              "fit: no start of %" PRIu32 " converged on %zu rows; expected %s", starts,
              problem->rows_count, problem->expected);
    return AR_OK;
}
