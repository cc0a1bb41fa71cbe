/** \file ar_library.h
 * What a communication library (NCCL) takes for an all-reduce: the cost of each of its algorithms
 * and protocols, with parameters that are fitted to measurements (ar_library_fit.h).
 *
 * A library runs the same all-reduce in several ways, a choice of algorithm and protocol each:
 *
 *     ring or tree       p ranks on n nodes, g = p/n of a node; a ring takes 2(p-1) steps, of which
 *                        2(n-1) cross the network; a tree takes 2((g-1) + log2 n) hops, of which
 *                        2 log2 n cross the network
 *     ll, ll128, simple  the protocol: low latency with half the bytes for flags, the same with an
 *                        eighth of a cache line's, or whole slots behind a fence
 *
 * With s bytes, c = s/p bytes in a step of a ring, and for each hop the tier of its link (in a
 * node, or across the network):
 *
 *     ring ll      base + sum over hops (latency + ramp(c) + over(c) / bandwidth)
 *     ring ll128   base + sum over hops latency + 2(p-1) c / bandwidth      (one node only)
 *     ring simple  base + sum over hops latency + 2(p-1) c / bandwidth      (of the slowest tier)
 *     tree ll      base + sum over hops (latency + ramp(k)) + 2 log2 n (2 over(k) / bandwidth)
 *                  + 2 (s/k - 1) (ramp(k) + 2 k / bandwidth),   k = min(s, 64 KiB)
 *     tree simple  sum over hops latency + s / (bandwidth efficiency(s))
 *
 *     ramp(x) = ramp x / (x + half)     more warps take part as the message grows
 *     over(x) = max(0, x - knee)        what does not fit the slots that are free at once
 *     efficiency(s)                     NCCL's own correction of the bandwidth of such trees, by
 * size: 0.9 up to 4 KiB, 0.5 from 128 KiB to 4 MiB, 0.9 at 128 MiB
 *
 * A tree's inner node hears from two children, so its ll bytes count twice; its ll chunk is the
 * data of one slot (32 KiB) on two channels: NVIDIA/nccl v2.8.4-1, NCCL_LL_BUFF_SIZE / NCCL_STEPS
 * / 2.
 *
 * Which choice the library makes is its own business: NCCL takes the one of least time by its own
 * constants (ar_tuning), not by what is measured.
 *
 * The same rings carry the halves of an all-reduce, and with them all-reduces on grids are made of
 * several calls (ar_library_calls()): each pays its base, its own hops, and its bytes by the
 * bandwidth, that of the network divided by the calls that leave a node together.
 */
#ifndef AR_LIBRARY_H
#define AR_LIBRARY_H

#include "ar_algorithm.h"

/** The choices: symbol, by trees and not rings, protocol. */
#define AR_CHOICE_LIST(X)                                                                          \
    X(AR_RING_LL, false, "ll")                                                                     \
    X(AR_RING_LL128, false, "ll128")                                                               \
    X(AR_RING_SIMPLE, false, "simple")                                                             \
    X(AR_TREE_LL, true, "ll")                                                                      \
    X(AR_TREE_LL128, true, "ll128")                                                                \
    X(AR_TREE_SIMPLE, true, "simple")

enum ar_choice {
#define X(symbol, is_tree, protocol) symbol,
    AR_CHOICE_LIST(X)
#undef X
        AR_CHOICES_COUNT
};

bool ar_choice_is_tree(enum ar_choice choice);
/** `ring` or `tree` */
const char *ar_choice_algorithm(enum ar_choice choice);
const char *ar_choice_protocol(enum ar_choice choice);

/* clang-format off */
/** The parameters: symbol, name, unit (s, B or B/s), a value to start from (for V100 and EDR
 * InfiniBand) and where that comes from. */
#define AR_LIBRARY_PARAMETER_LIST(X)                                                               \
    X(AR_LL_BASE,           "ll.base",                  "s",   4.0e-6,  "NCCL 2.8.4: ring 3.6 us, tree 4.4 us")    \
    X(AR_LL_NODE_LATENCY,   "ring.ll.node.latency",     "s",   0.85e-6, "NCCL 2.8.4: 0.47 us times 1.8")           \
    X(AR_LL_NET_LATENCY,    "ring.ll.net.latency",      "s",   2.7e-6,  "NCCL 2.8.4")                              \
    X(AR_LL_RAMP,           "ll.ramp",                  "s",   2.0e-6,  "an order of magnitude: a hop's latency")  \
    X(AR_LL_HALF,           "ll.half",                  "B",   2048,    "512 threads of 8 bytes, half of them")    \
    X(AR_LL_KNEE,           "ll.knee",                  "B",   16384,   "half the data of a slot: 32 KiB")         \
    X(AR_LL_NODE_BANDWIDTH, "ll.node.bandwidth",        "B/s", 33e9,    "NCCL 2.8.4: a quarter of the bus, 132 GB/s") \
    X(AR_LL_NET_BANDWIDTH,  "ll.net.bandwidth",         "B/s", 6e9,     "NCCL 2.8.4: a quarter of the bus, 24 GB/s")  \
    X(AR_LL128_BASE,        "ring.ll128.base",          "s",   10e-6,   "NCCL 2.8.4")                              \
    X(AR_LL128_LATENCY,     "ring.ll128.node.latency",  "s",   1.9e-6,  "NCCL 2.8.4")                              \
    X(AR_LL128_BANDWIDTH,   "ring.ll128.node.bandwidth","B/s", 121e9,   "NCCL 2.8.4: 0.92 of the bus")             \
    X(AR_SIMPLE_BASE,       "ring.simple.base",         "s",   8.4e-6,  "NCCL 2.8.4")                              \
    X(AR_SIMPLE_NODE_LATENCY, "ring.simple.node.latency", "s", 3.4e-6,  "NCCL 2.8.4")                              \
    X(AR_SIMPLE_NET_LATENCY, "ring.simple.net.latency", "s",   18.2e-6, "NCCL 2.8.4: 9.6 us times 1.9, its plateau") \
    X(AR_SIMPLE_NODE_BANDWIDTH, "ring.simple.node.bandwidth", "B/s", 132e9, "NCCL 2.8.4: bus of 6 NVLinks of 22 GB/s") \
    X(AR_SIMPLE_NET_BANDWIDTH, "ring.simple.net.bandwidth", "B/s", 24e9, "NCCL 2.8.4: bus of 2 EDR HCAs of 12 GB/s") \
    X(AR_TREE_LL_NODE_LATENCY, "tree.ll.node.latency",  "s",   0.94e-6, "NCCL 2.8.4: 0.52 us times 1.8")           \
    X(AR_TREE_LL_NET_LATENCY, "tree.ll.net.latency",    "s",   5.0e-6,  "NCCL 2.8.4")                              \
    X(AR_TREE_SIMPLE_NODE_LATENCY, "tree.simple.node.latency", "s", 28e-6, "NCCL 2.8.4")                           \
    X(AR_TREE_SIMPLE_NET_LATENCY, "tree.simple.net.latency", "s", 28e-6, "NCCL 2.8.4")                             \
    X(AR_TREE_SIMPLE_BANDWIDTH, "tree.simple.bandwidth", "B/s", 11e9,   "NCCL 2.8.4: 0.46 of the bus, 24 GB/s")
/* clang-format on */

enum ar_library_parameter {
#define X(symbol, name, unit, start, source) symbol,
    AR_LIBRARY_PARAMETER_LIST(X)
#undef X
        AR_LIBRARY_PARAMETERS_COUNT
};

const char *ar_library_parameter_name(enum ar_library_parameter parameter);
const char *ar_library_parameter_unit(enum ar_library_parameter parameter);
const char *ar_library_parameter_source(enum ar_library_parameter parameter);
double ar_library_parameter_start(enum ar_library_parameter parameter);

/** The calls of the library; all but the first are rings only. */
enum ar_library_call {
    AR_ALL_REDUCE = 0,
    AR_REDUCE_SCATTER, /**< and */
    AR_ALL_GATHER,     /**< half an all-reduce each: p-1 steps of s/p */
    AR_REDUCE,         /**< and */
    AR_BROADCAST       /**< a chain of p-1 hops that all s bytes stream through */
};

/** What a run is, for the library. */
struct ar_library_run {
    uint32_t nodes; /**< at least 1 */
    uint32_t ranks; /**< at least 2 and at least `nodes` */
    double bytes;   /**< of the whole buffer of a rank, above 0 */
    enum ar_library_call call;
    uint32_t sharers; /**< such calls that leave each node together, each over other ranks; 0 or 1:
                           it is alone */
};

/** Calls that share the HCAs of a node, 1 if one is alone. */
static inline uint32_t ar_library_sharers(const struct ar_library_run *run)
{
    return run->sharers > 1 ? run->sharers : 1;
}

/** Hops of a ring, one after the other, and how many parts of s/p bytes take their time: 2(p-1) of
 * an all-reduce, p-1 of its halves, p of a chain. */
struct ar_library_hops {
    double node;
    double net;
    double parts;
};

struct ar_library_hops ar_library_ring_hops(const struct ar_library_run *run);

/** Time of a run by one choice with the parameters `values`, in seconds. */
double ar_library_time(const double values[AR_LIBRARY_PARAMETERS_COUNT], enum ar_choice choice,
                       const struct ar_library_run *run);

/** Whether the library has the choice at all, and a fit its parameters: ll128 is for one node,
 * trees are for all-reduces on several, and trees by ll128 are of NCCL's own cost model only. */
bool ar_choice_is_open(enum ar_choice choice, const struct ar_library_run *run);

/* --- algorithms --------------------------------------------------------------------------- */

enum { AR_LIBRARY_CALLS_MAX = 3 };

/** The calls that an all-reduce of `bytes` on X x Y ranks is made of, by AR_CALLS_TORUS a
 * reduce-scatter in rows of X, an all-reduce of s/X in columns of Y and an all-gather in rows, by
 * AR_CALLS_LEADERS a reduce in groups of X, an all-reduce of s among their Y leaders and a
 * broadcast; one by all others. Returns how many; of three, those of one rank are left out.
 *
 * Rank r lies on node r / g, g = `gpus_per_node`. Row j is ranks jX to jX + X - 1: it spans the
 * nodes of these, the longest row counts, ceil(X/g) where rows begin on nodes. Column i has the
 * stride X: Y nodes if X >= g, else 1 + floor((Y-1) X / g). Calls that run side by side share the
 * HCAs of a node: the X columns that pass through it, at most g; two rows if they meet within a
 * node, else one; one ring of leaders. With k sharers each has 1/k of the network's bandwidth.
 * (That is g / (ranks of a group on a node) where groups are even.) Groups inside a node are taken
 * to disturb nobody. */
size_t ar_library_calls(enum ar_calls calls, const struct ar_shape *shape, uint32_t gpus_per_node,
                        double bytes, struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]);

/* --- NCCL's own cost model ---------------------------------------------------------------- */

struct ar_release;

/** NCCL's own cost table: constants and caps of a release, and the rates of the rings that its
 * search finds in a node and across the network. */
struct ar_tuning {
    const char *name;   /**< `nccl-2.8.4` */
    const char *source; /**< where the constants are published */
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

/** `2.8.4` */
const char *ar_tuning_release(const struct ar_tuning *tuning);

/** The releases, the oldest first; NULL behind the last one. */
const char *ar_tuning_release_at(size_t index);

/** NCCL 2.3 and older have rings only. */
bool ar_tuning_has_trees(const struct ar_tuning *tuning);

/** What part of its bandwidth a simple tree of NCCL 2.8.4 reaches at a size, by its own constants:
 * between the powers of two of its table the line between them. */
double ar_tuning_tree_efficiency(double bytes);

enum ar_tuning_hop { AR_TUNING_BASE, AR_TUNING_NODE, AR_TUNING_NET };

/** Latency of a choice, per call or per hop, relative to that of release 2.8.4 over NVLink. */
double ar_tuning_hop_ratio(const struct ar_tuning *tuning, enum ar_choice choice,
                           enum ar_tuning_hop hop);

/** Where a parameter starts from, and its prior: that of the list above, latencies in the
 * proportion of the release's constants. */
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
