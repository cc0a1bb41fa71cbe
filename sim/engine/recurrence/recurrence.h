/** \file recurrence.h
 * Private to the `recurrence` engine: one job on one lane, phase by phase.
 *
 * With t the time at which a rank has finished the steps so far, a send of b bytes over a hop of
 * latency L and rate r starts and arrives at
 *
 *     start   = max(t, connection free, arrival of the message `window` sends before)
 *     arrival = start + L + b / r,   connection free = start + b / r
 *
 * and the receiver goes on at max(its own start, arrival) + gamma b. A rank that sends to several
 * others, as in a tree, has a connection to each of them.
 *
 * Phases whose walks are alike run as array arithmetic over all of them together (bundles.c); other
 * phases go message by message (moves.c, exchange.c).
 */
#ifndef AR_RECURRENCE_H
#define AR_RECURRENCE_H

#include "ar_flows.h"
#include "ar_trial.h"

/* --- bundles -------------------------------------------------------------------------------- */

/** The steps of its phase in which a row sends. */
struct bundle_row {
    uint32_t first;
    uint32_t end;
};

/** The hops of a phase on one lane, laid out for array arithmetic.
 *
 * Where all walks of a phase (rings, or chains) have the same number of hops, hop j of walk r is
 * place j * walks + r: the hops at the same place of their walks lie beside each other,
 * and what place p sends arrives at place p + walks. A chain has a last row that only receives.
 *
 * Place p + walks sends in a step what p sent in the one before (ar_verify() checks that), so the
 * lengths of the messages move along: place p sends in step s what place p - s * walks sent first,
 * or, before the first row, what the first row sent in its own step. */
struct bundle {
    bool is_regular; /**< false: nothing else is set; go move by move */
    bool is_ring;
    uint32_t walks;
    uint32_t rows; /**< that send: the hops of a walk */
    uint32_t places_count;
    uint32_t *positions;     /**< [place] */
    double *latency_s;       /**< [place]; 0 in the last row of a chain */
    double *s_per_byte;      /**< [place], 1 / rate; 0 in the last row of a chain */
    enum ar_tier *tiers;     /**< [place] */
    struct bundle_row *send; /**< [row] */
};

/** Doubles in a cache line, 64 bytes on x86-64. */
enum { BUNDLE_LINE_NUMBERS = 8 };

/** Zeros that begin at a cache line, where wide vectors load fastest. */
double *bundle_lane(struct ar_arena *arena, size_t count);

/** Lays out the hops of a lane in a phase. */
void bundle_create(struct ar_arena *arena, const struct ar_phase *phase,
                   const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle);

/** Whether the same happens on both, from states that are alike; false where it is not known. */
bool bundle_is_alike(const struct bundle *one, const struct bundle *other);

/** Writes the bytes that place p sends in step s of the phase to bytes[origin + p - s * walks] for
 * all steps, and returns the origin. Needs bundle_bytes_capacity() numbers. */
size_t bundle_bytes(const struct ar_collective *collective, const struct bundle *bundle,
                    const struct ar_phase *phase, uint32_t first_step, uint64_t elements,
                    double *bytes);
size_t bundle_bytes_capacity(const struct bundle *bundle, const struct ar_phase *phase);

/** Writes the latency and the time per byte of messages that all are `bytes` long, above 0, with
 * what they cost besides their paths, to arrays with a number per place. */
void bundle_price(const struct bundle *bundle, const struct ar_message_cost *cost, double bytes,
                  double *latency_s, double *s_per_byte);

/* --- a job ---------------------------------------------------------------------------------- */

/** One rank on the lane that is being run. */
struct rank_state {
    double now_s;     /**< it has finished the steps so far */
    double free_s;    /**< its connection has sent the last message */
    double arrival_s; /**< of the message it receives in this step */
    uint32_t peer;    /**< position its connection leads to */
    uint32_t oldest;  /**< place of the oldest of its flights, that of the next message */
};

/** Steps that a tile of a ring runs at a time: then what it needs is still in the cache. */
enum { RECURRENCE_TILE_STEPS = 8 };

/** Room for the arrays of a bundle: one number per place. */
struct lanes {
    double *now_s;
    double *free_s;
    double *start_s;
    double *bytes;                  /**< see bundle_bytes() */
    double *latency_s, *s_per_byte; /**< see bundle_price(); NULL: messages cost nothing besides */
    double *flights_s;              /**< [message % slots][place of stride]: arrivals */
    uint32_t slots;                 /**< more than the window */
    size_t stride;                  /**< from one array to the next, and from slot to slot */
};

struct recurrence {
    struct ar_trial *trial;
    const struct ar_collective *collective;
    struct ar_order order;
    uint32_t positions; /**< of a lane */
    uint32_t ranks;     /**< of all groups */
    const struct ar_flows *flows;
    uint32_t phases_count;
    const struct ar_phase *phases;
    const struct ar_pattern *patterns;
    struct bundle *bundles;   /**< [phase][lane] */
    uint32_t job;             /**< the present one */
    double reduce_s_per_byte; /**< of the present job */
    double copy_s_per_byte;
    double setup_s;
    const struct ar_message_cost *cost; /**< of messages besides their paths */
    double links_free_s;                /**< the busiest link can have carried all calls so far */
    struct rank_state *states;          /**< [position] */
    double *flights_s;     /**< [position][window], a ring buffer: arrivals; 0: none yet */
    double *rank_ready_s;  /**< [rank]: free for the next job */
    double *finish_s;      /**< [rank]: this job, latest lane so far */
    struct ar_move *moves; /**< [position]: room for one step */
    double *connections_s; /**< room for a tree on one lane: when each hop is free, then
                                [part % window][hop]: arrivals */
    struct ar_sends sends; /**< room for one step of an exchange */
    double *exchange_s;    /**< [5][position], [2][lane][position]: room for an
                                exchange */
    double *sums_s;        /**< room for sums on one lane  */
    struct lanes lanes;
};

/** A bundle in a phase of a job. */
struct bundle_run {
    const struct recurrence *recurrence;
    const struct ar_phase *phase;
    const struct bundle *bundle;
    const struct lanes *lanes;
    uint32_t window;
    const double *bytes; /**< of the first step, by place */
};

/** Runs a phase of walks as arrays, from the states of the ranks into them. */
void recurrence_run_bundle(struct recurrence *recurrence, const struct ar_phase *phase,
                           const struct bundle *bundle, uint64_t elements, uint32_t first_step);

/** Runs a phase of walks move by move. */
void recurrence_run_moves(struct recurrence *recurrence, const struct ar_phase *phase,
                          const struct ar_pattern *pattern, uint32_t lane, uint64_t elements,
                          uint32_t first_step);

/** Runs a phase that is a tree; the rates are those of its parts, [part][hop of the pattern]. */
void recurrence_run_tree(struct recurrence *recurrence, const struct ar_phase *phase,
                         const struct ar_pattern *pattern, const double *part_rates_Bps,
                         uint32_t lane, uint64_t elements);

/** Runs a phase in which switches sum; how many numbers all phases need for that, `sums_s`. */
void recurrence_run_sums(struct recurrence *recurrence, const struct ar_phase *phase,
                         const struct ar_line_sums *sums, uint32_t lane, uint64_t elements,
                         uint32_t first_step);
size_t recurrence_sums_room(const struct recurrence *recurrence);

/** Runs a phase whose peers change from step to step. */
void recurrence_run_exchange(struct recurrence *recurrence, const struct ar_phase *phase,
                             const struct ar_exchange *exchange, uint32_t lane, uint64_t elements,
                             uint32_t first_step);

/** When a position has finished the steps so far and all that it has sent has arrived. */
double recurrence_finish(const struct recurrence *recurrence, uint32_t position);

/** Lays out the phases of `flows` in the arena, with all that jobs need. */
void recurrence_create(struct ar_arena *arena, struct recurrence *recurrence);

/** Runs a job of `elements` on a lane from the states given; leaves the states at its end. */
void recurrence_run_lane(struct recurrence *recurrence, uint32_t lane, uint64_t elements);

#endif
