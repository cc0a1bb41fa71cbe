/** \file tuning.h
 * Private to this folder: what NCCL counts with, by release. Latencies in microseconds, bandwidths
 * in GB/s, as in its source.
 */
#ifndef AR_LIBRARY_TUNING_H
#define AR_LIBRARY_TUNING_H

#include "ar_library.h"

enum {
    TUNING_SIZES = 23, /**< 64 bytes, 128, 256, ... */
    TUNING_SCALES = 3  /**< one node, two, more */
};

/** Latency of a choice: once per call, and of a hop. */
struct tuning_latency {
    double base;
    double nvlink, pcie; /**< within a node */
    double net;
};

/** A release. */
struct ar_release {
    const char *release; /**< `2.8.4` */
    const char *name;    /**< `nccl-2.8.4` */
    const char *source;
    struct tuning_latency latency[AR_CHOICES_COUNT];

    /* Which choices there are. */
    bool has_trees, has_ll128;
    double ll_channel_bytes; /**< ll up to this for each rank and channel, simple above, whatever
                                  they cost; 0: the cheapest choice */

    /* Rings. */
    bool is_net_everywhere; /**< on several nodes every hop takes the latency of the network */
    double ll_node_factor;  /**< on several nodes, of the latency of an ll hop within one */
    double ll_hop_min;      /**< on several nodes, latency of any hop: posting it to the network */
    double simple_hop_min;
    double extra_net_hops; /**< of an all-reduce on several nodes, counted as hops of the network
                                instead of a node's */
    double plateau;        /**< of the latency of simple all-reduces on several nodes, from
                                64 KiB for 16 ranks on; 1: none */
    double ll_cap[TUNING_SCALES];
    double ll128_share, ll128_cap; /**< of the bandwidth of the bus */
    double ll128_alone_share;      /**< the same with one rank on each of several nodes */

    /* Trees. */
    double tree_share;       /**< of the bandwidth of the bus */
    double tree_ll_divisor;  /**< of that, for ll */
    double tree_ll128_share; /**< of that on several nodes, for ll128 */
    double tree_cap[TUNING_SCALES];
    bool is_tree_cap_of_channel;             /**< else of all together */
    double tree_ll_correction[TUNING_SIZES]; /**< of the bandwidth by size, 0: none from here on */
    double tree_ll128_correction[TUNING_SIZES];
    double tree_simple_correction[TUNING_SIZES];
};

/** The releases, the oldest first. */
extern const struct ar_release ar_releases[];
extern const size_t ar_releases_count;

/** The one that is meant where nothing is said: 2.8.4. */
extern const struct ar_release *const ar_release_default;

#endif
