/** \file ar_library_fit.h
 * How long a choice of a communication library takes, by parameters that are fitted to
 * measurements.
 *
 * One formula for all: a base for each call, a latency for each hop, and bytes over a bandwidth.
 * With s bytes on p ranks and n nodes, P the protocol, and hops in nodes and across the network
 * (ar_library.h):
 *
 *     ring    base(P) + node hops x (node(P) + ramp(c)) + net hops x (net(P) + net ramp(c))
 *             + (parts + own(P)) x c / B(P),   c = s/p a part; of ll what is over the knee of it
 *     tree    base(P) + node hops x (node(P) + ramp(k)) + net hops x (tree net(P) + net ramp(k))
 *             + 2 s / (B(P) x share of trees),   k = s, node(P) as long beside that of rings as
 *             by NCCL's constants; on two nodes the network has twice its
 *             bandwidth: a byte goes up and down once, where a node between two passes it on
 *             ll: by chunks of k = min(s, 64 KiB): 2 (s/k - 1) (ramp(k) + 2 k / B) and, of the
 *             first, net hops x 2 over(k) / B
 *     chain   of broadcast and reduce: base(P) + min(4, p-1) ramp(s) + s / B(P) and, but for ll,
 *             the first chunk hop by hop: node hops x k / node + net hops x k / net,
 *             k = s chunk / (s + chunk). Calls that follow one another hide the other latencies.
 *     send    of an all-to-all in a node: base(P) + node(P) + max((p - 1 + own(P)) c, channels x
 *             min(c, 64 KiB)) / B(P): to each other rank NCCL sends by as many channels as have
 *             64 KiB each, by ll up to 16 KiB (NVIDIA/nccl v2.27.3-1, src/enqueue.cc, addP2pToPlan,
 *             NCCL_P2P_LL_THRESHOLD; src/init.cc, NCCL_P2P_NVL_CHUNKSIZE)
 *     own(P)  in a node, where GPUs set the pace: for n parts a kernel takes n + 1 steps, the first
 *             of which only sends, and the last only writes what it was sent (NVIDIA/nccl,
 *             src/device/all_reduce.h, all_gather.h, reduce_scatter.h). By ll and ll128 one step;
 *             simple hides part of it: own.step
 *     nvls    NCCL's own latency x switch.latency + s / B, where switches sum (NVLink SHARP): a GPU
 *             sends its bytes to be summed and its part of the sum to be spread, so with g GPUs on
 *             a node B = node x switch.bandwidth / (1 + 1/g); and each chunk of a channel waits for
 *             a flag, as long as NCCL counts for an ll hop, of a tree for two: before it is summed
 *             and before it is spread. The fullest node of a tree sends 2 s, of two nodes s. First
 *             the first chunks of all channels go through the node, up the levels of the tree, down
 *             again, and through the node. Where NCCL's chunks grow, times fall, by 8 % at most
 *     others  collnet and pat: NCCL's own latency x switch.latency
 *             + its own time of the bytes at the fitted bandwidths / switch.bandwidth
 *     simple  of all but chains, moreover, fill s / (s + simple.half): while its slots fill
 *
 *     ramp(x) = ramp x / (x + half), none of simple: more warps take part as the message grows;
 *               of hops across the network net.ramp; of what follows a first chunk on several
 *               nodes, too
 *     over(x) = max(0, x - knee), its corner rounded: up to the knee NCCL takes the more channels
 *               the larger the message is, so that each has 8 bytes of a part for each of 512
 *               threads (NCCL_LL_THREAD_THRESHOLD)
 *     B(P)    = in a node  node x share(P), of simple node
 *               on several  the same or, if less, that of the network: net x net share of ll,
 *               net x 120/128 of ll128 (its flags), net; of ll chains x chain.ll.share
 *     net(n)  = net / (1 + (growth - 1)(log2 n - 1)) x share (ar_tuning_net_share())
 *     net(P)  = its own latency x net.latency, which is the same for all
 *
 * growth is 1 where a network carries as much between many nodes as between two; routes that meet
 * by chance meet more often among more nodes, by about as much at each doubling (at the fullest
 * link that is less than log n: Raab & Steger, Balls into Bins, 1998). Below 1, what two nodes do
 * not reach, is a power, up to eight nodes.
 *
 * A tree's inner node hears from two children, so its ll bytes count twice; its ll chunk is the
 * data of one slot (32 KiB) on two channels: NVIDIA/nccl v2.8.4-1, NCCL_LL_BUFF_SIZE / NCCL_STEPS
 * / 2.
 *
 * Where a parameter starts from is its prior: NCCL's own constant of the release (with the latency
 * that the network's plug-in states), the rates of the cluster's rings, across the network what its
 * HCAs carry if that is known (the classes of speed that NCCL sorts them into hold nothing back),
 * or the number that the list gives.
 * How far it may be away is a standard deviation of its logarithm: 0.69, a factor of two, as a
 * rule; 1.6 of what all latencies of the network have in common, since NCCL's are of InfiniBand and
 * others take up to thirty times as long, and 0.25 of their proportions.
 *
 * The model is fitted to measured calls, with its uncertainty:
 * rows of all operations and node counts together, since what one says of a link holds for all.
 *
 * The fit is that of ar_fit.h; a parameter whose standard error is below half of its prior's is
 * identified. Rows are never taken to be better than 4 %. A fit that does not converge is an error.
 *
 * The covariance of the parameters is that of the linearised problem. The band of a prediction adds
 * the spread of the residuals, and for nodes beyond the fitted ones that of ar_residual_away(), so
 * it holds for a new measurement, model error included.
 */
#pragma once

#include <stddef.h>

#include "ar_tuning.h"

/** Where a prior is read: NCCL's latencies of a choice, what else its release says, the rates of
 * the cluster, or the list. */
enum ar_prior {
    AR_PRIOR_GIVEN,
    AR_PRIOR_BASE,
    AR_PRIOR_NODE,
    AR_PRIOR_NET,
    AR_PRIOR_LL_SHARE,
    AR_PRIOR_LL128_SHARE,
    AR_PRIOR_TREE_SHARE,
    AR_PRIOR_CHUNK,
    AR_PRIOR_KNEE,
    AR_PRIOR_NODE_BUS,
    AR_PRIOR_NET_BUS
};

/* clang-format off */
/** The parameters: symbol, name, unit (s, B, B/s or 1), where its prior is read, of which choice, a
 * default value, how far it may be away, why. Parameters of protocols are in the
 * order of enum ar_choice_protocol. */
#define AR_LIBRARY_PARAMETER_LIST(X)                                                                                                    \
    X(AR_LL_BASE, "ll.base", "s", BASE, RING_LL, 4e-6, 0.69, "")                                                                        \
    X(AR_LL128_BASE, "ll128.base", "s", BASE, RING_LL128, 10e-6, 0.69, "")                                                              \
    X(AR_SIMPLE_BASE, "simple.base", "s", BASE, RING_SIMPLE, 8.4e-6, 0.69, "")                                                          \
    X(AR_LL_NODE_LATENCY, "ll.node.latency", "s", NODE, RING_LL, 0.85e-6, 0.4, "")                                                      \
    X(AR_LL128_NODE_LATENCY, "ll128.node.latency", "s", NODE, RING_LL128, 1.9e-6, 0.4, "")                                              \
    X(AR_SIMPLE_NODE_LATENCY, "simple.node.latency", "s", NODE, RING_SIMPLE, 3.4e-6, 0.4, "")                                           \
    X(AR_LL_NET_LATENCY, "ll.net.latency", "s", NET, RING_LL, 2.7e-6, 0.25, "")                                                         \
    X(AR_LL128_NET_LATENCY, "ll128.net.latency", "s", NET, RING_LL128, 4e-6, 0.25, "")                                                  \
    X(AR_SIMPLE_NET_LATENCY, "simple.net.latency", "s", NET, RING_SIMPLE, 18e-6, 0.25, "")                                              \
    X(AR_TREE_LL_NET_LATENCY, "tree.ll.net.latency", "s", NET, TREE_LL, 5e-6, 0.25, "")                                                 \
    X(AR_TREE_LL128_NET_LATENCY, "tree.ll128.net.latency", "s", NET, TREE_LL128, 8.5e-6, 0.25, "")                                      \
    X(AR_TREE_SIMPLE_NET_LATENCY, "tree.simple.net.latency", "s", NET, TREE_SIMPLE, 28e-6, 0.25, "")                                    \
    X(AR_NET_LATENCY, "net.latency", "1", GIVEN, RING_LL, 1, 1.6, "NCCL's constants of an InfiniBand network")                          \
    X(AR_RAMP, "ramp", "s", GIVEN, RING_LL, 2e-6, 0.69, "an order of magnitude: a hop's latency")                                       \
    X(AR_NET_RAMP, "net.ramp", "s", GIVEN, RING_LL, 2e-6, 0.69, "an order of magnitude: a hop's latency")                               \
    X(AR_HALF, "half", "B", GIVEN, RING_LL, 2048, 1.5, "512 threads of 8 bytes, half of them")                                          \
    X(AR_KNEE, "ll.knee", "B", KNEE, RING_LL, 65536, 0.69, "512 threads of 8 bytes of each channel")                                    \
    X(AR_OWN_STEP, "own.step", "1", GIVEN, RING_LL, 0.5, 0.69, "between a step that is hidden and one that is not")                     \
    X(AR_NODE_BANDWIDTH, "node.bandwidth", "B/s", NODE_BUS, RING_LL, 100e9, 0.69, "library.node_bus")                                   \
    X(AR_NET_BANDWIDTH, "net.bandwidth", "B/s", NET_BUS, RING_LL, 10e9, 0.69, "hca.bandwidth, or library.net_bus")                      \
    X(AR_GROWTH, "net.growth", "1", GIVEN, RING_LL, 1, 0.1, "a network without contention")                                             \
    X(AR_LL_SHARE, "ll.node.share", "1", LL_SHARE, RING_LL, 0.25, 0.2, "")                                                              \
    X(AR_LL_NET_SHARE, "ll.net.share", "1", LL_SHARE, RING_LL, 0.25, 0.4, "")                                                           \
    X(AR_LL128_SHARE, "ll128.node.share", "1", LL128_SHARE, RING_LL, 0.92, 0.2, "")                                                     \
    X(AR_TREE_SHARE, "tree.share", "1", TREE_SHARE, RING_LL, 0.92, 0.2, "")                                                             \
    X(AR_CHAIN_LL_SHARE, "chain.ll.share", "1", GIVEN, RING_LL, 1, 0.69, "that of all-reduces")                                         \
    X(AR_CHAIN_CHUNK, "chain.chunk", "B", CHUNK, RING_LL, 2097152, 0.69, "a slot of 512 KiB of each channel")                           \
    X(AR_FILL, "simple.fill", "s", GIVEN, RING_LL, 20e-6, 1.2, "an order of magnitude: a few hops")                                      \
    X(AR_FILL_HALF, "simple.half", "B", GIVEN, RING_LL, 4194304, 1.2, "an order of magnitude: the buffers of a connection")              \
    X(AR_SWITCH_LATENCY, "switch.latency", "1", GIVEN, RING_LL, 1, 0.69, "NCCL's own cost of nvls, nvls-tree, collnet and pat")         \
    X(AR_SWITCH_BANDWIDTH, "switch.bandwidth", "1", GIVEN, RING_LL, 1, 0.69, "the rate of rings for nvls and nvls-tree, NCCL's own cost of collnet and pat")
/* clang-format on */

enum ar_library_parameter { AR_LIBRARY_PARAMETER_LIST(AR_LIST_FIRST) AR_LIBRARY_PARAMETERS_COUNT };

/** The list as a table. */
extern const struct ar_library_parameter_facts {
    const char *name;
    const char *unit;
    enum ar_prior prior;
    enum ar_choice choice;
    double given;
    double spread;
    const char *source; /**< "": the release's */
} ar_library_parameters[AR_LIBRARY_PARAMETERS_COUNT];

/** Where a parameter starts from, and where that was read. */
double ar_library_parameter_prior(const struct ar_tuning *tuning,
                                  enum ar_library_parameter parameter);
const char *ar_library_parameter_prior_source(const struct ar_tuning *tuning,
                                              enum ar_library_parameter parameter);

/** Whether machines with the same kind of HCAs have it in common, not those with the same GPUs. */
bool ar_library_parameter_is_of_net(enum ar_library_parameter parameter);

/** Time of a run by one choice with the parameters `values`, in seconds. */
double ar_library_time(const struct ar_tuning *tuning,
                       const double values[AR_LIBRARY_PARAMETERS_COUNT], enum ar_choice choice,
                       const struct ar_library_run *run);

/* --- fits and predictions --------------------------------------------------------------------- */

/** A measured call. */
struct ar_library_row {
    struct ar_library_run run;
    double time_s;
    enum ar_calls calls; /**< what the library was left to choose from, as ar_tuning_choose() */
};

/** From this size on a call is large. */
enum { AR_LIBRARY_LARGE_BYTES = 1 << 20 };

/** How far measured machines predict one kind of rows of a machine without any. */
struct ar_told {
    double weight; /**< of the factors' logarithms, 0 to 1: what predicts left-out machines best */
    double reach;  /**< half of the 95 % band of a left-out machine, a logarithm; NAN: not known */
};

/** Weight and reach for rows of a size: those of large ones from four times AR_LIBRARY_LARGE_BYTES
 * on, those of others up to a quarter of it (both chosen), means in between: no cliffs. */
struct ar_told ar_told_at(const struct ar_told kinds[2], double bytes);

/** A time in seconds between that of nothing fitted, at weight 0, and that of the factors, at 1. */
double ar_told_mix(double unfitted_s, double factors_s, double weight);

/** Calls of NCCL on a machine without measured rows, by measured ones: factors on the values. */
struct ar_library_told {
    double factors[AR_LIBRARY_PARAMETERS_COUNT];
    struct ar_told kinds[2][2]; /**< [on several nodes][large] */
    uint64_t sets_count;        /**< measured ones that tell */
};

/** A fitted library. */
struct ar_library {
    struct ar_tuning tuning;
    const struct ar_library_told *told; /**< NULL: it is fitted, or nobody tells */
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    /** Covariance of the logarithms of the values. */
    double covariance[AR_LIBRARY_PARAMETERS_COUNT][AR_LIBRARY_PARAMETERS_COUNT];
    bool is_identified[AR_LIBRARY_PARAMETERS_COUNT]; /**< the data say more than the prior */
    double residual_frac; /**< robust standard deviation of the relative errors of the rows */
    uint32_t rows_count;
    const struct ar_library_row *rows; /**< that were fitted, the caller's; NULL: not kept */
    uint32_t nodes_max;                /**< of the rows; 0: none */
    uint32_t calls; /**< of the rows, a bit for each ar_library_call; 0: nobody knows */
};

/** The library with its parameters where they start from: nothing fitted, the priors as spread. */
void ar_library_start(const struct ar_tuning *tuning, struct ar_library *library);

/** Fits to `count` rows. AR_BAD_DATA, and `library` left as it was: fewer than 3 rows, less than
 * two sizes, or no convergence. */
enum ar_status ar_library_fit(const struct ar_tuning *tuning, const struct ar_library_row *rows,
                              size_t count, struct ar_library *library, struct ar_error *err);

/** Half a 95 % band, in standard deviations: that part of a normal distribution lies within. */
#define AR_BAND95_DEVIATIONS 1.959963984540054

/** The time that a library takes for a run. */
struct ar_library_prediction {
    enum ar_choice choice;
    double time_s;
    double low_s; /**< of the 95 % band of a measurement */
    double high_s;
};

/** A time in a band that reaches so far either way, as a logarithm; NAN: without a band. Messages
 * have no choice: it is 0. */
struct ar_library_prediction ar_library_banded(enum ar_choice choice, double time_s, double reach);

/** Predicts a run by the choice that the library makes; `calls` as in ar_tuning_choose(). */
struct ar_library_prediction ar_library_predict(const struct ar_library *library,
                                                enum ar_calls calls,
                                                const struct ar_library_run *run);

/** The same by NCCL's own constants, which say nothing of a band: its ends are NAN. */
struct ar_library_prediction ar_tuning_predict(const struct ar_tuning *tuning, enum ar_calls calls,
                                               const struct ar_library_run *run);

/** How far predictions are from measurements. */
struct ar_library_error {
    size_t count;
    double median_frac; /**< of |predicted / measured - 1| */
    double mean_frac;
    double p95_frac;
    double worst_frac;
    double covered_frac; /**< share of measurements inside the band, */
    double band_ratio;   /**< and median of its upper over its lower end */
};

/** Sums up relative errors |predicted / measured - 1|, which are sorted in place; `covered` of the
 * measurements lie inside their bands. Of no errors all but the count is NAN. */
struct ar_library_error ar_library_error_of(double *errors_frac, size_t count, size_t covered);
