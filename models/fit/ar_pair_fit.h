/** \file ar_pair_fit.h
 * Fits one link of a cluster to messages between two processes: osu_latency and osu_bw.
 *
 * A message of b bytes takes latency + b / bandwidth; one of many in flight a constant of its own
 * + b / bandwidth. The fit is that of ar_fit.h with the numbers of the cluster file as priors,
 * within a factor of three (ar_link_fit.h); rows where the MPI library changes its protocol count
 * less.
 */
#ifndef AR_PAIR_FIT_H
#define AR_PAIR_FIT_H

#include "ar_link_fit.h"

/** What joins the two processes. */
struct ar_pair_link {
    const char *name;  /**< nvlink, pcie or network */
    const char *model; /**< one line for people */
    enum ar_link_cost latency, bandwidth;
    uint32_t nodes; /**< that the processes are on */
};

/** A measured message. */
struct ar_pair_row {
    double bytes;
    double time_s;
    bool is_alone; /**< it had the link to itself (osu_latency); else one of many (osu_bw) */
};

/** Finds a link by name; NULL is none. AR_USAGE, a line that begins with `where`, for others;
 * AR_BAD_DATA if the cluster does not have both numbers, where the fit starts, above zero. */
enum ar_status ar_pair_link_find(const char *where, const char *name,
                                 const struct ar_cluster *cluster, const struct ar_pair_link **link,
                                 struct ar_error *err);

/** Fits bandwidth and, with rows that are alone, latency of a link; numbers of other links are not
 * fitted. AR_BAD_DATA as ar_fit_solve(). */
enum ar_status ar_pair_fit(const struct ar_pair_link *link, const struct ar_cluster *cluster,
                           const struct ar_pair_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err);

#endif
