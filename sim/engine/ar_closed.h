/** \file ar_closed.h
 * The closed form: the time of a collective without simulating it.
 *
 * Symbols: S steps of a phase, b bytes of its largest message, L latency and r rate of a hop, D =
 * b/r the time a message occupies the hop, gamma the cost of reducing a byte, W the window; D
 * counts the gap of a message, L what its size adds to the latency (ar_message_cost.h).
 *
 * The phases of the algorithm run one after the other, after the constant setup of the collective.
 * In a phase every rank keeps its peers, so the messages of a step are a fixed set of flows; the
 * rate of a hop is the least of bandwidth / flows over the links of its path. A phase takes the
 * longest of
 *
 * - **hops**: the largest sum of L + D over S consecutive hops around the ring (or along the
 *   chain), plus gamma b for every step that reduces: a part of the buffer travelling;
 * - **port**: S D + L of the slowest hop: a link that is never idle, reductions hide behind it;
 * - **window**: ceil(S/W) (L + D) of the slowest hop: a sender out of slots.
 *
 * In a phase that is a tree, D is that of a part on a hop: of b over the rate of that part there
 * (flows_tree.c). The phase takes the longest sum, over all hops, of the
 * time in which the first part reaches the hop, along the way on which the sum of L + D (and gamma
 * b, if it reduces) is longest; L + D of the first part there; the time in which the last part goes
 * on from there, on the longest way; and what the P - 1 other parts add, the longest of
 *
 * - **port**: the sum of their D;
 * - **window**: (L + D) for every W parts that fill its window, ceil(P/W) - 1 times;
 * - **sums**: gamma b for each of them from each hop that leads to the same rank.
 *
 * The bound is **hops** where the ways take longer than the others add. A tree is never exact:
 * parts wait for each other in more ways than these.
 *
 * In a phase that is an exchange (ar_flows.h), a step takes the longest L + b/r of its messages,
 * plus gamma b if it reduces; the phase the sum of its steps. Where
 * all messages go at once it takes the longest of them, each until the busiest link of its path has
 * carried all, and all reductions. The sum is exact where the messages of each step are alike and
 * either all ranks take part in every step or no two messages share a link.
 *
 * In a phase of sums, A is the time of a part in a stage alone and R that from part to part while
 * all stages are at work (ar_flows.h), of the slowest line. It takes the sum of A + L over the
 * stages, and (P - 1) R, or, if that is longer, A + L for every W parts, of the slowest stage. It
 * is exact where the lines of a stage are alike, parts have equal sizes and no two stages share a
 * link.
 *
 * Validity: equal to the `simgrid` engine when all hops of a phase are alike and either no link
 * carries two flows or all messages of a phase have the same size (`exact` is then true). With a
 * chain among the phases no link may carry two flows, since the head of a chain runs ahead.
 * Else it is at least ar_flows_least_s(), by which the longest phase is then longer. It neglects
 * that phases of different ranks overlap, that a link is free while its other flows wait, and paths
 * that partly travel and partly wait; `why` says which. Measured differences are in
 * sim/engine/README.md.
 */
#pragma once

#include "ar_flows.h"

enum ar_bound { AR_BOUND_HOPS, AR_BOUND_PORT, AR_BOUND_WINDOW, AR_BOUND_REDUCTION };

extern const char *const ar_bound_names[]; /**< [enum ar_bound] */

/** Where the time of a phase goes; the terms add up to time_s. */
struct ar_phase_time {
    const char *name;
    uint32_t steps;
    uint64_t message_bytes;
    enum ar_bound bound;
    double time_s, latency_s[AR_TIERS_COUNT], bandwidth_s[AR_TIERS_COUNT], reduction_s;
    double slowest_Bps;     /**< rate of the slowest hop, in a tree of its slowest part */
    uint32_t slowest_link;  /**< its narrowest link */
    uint32_t slowest_flows; /**< flows on that link */
};

struct ar_closed_time {
    double time_s; /**< setup and phases */
    double setup_s;
    uint32_t phases_count;
    struct ar_phase_time phases[AR_PHASES_MAX];
    bool exact;
    bool exact_in_queue; /**< exact, too, when another collective of the stream precedes at once */
    const char *why;     /**< static text: why the time is not exact, "" if it is */
};

/** Time of one collective of `elements` elements; O(ranks * lanes). */
void ar_closed_evaluate(const struct ar_flows *flows, uint64_t elements,
                        struct ar_closed_time *time);
