#include "ar_library_fit.h"

#include <stdlib.h>

#include "ar_fit.h"

enum { COUNT = AR_LIBRARY_PARAMETERS_COUNT, STARTS = 4 };

_Static_assert((int)COUNT <= (int)AR_FIT_PARAMETERS_MAX, "a fit has room for the parameters");

#define PRIOR_SPREAD 0.69314718055994531 /* ln 2: a factor of two, unless the list says another */
#define START_SPREAD 0.3
#define RESIDUAL_MIN 0.04 /* of runs that are the same but for their time of day */

/* The rows of a fit, with the choice of the library for each. */
struct data {
    const struct ar_tuning *tuning;
    const struct ar_library_row *rows;
    size_t count;
    enum ar_choice *choices;
};

static bool predict(const double *values, double *times_s, void *context)
{
    const struct data *data = context;
    for (size_t i = 0; i < data->count; i++) {
        times_s[i] = ar_library_time(data->tuning, values, data->choices[i], &data->rows[i].run);
    }
    return true;
}

static enum ar_status fit(const struct ar_tuning *tuning, struct data *data,
                          struct ar_library *library, struct ar_error *err)
{
    double priors[COUNT];
    double spreads[COUNT];
    struct ar_fit found = {library->values, &library->covariance[0][0], library->is_identified, 0};
    struct ar_fit_problem problem = {.parameters_count = COUNT,
                                     .priors = priors,
                                     .prior_spread = PRIOR_SPREAD,
                                     .prior_spreads = spreads,
                                     .start_spread = START_SPREAD,
                                     .identified_max = PRIOR_SPREAD / 2,
                                     .residual_min = RESIDUAL_MIN,
                                     .may_creep = true,
                                     .has_kinks = true,
                                     .starts_count = STARTS,
                                     .rows_count = data->count,
                                     .times_s = &data->rows->time_s,
                                     .bytes = &data->rows->run.bytes,
                                     .stride = sizeof *data->rows / sizeof(double),
                                     .predict = predict,
                                     .data = data,
                                     .expected = "calls that resemble NCCL's"};
    for (size_t i = 0; i < COUNT; i++) {
        spreads[i] = ar_library_parameters[i].spread;
        priors[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
    }
    for (size_t i = 0; i < data->count; i++) {
        data->choices[i] = ar_tuning_choose(tuning, data->rows[i].calls, &data->rows[i].run);
    }
    AR_TRY(ar_fit_solve(&problem, &found, err));
    library->tuning = *tuning;
    library->residual_frac = found.residual_frac;
    library->rows_count = (uint32_t)data->count;
    library->nodes_max = library->calls = 0;
    for (size_t i = 0; i < data->count; i++) {
        uint32_t nodes = data->rows[i].run.nodes;
        library->nodes_max = nodes > library->nodes_max ? nodes : library->nodes_max;
        library->calls |= 1u << data->rows[i].run.call;
    }
    return AR_OK;
}

enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err)
{
    struct data data = {.tuning = tuning,
                        .rows = rows,
                        .count = count,
                        .choices = calloc(count + 1, sizeof *data.choices)};
    enum ar_status status = data.choices != NULL ? fit(tuning, &data, library, err)
                                                 : ar_error_no_memory(err, "the rows of a fit");
    free(data.choices);
    return status;
}

void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library)
{
    *library = (struct ar_library){.tuning = *tuning};
    for (size_t i = 0; i < COUNT; i++) {
        library->values[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
        double spread = ar_library_parameters[i].spread;
        library->covariance[i][i] = spread * spread;
    }
}
