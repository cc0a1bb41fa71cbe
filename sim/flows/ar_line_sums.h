/** \file ar_line_sums.h
 * What the switches of a phase of sums (ar_algorithm.h) can do: how long a part takes in each line
 * of each stage of the pipeline.
 *
 * In a stage of a line all members send to the switch and get from it at the same time: a switch
 * hands on what it sums while more of it comes. So a part takes as long as the busiest link of the
 * line, and a latency. What members send goes up the tree of switches that joins them, once over
 * each link, and comes down so (AR_SWITCH). While other stages are at work on other parts, they
 * take their share of the links: every stage of the pipeline is then as fast as the busiest link of
 * its line can carry a part of all stages.
 */
#ifndef AR_LINE_SUMS_H
#define AR_LINE_SUMS_H

#include "ar_collective.h"
#include "ar_exchange.h"
#include "ar_phase_flows.h"

/** A line in a stage, on a lane. */
struct ar_line_sum {
    struct ar_line line;
    double latency_s;
    double alone_s_per_byte; /**< of the largest message, while no other stage is at work */
    double pace_s_per_byte;  /**< while all are: from part to part */
    uint32_t pieces;         /**< of ar_phase.pieces: the largest message */
    enum ar_tier tier;
    uint32_t link;  /**< the busiest one of the line while all stages are at work */
    uint32_t flows; /**< messages that it carries for each part */
};

/** The latency of a part, and the bytes for which it keeps links busy, of those of its largest
 * message: with what the software of the members adds (ar_message_cost.h). */
static inline double ar_line_latency_s(const struct ar_line_sum *sum,
                                       const struct ar_message_cost *cost, double bytes)
{
    return sum->latency_s + ar_message_extra_s(cost, sum->tier, bytes);
}

static inline double ar_line_busy_bytes(const struct ar_line_sum *sum,
                                        const struct ar_message_cost *cost, double bytes)
{
    return bytes + ar_message_gap_s(cost, sum->tier) / sum->alone_s_per_byte;
}

struct ar_line_sums {
    uint32_t stages;
    struct ar_line_sum *lines; /**< lane after lane, stage after stage */
    uint32_t *first;           /**< [lane * stages + stage]: its first line, and the end */
    bool is_uniform;           /**< the lines of each stage are alike */
    bool is_shared;            /**< some link has messages of several lines, or stages */
    bool is_met;               /**< some link has messages of several stages */
};

/** Resolves a phase of sums with steps, in the arena. Adds to `sums` what the links carry; `flows`
 * are those of the phase. */
enum ar_status line_sums_resolve(struct ar_arena *arena, const struct ar_collective *collective,
                                 const struct ar_phase *phase, uint32_t first_step,
                                 const struct ar_phase_flows *flows, struct ar_maxmin *rates,
                                 struct link_sums *sums, struct ar_line_sums **line_sums,
                                 struct ar_error *err);

/** What the largest message of a line has of a part of the buffer in a step: from the move of its
 * first member, in elements. */
uint64_t line_sum_elements(const struct ar_collective *collective, const struct ar_line *line,
                           uint64_t elements, uint32_t step);

#endif
