/** \file ar_fit.h
 * Robust fit of positive parameters to measured times, with their uncertainty.
 *
 * Least squares on the logarithm of predicted over measured time, which is the relative error. The
 * parameters are fitted as logarithms, so they stay positive, and each has a prior: the value it
 * starts from, within a factor (one standard deviation of its logarithm). A parameter that the data
 * say nothing about stays at its prior and is reported as not identified. Rows that do not fit the
 * others count less (Huber's weights, bounds of 1.345 standard deviations). The fit starts several
 * times from points around the priors and the best is taken.
 *
 * The covariance of the parameters is that of the linearised problem, priors included.
 *
 * Sources: P. J. Huber, Robust Statistics (1981); GSL reference, nonlinear least squares.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

enum { AR_FIT_PARAMETERS_MAX = 32, AR_FIT_ROWS_MIN = 3 };

struct ar_fit_problem {
    size_t parameters_count; /**< from 1 to AR_FIT_PARAMETERS_MAX */
    const double *priors;    /**< values above zero, where the first attempt starts */
    double prior_spread;     /**< standard deviation of the logarithm of a value around its prior */
    /** The same of each parameter; NULL: all as above. The next two are scaled alike. */
    const double *prior_spreads;
    double start_spread;   /**< of the points where the other attempts start */
    double identified_max; /**< a parameter is identified if its standard error is below this */
    double residual_min;   /**< rows are taken to be no better than this; 0: 1e-4 */
    bool may_creep; /**< an attempt that still creeps after all its iterations has converged */
    uint32_t starts_count; /**< attempts; 0: 8 */
    double tolerance;      /**< relative change of values that are found; 0: 1e-9 */
    size_t rows_count;
    const double *times_s; /**< measured, above zero, of the first row */
    const double *bytes;   /**< its size, for the check that there are several */
    size_t stride;         /**< of both, from row to row, in doubles */
    /** Writes the times of marked rows (NULL: all) with these values; false: they cannot be had,
     * and the attempt fails. A row uses a parameter if 1e9 or 1e-9 of it changes it. */
    bool (*predict)(const double *values, const bool *is_asked, double *times_s, void *data);
    void *data;
    const char *expected; /**< ends the error line of a fit that does not converge */
};

/** The result of a fit, in arrays of the caller. */
struct ar_fit {
    double *values;
    double *covariance;   /**< of the logarithms of the values, row by row */
    bool *is_identified;  /**< the data say more than the prior */
    double residual_frac; /**< robust standard deviation of the relative errors of the rows */
};

/** Solves a problem. AR_BAD_DATA, and `fit` left as it was: too few rows, less than two sizes,
 * or no attempt converged. The same problem gives the same fit. */
enum ar_status ar_fit_solve(const struct ar_fit_problem *problem, struct ar_fit *fit,
                            struct ar_error *err);
