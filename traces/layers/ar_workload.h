/** \file ar_workload.h
 * A workload: the buckets of gradients that a framework sends in one step, and when.
 *
 * The step of a GPU runs on one compute stream: overhead, forward pass, backward pass in reverse
 * layer order, optimizer. The gradients of a layer exist when its backward pass ends. They are
 * fused, in that order, into buckets; a bucket is ready when its last gradient is.
 *
 * - `ddp`: a bucket takes tensors until it holds 25 MiB or more, the first until 1 MiB (PyTorch
 *   DDP, bucket_cap_mb), of gradients before a hook compresses the bucket;
 * - `horovod`: as long as they fit into 64 MiB (Horovod, fusion threshold);
 * - SIZE above 0, such as `16MiB`: as long as they fit into it;
 * - `groups:K`: K groups of as many tensors each, consecutive in the order of the layers; if K does
 *   not divide their number the groups of the first layers have one more; K above their number is
 *   one tensor each. So MXNet with Horovod splits them (MXNET_HOROVOD_NUM_GROUPS; split_list() in
 *   horovod/common/util.py): by count, not by bytes. A group is sent when its last gradient is
 *   there, and not fused with others;
 * - `one`: all;
 * - `tensor`: one each, no fusion.
 *
 * A tensor larger than the threshold is a bucket of its own; tensors are never split.
 *
 * **Cycles** (`ar_cycle`). Horovod's background thread wakes up once per cycle, agrees with the
 * others on the tensors that are ready on all ranks, and fuses those of the same cycle
 * (HOROVOD_CYCLE_TIME; docs/tensor-fusion.rst: repeat until there are no more tensors to reduce in
 * this cycle). With P = max(time_s, negotiate_s), the n-th negotiation begins at
 *
 *     tick(n) = phase_frac * time_s + n * P,   n = 0, 1, ...
 *
 * since the step began; a cycle that takes longer than its time is followed by the next at once. It
 * happens in every cycle, whether tensors are ready or not. A tensor that is ready at r takes part
 * in the first tick at r or later, and may be sent at tick + negotiate_s. Tensors of one tick are
 * fused in the order in which they became ready, up to the threshold of the rule; a bucket never
 * holds tensors of two ticks. A group of `groups:K` takes part when it is complete.
 *
 * **Slowdown** (`ar_slowdown`). While the communication stream is busy the backward pass advances
 * at `speed_frac` of its speed: collectives take multiprocessors and memory bandwidth from it.
 */
#pragma once

#include "ar_arena.h"
#include "ar_trace.h"

struct ar_fusion {
    char text[32];           /**< as the user wrote it */
    uint64_t first_bytes;    /**< threshold of the first bucket */
    uint64_t bytes;          /**< threshold of the others */
    int closes_when_reached; /**< 1: a bucket may pass its threshold by its last tensor (DDP); 0: it
                                  may not (Horovod) */
    uint32_t groups;         /**< groups:K; 0: by thresholds */
};

/** Parses a rule of the list above. `where` begins the error line. */
enum ar_status ar_fusion_parse(const char *where, const char *text, struct ar_fusion *fusion,
                               struct ar_error *err);

struct ar_interval {
    double begin_s, end_s;
};

/** When computations are slowed down. */
struct ar_slowdown {
    double speed_frac;                   /**< above 0, up to 1 */
    const struct ar_interval *intervals; /**< in order; they may overlap */
    uint32_t intervals_count;            /**< 0: never */
};

/** When work of `work_s` is done that begins at `now_s`. `*next`, 0 at first, is the first interval
 * that may not be over yet; works follow each other. */
double ar_slowdown_advance(const struct ar_slowdown *slowdown, double now_s, double work_s,
                           uint32_t *next);

/** When tensors are negotiated; `time_s` 0: there are no cycles. */
struct ar_cycle {
    double time_s;
    double phase_frac;  /**< 0 to 1 */
    double negotiate_s; /**< time of a negotiation */
};

struct ar_bucket {
    double ready_s; /**< its last gradient exists, since the step began */
    double wait_s;  /**< from then until it may be sent; 0 without cycles */
    uint64_t elements;
    uint32_t tensors_count;
    uint32_t parts; /**< how many of the workload's parts_end_s are over at ready_s */
    double copy_s;  /**< into and out of a buffer; whoever made the workload may set it, else 0 */
    uint32_t layer; /**< layer of its last gradient, */
    uint32_t first_layer; /**< and its first one; the backward pass takes them from the last */
};

struct ar_workload {
    double forward_end_s;
    double backward_end_s;      /**< all gradients exist */
    double stretch_s;           /**< part of that which the slowdown is guilty of */
    const double *parts_end_s;  /**< [part]: end of each part of the step's computations. Part 0 is
                                     the overhead and the forward pass; each further part is the
                                     backward pass of a layer with gradients, together with the
                                     layers without any that come before it */
    uint32_t buckets_count;     /**< at least 1 */
    struct ar_bucket buckets[]; /**< in the order they are sent */
};

/** Inputs of a workload. */
struct ar_workload_request {
    const struct ar_trace *trace;
    const struct ar_fusion *fusion;
    double element_bytes; /**< of a gradient as it is fused: on the wire, or before compression */
    struct ar_cycle cycle;
    struct ar_slowdown slowdown;
};

/** Makes the workload of a trace. One without gradients has nothing to send: AR_BAD_DATA. */
enum ar_status ar_workload_make(const struct ar_workload_request *request, struct ar_arena *arena,
                                struct ar_workload **workload, struct ar_error *err);
