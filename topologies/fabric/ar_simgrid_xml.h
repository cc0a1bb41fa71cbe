/** \file ar_simgrid_xml.h
 * A cluster as SimGrid platform file.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "ar_cluster.h"

/** Whether all routes between nodes are those from gate to gate of a tree of zones, as on ideal fat
 * trees; else a platform has a route for each pair of ranks. */
bool ar_cluster_is_nested(const struct ar_cluster *cluster);

/** Writes the first `nodes_count` nodes as a SimGrid platform (DTD version 4.1): nested zones, one
 * host per GPU named `gpu-<rank>`, explicit sharing policies and directions. Every route has the
 * latency and the links of ar_cluster_path(); a route between nodes has two links besides,
 * `node-<n>.out.net` and `node-<m>.in.net`, which carry the latency and never limit. Links of nodes
 * that are not written are left out. Routes can be asked for once the simulation runs. Write errors
 * are left in `file` for ferror(). `nodes_count` is between 1 and the cluster's.
 *
 * On a cluster that is not nested, or if there are `pairs`, there is one zone with a
 * route for each of the pairs, in any order and any number of times, or, where `pairs` is NULL, for
 * all; an end of a pair may be AR_SWITCH with a rank, a host of its own; only links that they take
 * are written, and each route begins with a link `LINK[.TIER].net` for its first LINK, which
 * carries its latency and never limits.
 */
void ar_cluster_write_simgrid(const struct ar_cluster *cluster, uint32_t nodes_count,
                              const struct ar_flow *pairs, size_t pairs_count, FILE *file);
