/** \file transport.h
 * How a rank passes messages: what the executor needs from a backend.
 *
 * A rank has ports. A port is one direction of a connection to one peer on one channel, with a
 * bounded number of messages in flight. A message stays where it is: it must not change until the
 * peer has taken it. The receiver reads the oldest one that has arrived, in the sender's memory or
 * in a slot of its own, and releases it. Nothing blocks but wait() and barrier().
 */
#pragma once

#include "measurement.h"

/** One direction of a connection of a rank. */
struct port {
    uint32_t channel;
    uint32_t peer; /**< rank */
    bool sends;    /**< else receives */
};

/** The ports of one rank; a port is known by its index. */
struct ports {
    struct port *ports;
    uint32_t count;
};

struct transport;

struct transport_calls {
    /** Sends a message of at most `slot_bytes` and counts it in `sent`. Fewer than `window`
     * messages of the port are in flight. */
    void (*send)(struct transport *transport, uint32_t port, const unsigned char *data,
                 size_t bytes);

    /** Number of messages sent at the port that were taken, in the order of sending: their memory
     * may be written again. Modulo 2^32, as `sent`. */
    uint32_t (*taken)(struct transport *transport, uint32_t port);

    /** The oldest message that has arrived at a receiving port; NULL while there is none. */
    const unsigned char *(*receive)(struct transport *transport, uint32_t port);

    /** Gives back the oldest message, which was read. */
    void (*release)(struct transport *transport, uint32_t port);

    /** A number drawn before ports are asked: wait() returns at once if something came since. */
    uint32_t (*ticket)(struct transport *transport);

    /** Waits a moment, at most some ten milliseconds. False if another rank has failed. */
    bool (*wait)(struct transport *transport, uint32_t ticket);

    /** Waits until all ranks of the run are here; the error names who is not, after `timeout_s`,
     * or says that another rank has failed (AR_INTERRUPTED). */
    enum ar_status (*barrier)(struct transport *transport, double timeout_s, struct ar_error *err);
};

/** First member of what a backend has for a rank. */
struct transport {
    const struct transport_calls *calls;
    uint32_t rank;
    uint32_t ranks;
    uint32_t window;    /**< most messages in flight of a port */
    size_t slot_bytes;  /**< most that a message has */
    size_t eager_bytes; /**< up to here a copy costs less than to hear that it was taken */
    uint32_t *sent;     /**< messages of each port so far, modulo 2^32 */
};

/** Whether a sending port takes another message. */
static inline bool transport_may_send(struct transport *transport, uint32_t port)
{
    return transport->sent[port] - transport->calls->taken(transport, port) < transport->window;
}

/** The ports that a rank needs for the moves of a measurement; for a probe of a link those to the
 * peer and from it. All memory is the arena's. */
struct ports ports_create(const struct measurement *measurement, uint32_t rank,
                          struct ar_arena *arena);

/** The ports of all ranks. */
struct ports *ports_create_all(const struct measurement *measurement, struct ar_arena *arena);

/** The index of a port; the number of ports if there is none. */
uint32_t ports_find(const struct ports *ports, struct port port);
