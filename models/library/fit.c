#include "ar_library_fit.h"

#include <stdlib.h>
#include <string.h>

#include "ar_fit.h"

enum { COUNT = AR_LIBRARY_PARAMETERS_COUNT };

_Static_assert((int)COUNT <= (int)AR_FIT_PARAMETERS_MAX, "a fit has room for the parameters");

#define PRIOR_SPREAD 0.69314718055994531 /* ln 2: a factor of two */
#define START_SPREAD 0.3

/* The rows of a fit, with the choice of the library for each. */
struct data {
    const struct ar_library_row *rows;
    size_t count;
    enum ar_choice *choices;
    double *times_s;
    double *bytes;
};

static bool predict(const double *values, double *times_s, void *context)
{
    const struct data *data = context;
    for (size_t i = 0; i < data->count; i++) {
        times_s[i] = ar_library_time(values, data->choices[i], &data->rows[i].run);
    }
    return true;
}

static void keep(const struct ar_fit *fit, size_t rows_count, struct ar_library *library)
{
    library->residual_frac = fit->residual_frac;
    library->rows_count = (uint32_t)rows_count;
    for (size_t i = 0; i < COUNT; i++) {
        library->values[i] = fit->values[i];
        library->is_identified[i] = fit->is_identified[i];
        memcpy(library->covariance[i], fit->covariance[i], sizeof library->covariance[i]);
    }
}

static enum ar_status fit(const struct ar_tuning *tuning, struct data *data,
                          struct ar_library *library, struct ar_error *err)
{
    double priors[COUNT];
    struct ar_fit found;
    for (size_t i = 0; i < COUNT; i++) {
        priors[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
    }
    for (size_t i = 0; i < data->count; i++) {
        data->choices[i] = ar_tuning_choose(tuning, AR_CALLS_ANY, &data->rows[i].run);
        data->times_s[i] = data->rows[i].time_s;
        data->bytes[i] = data->rows[i].run.bytes;
    }
    struct ar_fit_problem problem = {.parameters_count = COUNT,
                                     .priors = priors,
                                     .prior_spread = PRIOR_SPREAD,
                                     .start_spread = START_SPREAD,
                                     .identified_max = PRIOR_SPREAD / 2,
                                     .rows_count = data->count,
                                     .times_s = data->times_s,
                                     .bytes = data->bytes,
                                     .predict = predict,
                                     .data = data,
                                     .expected = "all-reduces that resemble NCCL's"};
    enum ar_status status = ar_fit_solve(&problem, &found, err);
    if (status == AR_OK) {
        *library = (struct ar_library){.tuning = *tuning};
        keep(&found, data->count, library);
    }
    return status;
}

enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err)
{
    struct data data = {.rows = rows,
                        .count = count,
                        .choices = calloc(count + 1, sizeof *data.choices),
                        .times_s = calloc(count + 1, sizeof(double)),
                        .bytes = calloc(count + 1, sizeof(double))};
    enum ar_status status = data.choices == NULL || data.times_s == NULL || data.bytes == NULL
                                ? ar_error_no_memory(err, "the rows of a fit")
                                : fit(tuning, &data, library, err);
    free(data.choices);
    free(data.times_s);
    free(data.bytes);
    return status;
}

void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library)
{
    *library = (struct ar_library){.tuning = *tuning};
    for (size_t i = 0; i < COUNT; i++) {
        library->values[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
        library->covariance[i][i] = PRIOR_SPREAD * PRIOR_SPREAD;
    }
}
