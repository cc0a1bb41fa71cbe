/** \file ar_maxmin.h
 * Max-min fair sharing of the links of a cluster among messages.
 *
 * Every flow gets the largest rate such that no link is overfull and no flow can have more without
 * taking from one that has less or as much: the links fill up together; when one is full, its flows
 * are settled and the rest goes on. This is what SimGrid does for flows of equal latency (tested).
 *
 * With weights, the rates of flows that share a full link are in proportion to their weights. A
 * link that is not shared bounds each of its flows alone.
 *
 * Source: D. Bertsekas and R. Gallager, Data Networks (1992), section 6.5.2.
 */
#ifndef AR_MAXMIN_H
#define AR_MAXMIN_H

#include "ar_platform.h"

/** Writes the rate of each flow in bytes per second; `weights` above zero, or NULL: all equal.
 * O(flows * distinct rates). */
enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               const double *weights, size_t flows_count, double *rates_Bps,
                               struct ar_error *err);

#endif
