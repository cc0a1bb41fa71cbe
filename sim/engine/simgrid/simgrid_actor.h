/** \file simgrid_actor.h
 * An actor of a simulation: a rank on a lane, and how it walks through its moves.
 */
#ifndef AR_SIMGRID_ACTOR_H
#define AR_SIMGRID_ACTOR_H

#include <simgrid/barrier.h>

#include "simgrid_child.h"
#include "simgrid_connections.h"

/* One rank on one lane: one actor. */
struct actor {
    struct simulation *simulation;
    uint32_t lane;
    uint32_t position;
    uint32_t rank;
    int64_t observed;    /* index in the timeline; -1: not in it */
    uint64_t steps_done; /* over all jobs; tells peers which of their messages have arrived */
    struct link_ends out;
    struct link_ends in;
    sg_bar_t barrier; /* among the channels of the rank; NULL with one channel */
    struct flights flights;
    bool is_in_tree;          /* in the present phase */
    double reduce_s_per_byte; /* in the present job */
};

struct simulation {
    struct ar_trial *trial;
    struct ar_order order;
    uint32_t positions; /* of a lane */
    uint32_t phases_count;
    struct ar_phase phases[AR_PHASES_MAX];
    const struct ar_message_cost *cost; /* of messages besides their paths */
    double setup_s;
    struct actor *actors;   /* [lane][position] */
    struct flight *flights; /* [actor]: room for those of a rank */
    uint32_t flights_capacity;
};

static inline struct actor *actor_at(const struct simulation *simulation, uint32_t lane,
                                     uint32_t position)
{
    return &simulation->actors[(size_t)lane * simulation->positions + position];
}

/** Makes messages to this actor start when they are sent, but for those of exchanges. */
void actor_declare_receiver(const struct actor *actor);

/** Does all moves of a job, of `elements` elements on the lane; its last messages may be in
 * flight. */
void actor_walk(struct actor *actor, uint32_t job, uint64_t elements);

/** Waits until all that it has sent has arrived. */
void actor_land_all(struct actor *actor);

/** Writes a mark of its rank in a job: now. */
void actor_mark(const struct actor *actor, uint32_t job, uint32_t number);

#endif
