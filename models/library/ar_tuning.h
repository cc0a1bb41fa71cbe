/** \file ar_tuning.h
 * NCCL's own cost model, by release and generation of the GPUs: what it expects of each choice, and
 * which one it takes. Latencies in microseconds, bandwidths in GB/s, as in its source.
 */
#pragma once

#include "ar_gpu_generation.h"
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

/** Bounds of bandwidths by generation of the GPUs; 0: none. */
struct tuning_caps {
    double bus;                       /**< of all algorithms */
    double ll[TUNING_SCALES];         /**< of ll */
    double ring_ll128[TUNING_SCALES]; /**< of a channel */
    double tree[TUNING_SCALES];       /**< of a channel */
    double tree_ll128[TUNING_SCALES]; /**< of a channel */
    double nvls_tree[TUNING_SCALES];  /**< of a channel */
    double nvls_share;                /**< what nvls reaches of the bandwidth in a node */
    double plateau; /**< of the latency of large simple rings on several nodes; 1: none */
};

/** How nvls is priced. */
enum tuning_nvls {
    TUNING_NVLS_NONE,
    TUNING_NVLS_AS_RINGS,  /**< the bus of rings */
    TUNING_NVLS_NARROWEST, /**< the narrower of node and network */
    TUNING_NVLS_HALVES,    /**< the same; halves leave out what stays on a GPU */
    TUNING_NVLS_SHARE      /**< by nvls_share, without one channel */
};

/** A release. */
struct ar_release {
    const char *release; /**< `2.8.4`, used for all of 2.8, or `rccl-2.22.3` */
    const char *name;    /**< `nccl-2.8.4`, `rccl-2.22.3` */
    /** The release that stands for it on GPUs of a generation; NULL: it does. */
    const struct ar_release *of_generation[AR_GPU_GENERATIONS_COUNT];
    const char *source;
    bool has_tuner; /**< it loads plug-ins that choose: NCCL from 2.19.1 on */
    struct tuning_latency latency[AR_CHOICES_COUNT];

    /** Which choices there are, a bit for each: of all-reduces, of reduce-scatters and all-gathers;
     * the rings of all-reduces are those of reduce and broadcast, too. */
    uint32_t all_reduces, halves;
    bool has_node_trees;     /**< trees on one node */
    bool has_send_ll;        /**< sends by ll: NCCL from 2.14 on */
    double ll_channel_bytes; /**< ll up to this for each rank and channel, simple above, whatever
                                  they cost; 0: the cheapest choice */

    const struct tuning_caps *caps; /**< by generation; later ones are taken as the last */
    uint32_t caps_count;
    bool are_caps_total; /**< those of a channel are of all together */

    /* Rings. */
    bool is_net_everywhere; /**< on several nodes every hop takes the latency of the network */
    double ll_node_factor;  /**< on several nodes, of the latency of an ll hop within one */
    double net_overhead;    /**< on several nodes, the least latency of a hop: posting it to the
                                 network. Simple takes three times that, a CPU of AMD twice */
    double extra_net_hops;  /**< of an all-reduce on several nodes, counted as hops of the network
                                 instead of a node's */
    double plateau_channel_bytes; /**< where the plateau begins, for each rank and channel; 0: with
                                       4 KiB for each rank */
    double ll_divisor;            /**< of the bandwidth of the bus, for ll */
    double ll_node_divisor;       /**< the same on one node, but for all-reduces and reduces */
    double ll128_share;           /**< of the bandwidth of the bus */
    double ll128_alone_share;     /**< the same with one rank on each of several nodes */
    bool is_alone_tree_net; /**< with one rank per node a hop takes the network latency of trees */

    /* Trees. */
    double tree_share;                       /**< of the bandwidth of the bus */
    double tree_pair_share;                  /**< the same of simple on two nodes; 0: as others */
    double tree_alone_share;                 /**< of that, with one rank per node */
    double tree_ll_divisor;                  /**< of that, for ll */
    double tree_ll128_node_share;            /**< of that, for ll128 on one node */
    double tree_ll128_share;                 /**< of that on several nodes, for ll128 */
    double tree_ll_correction[TUNING_SIZES]; /**< of the bandwidth by size, 0: none from here on */
    double tree_ll128_correction[TUNING_SIZES];
    double tree_simple_correction[TUNING_SIZES];

    /* Sums by switches, and pat. */
    double collnet_direct_hop;  /**< of each other GPU of the node, each way */
    bool has_collnet_chain_net; /**< chains pay the latency of the network */
    double collnet_chain_share; /**< of the bandwidth of the bus */
    enum tuning_nvls nvls;
    double nvls_ratio;  /**< payload over bus bandwidth of all-reduces; 0: that of a ring */
    bool has_nvls_line; /**< nodes of an nvls-tree form a line */
    double pat_share;   /**< of the bandwidth of the bus */
};

/** The releases, the oldest first. */
extern const struct ar_release ar_releases[];
extern const size_t ar_releases_count;

/** The default: 2.8.4. */
extern const struct ar_release *const ar_release_default;

/** Links between the GPUs of a node. The rings of a mesh differ from channel to channel. */
enum tuning_links { TUNING_NVLINK_MESH, TUNING_PCIE, TUNING_NVSWITCH };

/** NCCL's own cost table: constants and caps of a release, and the rates of the rings that its
 * search finds in a node and across the network. */
struct ar_tuning {
    const struct ar_release *release;
    double node_bus_Bps;
    double net_bus_Bps;
    double net_payload_Bps; /**< what the HCAs of a node carry, if less; 0: not known */
    uint32_t channels;      /**< its rings, 4 by default */
    enum ar_gpu_generation generation;
    enum ar_cpu_vendor cpu;
    enum ar_hca_kind hca_kind;
    enum tuning_links links;
    uint32_t hcas;      /**< of a node; 0: not known, more than one */
    bool has_near_hcas; /**< HCAs hang on the PCIe switches of their GPUs: ll128 goes across nodes,
                             and a GPU takes no other HCA */
    bool has_collnet;   /**< the network sums, by a plug-in */
    double net_latency_s; /**< of the network, as its plug-in states it; 0: as InfiniBand's */
    /** Findings on other machines for parameters of ar_library_fit.h, [parameter]: logarithms of
     * factors on the priors of the release; NULL: nothing. */
    const double *factor_logs;
};

/** The table of a release with the rates of a cluster; a row is used for all of its minor version,
 * 2.18.3 for 2.18.5. AR_BAD_DATA, a line that begins with `where`, for others. */
enum ar_status ar_tuning_find(const char *where, const char *release, double node_bus_Bps,
                              double net_bus_Bps, struct ar_tuning *tuning, struct ar_error *err);

/** Says what the GPUs are, and takes what the release has for them. */
void ar_tuning_set_generation(struct ar_tuning *tuning, enum ar_gpu_generation generation);

/** The part of the network's bandwidth that one of the calls that share it has: GPUs that have HCAs
 * beside them take no others. */
double ar_tuning_net_share(const struct ar_tuning *tuning, const struct ar_library_run *run);

/** The table of release 2.8.4, the default. */
struct ar_tuning ar_tuning_nccl_2_8_4(double node_bus_Bps, double net_bus_Bps);

/** The bounds of a generation of GPUs. */
const struct tuning_caps *ar_tuning_caps(const struct ar_release *release,
                                         enum ar_gpu_generation generation);

/** Latency of a hop across the network, microseconds: the release's and that of the plug-in, simple
 * twice, since it waits until what came is flushed. */
double ar_tuning_net_latency(const struct ar_tuning *tuning, enum ar_choice choice);

/** Latency of a hop within a node, microseconds; on one node, or of a run on several. */
double ar_tuning_node_latency(const struct ar_tuning *tuning, enum ar_choice choice,
                              bool is_on_several);

/** Time of a choice by NCCL's own constants, in seconds, NAN of sends; p ranks on n nodes, c
 * channels, "bus" the rate of rings in a node or, shared by those that leave it together, across
 * the network.
 *
 *     ring            base + hops in the node x node + hops across x net + s x parts/p / bus
 *     of a chain      base + one hop, or p hops if rings differ by channel; s / bus
 *     tree            base + 2 ((p/n - 1) node + floor(log2 n) net) + 2 s / (bus x correction(s))
 *     collnet-direct  base + 2 (min(1, p/n - 1) node + (p/n - 1) hop) + net + 2 s f / bus,
 *                     f = g - (g - 1)/2, g = p/n/HCAs; of the halves of an all-reduce s / bus
 *     collnet-chain   base + 2 (p/n - 1) node + net + 2 s / bus
 *     nvls            base + net + s / (bus x ratio)
 *     nvls-tree       base + 2 floor(log2 n) net + s / (bus x ratio)
 *     pat             base + floor(log2 n) net / 3.5 + 2.8 p + s / (bus x share)
 *
 * The bus of a choice, the latency of hops and their number differ by release
 * (tuning_releases.c). */
double ar_tuning_time(const struct ar_tuning *tuning, enum ar_choice choice,
                      const struct ar_library_run *run);

/** Whether the library may take a choice for a run. */
bool ar_tuning_is_open(const struct ar_tuning *tuning, enum ar_choice choice,
                       const struct ar_library_run *run);

/** Whether there is a choice at all; `calls` as below. */
bool ar_tuning_has(const struct ar_tuning *tuning, enum ar_calls calls,
                   const struct ar_library_run *run);

/** The open choice of least time by NCCL's own constants (2.3.7: by size); of AR_CALLS_RING and
 * AR_CALLS_TREE among rings or trees (rings if there are no trees). All-to-alls have no price: the
 * part that goes to each rank decides. */
enum ar_choice ar_tuning_choose(const struct ar_tuning *tuning, enum ar_calls calls,
                                const struct ar_library_run *run);
