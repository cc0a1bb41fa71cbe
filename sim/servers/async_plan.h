/** \file async_plan.h
 * The plan of an asynchronous run: a worker's exchanges, the servers of shards, parts of its time.
 */
#pragma once

#include "ar_async.h"

/** A part of a worker's computation between two exchanges. */
struct async_segment {
    double time_s;
    uint32_t pulled; /**< how many slices of the exchange must be there before it */
    bool is_forward; /**< of a sliced pull: it frees the buffer of the slice before */
    bool pushes;     /**< the gradients of the next slice exist when it ends */
};

/** A shard. */
struct async_shard {
    uint32_t node;
    double frac; /**< of the parameters */
};

struct async_plan {
    struct async_segment *segments;
    uint32_t segments_count;
    struct async_shard *shards;
    uint32_t shards_count;
    uint32_t rounds;       /**< exchanges */
    uint32_t staleness;    /**< in exchanges; AR_ASYNC_FREE */
    uint32_t end_pulls;    /**< slices that must be there when the last step ends */
    const double *factors; /**< [round][worker]; NULL: 1 */
};

void async_plan_make(const struct ar_async *run, struct ar_arena *arena, struct async_plan *plan);

/** Empties the results. */
void async_plan_begin(struct ar_async *run);

/** The GPU at which a GPU of a worker reaches a shard; itself: no message. */
uint32_t async_plan_place(const struct ar_async *run, const struct async_shard *shard,
                          uint32_t gpu);

/** The slice that is pulled as number `place` of an exchange. */
static inline uint32_t async_plan_pulled(const struct ar_async *run, uint32_t place)
{
    return run->pull == AR_PULL_SLICED ? run->slices_count - 1 - place : place;
}

/** The exchange whose pushes of all workers a pull for exchange `round` needs; UINT32_MAX: none. */
static inline uint32_t async_plan_needs(const struct async_plan *plan, uint32_t round)
{
    bool is_needed = plan->staleness != AR_ASYNC_FREE && round > plan->staleness;
    return is_needed ? round - 1 - plan->staleness : UINT32_MAX;
}

static inline double async_plan_factor(const struct ar_async *run, const struct async_plan *plan,
                                       uint32_t round, uint32_t worker)
{
    return plan->factors != NULL ? plan->factors[(size_t)round * run->workers + worker] : 1;
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
