/* Fits a library to measured calls; what it then predicts, and how far from measurements. */
#include "ar_library_fit.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "ar_arena.h"
#include "ar_fit.h"
#include "ar_numbers.h"
#include "ar_residual.h"

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

static bool predict_calls(const double *values, const bool *is_asked, double *times_s,
                          void *context)
{
    const struct data *data = context;
    for (size_t i = 0; i < data->count; i++) {
        if (is_asked == NULL || is_asked[i]) {
            times_s[i] =
                ar_library_time(data->tuning, values, data->choices[i], &data->rows[i].run);
        }
    }
    return true;
}

enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct data data = {.tuning = tuning,
                        .rows = rows,
                        .count = count,
                        .choices = ar_arena_alloc(&arena, count, sizeof *data.choices)};
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
                                     .starts_count = STARTS,
                                     .rows_count = data.count,
                                     .times_s = &data.rows->time_s,
                                     .bytes = &data.rows->run.bytes,
                                     .stride = sizeof *data.rows / sizeof(double),
                                     .predict = predict_calls,
                                     .data = &data,
                                     .expected = "calls that resemble NCCL's"};
    for (size_t i = 0; i < COUNT; i++) {
        spreads[i] = ar_library_parameters[i].spread;
        priors[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
    }
    for (size_t i = 0; i < data.count; i++) {
        data.choices[i] = ar_tuning_choose(tuning, data.rows[i].calls, &data.rows[i].run);
    }
    AR_TRY(ar_fit_solve(&problem, &found, err));
    library->tuning = *tuning;
    library->residual_frac = found.residual_frac;
    library->rows_count = (uint32_t)data.count;
    library->rows = rows;
    library->nodes_max = library->calls = 0;
    for (size_t i = 0; i < data.count; i++) {
        uint32_t nodes = data.rows[i].run.nodes;
        library->nodes_max = nodes > library->nodes_max ? nodes : library->nodes_max;
        library->calls |= 1u << data.rows[i].run.call;
    }
    return AR_OK;
}

void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library)
{
    *library = (struct ar_library){.tuning = *tuning};
    for (size_t i = 0; i < COUNT; i++) {
        library->values[i] = ar_library_parameter_prior(tuning, (enum ar_library_parameter)i);
        library->covariance[i][i] = pow(ar_library_parameters[i].spread, 2);
    }
}

/* --- predictions ----------------------------------------------------------------------------- */

#define STEP 1e-5 /* of a logarithm, for derivatives */

/* Variance of the logarithm of a prediction, from that of the parameters. */
static double spread_of_time(const struct ar_library *library, enum ar_choice choice,
                             const struct ar_library_run *run)
{
    double slopes[AR_LIBRARY_PARAMETERS_COUNT];
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    double variance = 0;
    memcpy(values, library->values, sizeof values);
    for (size_t i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        values[i] = library->values[i] * exp(STEP);
        double up_s = ar_library_time(&library->tuning, values, choice, run);
        values[i] = library->values[i] * exp(-STEP);
        double down_s = ar_library_time(&library->tuning, values, choice, run);
        values[i] = library->values[i];
        slopes[i] = log(up_s / down_s) / (2 * STEP);
    }
    for (size_t i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        for (size_t j = 0; j < AR_LIBRARY_PARAMETERS_COUNT && slopes[i] != 0; j++) {
            variance += slopes[i] * library->covariance[i][j] * slopes[j];
        }
    }
    return variance;
}

struct ar_library_prediction ar_library_banded(enum ar_choice choice, double time_s, double reach)
{
    return (struct ar_library_prediction){.choice = choice,
                                          .time_s = time_s,
                                          .low_s = time_s * exp(-reach),
                                          .high_s = time_s * exp(reach)};
}

struct ar_told ar_told_at(const struct ar_told kinds[2], double bytes)
{
    double large = fmin(1, fmax(0, 0.5 + log2(bytes / AR_LIBRARY_LARGE_BYTES) / 4));
    if (large == 0 || large == 1) {
        return kinds[large == 1];
    }
    return (struct ar_told){.weight = (1 - large) * kinds[0].weight + large * kinds[1].weight,
                            .reach = (1 - large) * kinds[0].reach + large * kinds[1].reach};
}

double ar_told_mix(double unfitted_s, double factors_s, double weight)
{
    return unfitted_s * pow(factors_s / unfitted_s, weight);
}

/* On a machine without rows: by what others tell, in the band of those that were left out. */
static struct ar_library_prediction predict_told(const struct ar_library *library,
                                                 enum ar_choice choice,
                                                 const struct ar_library_run *run)
{
    struct ar_told kind = ar_told_at(library->told->kinds[run->nodes > 1], run->bytes);
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    for (size_t i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        values[i] = library->values[i] * library->told->factors[i];
    }
    double unfitted_s = ar_library_time(&library->tuning, library->values, choice, run);
    double told_s = ar_library_time(&library->tuning, values, choice, run);
    return ar_library_banded(choice, ar_told_mix(unfitted_s, told_s, kind.weight), kind.reach);
}

struct ar_library_prediction ar_library_predict(const struct ar_library *library,
                                                enum ar_calls calls,
                                                const struct ar_library_run *run)
{
    enum ar_choice choice = ar_tuning_choose(&library->tuning, calls, run);
    if (library->told != NULL) {
        return predict_told(library, choice, run);
    }
    double time_s = ar_library_time(&library->tuning, library->values, choice, run);
    double own = library->residual_frac * library->residual_frac +
                 ar_residual_away(run->nodes, library->nodes_max);
    double spread =
        AR_BAND95_DEVIATIONS * sqrt(fmax(0, spread_of_time(library, choice, run)) + own);
    return ar_library_banded(choice, time_s, spread);
}

struct ar_library_prediction ar_tuning_predict(const struct ar_tuning *tuning, enum ar_calls calls,
                                               const struct ar_library_run *run)
{
    enum ar_choice choice = ar_tuning_choose(tuning, calls, run);
    return ar_library_banded(choice, ar_tuning_time(tuning, choice, run), NAN);
}

struct ar_library_error ar_library_error_of(double *errors_frac, size_t count, size_t covered)
{
    if (count == 0) {
        return (struct ar_library_error){0, NAN, NAN, NAN, NAN, NAN, NAN};
    }
    ar_sort(errors_frac, count);
    return (struct ar_library_error){.count = count,
                                     .median_frac = ar_quantile(errors_frac, count, 0.5),
                                     .mean_frac = gsl_stats_mean(errors_frac, 1, count),
                                     .p95_frac = ar_quantile(errors_frac, count, 0.95),
                                     .worst_frac = errors_frac[count - 1],
                                     .covered_frac = (double)covered / (double)count,
                                     .band_ratio = NAN};
}
