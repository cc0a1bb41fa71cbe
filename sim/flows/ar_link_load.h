/** \file ar_link_load.h
 * Bytes and messages of a collective on every link of a cluster.
 *
 * Bytes and messages follow from the moves of the algorithm and the paths of the cluster alone: no
 * clock, no engine, nothing is rounded. A message counts on every link of its path. Divided by the
 * bandwidth, the bytes of a link say how long it must be busy, whatever the order of the messages:
 * no collective is faster than its busiest link.
 */
#pragma once

#include "ar_flows.h"

struct ar_link_load {
    uint64_t bytes;
    uint64_t messages_count; /**< those of no bytes, too */
    uint32_t flows_max;      /**< connections that share it in the phase in which most do */
    uint32_t groups_max;     /**< groups of the mesh whose connections share it so */
};

/** Adds what a collective of `elements` elements sends to the loads of all links, which are
 * numbered as in ar_cluster.h. Where all ranks of a phase send in every step around rings, and in
 * trees, the time is O(ranks * lanes), else that of visiting every move. */
enum ar_status ar_link_load_add(const struct ar_collective *collective, uint64_t elements,
                                struct ar_link_load *loads, struct ar_error *err);

/** As ar_link_load_add(), of a collective whose flows are known. */
void ar_link_load_add_flows(const struct ar_flows *flows, uint64_t elements,
                            struct ar_link_load *loads);
