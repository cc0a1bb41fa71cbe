/** \file ar_pattern.h
 * The flows of a phase: which hops its messages take, at which rate, in which order.
 *
 * In a phase of walks every position keeps its peers, so the messages of a step are a fixed set of
 * flows on the links of the cluster. The rate of a hop is its max-min fair share when all these
 * flows of all lanes are under way together (ar_maxmin.h). In a tree it is that of all hops of all
 * parts together, which is where the rates of its parts begin (tree_rates.h).
 */
#ifndef AR_PATTERN_H
#define AR_PATTERN_H

#include "ar_arena.h"
#include "ar_collective.h"

struct ar_exchange;
struct ar_line_sums;

struct ar_hop {
    uint32_t from; /**< position that sends */
    uint32_t to;
    double latency_s;
    double rate_Bps;
    enum ar_tier tier;
    uint32_t link;       /**< the link of its path with the least bandwidth per flow */
    uint32_t flows;      /**< on that link */
    uint32_t first_step; /**< step of the phase in which it carries the first message */
    uint32_t sends;      /**< messages that it carries, one in every step or period from then on */
};

/** What a message of `bytes` spends on its way over a hop, and on the links, of which it has a
 * rate.
 */
static inline double ar_hop_latency_s(const struct ar_hop *hop, const struct ar_message_cost *cost,
                                      double bytes)
{
    return hop->latency_s + ar_message_extra_s(cost, hop->tier, bytes);
}

static inline double ar_hop_busy_s(const struct ar_hop *hop, const struct ar_message_cost *cost,
                                   double rate_Bps, double bytes)
{
    return bytes / rate_Bps + ar_message_gap_s(cost, hop->tier);
}

/** Hops that follow each other: around a ring, or along a chain. */
struct ar_walk {
    uint32_t lane;
    uint32_t first; /**< in ar_pattern.hops */
    uint32_t count;
    bool is_ring;
};

struct ar_pattern {
    struct ar_hop *hops; /**< lane after lane, in the order of the walks, or of the steps in
                              which the hops of a tree begin: none before what leads to it */
    uint32_t hops_count;
    uint32_t *lane_hops; /**< first hop of each lane, and the end */
    struct ar_walk *walks;
    uint32_t walks_count; /**< 0 in a tree */
    uint32_t *step_hops;  /**< in a tree: first hop of a lane that begins in each step of the
                               phase, and the end, counted from the lane's first; else NULL */
    struct ar_exchange *exchange;   /**< of an exchange, which has nothing of the above, what it
                                         sends (ar_exchange.h); else NULL */
    struct ar_line_sums *line_sums; /**< of sums, which have no hops either (ar_line_sums.h) */
    bool is_uniform;                /**< all hops alike */
    bool is_shared;                 /**< some hop has less than the bandwidth of its path */
};

/** Resolves the phases of a collective that have steps, in the arena; `patterns` has an entry for
 * each phase, all zeroed. O(ranks * lanes) for each distinct rate of a phase.
 *
 * `busiest_s_per_byte` is how long the busiest link needs for what all phases send over it, for
 * each byte of the buffer of a channel, if messages have equal sizes. */
enum ar_status ar_pattern_resolve(struct ar_arena *arena, const struct ar_collective *collective,
                                  const struct ar_phase *phases, uint32_t phases_count,
                                  struct ar_pattern *patterns, double *busiest_s_per_byte,
                                  struct ar_error *err);

#endif
