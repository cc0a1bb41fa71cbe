/** \file ar_pair_fit.h
 * Fit of one link to messages between two processes: osu_latency and osu_bw.
 *
 * A message of b bytes takes latency + b / bandwidth; one of many in flight a constant of its own
 * + b / bandwidth. The fit is that of ar_fit.h with the numbers of the cluster file as priors,
 * within a factor of three; rows where the MPI library changes its protocol count less.
 */
#ifndef AR_PAIR_FIT_H
#define AR_PAIR_FIT_H

#include "ar_link_fit.h"

/** What joins two processes. */
struct ar_pair_link {
    const char *name; /**< `nvlink`, `pcie`, `network` */
    const char *model;
    enum ar_link_cost latency, bandwidth;
    uint32_t nodes; /**< that the processes are on */
};

/** The link of this name, NULL if there is none. */
const struct ar_pair_link *ar_pair_link_find(const char *name);

/** One measured size. */
struct ar_pair_row {
    double time_s; /**< above zero */
    double bytes;
    bool is_alone; /**< one message, else one of many in flight */
};

/** Fits the link, which the cluster has with numbers above zero. Numbers of other links are those
 * of the cluster. AR_BAD_DATA for rows that cannot be fitted. */
enum ar_status ar_pair_fit(const struct ar_pair_link *link, const struct ar_cluster *cluster,
                           const struct ar_pair_row *rows, size_t count, struct ar_link_fit *fit,
                           struct ar_error *err);

#endif
