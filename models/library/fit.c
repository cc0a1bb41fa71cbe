#include "ar_library_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>

enum {
    COUNT = AR_LIBRARY_PARAMETERS_COUNT,
    ROWS_LEAST = 8,
    STARTS = 8,
    ROUNDS = 12,     /* of reweighting */
    ITERATIONS = 200 /* of a least-squares problem */
};

#define PRIOR_SPREAD   0.69314718055994531 /* ln 2: a factor of two */
#define START_SPREAD   0.3
#define RESIDUAL_FIRST 0.05
#define RESIDUAL_LEAST 1e-4 /* of rows that fit exactly */
#define HUBER          1.345
#define MAD_TO_SIGMA   1.4826
#define SETTLED        1e-3 /* relative change of the residual's spread */

/* One attempt: the data and where it is. */
struct attempt {
    const struct ar_library_row *rows;
    const enum ar_choice *choices;
    size_t rows_count;
    double residual; /* standard deviation of a row */
    gsl_multifit_nlinear_workspace *work;
    gsl_vector *point;   /* logarithms of the values */
    gsl_vector *weights; /* of rows, then 1 for each prior */
    double *errors;      /* of rows; room for sorting */
};

static void take_values(const gsl_vector *point, double values[COUNT])
{
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = exp(gsl_vector_get(point, i));
    }
}

static double start_log(size_t parameter)
{
    return log(ar_library_parameter_start((enum ar_library_parameter)parameter));
}

/* Residuals in standard deviations: rows, then priors. */
static int residuals(const gsl_vector *point, void *data, gsl_vector *result)
{
    const struct attempt *attempt = data;
    double values[COUNT];
    take_values(point, values);
    for (size_t i = 0; i < attempt->rows_count; i++) {
        const struct ar_library_row *row = &attempt->rows[i];
        double time_s = ar_library_time(values, attempt->choices[i], &row->run);
        gsl_vector_set(result, i, log(time_s / row->time_s) / attempt->residual);
    }
    for (size_t i = 0; i < COUNT; i++) {
        gsl_vector_set(result, attempt->rows_count + i,
                       (gsl_vector_get(point, i) - start_log(i)) / PRIOR_SPREAD);
    }
    return GSL_SUCCESS;
}

/* Solves the weighted problem from the present point. */
static bool solve(struct attempt *attempt)
{
    gsl_multifit_nlinear_fdf problem = {
        .f = residuals, .n = attempt->rows_count + COUNT, .p = COUNT, .params = attempt};
    int info;
    if (gsl_multifit_nlinear_winit(attempt->point, attempt->weights, &problem, attempt->work) !=
            GSL_SUCCESS ||
        gsl_multifit_nlinear_driver(ITERATIONS, 1e-9, 1e-9, 1e-9, NULL, NULL, &info,
                                    attempt->work) != GSL_SUCCESS) {
        return false;
    }
    gsl_vector_memcpy(attempt->point, gsl_multifit_nlinear_position(attempt->work));
    return true;
}

/* Relative errors of the rows at the present point. */
static void take_errors(struct attempt *attempt)
{
    double values[COUNT];
    take_values(attempt->point, values);
    for (size_t i = 0; i < attempt->rows_count; i++) {
        const struct ar_library_row *row = &attempt->rows[i];
        attempt->errors[i] =
            log(ar_library_time(values, attempt->choices[i], &row->run) / row->time_s);
    }
}

/* New weights from the errors, new spread from their median. Returns the relative change. */
static double reweigh(struct attempt *attempt)
{
    take_errors(attempt);
    for (size_t i = 0; i < attempt->rows_count; i++) {
        double size = fabs(attempt->errors[i]) / attempt->residual;
        gsl_vector_set(attempt->weights, i, size > HUBER ? HUBER / size : 1);
    }
    for (size_t i = 0; i < attempt->rows_count; i++) {
        attempt->errors[i] = fabs(attempt->errors[i]);
    }
    double median = gsl_stats_median(attempt->errors, 1, attempt->rows_count);
    /* The fitted parameters use up degrees of freedom. */
    double freedom = attempt->rows_count > 2 * COUNT
                         ? sqrt((double)attempt->rows_count / (double)(attempt->rows_count - COUNT))
                         : M_SQRT2;
    double residual = fmax(RESIDUAL_LEAST, MAD_TO_SIGMA * median * freedom);
    double change = fabs(residual / attempt->residual - 1);
    attempt->residual = residual;
    return change;
}

static double cost_of(const struct attempt *attempt)
{
    double sum = 0;
    double values[COUNT];
    take_values(attempt->point, values);
    for (size_t i = 0; i < attempt->rows_count; i++) {
        const struct ar_library_row *row = &attempt->rows[i];
        double error = log(ar_library_time(values, attempt->choices[i], &row->run) / row->time_s);
        sum += fabs(error);
    }
    return sum;
}

/* Fits from the present point with weights of its own. */
static bool run_attempt(struct attempt *attempt)
{
    attempt->residual = RESIDUAL_FIRST;
    gsl_vector_set_all(attempt->weights, 1);
    for (int round = 0; round < ROUNDS; round++) {
        if (!solve(attempt)) {
            return false;
        }
        if (reweigh(attempt) < SETTLED) {
            break;
        }
    }
    return solve(attempt);
}

static void keep(struct attempt *attempt, struct ar_library *library)
{
    gsl_matrix *covariance = gsl_matrix_alloc(COUNT, COUNT);
    take_values(attempt->point, library->values);
    library->residual_frac = attempt->residual;
    library->rows_count = (uint32_t)attempt->rows_count;
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(attempt->work), 0, covariance);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            library->covariance[i][j] = gsl_matrix_get(covariance, i, j);
        }
        library->is_identified[i] = sqrt(library->covariance[i][i]) < PRIOR_SPREAD / 2;
    }
    gsl_matrix_free(covariance);
}

/* The best of several starts; the first is from the priors themselves. */
static bool run_starts(struct attempt *attempt, struct ar_library *library)
{
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    double best = HUGE_VAL;
    for (int start = 0; start < STARTS; start++) {
        for (size_t i = 0; i < COUNT; i++) {
            double away = start == 0 ? 0 : gsl_ran_gaussian(generator, START_SPREAD);
            gsl_vector_set(attempt->point, i, start_log(i) + away);
        }
        if (run_attempt(attempt) && cost_of(attempt) < best) {
            best = cost_of(attempt);
            keep(attempt, library);
        }
    }
    gsl_rng_free(generator);
    return best < HUGE_VAL;
}

static enum ar_status check_rows(const struct ar_library_row *rows, size_t count,
                                 struct ar_error *err)
{
    bool is_one_size = true;
    for (size_t i = 1; i < count; i++) {
        is_one_size = is_one_size && rows[i].run.bytes == rows[0].run.bytes;
    }
    if (count < ROWS_LEAST) {
        return ar_error_set(err, AR_BAD_DATA, "fit: found %zu rows; expected at least %d", count,
                            ROWS_LEAST);
    }
    if (is_one_size) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found one size, %.0f bytes, in all rows; expected several",
                            rows[0].run.bytes);
    }
    return AR_OK;
}

static enum ar_status fit(const struct ar_tuning *tuning, struct attempt *attempt,
                          enum ar_choice *choices, struct ar_library *library, struct ar_error *err)
{
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    size_t count = attempt->rows_count;
    settings.solver = gsl_multifit_nlinear_solver_svd; /* some parameters hang on the prior alone */
    for (size_t i = 0; i < count; i++) {
        choices[i] = ar_tuning_choose(tuning, NULL, &attempt->rows[i].run);
    }
    attempt->choices = choices;
    attempt->work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, count + COUNT, COUNT);
    attempt->point = gsl_vector_alloc(COUNT);
    attempt->weights = gsl_vector_alloc(count + COUNT);
    struct ar_library found = {.tuning = *tuning};
    bool is_found = run_starts(attempt, &found);
    gsl_multifit_nlinear_free(attempt->work);
    gsl_vector_free(attempt->point);
    gsl_vector_free(attempt->weights);
    if (!is_found) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: no start of %d converged on %zu rows; expected all-reduces that "
                            "resemble NCCL's",
                            STARTS, count);
    }
    *library = found;
    return AR_OK;
}

enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err)
{
    enum ar_status status = check_rows(rows, count, err);
    if (status != AR_OK) {
        return status;
    }
    enum ar_choice *choices = calloc(count, sizeof *choices);
    struct attempt attempt = {
        .rows = rows, .rows_count = count, .errors = calloc(count, sizeof(double))};
    if (choices == NULL || attempt.errors == NULL) {
        status = ar_error_no_memory(err, "the rows of a fit");
    } else {
        /* GSL aborts on errors unless told not to; a step it cannot take is a start that fails. */
        gsl_error_handler_t *old = gsl_set_error_handler_off();
        status = fit(tuning, &attempt, choices, library, err);
        gsl_set_error_handler(old);
    }
    free(choices);
    free(attempt.errors);
    return status;
}

void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library)
{
    *library = (struct ar_library){.tuning = *tuning};
    for (size_t i = 0; i < COUNT; i++) {
        library->values[i] = ar_library_parameter_start((enum ar_library_parameter)i);
        library->covariance[i][i] = PRIOR_SPREAD * PRIOR_SPREAD;
    }
}
