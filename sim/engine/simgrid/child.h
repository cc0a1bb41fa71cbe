/** \file child.h
 * Private to the module: what the simulations of all kinds share in the child.
 */
#pragma once

#include <simgrid/host.h>

#include "simgrid_task.h"
#include "simgrid_wait.h"

/** A kind of simulation: starts the actors; after the run completes the results, if there is more
 * to do than what the actors did. */
struct child_kind {
    void (*start)(void *data);
    void (*finish)(void *data); /**< or NULL */
};
extern const struct child_kind child_trial, child_graph, child_actors;

/** Memory that a child does not free; without memory for `what` the child ends. */
void *child_alloc(size_t count, size_t size, const char *what);

/** The host of a rank, or of AR_SWITCH with a rank. */
sg_host_t child_host(uint32_t rank);

/** Starts an actor on the host of a rank. It is an error of the simulation if it waits for ever. */
void child_start_actor(const char *name, uint32_t rank, void (*run)(void *data), void *data);

/** How many actors have been started and have not ended. */
uint32_t child_actors_count(void);

/** The data that the present actor was started with. */
void *child_actor_data(void);

/** Sleeps for a time above 0, or until a time that is not over. */
void child_sleep_for(double time_s);
void child_sleep_until(double time_s);

/** Computes on the host of the actor, for a time at full speed: a flop is a nanosecond of a GPU,
 * and hosts do 1e9 of them per second (`host_speed` in simgrid_xml.c). */
void child_compute(uint32_t rank, double time_s);

/** Where the task has a usage: notes that the GPU of a rank has computed since a time, or that a
 * message has begun, which counts on its links when it has been waited for. */
void child_note_computed(uint32_t rank, double begin_s);
void child_note_message(sg_comm_t comm, uint32_t from, uint32_t to, double bytes);

/** Waits for a communication, and then for its latency; not if it is NULL. */
void child_await(sg_comm_t comm, double latency_s);

/** The size of an empty message, since SimGrid takes one of 0 to a known receiver for done before
 * it has begun. It takes any link less time than SimGrid tells apart. */
#define CHILD_BYTES_MIN 1e-6
