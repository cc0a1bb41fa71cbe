/** \file ar_cluster_hops.h
 * Messages between any two GPUs of a cluster, alone: what placed operators send (ar_operators.h).
 *
 *     time_s = bytes / bandwidth of the narrowest link + gap
 *     latency_s = setup + latency of the path + what the message costs besides
 *
 * Their sum is the time of a send by every engine that knows messages (test_placed_step).
 */
#ifndef AR_CLUSTER_HOPS_H
#define AR_CLUSTER_HOPS_H

#include "ar_cluster.h"
#include "ar_operators.h"

/** The hops refer to the cluster, whose GPUs reach each other (ar_cluster_check_reach()). */
struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster);

#endif
