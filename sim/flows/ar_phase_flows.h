/** \file ar_phase_flows.h
 * Who sends to whom in a phase of a collective, or in one step of an exchange, on all its lanes.
 *
 * Places are [lane][step of the period][position]; but in trees and sums, the period is one step.
 * Every place that sends in the phase is a flow: it has one peer. In sums every place has two, one
 * to the switch of its line and one from it, halves of the paths to the next and from the last
 * member (AR_SWITCH); nothing but flows is there.
 */
#ifndef AR_PHASE_FLOWS_H
#define AR_PHASE_FLOWS_H

#include "ar_arena.h"
#include "ar_cluster.h"
#include "ar_collective.h"

struct ar_phase_flows {
    uint32_t *peers;       /**< [place]: position that it sends to; AR_NEVER if it does not send */
    uint32_t *first_steps; /**< [place that sends]: step of the phase in which it does so first */
    uint32_t *sends;       /**< [place that sends]: in so many steps, or periods, on end */
    uint32_t *flow_of;     /**< [place that sends]: number of its flow */
    struct ar_flow *flows; /**< between ranks, those of all lanes */
    size_t flows_count;
    bool is_even;      /**< all send equally often */
    size_t places_max; /**< of all phases: what there is room for */
    size_t flows_max;
};

/** Makes room in an arena for the places of the phase that has most of them. */
enum ar_status ar_phase_flows_create(struct ar_arena *arena, const struct ar_collective *collective,
                                     const struct ar_phase *phases, uint32_t phases_count,
                                     struct ar_phase_flows *flows, struct ar_error *err);

/** How many sets of flows a phase has, one after the other: one for each step of an exchange. */
static inline uint32_t ar_phase_patterns(const struct ar_phase *phase)
{
    return phase->kind == AR_PHASE_EXCHANGE ? phase->steps : phase->steps > 0;
}

/** Finds the flows of a phase that begins with `first_step` of the algorithm; of an exchange, those
 * of that step. */
void ar_phase_flows_find(const struct ar_collective *collective, const struct ar_phase *phase,
                         uint32_t first_step, struct ar_phase_flows *flows);

#endif
