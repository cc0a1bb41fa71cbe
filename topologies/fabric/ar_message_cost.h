/** \file ar_message_cost.h
 * Costs of a message between nodes besides its path: the work of the software at its two ends.
 *
 * When its bytes have passed the links of its path, a message keeps the HCAs at its two ends busy
 * for a gap (`net.message_gap`): then its connection is free for the next one. An HCA works on the
 * gaps of messages that pass it together in turns, those of all channels and GPUs that use it: each
 * takes as long as all of them. A message takes longer than an empty one by a latency that
 * grows with its size: linearly from nothing to `net.latency_1KiB` at 1 KiB, from there by
 * `net.latency_8KiB` more to 8 KiB, and so on; beyond 512 KiB it stays. That covers messages that
 * are copied on the way (eager) and handshakes (rendezvous). Messages within a node cost nothing
 * besides.
 *
 * Sources: Alexandrov et al., LogGP, SPAA (1995); Kielmann et al., Fast measurement of LogP
 * parameters for message passing platforms, IPDPS (2000): latency and gap as functions of size.
 */
#pragma once

#include <stdbool.h>

#include "ar_list.h"

/** The kinds of path between two GPUs, nearest first. */
#define AR_TIER_LIST(X)                                                                            \
    X(AR_TIER_NVLINK, "nvlink", "GPU to GPU of a node over NVLink")                                \
    X(AR_TIER_PCIE, "pcie", "GPU to GPU of a node over PCIe")                                      \
    X(AR_TIER_RACK, "rack", "node to node within a rack")                                          \
    X(AR_TIER_SPINE, "spine", "node to node over several switches")

enum ar_tier { AR_TIER_LIST(AR_LIST_FIRST) AR_TIERS_COUNT };

const char *ar_tier_name(enum ar_tier tier);

enum { AR_MESSAGE_STEPS = 4 };

struct ar_message_cost {
    double path_s[AR_TIERS_COUNT];      /**< latency of a path, without that of its switches */
    bool is_any;                        /**< some of the following is above zero */
    double gap_s;                       /**< of LogGP */
    double latency_s[AR_MESSAGE_STEPS]; /**< by which the latency grows in each step of size */
};

/** Whether a path of this tier leads to another node. */
static inline bool ar_tier_is_network(enum ar_tier tier)
{
    return tier == AR_TIER_RACK || tier == AR_TIER_SPINE;
}

/** The time for which a message keeps its HCAs busy besides that of its bytes. */
static inline double ar_message_gap_s(const struct ar_message_cost *cost, enum ar_tier tier)
{
    return ar_tier_is_network(tier) ? cost->gap_s : 0;
}

/** The bytes that take this time on a path with so much bandwidth: for parameter servers, whose
 * messages share links as they come. */
static inline double ar_message_gap_bytes(const struct ar_message_cost *cost, enum ar_tier tier,
                                          double bandwidth_Bps)
{
    return ar_message_gap_s(cost, tier) * bandwidth_Bps;
}

/** Whether messages over paths of these tiers cost the same, but for switches and links. */
static inline bool ar_tier_is_alike(enum ar_tier one, enum ar_tier other)
{
    return one == other || (ar_tier_is_network(one) && ar_tier_is_network(other));
}

/** The latency of a message of `bytes` besides that of its path. */
static inline double ar_message_extra_s(const struct ar_message_cost *cost, enum ar_tier tier,
                                        double bytes)
{
    static const double ends[AR_MESSAGE_STEPS] = {1024, 8192, 65536, 524288};
    double extra_s = 0;
    double begin = 0;
    if (!cost->is_any || !ar_tier_is_network(tier)) {
        return 0;
    }
    for (int i = 0; i < AR_MESSAGE_STEPS && bytes > begin; i++) {
        double part = bytes < ends[i] ? (bytes - begin) / (ends[i] - begin) : 1;
        extra_s += part * cost->latency_s[i];
        begin = ends[i];
    }
    return extra_s;
}
