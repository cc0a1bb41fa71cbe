/** \file ar_library.h
 * Communication libraries (NCCL, RCCL): their calls, algorithms and protocols, and the
 * calls that a collective is made of.
 *
 * A library runs the same call in several ways, a choice of algorithm and protocol each:
 *
 *     ring or tree       p ranks on n nodes, g = p/n of a node; a ring takes 2(p-1) steps, of which
 *                        2(n-1) cross the network; a tree takes 2((g-1) + log2 n) hops, of which
 *                        2 log2 n cross the network
 *     ll, ll128, simple  the protocol: low latency with half the bytes for flags, the same with an
 *                        eighth of a cache line's, or whole slots behind a fence
 *
 * Which one it takes is its own business: the one of least time by its own constants
 * (ar_tuning.h), not by what is measured. How long that takes is ar_library_fit.h.
 *
 * The same rings carry the halves of an all-reduce, and with them all-reduces on grids are made of
 * several calls (ar_library_calls()): each pays its base, its own hops, and its bytes by the
 * bandwidth, that of the network divided by the calls that leave a node together.
 */
#pragma once

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
    AR_CHOICE_PAT,
    AR_CHOICE_SEND /**< a part to each other rank, all at once */
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
    X(AR_PAT, PAT, SIMPLE, "pat/simple")                                                           \
    X(AR_SEND_LL, SEND, LL, "send/ll")                                                             \
    X(AR_SEND_SIMPLE, SEND, SIMPLE, "send/simple")

enum ar_choice { AR_CHOICE_LIST(AR_LIST_FIRST) AR_CHOICES_COUNT };

/** Facts about each choice. */
extern const struct ar_choice_facts {
    enum ar_choice_algorithm algorithm;
    enum ar_choice_protocol protocol;
    const char *name;
} ar_choices[AR_CHOICES_COUNT];

/** The calls of the library that it has a model of. */
enum ar_library_call {
    AR_ALL_REDUCE = 0,
    AR_REDUCE_SCATTER, /**< and */
    AR_ALL_GATHER,     /**< half an all-reduce each: p-1 steps of s/p */
    AR_REDUCE,         /**< and */
    AR_BROADCAST,      /**< a chain of p-1 hops that all s bytes stream through */
    AR_PRICED_CALLS,   /**< how many NCCL has a price of; it has none of those below */
    AR_ALL_TO_ALL = AR_PRICED_CALLS, /**< in a node alone */
    AR_LIBRARY_CALLS_COUNT
};

/** The operation of each call. Rings of one whose ranks send all of the payload are chains. */
extern const struct ar_operation *const ar_library_operations[AR_LIBRARY_CALLS_COUNT];

static inline bool ar_library_is_chain(enum ar_library_call call)
{
    return ar_library_operations[call]->rounds == 0;
}

/** The call that achieves an operation; false if the library has no model of one. */
bool ar_library_call_find(const struct ar_operation *operation, enum ar_library_call *call);

/** A run, as the library sees it. */
struct ar_library_run {
    uint32_t nodes; /**< at least 1 */
    uint32_t ranks; /**< at least 2 and at least `nodes` */
    double bytes;   /**< of the whole buffer of a rank, above 0 */
    enum ar_library_call call;
    uint32_t sharers; /**< such calls that leave each node together, of other ranks; 0, 1: alone */
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
