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
 *     efficiency(s)                     NCCL's own correction of the bandwidth of such trees
 *
 * The correction is 0.9 up to 4 KiB, 0.5 from 128 KiB to 4 MiB and 0.9 at 128 MiB.
 *
 * A tree's inner node hears from two children, so its ll bytes count twice; its ll chunk is the
 * data of one slot (32 KiB) on two channels: NVIDIA/nccl v2.8.4-1, NCCL_LL_BUFF_SIZE / NCCL_STEPS
 * / 2.
 *
 * Which choice the library makes is its own business: NCCL takes the one of least time by its own
 * constants (ar_tuning.h), not by what is measured.
 *
 * The same rings carry the halves of an all-reduce, and with them all-reduces on grids are made of
 * several calls (ar_library_calls()): each pays its base, its own hops, and its bytes by the
 * bandwidth, that of the network divided by the calls that leave a node together.
 */
#ifndef AR_LIBRARY_H
#define AR_LIBRARY_H

#include "ar_algorithm.h"

/** The algorithms of the library. The switches of the network sum in collnet, those of NVLinks
 * (NVLink SHARP) in nvls; pat is a logarithmic all-gather of one rank per node. */
enum ar_choice_algorithm {
    AR_CHOICE_RING,
    AR_CHOICE_TREE,
    AR_CHOICE_COLLNET_DIRECT,
    AR_CHOICE_COLLNET_CHAIN,
    AR_CHOICE_NVLS,
    AR_CHOICE_NVLS_TREE,
    AR_CHOICE_PAT
};

enum ar_choice_protocol { AR_PROTOCOL_LL, AR_PROTOCOL_LL128, AR_PROTOCOL_SIMPLE };

/** Symbol, algorithm, protocol, name. */
#define AR_CHOICE_LIST(X)                                                                          \
    X(AR_RING_LL, RING, LL, "ring/ll")                                                             \
    X(AR_RING_LL128, RING, LL128, "ring/ll128")                                                    \
    X(AR_RING_SIMPLE, RING, SIMPLE, "ring/simple")                                                 \
    X(AR_TREE_LL, TREE, LL, "tree/ll")                                                             \
    X(AR_TREE_LL128, TREE, LL128, "tree/ll128")                                                    \
    X(AR_TREE_SIMPLE, TREE, SIMPLE, "tree/simple")                                                 \
    X(AR_COLLNET_DIRECT, COLLNET_DIRECT, SIMPLE, "collnet-direct/simple")                          \
    X(AR_COLLNET_CHAIN, COLLNET_CHAIN, SIMPLE, "collnet-chain/simple")                             \
    X(AR_NVLS, NVLS, SIMPLE, "nvls/simple")                                                        \
    X(AR_NVLS_TREE, NVLS_TREE, SIMPLE, "nvls-tree/simple")                                         \
    X(AR_PAT, PAT, SIMPLE, "pat/simple")

enum ar_choice {
#define X(symbol, ...) symbol,
    AR_CHOICE_LIST(X)
#undef X
        AR_CHOICES_COUNT
};

/** What is said of each choice. */
extern const struct ar_choice_facts {
    enum ar_choice_algorithm algorithm;
    enum ar_choice_protocol protocol;
    const char *name;
} ar_choices[AR_CHOICES_COUNT];

/** What a parameter is the latency of: a call, or a hop in a node or across the network. */
enum ar_latency { AR_LATENCY_NONE, AR_LATENCY_BASE, AR_LATENCY_NODE, AR_LATENCY_NET };

/* clang-format off */
/** The parameters: symbol, name, unit (s, B or B/s), a value to start from (for V100 and EDR
 * InfiniBand), the choice and the part of it that it is the latency of, where it comes from. */
#define AR_LIBRARY_PARAMETER_LIST(X)                                                                                                  \
    X(AR_LL_BASE, "ll.base", "s", 4.0e-6, RING_LL, BASE, "NCCL 2.8.4: ring 3.6 us, tree 4.4 us")                                      \
    X(AR_LL_NODE_LATENCY, "ring.ll.node.latency", "s", 0.85e-6, RING_LL, NODE, "NCCL 2.8.4: 0.47 us times 1.8")                       \
    X(AR_LL_NET_LATENCY, "ring.ll.net.latency", "s", 2.7e-6, RING_LL, NET, "NCCL 2.8.4")                                              \
    X(AR_LL_RAMP, "ll.ramp", "s", 2.0e-6, RING_LL, NONE, "an order of magnitude: a hop's latency")                                    \
    X(AR_LL_HALF, "ll.half", "B", 2048, RING_LL, NONE, "512 threads of 8 bytes, half of them")                                        \
    X(AR_LL_KNEE, "ll.knee", "B", 16384, RING_LL, NONE, "half the data of a slot: 32 KiB")                                            \
    X(AR_LL_NODE_BANDWIDTH, "ll.node.bandwidth", "B/s", 33e9, RING_LL, NONE, "NCCL 2.8.4: a quarter of the bus, 132 GB/s")            \
    X(AR_LL_NET_BANDWIDTH, "ll.net.bandwidth", "B/s", 6e9, RING_LL, NONE, "NCCL 2.8.4: a quarter of the bus, 24 GB/s")                \
    X(AR_LL128_BASE, "ring.ll128.base", "s", 10e-6, RING_LL128, BASE, "NCCL 2.8.4")                                                   \
    X(AR_LL128_LATENCY, "ring.ll128.node.latency", "s", 1.9e-6, RING_LL128, NODE, "NCCL 2.8.4")                                       \
    X(AR_LL128_BANDWIDTH, "ring.ll128.node.bandwidth", "B/s", 121e9, RING_LL, NONE, "NCCL 2.8.4: 0.92 of the bus")                    \
    X(AR_SIMPLE_BASE, "ring.simple.base", "s", 8.4e-6, RING_SIMPLE, BASE, "NCCL 2.8.4")                                               \
    X(AR_SIMPLE_NODE_LATENCY, "ring.simple.node.latency", "s", 3.4e-6, RING_SIMPLE, NODE, "NCCL 2.8.4")                               \
    X(AR_SIMPLE_NET_LATENCY, "ring.simple.net.latency", "s", 18.2e-6, RING_SIMPLE, NET, "NCCL 2.8.4: 9.6 us times 1.9, its plateau")  \
    X(AR_SIMPLE_NODE_BANDWIDTH, "ring.simple.node.bandwidth", "B/s", 132e9, RING_LL, NONE, "NCCL 2.8.4: bus of 6 NVLinks of 22 GB/s") \
    X(AR_SIMPLE_NET_BANDWIDTH, "ring.simple.net.bandwidth", "B/s", 24e9, RING_LL, NONE, "NCCL 2.8.4: bus of 2 EDR HCAs of 12 GB/s")   \
    X(AR_TREE_LL_NODE_LATENCY, "tree.ll.node.latency", "s", 0.94e-6, TREE_LL, NODE, "NCCL 2.8.4: 0.52 us times 1.8")                  \
    X(AR_TREE_LL_NET_LATENCY, "tree.ll.net.latency", "s", 5.0e-6, TREE_LL, NET, "NCCL 2.8.4")                                         \
    X(AR_TREE_SIMPLE_NODE_LATENCY, "tree.simple.node.latency", "s", 28e-6, TREE_SIMPLE, NODE, "NCCL 2.8.4")                           \
    X(AR_TREE_SIMPLE_NET_LATENCY, "tree.simple.net.latency", "s", 28e-6, TREE_SIMPLE, NET, "NCCL 2.8.4")                              \
    X(AR_TREE_SIMPLE_BANDWIDTH, "tree.simple.bandwidth", "B/s", 11e9, RING_LL, NONE, "NCCL 2.8.4: 0.46 of the bus, 24 GB/s")
/* clang-format on */

enum ar_library_parameter {
#define X(symbol, ...) symbol,
    AR_LIBRARY_PARAMETER_LIST(X)
#undef X
        AR_LIBRARY_PARAMETERS_COUNT
};

/** The list as a table. */
extern const struct ar_library_parameter_facts {
    const char *name;
    const char *unit;
    double start;
    enum ar_choice choice;
    enum ar_latency latency;
    const char *source;
} ar_library_parameters[AR_LIBRARY_PARAMETERS_COUNT];

/** The calls of the library that it has a model of. */
enum ar_library_call {
    AR_ALL_REDUCE = 0,
    AR_REDUCE_SCATTER, /**< and */
    AR_ALL_GATHER,     /**< half an all-reduce each: p-1 steps of s/p */
    AR_REDUCE,         /**< and */
    AR_BROADCAST,      /**< a chain of p-1 hops that all s bytes stream through */
    AR_LIBRARY_CALLS_COUNT
};

/** What is said of each call. */
extern const struct ar_library_call_facts {
    const struct ar_operation *operation;
    uint32_t rounds; /**< of its rings: steps of an all-reduce go round twice */
    bool is_chain;
} ar_library_call_facts[AR_LIBRARY_CALLS_COUNT];

/** The call that achieves an operation; false if the library has no model of one. */
bool ar_library_call_find(const struct ar_operation *operation, enum ar_library_call *call);

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

/** Whether a fit has parameters for the choice: rings, by ll128 on one node, and trees by ll and
 * simple for all-reduces on several. All others are of NCCL's own cost model only. */
bool ar_choice_is_fitted(enum ar_choice choice, const struct ar_library_run *run);

/* --- algorithms --------------------------------------------------------------------------- */

enum { AR_LIBRARY_CALLS_MAX = 3 };

/** The calls that a collective of `bytes` on X x Y ranks is made of: an all-reduce by
 * AR_CALLS_TORUS a reduce-scatter in rows of X, an all-reduce of s/X in columns of Y and an
 * all-gather in rows, by AR_CALLS_LEADERS a reduce in groups of X, an all-reduce of s among their Y
 * leaders and a broadcast; `call` by all others. Returns how many; of three, those of one rank are
 * left out.
 *
 * Rank r lies on node r / g, g = `gpus_per_node`. Row j is ranks jX to jX + X - 1: it spans the
 * nodes of these, the longest row counts, ceil(X/g) where rows begin on nodes. Column i has the
 * stride X: Y nodes if X >= g, else 1 + floor((Y-1) X / g). Calls that run side by side share the
 * HCAs of a node: the X columns that pass through it, at most g; two rows if they meet within a
 * node, else one; one ring of leaders. With k sharers each has 1/k of the network's bandwidth.
 * (That is g / (ranks of a group on a node) where groups are even.) Groups inside a node are taken
 * to disturb nobody. */
size_t ar_library_calls(enum ar_calls calls, enum ar_library_call call,
                        const struct ar_shape *shape, uint32_t gpus_per_node, double bytes,
                        struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]);

#endif
