/** \file ar_collective.h
 * One collective on one cluster: everything that does not depend on the size of the buffer.
 *
 * With a mesh (ar_mesh.h) it runs in all groups at once. A lane is one channel of one group; lanes
 * run beside each other, and their messages share the links.
 */
#pragma once

#include "ar_algorithm.h"
#include "ar_arena.h"
#include "ar_cluster.h"
#include "ar_order.h"

struct ar_collective {
    const struct ar_cluster *cluster;
    const struct ar_operation *operation;
    const struct ar_algorithm *algorithm; /**< NULL: the choice of a library */
    struct ar_shape shape;                /**< of one group */
    struct ar_mesh mesh;                  /**< without axes: one group */
    uint32_t copies; /**< of the mesh's groups, for which the first ones stand; 0: there are none */
    uint32_t root;   /**< place in each group of the rank that is the operation's root */
    uint32_t channels; /**< at least 1; the buffer is split over them. To run both trees of `tree`
                            takes two (ar_algorithm_channels()) */
    uint32_t window;   /**< messages that a rank may have in flight per channel, in trees per
                          connection; 1: one must arrive before the next one starts */
    uint32_t element_bytes; /**< 2 or 4 */
    /** Channels go through nodes in plain zigzags, not in the GPU orders of the cluster: as
     * programs do that know nothing of links, such as those of `validate/`. */
    bool has_plain_orders;
};

/** Says whether the algorithm achieves the operation and runs the shape, the cluster has the GPUs
 * and they reach each other, and the counts make sense. */
enum ar_status ar_collective_check(const struct ar_collective *collective, struct ar_error *err);

/** Says whether all switches sum that the algorithm wants to, those of each line of positions in
 * one place: in the NVLink domain that all its members are in, or in the network, where no two
 * members are in one domain. One switch joins a line whose members send or get different parts. */
enum ar_status ar_collective_check_sums(const struct ar_collective *collective,
                                        struct ar_error *err);

/** Groups; lanes, those of a group beside each other; ranks of all groups. */
uint32_t ar_collective_groups(const struct ar_collective *collective);
uint32_t ar_collective_lanes(const struct ar_collective *collective);
uint32_t ar_collective_ranks(const struct ar_collective *collective);

/** The rank order of the collective's lanes; it refers to the collective, which it must not outlive
 * if that has a mesh. */
struct ar_order ar_collective_order(const struct ar_collective *collective);

/** The part of a buffer of `elements` elements that a lane carries: that of its channel. */
static inline struct ar_span ar_collective_part(const struct ar_collective *collective,
                                                uint64_t elements, uint32_t lane)
{
    return ar_span_part((struct ar_span){.first = 0, .count = elements}, collective->channels,
                        lane % collective->channels);
}

/** The time before the first message of a collective on so many elements: its setup, and the time
 * that the kernel needs for fresh pages if the buffer is large (AR_LARGE_BUFFER_BYTES). */
double ar_collective_setup_s(const struct ar_collective *collective, uint64_t elements);

/** Messages of one collective on all lanes. */
uint64_t ar_collective_messages(const struct ar_collective *collective);

/* --- who sends to whom ---------------------------------------------------------------------- */

/** Who sends to whom in a phase of a collective, or in one step of an exchange, on all its lanes.
 *
 * Places are [lane][step of the period][position]; but in trees and sums, the period is one step.
 * Every place that sends in the phase is a flow: it has one peer. In sums every place has two, one
 * to the switch of its line and one from it, halves of the paths to the next and from the last
 * member (AR_SWITCH); nothing but flows is there. */
struct ar_phase_flows {
    uint32_t positions; /**< the first ones, whose flows are found: all, or as callers wish */
    /** Places are those of the first lane; all lanes have the same peers. */
    uint32_t *peers;       /**< [place]: position that it sends to; AR_NEVER if it does not send */
    uint32_t *first_steps; /**< [place of a tree that sends]: step of its first part */
    uint32_t *sends;       /**< [place that sends]: in so many steps, or periods */
    uint32_t *flow_of;     /**< [place that sends]: number of its flow among those of a lane */
    uint32_t *ranks;       /**< [position]: of the lane that was looked at last */
    struct ar_flow *flows; /**< between ranks, those of all lanes */
    size_t flows_count, lane_flows; /**< of all lanes, of each */
};

/** Makes room in an arena for the places of the phase that has most of them. */
void ar_phase_flows_create(struct ar_arena *arena, const struct ar_collective *collective,
                           const struct ar_phase *phases, uint32_t phases_count,
                           struct ar_phase_flows *flows);

/** Finds the flows of a phase from `first_step` of the algorithm on; of an exchange those of it. */
void ar_phase_flows_find(const struct ar_collective *collective, const struct ar_phase *phase,
                         uint32_t first_step, struct ar_phase_flows *flows);
