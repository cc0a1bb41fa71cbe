/** \file ar_actors.h
 * Actors on a cluster, simulated by SimGrid: what asynchronous programs are made of.
 *
 * An actor is a C function that computes (sleeps), sends and receives; it stands on a GPU. All
 * actors begin at time 0. Messages start when they are sent and share the links of their paths
 * with all others that are under way; a message has arrived the latency of its path, and what it
 * costs besides (ar_message_cost.h), after its last byte has left. A message to an actor on the
 * same GPU takes no time (nanoseconds).
 *
 * Actors run one at a time in a forked child that has a copy of the caller's memory: they may share
 * what they like without locks, and change of it what they like; after the run the caller has
 * `results` as they left them, and all else as before. They call SimGrid by a table of functions
 * alone, so that a room needs nothing of SimGrid to have actors (test_actors.c has examples).
 */
#pragma once

#include "ar_cluster.h"

/** Calls of an actor, in the child. */
struct ar_actor_calls {
    double (*now_s)(void);
    void (*sleep_for)(double time_s); /**< at least 0 */
    /** Sends bytes to an actor and goes on. The payload is what receive() returns there. */
    void (*send)(uint32_t to, uint32_t tag, uint64_t bytes, void *payload);
    /** The same, and waits until it has arrived. */
    void (*send_and_wait)(uint32_t to, uint32_t tag, uint64_t bytes, void *payload);
    /** Waits until a message with this tag has arrived, from whomever; those of one tag come in the
     * order in which they were sent. Returns its payload. */
    void *(*receive)(uint32_t tag);
};

struct ar_actors {
    /* Parameters. */
    const struct ar_cluster *cluster;
    uint32_t count;
    const uint32_t *gpus; /**< [actor]: the GPU on which it stands; of the cluster */
    uint32_t tags_count;  /**< tags of messages are below */
    /** The program of an actor; `data` is the caller's, in the child's copy. */
    void (*run)(const struct ar_actor_calls *calls, uint32_t actor, void *data);
    void *data;
    /** Pairs of GPUs that send to each other, each in its direction: on clusters that are not
     * ar_cluster_is_nested() a platform has a route for each. NULL: all pairs. */
    const struct ar_flow *pairs;
    size_t pairs_count;

    /* Results. */
    void *results; /**< the caller's memory, which comes back as the actors left it */
    size_t results_size;
    double end_s; /**< when the last actor has ended */
    uint64_t messages_count;
    double wall_s; /**< real time */
};

/** Runs the actors. AR_INTERNAL with SimGrid's words if they wait for each other for ever, or if
 * SimGrid fails otherwise; AR_UNAVAILABLE without SimGrid; AR_NO_MEMORY. */
enum ar_status ar_actors_run(struct ar_actors *actors, struct ar_error *err);
