/** \file ar_library_fit.h
 * Fits the cost model of a library (ar_library_model.h) to measured calls, with its uncertainty:
 * rows of all operations and node counts together, since what one says of a link holds for all.
 *
 * The fit is that of ar_fit.h, the priors are those of the model, and a parameter whose standard
 * error is below half of its prior's is identified. Rows are never taken to be better than 4 %. A
 * fit that does not converge is an error.
 *
 * The covariance of the parameters is that of the linearised problem. The band of a prediction adds
 * the spread of the residuals, and for nodes beyond the fitted ones that of ar_residual_away(), so
 * it holds for a new measurement, model error included.
 */
#ifndef AR_LIBRARY_FIT_H
#define AR_LIBRARY_FIT_H

#include <stddef.h>

#include "ar_library_model.h"

/** A measured call. */
struct ar_library_row {
    struct ar_library_run run;
    double time_s;
    enum ar_calls calls; /**< what the library was left to choose from, as ar_tuning_choose() */
};

/** A fitted library. */
struct ar_library {
    struct ar_tuning tuning;
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    /** Of the logarithms of the values. */
    double covariance[AR_LIBRARY_PARAMETERS_COUNT][AR_LIBRARY_PARAMETERS_COUNT];
    bool is_identified[AR_LIBRARY_PARAMETERS_COUNT]; /**< the data say more than the prior */
    double residual_frac; /**< robust standard deviation of the relative errors of the rows */
    uint32_t rows_count;
    uint32_t nodes_max; /**< of the rows; 0: none */
    uint32_t calls;     /**< of the rows, a bit for each ar_library_call; 0: nobody knows */
};

/** The library with its parameters where they start from: nothing fitted, the priors as spread. */
void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library);

/** Fits to `count` rows. AR_BAD_DATA, and `library` left as it was: fewer than 3 rows, less than
 * two sizes, or no convergence. */
enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err);

/** Half a 95 % band, in standard deviations: that part of a normal distribution lies within. */
#define AR_BAND95_DEVIATIONS 1.959963984540054

/** What a library takes for a run. */
struct ar_library_prediction {
    enum ar_choice choice;
    double time_s;
    double low_s; /**< of the 95 % band of a measurement */
    double high_s;
};

/** Predicts a run by the choice that the library makes; `calls` as in ar_tuning_choose(). */
struct ar_library_prediction ar_library_predict(const struct ar_library *library,
                                                enum ar_calls calls,
                                                const struct ar_library_run *run);

/** The same by NCCL's own constants, which say nothing of a band: its ends are NAN. */
struct ar_library_prediction ar_tuning_predict(const struct ar_tuning *tuning, enum ar_calls calls,
                                               const struct ar_library_run *run);

/** How far predictions are from measurements. */
struct ar_library_error {
    size_t count;
    double median_frac; /**< of |predicted / measured - 1| */
    double mean_frac;
    double p95_frac;
    double worst_frac;
    double covered_frac; /**< share of measurements inside the band */
};

/** Sums up relative errors |predicted / measured - 1|, which are sorted in place; `covered` of the
 * measurements lie inside their bands. Of no errors all but the count is NAN. */
struct ar_library_error ar_library_error_of(double *errors_frac, size_t count, size_t covered);

#endif
