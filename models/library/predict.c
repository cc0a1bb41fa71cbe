/* What a fitted library predicts, and how far that is from measurements. */
#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "ar_library_fit.h"
#include "ar_numbers.h"
#include "ar_residual.h"

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
        for (size_t j = 0; j < AR_LIBRARY_PARAMETERS_COUNT; j++) {
            variance += slopes[i] * library->covariance[i][j] * slopes[j];
        }
    }
    return variance;
}

struct ar_library_prediction ar_library_predict(const struct ar_library *library,
                                                enum ar_calls calls,
                                                const struct ar_library_run *run)
{
    enum ar_choice choice = ar_tuning_choose(&library->tuning, calls, run);
    double time_s = ar_library_time(&library->tuning, library->values, choice, run);
    double own = library->residual_frac * library->residual_frac +
                 ar_residual_away(run->nodes, library->nodes_max);
    double spread =
        AR_BAND95_DEVIATIONS * sqrt(fmax(0, spread_of_time(library, choice, run)) + own);
    return (struct ar_library_prediction){.choice = choice,
                                          .time_s = time_s,
                                          .low_s = time_s * exp(-spread),
                                          .high_s = time_s * exp(spread)};
}

struct ar_library_prediction ar_tuning_predict(const struct ar_tuning *tuning, enum ar_calls calls,
                                               const struct ar_library_run *run)
{
    enum ar_choice choice = ar_tuning_choose(tuning, calls, run);
    return (struct ar_library_prediction){.choice = choice,
                                          .time_s = ar_tuning_time(tuning, choice, run),
                                          .low_s = NAN,
                                          .high_s = NAN};
}

struct ar_library_error ar_library_error_of(double *errors_frac, size_t count, size_t covered)
{
    if (count == 0) {
        return (struct ar_library_error){0, NAN, NAN, NAN, NAN, NAN};
    }
    ar_sort(errors_frac, count);
    return (struct ar_library_error){.count = count,
                                     .median_frac = ar_quantile(errors_frac, count, 0.5),
                                     .mean_frac = gsl_stats_mean(errors_frac, 1, count),
                                     .p95_frac = ar_quantile(errors_frac, count, 0.95),
                                     .worst_frac = errors_frac[count - 1],
                                     .covered_frac = (double)covered / (double)count};
}
