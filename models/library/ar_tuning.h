/** \file ar_tuning.h
 * NCCL's own cost model, by release: what it expects of each choice, and which one it takes.
 * Latencies in microseconds, bandwidths in GB/s, as in its source.
 */
#ifndef AR_TUNING_H
#define AR_TUNING_H

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

/** NCCL's own cost table: constants and caps of a release, and the rates of the rings that its
 * search finds in a node and across the network. */
struct ar_tuning {
    const struct ar_release *release;
    double node_bus_Bps;
    double net_bus_Bps;
    uint32_t channels;  /**< its rings; 4 if nobody says otherwise */
    bool is_pcie;       /**< no NVLink in a node */
    bool has_net_ll128; /**< ll128 on several nodes, too: HCAs hang on the PCIe switches of their
                             GPUs. A fit has no parameters for it */
};

/** The table of a release (`2.3.7`, `2.5.6`, `2.8.4`, `2.18.3`) with the rates of a cluster.
 * AR_BAD_DATA, a line that begins with `where`, for others. */
enum ar_status ar_tuning_find(const char *where, const char *release, double node_bus_Bps,
                              double net_bus_Bps, struct ar_tuning *tuning, struct ar_error *err);

/** That of release 2.8.4, the default. */
struct ar_tuning ar_tuning_nccl_2_8_4(double node_bus_Bps, double net_bus_Bps);

/** What part of its bandwidth a simple tree of NCCL 2.8.4 reaches at a size, by its own constants:
 * between the powers of two of its table the line between them. */
double ar_tuning_tree_efficiency(double bytes);

/** Where a parameter starts from, and its prior: that of the list of ar_library.h, latencies in the
 * proportion of the release's constants to those of release 2.8.4 over NVLink. */
double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter);
const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter);

/** Time of a choice by NCCL's own constants, in seconds.
 *
 *     ring   base + hops in the node x node + hops across x net + s x parts/p / bus
 *     tree   base + 2 ((p/n - 1) node + floor(log2 n) net) + 2 s / (bus x correction(s))
 *
 * The bus of a protocol, the latency of hops and their number differ by release
 * (tuning_releases.c). NCCL counts a reduce-scatter in one node by ll a third faster, and a reduce
 * or broadcast with one hop or with p of a tree; here all calls are of the same hops. */
double ar_tuning_time(const struct ar_tuning *tuning, enum ar_choice choice,
                      const struct ar_library_run *run);

/** The open choice of least time by NCCL's own constants (2.3.7: by size); of AR_CALLS_RING and
 * AR_CALLS_TREE among rings or trees (a tree on one node is a ring for lack of an open choice). */
enum ar_choice ar_tuning_choose(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run);

#endif
