/** \file simgrid_connections.h
 * The connections of an actor of a simulation, and its messages in flight.
 */
#ifndef AR_SIMGRID_CONNECTIONS_H
#define AR_SIMGRID_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <simgrid/comm.h>
#include <simgrid/mailbox.h>

#include "ar_algorithm.h"
#include "ar_message_cost.h"

/** The far end of a connection. */
struct link_end {
    uint32_t peer; /**< position */
    sg_mailbox_t mailbox;
    double latency_s; /**< that an empty message takes after it has left */
    double bandwidth_Bps;
    enum ar_tier tier;
};

/** The connections of a phase, looked up once; the one used last stays for the next phase. */
struct link_ends {
    uint32_t count;
    uint32_t last;
    struct link_end ends[AR_PERIOD_MAX + 1];
};

/** Finds the connection to a peer, or a place for it; `is_new` says which. */
struct link_end *link_ends_find(struct link_ends *ends, uint32_t peer, bool *is_new);

/** At the end of a phase: forgets all connections but the one used last. */
void link_ends_keep_last(struct link_ends *ends);

struct flight {
    sg_comm_t comm;   /**< NULL: it is known when it has left */
    uint32_t peer;    /**< position that it is for */
    uint64_t step;    /**< of its sender, counted over all jobs */
    double left_s;    /**< when it has left */
    double latency_s; /**< that it takes from then on */
};

/** Messages in flight, oldest first: a ring buffer; `ring` is the simulation's. */
struct flights {
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    struct flight *ring;
};

static inline const struct flight *flights_oldest(const struct flights *flights)
{
    return &flights->ring[flights->first];
}

/** Waits until a message that has been sent or asked for has arrived, `latency_s` after it has
 * left; releases it. */
void flight_await(sg_comm_t comm, double latency_s);

/** Waits for the oldest message and releases it; returns at once if it has arrived. */
void flights_land(struct flights *flights);

/** Waits until fewer than `max` messages are in flight, at least 1. */
void flights_await(struct flights *flights, uint32_t max);

/** The same for messages to one peer; there may be others. */
void flights_await_peer(struct flights *flights, uint32_t peer, uint32_t max);

/** Waits until the last message to a peer has left, if it is still in flight. */
void flights_await_left(struct flights *flights, uint32_t peer);

/** Adds a message; there must be room. */
void flights_add(struct flights *flights, struct flight flight);

#endif
