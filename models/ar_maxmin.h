/** \file ar_maxmin.h
 * Max-min fair sharing of the links of a cluster among messages.
 *
 * Every flow gets the largest rate such that no link is overfull and no flow can have more without
 * taking from one that has less or as much: the links fill up together; when one is full, its flows
 * are settled and the rest goes on. This is what SimGrid does for flows of equal latency (tested).
 *
 * Source: D. Bertsekas and R. Gallager, Data Networks (1992), section 6.5.2.
 */
#ifndef AR_MAXMIN_H
#define AR_MAXMIN_H

#include "ar_cluster.h"

/** A message under way from one rank to another. */
struct ar_flow {
    uint32_t source;
    uint32_t destination;
};

/** Writes the rate of each flow in bytes per second. O(flows * distinct rates). */
enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               size_t flows_count, double *rates_Bps, struct ar_error *err);

#endif
