/** \file async_plan.h
 * What engines of asynchronous runs share: what a worker does in an exchange, where the shards lie,
 * and where its time went.
 */
#ifndef AR_ASYNC_PLAN_H
#define AR_ASYNC_PLAN_H

#include "ar_async.h"

/** A shard. */
struct async_shard {
    uint32_t node;
    double frac; /**< of the parameters */
};

struct async_plan {
    struct async_shard *shards;
    uint32_t shards_count;
};

void async_plan_make(const struct ar_async *run, struct ar_arena *arena, struct async_plan *plan);

/** Empties the results. */
void async_plan_begin(struct ar_async *run);

/** The GPU at which a GPU of a worker reaches a shard; itself: no message. */
uint32_t async_plan_place(const struct ar_async *run, const struct async_shard *shard,
                          uint32_t gpu);

/** The step whose pushes of all workers a pull for step `step` needs; UINT32_MAX: none. */
static inline uint32_t async_plan_needs(const struct ar_async *run, uint32_t step)
{
    bool is_needed = run->staleness != AR_ASYNC_FREE && step > run->staleness;
    return is_needed ? step - 1 - run->staleness : UINT32_MAX;
}

/** Time of a part of a step's computation: 0 is the forward pass; when part i ends, the gradients
 * of slice i - 1 exist; what is left of the backward pass is the last part. */
double async_plan_segment_s(const struct ar_async *run, uint32_t segment, uint32_t step,
                            uint32_t worker);

static inline bool async_plan_pushes(const struct ar_async *run, uint32_t segment)
{
    return segment > 0 && segment <= run->slices_count;
}

static inline double async_plan_start_s(const struct ar_async *run, uint32_t worker)
{
    return run->starts_s != NULL ? run->starts_s[worker] : 0;
}

/** When the slice that a worker waited for was pushed by it, and by all that it depends on. */
struct async_cause {
    double pushed_s, allowed_s;
};

/** Puts a wait down to its causes. */
void async_plan_waited(struct ar_async *run, uint32_t worker, double from_s, double to_s,
                       struct async_cause cause);

#endif
