/** \file transport.h
 * How a rank passes messages: what the executor needs from a backend.
 *
 * A rank has ports. A port is one direction of a connection to one peer on one channel, with a
 * bounded number of messages in flight. A message stays where it is: it must not change until the
 * peer has taken it. The receiver reads the oldest one that has arrived, in the sender's memory or
 * in a slot of its own, and releases it. Nothing blocks but wait() and barrier().
 */
#ifndef AR_VALIDATE_TRANSPORT_H
#define AR_VALIDATE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

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
    /** Sends a message, of `slot_bytes` at most, and counts it in `sent`; fewer than `window` of
     * the port are in flight. */
    void (*send)(struct transport *transport, uint32_t port, const unsigned char *data,
                 size_t bytes);

    /** Of all messages sent at the port, how many were taken, the oldest first: their memory may be
     * written again. Counts modulo 2^32, as `sent` does. */
    uint32_t (*taken)(struct transport *transport, uint32_t port);

    /** The oldest message that has arrived at a receiving port; NULL while there is none. */
    const unsigned char *(*receive)(struct transport *transport, uint32_t port);

    /** Says that it was read. */
    void (*release)(struct transport *transport, uint32_t port);

    /** Drawn before ports are asked: wait() returns at once if something has happened since. */
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

/** A barrier waits longer than a message: who is missing may itself wait, and says for whom. */
static inline double barrier_timeout_s(double timeout_s)
{
    return 2 * timeout_s;
}

#endif
