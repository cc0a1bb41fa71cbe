/** \file cursor.h
 * A rank on one channel: how far its sends and receives are, and what of its messages is in flight.
 */
#ifndef AR_VALIDATE_CURSOR_H
#define AR_VALIDATE_CURSOR_H

#include "executor.h"

enum { FLIGHTS_MAX = 64 };

/** A message that the peer may still read. */
struct flight {
    uint32_t port;
    uint32_t number; /**< of those of the port, from 1 */
    const unsigned char *from;
    size_t bytes;
};

/** A place in a slice: what is left of one of its spans, and where the next one is. */
struct place {
    uint32_t part;
    struct ar_span span;
};

/** What a rank sends, or receives, in a step of a channel. */
struct side {
    uint32_t step;
    uint32_t port;
    struct ar_slice slice;
    struct place place; /**< of what comes next */
    uint64_t done;      /**< elements */
    bool is_done;
};

/** How what a step sends lies to what it receives. */
enum relation { APART, SAME, OVERLAPPING };

/** A rank on one channel. */
struct cursor {
    const struct execution *execution;
    uint32_t channel;
    uint32_t position;
    struct ar_span part; /**< of the payload */
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count;
    uint32_t steps;
    struct side send;
    struct side receive; /**< never of a later step */
    bool reduces;
    uint32_t last_ahead;                /**< step that may be sent in while this one is received */
    enum relation relation;             /**< in the step of the sends */
    bool packs;                         /**< what it sends is copied first */
    unsigned char *packed[FLIGHTS_MAX]; /**< a slot for each flight that was ever packed */
    uint64_t flights_taken;             /**< those that are not in flight, as bits */
    struct flight flights[FLIGHTS_MAX];
};

/** Goes to the first step. What is in flight stays so. */
void cursor_begin(struct cursor *cursor, const struct execution *execution, uint32_t channel);

/** Sends and receives until it has to wait; tells by `has_advanced` that it did anything. */
enum ar_status cursor_advance(struct cursor *cursor, bool *has_advanced, struct ar_error *err);

/** Forgets the messages that their peers have taken. */
void cursor_drop_flights(struct cursor *cursor);

/** Whether nothing in flight is read from there. */
bool cursor_is_free(const struct cursor *cursor, const unsigned char *at, size_t bytes);

#endif
