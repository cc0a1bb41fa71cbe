/** \file ar_exchange.h
 * The messages of a phase whose peers change from step to step: who sends to whom, how much, and at
 * which rate.
 *
 * The messages of a step, on all lanes, are taken to be under way together: the rate of one is its
 * max-min fair share among them (ar_maxmin.h). In a phase in which all go at once, all messages of
 * the phase are, and a message is taken to arrive when the busiest link of its path can have
 * carried all that goes over it: its rate is its size over that time.
 *
 * Messages of a step that are alike are of one kind, so that a step in which all are takes O(1).
 */
#ifndef AR_EXCHANGE_H
#define AR_EXCHANGE_H

#include "ar_collective.h"
#include "ar_maxmin.h"

struct ar_message_kind {
    double latency_s;
    double rate_Bps;
    /** Messages that the busier one of its ranks has while it is under way: 1, or the steps of a
     * phase in which all go at once. Each keeps the rank busy (ar_message_cost.h). */
    uint32_t turns;
    uint32_t pieces; /**< of ar_phase.pieces of the buffer of a channel */
    enum ar_tier tier;
    uint32_t link;  /**< the link of its path with the least bandwidth for each message on it */
    uint32_t flows; /**< these messages */
};

/** What a message of `bytes` spends on its way, and on the links. */
static inline double ar_message_latency_s(const struct ar_message_kind *kind,
                                          const struct ar_message_cost *cost, double bytes)
{
    return kind->latency_s + ar_message_extra_s(cost, kind->tier, bytes);
}

static inline double ar_message_busy_s(const struct ar_message_kind *kind,
                                       const struct ar_message_cost *cost, double bytes)
{
    return bytes / kind->rate_Bps + kind->turns * ar_message_gap_s(cost, kind->tier);
}

struct ar_exchange_step {
    uint32_t ahead;        /**< every position sends to the one so many ahead; 0: see `peers` */
    uint32_t first, count; /**< positions that may send */
    const uint32_t *peers; /**< [position - first]; AR_NEVER: it does not send */
    uint32_t first_kind, kinds_count;
    bool is_shared; /**< some message has less than the bandwidth of its path */
    /** [lane][position - first]: which of the kinds its message is, in the array that is there; in
     * none, if all are of one kind. */
    const uint16_t *narrow;
    const uint32_t *wide;
};

struct ar_exchange {
    uint32_t positions;
    struct ar_exchange_step *steps; /**< [step of the phase] */
    struct ar_message_kind *kinds;
    uint32_t kinds_count;
    uint32_t smallest, largest; /**< pieces of a message */
    bool is_uniform;            /**< the messages of each step are alike */
    bool is_full;               /**< all positions send in every step */
    bool is_shared;             /**< some message has less than the bandwidth of its path */
    /** In this phase and the exchanges before it, every link carries messages of one sender or for
     * one receiver only, so that never two are on it, whoever is late. */
    bool is_private;
};

/** What the exchanges of a collective are resolved with, one after the other. */
struct exchange_scratch;

enum ar_status exchange_scratch_create(struct ar_arena *arena,
                                       const struct ar_collective *collective,
                                       struct ar_maxmin *rates, struct exchange_scratch **scratch,
                                       struct ar_error *err);

/** What links carry, in buffers of a channel. */
struct link_sums {
    double *carried; /**< [link] */
    double *folded;  /**< [link of the first period]: each of those that come from it, too */
    uint32_t period; /**< of `folded` */
};

/** Resolves a phase that is an exchange and begins with `first_step`, in the arena. Adds to `sums`
 * what the links carry. */
enum ar_status exchange_resolve(struct ar_arena *arena, struct exchange_scratch *scratch,
                                const struct ar_phase *phase, uint32_t first_step,
                                struct link_sums *sums, struct ar_exchange **exchange,
                                struct ar_error *err);

#endif
