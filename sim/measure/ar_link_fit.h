/** \file ar_link_fit.h
 * Fits the numbers of a cluster file that say how long messages take to measured collectives of our
 * own algorithms, with their uncertainty.
 *
 * A row is predicted by the closed form (ar_closed.h) on the cluster; what is fitted are the
 * numbers of ar_link_cost that the rows depend on. The fit is that of ar_fit.h: the priors are the
 * values that the cluster has, within a factor of three (one standard deviation), and a number is
 * identified if its standard error is below 25 %. A number of the file that is zero stays zero, and
 * one that no row depends on (the network, if all rows are of one node) stays as it is.
 *
 * Rings tell the sum of `gpu.reduce_cost` and the time per byte of a link, not the two apart: where
 * every byte that is received is also summed up, only their priors divide them.
 */
#pragma once

#include "ar_collective.h"
#include "ar_fit.h"

/** A measured collective. */
struct ar_link_row {
    struct ar_collective collective; /**< its cluster is one of those that are fitted */
    uint64_t elements;
    double bytes; /**< of the elements */
    double time_s;
};

/** Standard deviation of the logarithm of a number around its prior: a factor of three. */
#define AR_LINK_PRIOR_SPREAD 1.0986122886681098

/** The state of a number after a fit. */
enum ar_link_state {
    AR_LINK_ABSENT,       /**< the file does not have it */
    AR_LINK_ZERO,         /**< it is zero and stays so */
    AR_LINK_UNUSED,       /**< no row depends on it; not fitted */
    AR_LINK_UNIDENTIFIED, /**< fitted, but the data say little more than the prior */
    AR_LINK_IDENTIFIED
};

struct ar_link_number {
    enum ar_link_state state;
    double prior;
    double value;      /**< the prior, if it is not fitted */
    double error_frac; /**< standard error of the logarithm of the value; NAN if it is not fitted */
};

struct ar_link_fit {
    struct ar_link_number numbers[AR_LINK_COSTS_COUNT];
    /** Covariance of the logarithms of the values; 0 of those that are not fitted. */
    double covariance[AR_LINK_COSTS_COUNT][AR_LINK_COSTS_COUNT];
    double residual_frac; /**< robust standard deviation of the relative errors of the rows */
    size_t rows_count;
};

/** The setting that gives a number, 0 or not; NULL: none. */
const struct ar_setting *ar_link_setting(const struct ar_settings *settings,
                                         enum ar_link_cost cost);

/** Gives a cluster priors of the costs of a message besides its path (ar_message_cost.h) and of the
 * setup, and if its file names no GPU those of moves and large buffers in the memory of a host,
 * where it has 0 and no setting gives the number, so that they are fitted, too. They are assumed
 * orders of magnitude: microseconds of software, 10 GB/s of a core, a microsecond for a page of
 * 4 KiB. The gap of messages of GPUs, which a thread of the library hands to the network one by
 * one, is that of a hop of NCCL's shortest protocol (2.7 us, NVIDIA/nccl v2.8.4-1,
 * src/graph/tuning.cc). */
void ar_link_fit_open(struct ar_cluster *cluster, const struct ar_settings *settings);

/** Fits to `count` rows and leaves all clusters, which differ in shape only, with the fitted
 * numbers; their first one has the priors. Values are found to 1e-9, by fewer
 * than two rows for each or by many rows to 1e-4. Fastest where rows of one collective follow each
 * other. AR_BAD_DATA, with clusters and `fit` as they were: fewer than 3 rows, less than two sizes,
 * rows that depend on nothing, no convergence, a residual beyond 1000 %; other errors are those of
 * ar_flows_create(). */
enum ar_status ar_link_fit(struct ar_cluster *const *clusters, size_t clusters_count,
                           const struct ar_link_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err);

/** Whether two rows ran the same collective, so that they may share its flows. */
bool ar_link_is_same(const struct ar_collective *a, const struct ar_collective *b);

/** Writes the times of rows on their clusters as these are. */
enum ar_status ar_link_predict(const struct ar_link_row *rows, size_t count, double *times_s,
                               struct ar_error *err);
