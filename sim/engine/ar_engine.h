/** \file ar_engine.h
 * An engine: a row of traits and functions that puts clocks on the trials of ar_trial.h.
 *
 * Nobody outside asks for an engine by its name; what engines differ in is a trait here.
 */
#ifndef AR_ENGINE_H
#define AR_ENGINE_H

#include "ar_collective.h"
#include "ar_library_fit.h"

struct ar_graph_trial;
struct ar_trial;

/** What a trial takes on one core, in seconds: measured on sweeps of abci-v100 with two cores, 16
 * to 4096 GPUs, and good to a factor of two or so. */
struct ar_engine_cost {
    double trial_s;   /**< constant part */
    double message_s; /**< per message */
    double rank_s;    /**< per rank, channel and collective */
    double ranks;     /**< from here on a message costs more in proportion to the ranks; 0: never */
    double messages;  /**< of a rank and channel that are computed where ranks start together; those
                           after them repeat and cost nothing; 0: all */
};

struct ar_engine {
    const char *name;
    const char *title;
    bool has_messages;  /**< follows the messages on the links of the cluster */
    bool has_timeline;  /**< says when ranks do what */
    bool is_simulation; /**< the reference for others; each message is simulated */
    bool needs_library; /**< trial->library: knows the times of its calls, and of no messages */
    bool is_fitted;     /**< to measurements, so that its times have a band */
    struct ar_engine_cost cost;
    /** ar_engine_check(), called by it; NULL: runs every algorithm, and makes no choice. */
    enum ar_status (*check)(const struct ar_engine *engine, const struct ar_collective *collective,
                            const struct ar_library *library, struct ar_error *err);
    /** With needs_library: the time of one call; `calls` as in ar_tuning_choose(). */
    struct ar_library_prediction (*predict)(const struct ar_library *library, enum ar_calls calls,
                                            const struct ar_library_run *run);
    enum ar_status (*run)(struct ar_trial *trial, struct ar_error *err);
    /** Runs all ranks of a task graph, with all that they send at once; NULL: the engine times each
     * work alone, and graphs are scheduled with these times. */
    enum ar_status (*run_graph)(struct ar_graph_trial *trial, struct ar_error *err);
};

/** Refuses, with AR_USAGE, what an engine cannot run: the choice of a library (no algorithm) by one
 * that makes none; by one that needs a library a cluster without one (`library` is NULL) and
 * algorithms that it has not. */
enum ar_status ar_engine_check(const struct ar_engine *engine,
                               const struct ar_collective *collective,
                               const struct ar_library *library, struct ar_error *err);

/** Whether an engine puts times on the flows of a collective (ar_flows.h), so that they are worth
 * keeping for further trials. */
bool ar_engine_has_flows(const struct ar_engine *engine);

/** Estimated time of a trial of so many collectives and messages in all; `is_even`: ranks start
 * together. */
double ar_engine_cost_s(const struct ar_engine *engine, double ranks, double channels,
                        double collectives, double messages, bool is_even);

#endif
