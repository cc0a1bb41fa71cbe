/** \file simgrid_actor.h
 * An actor of a simulation: a rank on a lane, and how it walks through its moves.
 */
#ifndef AR_SIMGRID_ACTOR_H
#define AR_SIMGRID_ACTOR_H

#include <simgrid/barrier.h>
#include <simgrid/semaphore.h>

#include "simgrid_child.h"
#include "simgrid_connections.h"
#include "simgrid_host.h"

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
    double move_s_per_byte;   /* of what is received and not added, in the present phase */
};

/* Where parts of a pipeline of sums wait for a stage, those of one rank on one lane. */
struct sums_queue {
    sg_sem_t parts;  /* that have come and are not yet taken */
    double *ready_s; /* [part]: they may be taken from then on */
};

/* A collective, with its ranks on all lanes. */
struct simulation {
    const struct ar_collective *collective;
    struct ar_trial *trial; /* whose timeline has marks; NULL: there is none */
    uint32_t number;        /* of the collective among those of the child */
    struct ar_order order;
    uint32_t positions; /* of a lane */
    uint32_t phases_count;
    struct ar_phase phases[AR_PHASES_MAX];
    const struct ar_message_cost *cost; /* of messages besides their paths */
    struct actor *actors;               /* [lane][position] */
    struct flight *flights;             /* [actor]: room for those of a rank */
    uint32_t flights_capacity;
    struct sums_queue *sums_queues; /* [actor][stage, and the end]; NULL: there are no sums */
};

static inline struct actor *actor_at(const struct simulation *simulation, uint32_t lane,
                                     uint32_t position)
{
    return &simulation->actors[(size_t)lane * simulation->positions + position];
}

/** Prepares a collective and its ranks: `collective`, `trial` and `number` are set. */
void simulation_create(struct simulation *simulation);

/** Makes messages to this actor start when they are sent, but for those of exchanges. */
void actor_declare_receiver(const struct actor *actor);

/** Takes the part of a rank on a lane in a job: pays its setup and copies, does all moves, and
 * waits until what it has sent has arrived and the rank's other channels are done. */
void actor_run(struct actor *actor, uint32_t job, uint64_t elements, double copy_s);

/** Does all moves of a job, of `elements` elements on the lane; its last messages may be in
 * flight. */
void actor_walk(struct actor *actor, uint32_t job, uint64_t elements);

/** Waits until all that it has sent has arrived. */
void actor_land_all(struct actor *actor);

/** Makes room for the sums of switches, if a phase has some. */
void sums_create(struct simulation *simulation, size_t actors_count);

/** Takes the part of a rank in a phase of sums of `elements` elements on the lane: hands all parts
 * to the switches, which are actors of their own, and waits until they have come back. */
void sums_run(struct actor *actor, const struct ar_phase *phase, uint64_t elements,
              uint32_t first_step);

/** Writes a mark of its rank in a job: now. */
void actor_mark(const struct actor *actor, uint32_t job, uint32_t number);

#endif
