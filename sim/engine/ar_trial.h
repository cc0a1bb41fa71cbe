/** \file ar_trial.h
 * A trial: a stream of collectives on a cluster, its parameters and its results in one place.
 *
 * Semantics, the same for every engine. Each rank works through the calls in order, as a GPU does
 * on one communication stream. A rank starts a call when the call is ready on this rank, and when
 * the rank has finished the call before on all channels. It pays the setup of a collective and the
 * copies of the call, then walks through the moves of the algorithm on each channel:
 *
 * - Before a send in step s, the receives of the earlier steps are complete, and reduced where the
 *   move says so (gamma seconds per byte).
 * - A connection sends one message at a time at the rate of its narrowest link; latency is
 *   pipelined: the next message starts when the one before has left, not when it has arrived.
 * - A rank has at most `window` messages in flight per channel, in a phase that is a tree per
 *   connection; with 1 it waits for each message to arrive.
 * - A step of an exchange is an MPI_Sendrecv: a message starts when its sender and its receiver
 * have come to the step (what they sent before has arrived), and both go on when it has arrived;
 * the window does not matter. Where the messages of a phase go at once they start when both have
 * come to the phase; a rank takes what it receives in the order of the steps.
 * - A message takes the latency of its path once and then shares the bandwidth of every link of the
 *   path with the other messages on it; what it costs besides is added (ar_message_cost.h).
 *
 * **Copies.** A framework copies gradients into a buffer, reduces it, and copies them out again,
 * all on the communication stream. Both are paid in front here: what a rank does between the two
 * depends on when ranks begin relative to each other alone, so moving the same time from behind the
 * collective to its front on every rank moves the collective, and the end of the call, the start of
 * the next one and the end of the stream stay where they are.
 *
 * The results are written by the engine; on failure they are left as they were.
 */
#pragma once

#include "ar_engine.h"
#include "ar_flows.h"
#include "ar_usage.h"

/** One collective of the stream. */
struct ar_call {
    double ready_s; /**< the call can start; not decreasing from call to call. Rank r waits until
                         rank_start_s[r] + rank_factor[r] * ready_s + wait_s */
    uint32_t parts; /**< how many of the trial's parts_end_s are over at ready_s; 0: not told */
    uint64_t elements;
    double wait_s; /**< at least 0; a wait that compute times do not change */
    double copy_s; /**< at least 0; of copies on the communication stream, in and out */
};

struct ar_call_time {
    double start_s;  /**< first rank starts (before the setup) */
    double finish_s; /**< last rank finishes */
};

/** The marks of a rank in a call on a channel: it starts the call, it has paid the setup and begins
 * phase 0, it has ended phase 0, 1, ... (phases without steps too), its messages have arrived. */
enum {
    AR_MARK_START = 0,
    AR_MARK_PHASES = 1, /**< phase p goes from mark AR_MARK_PHASES + p to the next */
    AR_MARK_DONE = AR_MARK_PHASES + AR_PHASES_MAX + 1,
    AR_MARKS_COUNT
};

/** The times at which some ranks do something. */
struct ar_timeline {
    const uint32_t *ranks; /**< those to observe */
    uint32_t ranks_count;
    double *marks_s; /**< result: [call][observed rank][channel][mark], see ar_timeline_marks() */
};

enum { AR_OPTIONS_TEXT = 200 };

/** Where in its 95 % band a measured time is taken. */
enum ar_band { AR_BAND_MIDDLE, AR_BAND_LOW, AR_BAND_HIGH };

struct ar_trial {
    /* Parameters. */
    struct ar_collective collective;
    const struct ar_call *calls;
    uint32_t calls_count;
    const struct ar_flows *flows; /**< of the collective, for many trials; NULL: made by
                                       engines that need them (ar_trial_flows()) */
    const double *parts_end_s;    /**< [part]: end of each part of the computations (a layer), on
                                       the clock of ready_s. An engine that replays computations
                                       runs part by part; NULL: from call to call */
    const double *rank_start_s;   /**< [rank], at least 0; NULL: 0 for all */
    const double *rank_factor;    /**< [rank], above 0: of compute time; NULL: 1 for all */
    const double *agreed_s;       /**< [call]: all ranks have agreed that the call may start, in
                                       place of when it is ready on each; NULL: they do not */
    const struct ar_library *library; /**< for engines that need one; else NULL */
    enum ar_band band;                /**< of the library's times */
    bool simulates_all;               /**< no step of a steady ring is left out of a simulation */

    /* Results. */
    struct ar_call_time *times; /**< room for calls_count entries, the caller's */
    double *rank_finish_s;      /**< finish of each rank's last call; room for all ranks, or NULL */
    struct ar_timeline *timeline;  /**< its marks are written; NULL: none, as it must be where
                                        the engine has no timelines */
    struct ar_usage *usage;        /**< of links and GPUs, by engines that simulate; NULL: none */
    uint64_t steps_left_out;       /**< of the steps of all calls, by a simulation: they repeat a
                                        steady period */
    uint64_t messages_count;       /**< 0 if the engine knows of none */
    char options[AR_OPTIONS_TEXT]; /**< engine version and settings that matter to the result */
    bool exact;                    /**< false: the engine neglects something, see `note` */
    char note[AR_OPTIONS_TEXT];    /**< what it neglects; "" if nothing */
    struct ar_flows *own_flows;    /**< NULL but while it runs */
};

/** When a call is ready on a rank, or may start there. */
static inline double ar_trial_ready(const struct ar_trial *trial, uint32_t call, uint32_t rank)
{
    if (trial->agreed_s != NULL) {
        return trial->agreed_s[call];
    }
    double start_s = trial->rank_start_s != NULL ? trial->rank_start_s[rank] : 0;
    double factor = trial->rank_factor != NULL ? trial->rank_factor[rank] : 1;
    return start_s + factor * trial->calls[call].ready_s + trial->calls[call].wait_s;
}

/** Numbers in the marks of a timeline. */
static inline size_t ar_timeline_size(const struct ar_trial *trial)
{
    return (size_t)trial->calls_count * trial->timeline->ranks_count * trial->collective.channels *
           AR_MARKS_COUNT;
}

/** The AR_MARKS_COUNT marks of the observed rank with this index. */
static inline double *ar_timeline_marks(const struct ar_trial *trial, uint32_t call, uint32_t index,
                                        uint32_t channel)
{
    const struct ar_timeline *timeline = trial->timeline;
    size_t place = (size_t)call * timeline->ranks_count + index;
    return timeline->marks_s + (place * trial->collective.channels + channel) * AR_MARKS_COUNT;
}

/** When a call is ready on all ranks; sets `is_even` to whether it is on all at once. */
double ar_trial_ready_on_all(const struct ar_trial *trial, uint32_t call, bool *is_even);

/** The flows of the collective for an engine that needs them; its own end with the run. */
enum ar_status ar_trial_flows(struct ar_trial *trial, const struct ar_flows **flows,
                              struct ar_error *err);

/** Makes the flows of a collective that are worth keeping for further trials by an engine: NULL for
 * one rank, and if it puts times on calls or on each message of a simulation. */
enum ar_status ar_engine_make_flows(const struct ar_engine *engine,
                                    const struct ar_collective *collective, struct ar_flows **flows,
                                    struct ar_error *err);

/** Checks the trial and runs it. A collective of one rank takes no time and no engine. */
enum ar_status ar_trial_run(struct ar_trial *trial, const struct ar_engine *engine,
                            struct ar_error *err);
