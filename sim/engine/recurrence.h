/** \file recurrence.h
 * Private to the `recurrence` engine: one call on one lane, phase by phase.
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
 * Phases of rings that are alike run as array arithmetic over all of them together (bundles.c);
 * other phases go message by message (moves.c, exchange.c).
 */
#pragma once

#include "ar_flows.h"
#include "ar_numbers.h"
#include "ar_trial.h"

/* --- bundles -------------------------------------------------------------------------------- */

/** The hops of a phase on one lane, laid out for array arithmetic.
 *
 * Where all walks of a phase are rings of as many hops, hop j of walk r is place j * walks + r: the
 * hops at the same place of their walks lie beside each other, and what place p sends arrives at
 * place p + walks.
 *
 * Place p + walks sends in a step what p sent in the one before (ar_verify() checks that), so the
 * lengths of the messages move along: place p sends in step s what place p - s * walks sent first.
 */
struct bundle {
    bool is_regular; /**< false: nothing else counts; go move by move */
    uint32_t walks;
    uint32_t rows; /**< the hops of a walk */
    uint32_t places_count;
    uint32_t *positions;       /**< [place] */
    uint32_t *peers;           /**< [place]: positions that they send to, of all positions */
    double *latency_s;         /**< [place] */
    double *s_per_byte;        /**< [place], 1 / rate */
    const struct ar_hop *hops; /**< [walk][row], places are [row][walk] */
};

/* --- a call ---------------------------------------------------------------------------------- */

/** The connection of one rank on the lane that is being run, in walks and trees. */
struct rank_state {
    double free_s;    /**< it has sent the last message */
    double arrival_s; /**< of the message that the rank receives in this step */
    uint32_t peer;    /**< position that it leads to, plus one; 0: there is none */
    uint32_t oldest;  /**< place of its next flight in a phase that goes move by move; else 0 */
};

/** Steps that a tile of a ring runs at a time: then what it needs is still in the cache. */
enum { RECURRENCE_TILE_STEPS = 8 };

/** Room for the arrays of a bundle: one number per place. */
struct bundle_arrays {
    double *now_s, *free_s, *start_s;
    double *bytes;                  /**< what places send in the first step, twice round */
    double *latency_s, *s_per_byte; /**< with what messages cost besides; NULL: nothing */
    double *flights_s; /**< [message % slots][place of stride]: arrivals, behind room for a row */
    uint32_t slots;    /**< more than the window */
    size_t stride;     /**< from one array to the next, and from slot to slot */
};

struct recurrence {
    struct ar_trial *trial;
    const struct ar_collective *collective;
    struct ar_order order;
    uint32_t positions; /**< of a lane, or those that stand for all (ar_flows.period) */
    uint32_t ranks;     /**< of all groups, or of these positions */
    const struct ar_flows *flows;
    struct bundle *bundles;             /**< [phase][resolved lane] */
    const struct ar_message_cost *cost; /**< of messages besides their paths */
    double copy_s_per_byte;
    double links_free_s; /**< the busiest link can have carried all calls so far */
    uint32_t *like;      /**< [resolved lane]: one that is known to be like it, plus one; 0: none */
    bool has_same_ranks; /**< on all channels of a group, at the same positions */
    bool has_like_channels; /**< and these do the same */
    /* The present call, on a lane, in a phase. */
    uint32_t call;
    double reduce_s_per_byte, setup_s;
    uint32_t resolved_lane; /**< that stands for the lane in flows */
    uint64_t elements;      /**< on the lane */
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    uint32_t first_step; /**< of the phase */
    /* By rank, and on the present lane. */
    double *rank_ready_s;      /**< [rank]: free for the next call */
    double *finish_s;          /**< [rank]: this call, latest lane so far */
    uint32_t *lane_ranks;      /**< [lane][position]: rank; only [group][position] where all
                                    channels have the same */
    bool has_lane_ranks;       /**< they are known */
    double *begins_s;          /**< [position]: it was ready for the call on the lane that was run
                                    last; twice: room for the next one */
    double *now_s;             /**< [position]: it has finished the steps so far */
    struct rank_state *states; /**< [position] */
    bool has_flights;          /**< some states or flights are not zero */
    double *flights_s;     /**< [flights_each][position]: arrivals, the oldest first; 0: none yet */
    uint32_t flights_each; /**< the window; 1 where no phase is of walks */
    struct ar_sends sends; /**< room for one step of an exchange */
    double *room_s;        /**< what phases but bundles need on a lane */
    struct bundle_arrays arrays;
    double jumps_from;             /**< messages of a bundle from which on rings may jump */
    struct pairs *pairs;           /**< times of exchanges that are remembered (fast_pairs.c) */
    uint32_t rings_jumped;         /**< bundles in which they did so far */
    const struct ar_phase *walked; /**< of the call: one in which rings of a lane did not */
};

/** A bundle in the present phase. */
struct bundle_run {
    const struct recurrence *all;
    const struct bundle *bundle;
    const struct bundle_arrays *arrays;
    uint32_t window;
    const double *bytes; /**< of the first step, by place, and of the places before: twice round */
    const double *latency_s, *s_per_byte; /**< [place] */
};

/** Arrivals of messages with this number, by place; the last ones of the phase before have -1. */
double *bundle_flights(const struct bundle_run *run, int64_t message);

/** Runs all steps of a ring on the arrays, as they are loaded before its first step and stored
 * after its last. False, with the arrays as they were, if it has not become steady early
 * (fast_ring_jump.c). */
bool ring_jump_run(const struct bundle_run *run);

/** The times of the messages of the present phase, an exchange that is not at once, that are
 * remembered from call to call (fast_pairs.c); NULL: none are. */
struct pairs *pairs_find(struct recurrence *recurrence);

/** Runs a step of the phase from `now_s` into it; false if its times are not known. */
bool pairs_run(const struct pairs *pairs, uint32_t step, double *now_s);

/** Remembers the times of a step by place of its senders: those of messages, and of adding up. */
void pairs_remember(const struct recurrence *recurrence, uint32_t step, const double *times_s,
                    const double *sums_s, struct pairs *pairs);

/** Lays out the phases of rings on all lanes, with what it takes to run them. */
void bundles_create(struct ar_arena *arena, struct recurrence *recurrence);

/** Runs the present phase from the states of the ranks into them: rings as arrays, walks move by
 * move, a tree, or sums of switches and exchanges, which begin when all sent before has arrived. */
void recurrence_run_bundle(struct recurrence *recurrence, const struct bundle *bundle);
void recurrence_run_moves(struct recurrence *recurrence);
void recurrence_run_tree(struct recurrence *recurrence);
void recurrence_run_sums(struct recurrence *recurrence);
void recurrence_run_exchange(struct recurrence *recurrence);

/** Lays out the phases of `flows` in the arena, with all that calls need. */
void recurrence_create(struct ar_arena *arena, struct recurrence *recurrence);

/** Runs a call of `elements` on a lane from the states given; leaves the states at its end. */
void recurrence_run_lane(struct recurrence *recurrence, uint32_t lane, uint64_t elements);
