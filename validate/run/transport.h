/** \file transport.h
 * How a rank passes messages: what the executor needs from a backend.
 *
 * A rank has ports. A port is one direction of a connection to one peer on one channel: a bounded
 * ring of slots of equal size. The sender writes into the next free slot and sends it; the receiver
 * reads the oldest slot that has arrived and releases it. Nothing blocks but wait() and barrier().
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
    /** The next free slot of a sending port; NULL while all are in flight. */
    unsigned char *(*send_slot)(struct transport *transport, uint32_t port);

    /** Sends what was written to it, `bytes` from its start. */
    void (*send)(struct transport *transport, uint32_t port, size_t bytes);

    /** NULL, or sends `bytes` bytes from where they are, in place of a slot that is free. They must
     * not change until is_free() says so. */
    void (*send_from)(struct transport *transport, uint32_t port, const unsigned char *data,
                      size_t bytes);

    /** Whether no message is still being read from this memory; comes with send_from(). */
    bool (*is_free)(struct transport *transport, const unsigned char *memory, size_t bytes);

    /** The oldest slot that has arrived at a receiving port; NULL while there is none. */
    const unsigned char *(*receive_slot)(struct transport *transport, uint32_t port);

    /** Gives it back. */
    void (*release)(struct transport *transport, uint32_t port);

    /** Drawn before slots are asked for: wait() returns at once if something has happened since. */
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
    size_t slot_bytes; /**< room of a slot */
};

/** A barrier waits longer than a message: who is missing may itself wait, and says for whom. */
static inline double barrier_timeout_s(double timeout_s)
{
    return 2 * timeout_s;
}

#endif
