/** \file recurrence.h
 * The heart of the `recurrence` engine: one job on one channel, step by step.
 *
 * With t the time at which a rank has finished the steps so far, a send of b bytes over a hop of
 * latency L and rate r starts and arrives at
 *
 *     start   = max(t, connection free, arrival of the message `window` sends before)
 *     arrival = start + L + b / r,   connection free = start + b / r
 *
 * and the receiver goes on at max(its own start, arrival) + gamma b.
 *
 * Phases in which all ranks send in every step run as array arithmetic around each ring: hop h
 * sends to hop h + 1, and what a rank receives in a step it sends in the next, so sizes move along
 * (ar_verify() checks that). Other phases follow the moves one by one.
 */
#ifndef AR_RECURRENCE_H
#define AR_RECURRENCE_H

#include "ar_pattern.h"
#include "ar_trial.h"

/** One rank on the channel that is being run. */
struct rank_state {
    double now_s;     /**< it has finished the steps so far */
    double free_s;    /**< its connection has sent the last message */
    double arrival_s; /**< of the message it receives in this step */
    uint32_t peer;    /**< position its connection leads to */
    uint32_t sent;    /**< messages since the job began */
};

struct recurrence {
    struct ar_trial *trial;
    const struct ar_collective *collective;
    struct ar_order order;
    uint32_t ranks;
    uint32_t phases_count;
    struct ar_phase phases[AR_PHASES_MOST];
    struct ar_pattern patterns[AR_PHASES_MOST];
    uint32_t job; /**< the present one */
    double reduce_s_per_byte;
    double setup_s;
    struct rank_state *states; /**< [position] */
    double *flights_s;         /**< [position][message % window]: arrivals; 0: none yet */
    double *rank_ready_s;      /**< [rank]: free for the next job */
    double *finish_s;          /**< [rank]: this job, latest channel so far */
    struct ar_move *moves;     /**< [position]: room for one step */
    double *lanes;             /**< room for the arrays of a ring */
};

/** Runs a job of `elements` on a channel from the states given; leaves the states at its end. */
void recurrence_run_channel(struct recurrence *recurrence, uint32_t channel, uint64_t elements);

/** Writes a mark of the present job: where the observed ranks are in time. */
void recurrence_mark(const struct recurrence *recurrence, uint32_t channel, uint32_t mark);

#endif
