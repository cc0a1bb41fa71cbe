/** \file ring_units.h
 * A ring in whole units of time, so that what repeats is equal and not just near: what the steps of
 * ring_jump.h work on.
 *
 * Rows of the arrays are places or, where the arrays ride with the messages, messages: at step s,
 * row i is then at place i + s.
 */
#ifndef AR_RING_UNITS_H
#define AR_RING_UNITS_H

#include "recurrence.h"

struct ring_units {
    const struct bundle_run *run;
    const struct bundle *bundle;
    bool rides;
    uint32_t hop_rows; /**< after which hops repeat */
    uint32_t slots;    /**< steps whose arrivals are kept */
    uint32_t newest;   /**< slot of the last step */
    uint32_t known;    /**< slots that hold what was, not what a jump made of it */
    double begin_s;
    double unit_s;
    double *units_per_byte; /**< [place] */
    int64_t *latency;       /**< [place] */
    int64_t *arrivals;      /**< [slot][place or message] */
};

/** Sets the clock, and does the first step. */
void ring_units_begin(struct ring_units *units);

/** Another step. */
void ring_units_step(struct ring_units *units, uint32_t step);

/** Fills the lanes as they are after the last step. */
void ring_units_end(const struct ring_units *units);

/** Arrivals of the step `age` steps before the last one. */
static inline int64_t *ring_units_arrivals(const struct ring_units *units, uint32_t age)
{
    uint32_t slot = units->newest + units->slots - age;
    return units->arrivals +
           (slot < units->slots ? slot : slot - units->slots) * units->bundle->places_count;
}

/** What messages wait for that lie beside each other in all arrays. */
struct ring_stretch {
    size_t first;
    size_t count;
    size_t track;          /**< index of itself at the place before, */
    size_t port;           /**< of the one before it in the same connection, */
    size_t window;         /**< of the one that gives a slot of the window back, */
    size_t place;          /**< and of where it is */
    const int64_t *before; /**< arrivals of the step before, */
    const int64_t *oldest; /**< and of `window` steps before */
    double reduce;         /**< of a byte, in units */
};

/** The stretch that begins at `first` in a step that was `age` steps ago; -1: in the next one. */
struct ring_stretch ring_units_stretch(const struct ring_units *units, size_t first, uint32_t step,
                                       int age);

static inline int64_t ring_units_whole(double units)
{
    return (int64_t)(units + 0.5);
}

static inline int64_t ring_units_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/** Times of a message of a stretch, and of its sender. */
struct ring_waits {
    int64_t track;
    int64_t port;
    int64_t window;
    int64_t start;  /**< the latest of these */
    int64_t passes; /**< from its start to its arrival */
    int64_t left;   /**< the one before it, over this hop */
    int64_t now;    /**< its sender has it, and has begun to send the one before it */
};

static inline struct ring_waits ring_units_waits(const struct ring_units *units,
                                                 const struct ring_stretch *at, size_t i)
{
    double units_per_byte = units->units_per_byte[at->place + i];
    int64_t latency = units->latency[at->place + i];
    double bytes = units->run->bytes[at->first + i];
    int64_t reduce = ring_units_whole(bytes * at->reduce);
    int64_t left = at->before[at->port + i] - latency;
    int64_t started = left - ring_units_whole(units->run->bytes[at->port + i] * units_per_byte);
    int64_t track = at->before[at->track + i] + reduce;
    int64_t port = ring_units_later(left, started + reduce);
    int64_t window = at->oldest[at->window + i];
    return (struct ring_waits){
        .track = track,
        .port = port,
        .window = window,
        .start = ring_units_later(ring_units_later(track, port), window),
        .passes = ring_units_whole(bytes * units_per_byte) + latency,
        .left = left,
        .now = ring_units_later(track, started + reduce),
    };
}

#endif
