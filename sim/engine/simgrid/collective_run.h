/** \file collective_run.h
 * Private to the module: a collective whose ranks are actors.
 *
 * A rank is an actor on each lane; it walks through the moves of the algorithm (ar_trial.h has the
 * semantics). A message is a SimGrid communication until its last byte left; actors pay latency.
 */
#pragma once

#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

#include "child.h"

/** The far end of a connection. */
struct link_end {
    uint32_t peer; /**< position */
    sg_mailbox_t mailbox;
    double latency_s; /**< that an empty message takes after it has left */
    double gap_s;     /**< for which a message keeps the connection busy behind its bytes */
    enum ar_tier tier;
};

/** The connections of a phase, looked up once; the one used last stays for the next phase. */
struct link_ends {
    uint32_t count;
    uint32_t last;
    struct link_end ends[AR_PERIOD_MAX + 1];
};

struct flight {
    sg_comm_t comm;   /**< NULL: it is known when it has left */
    uint32_t peer;    /**< position that it is for */
    uint64_t step;    /**< of its sender, counted over all calls */
    double gap_s;     /**< for which it keeps the connection busy behind its bytes */
    double left_s;    /**< when it has left, with its gap */
    double latency_s; /**< that it takes from then on */
};

/** Messages in flight, oldest first: a ring buffer; `ring` is memory of the collective. */
struct flights {
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    struct flight *ring;
};

/* One rank on one lane: one actor. */
struct actor {
    struct collective_run *run;
    uint32_t lane, position, rank;
    uint32_t phase, step; /* at present; the step counts from the first one of the phase */
    uint64_t steps_done;  /* over all calls; tells peers which of their messages have arrived */
    struct link_ends out;
    struct link_ends in;
    sg_bar_t barrier; /* among the channels of the rank; NULL with one channel */
    struct flights flights;
    bool is_in_tree;          /* in the present phase */
    double reduce_s_per_byte; /* in the present call */
    double move_s_per_byte;   /* of what is received and not added, in the present phase */
    /* For rings (fast_rings.c): */
    uint64_t phases_begun;
    struct ring_watch *watch; /* of the present phase; NULL: nobody watches it */
    const struct actor *far;  /* the rank from which its messages come a period before */
    uint32_t steps_left_out;  /* in the present phase */
    uint32_t call;            /* the present one */
};

/* Where parts of a pipeline of sums wait for a stage, those of one rank on one lane. */
struct sums_queue {
    sg_sem_t parts;  /* that have come and are not yet taken */
    double *ready_s; /* [part]: they may be taken from then on */
};

/* A collective, with its ranks on all lanes. */
struct collective_run {
    const struct ar_collective *collective;
    struct ar_trial *trial; /* whose timeline has marks; NULL: there is none */
    uint32_t number;        /* of the collective among those of the child */
    struct ar_order order;
    uint32_t positions; /* of a lane */
    uint32_t phases_count;
    struct ar_phase phases[AR_PHASES_MAX];
    const struct ar_message_cost *cost; /* of messages besides their paths */
    struct ar_flows *flows;             /* which know their gaps; NULL: there are none */
    struct actor *actors;               /* [lane][position] */
    struct flight *flights;             /* [actor]: room for those of a rank */
    uint32_t flights_capacity;
    struct sums_queue *sums_queues; /* [actor][stage, and the end]; NULL: there are no sums */
    struct rings *rings;            /* NULL: all steps are simulated */
};

static inline struct actor *actor_at(const struct collective_run *run, uint32_t lane,
                                     uint32_t position)
{
    return &run->actors[(size_t)lane * run->positions + position];
}

/** Prepares a collective and its ranks: `collective`, `trial` and `number` are set. */
void collective_run_create(struct collective_run *run);

/** Makes messages to this actor start when they are sent, but for those of exchanges. */
void actor_declare_receiver(const struct actor *actor);

/** Notes in the timeline that a rank has come to a mark of a call. */
void actor_mark(const struct actor *actor, uint32_t call, uint32_t number);

/** Takes the part of a rank on a lane in a call (its number is for the timeline): pays its setup
 * and copies, does all moves, and waits until what it has sent has arrived and the rank's other
 * channels are done. */
void actor_run_call(struct actor *actor, uint32_t call, uint64_t elements, double copy_s);

/** Makes room for the sums of switches, if a phase has some. */
void sums_create(struct collective_run *run, size_t actors_count);

/** Takes the part of a rank in a phase of sums of `elements` elements on the lane: hands all parts
 * to the switches, which are actors of their own, and waits until they have come back. */
void sums_run(struct actor *actor, const struct ar_phase *phase, uint64_t elements,
              uint32_t first_step);

/** Makes room for watching rings, if phases are worth it. */
void rings_create(struct collective_run *run);

/** A rank begins a phase, and ends it. */
void rings_enter(struct actor *actor, uint32_t first_step);
void rings_leave(struct actor *actor);

/** The time of all that was left out in a call, by which clocks are late at its end. */
double rings_left_out_s(const struct collective_run *run, uint32_t call);

/** A rank has ended a step; returns its next one, counted from the first of the phase. */
uint32_t rings_next(struct actor *actor, const struct ar_phase *phase);
