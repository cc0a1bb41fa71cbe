/** \file ar_boxing.h
 * Boxing: what turns one placement of a tensor on GPUs into another one, as OneFlow names them
 * (arXiv:2110.15032, table 2).
 *
 * Along an axis of p GPUs a tensor T is *split* along one of its dimensions (S0, S1, ...: each GPU
 * has a part), *broadcast* (B: each has all) or *partial* (P: each has an addend of all). Bytes
 * that are sent in all, where |T| is the size of the whole tensor:
 *
 *     on the same p GPUs                          from p GPUs to q others
 *     S0 -> S0, B -> any, P -> P, S -> P   0      to S or P from S or B   |T|
 *     S0 -> S1   all-to-all     |T| (p-1)/p       S or B -> B             q |T|
 *     S -> B     all-gather     |T| (p-1)         P -> S, P -> P          p |T|
 *     P -> S     reduce-scatter |T| (p-1)         P -> B                  (p + q - 1) |T|
 *     P -> B     all-reduce   2 |T| (p-1)
 *
 * On a mesh of several axes a placement has a letter for each, outermost first. Axes change one
 * after the other, each in all groups along it at once; of the orders the one that sends least is
 * taken. Along an axis a group holds of the tensor what the splits of the other axes leave to it.
 */
#pragma once

#include "ar_graph.h"

enum { AR_BOXING_AXES_MAX = 2, AR_BOXING_GPUS_MAX = 1024 };

enum ar_placement_kind { AR_PLACEMENT_SPLIT, AR_PLACEMENT_BROADCAST, AR_PLACEMENT_PARTIAL };

struct ar_placement {
    enum ar_placement_kind kind;
    uint32_t dimension; /**< of the tensor that is split */
};

/** Placements along all axes. */
struct ar_placements {
    uint32_t axes_count;
    struct ar_placement axes[AR_BOXING_AXES_MAX];
};

/** Parses `S0`, `B`, `P` or, of two axes, `S0,B`. `where` begins the error line. */
enum ar_status ar_placements_parse(const char *where, const char *text,
                                   struct ar_placements *placements, struct ar_error *err);

/** The collective along one axis. */
struct ar_boxing_step {
    uint32_t axis;
    const struct ar_operation *operation; /**< NULL: nothing is sent */
    uint64_t payload_bytes; /**< of the operation in one group, as nccl-tests counts it; of messages
                                 to other GPUs that of the largest */
    uint32_t groups;        /**< that do it at once; messages */
    double bytes;           /**< sent by all GPUs of all groups */
};

struct ar_boxing {
    uint32_t steps_count;
    struct ar_boxing_step steps[AR_BOXING_AXES_MAX];
    double bytes; /**< of all steps */
};

/** Turns placements on a mesh of `sizes` GPUs into others on the same GPUs; both have its axes. */
void ar_boxing_make(const struct ar_placements *from, const struct ar_placements *to,
                    const uint32_t *sizes, uint64_t tensor_bytes, struct ar_boxing *boxing);

/** From p GPUs to q others along one axis: messages, and for P -> B the all-gather among the q
 * behind them, since sums meet where they are needed. */
void ar_boxing_between(const struct ar_placement *from, uint32_t p, const struct ar_placement *to,
                       uint32_t q, uint64_t tensor_bytes, struct ar_boxing *boxing);

/** Bytes of the message from the `source`-th of p GPUs to the `target`-th of q others; 0: none. */
double ar_boxing_message_bytes(const struct ar_placement *from, uint32_t p,
                               const struct ar_placement *to, uint32_t q, uint64_t tensor_bytes,
                               uint32_t source, uint32_t target);
