/** \file ar_engine.h
 * An engine computes how long a collective takes. Each is a row of functions in a file of its own
 * and a name in AR_ENGINE_LIST. Others ask what an engine can do by the functions below, never for
 * its name or for a field of its row.
 */
#pragma once

#include "ar_collective.h"
#include "ar_library_fit.h"

struct ar_graph_trial;
struct ar_trial;

/** How long a trial keeps one core busy, in seconds: measured on sweeps of abci-v100 with two
 * cores, 16 to 4096 GPUs, and good to a factor of two or so. */
struct ar_engine_cost {
    double trial_s;   /**< constant part */
    double message_s; /**< per message; 0: it visits none, and has no timelines */
    double rank_s;    /**< per rank, channel and collective */
    double ranks;     /**< from here on a message costs more, as the root of the ranks; 0: never */
    double messages;  /**< messages of a rank and channel that are computed where ranks start
                           together; those after them repeat and cost nothing; 0: all */
};

/** A message of an exchange takes a simulation so many times as long as one of a ring in a node:
 * measured on a step of mixtral-8x7b on 64 H100. */
enum { AR_ENGINE_EXCHANGE_WEIGHT = 6 };

struct ar_engine {
    const char *name, *title;
    struct ar_engine_cost cost;
    bool has_band; /**< fitted to measurements: times have a 95 % band (ar_trial.band) */
    /** Rejects what it cannot run (ar_engine_check()); NULL: it runs all, and makes no choice. */
    enum ar_status (*check)(const struct ar_engine *engine, const struct ar_collective *collective,
                            const struct ar_library *library, struct ar_error *err);
    /** The time of one call of a communication library; `calls` as in ar_tuning_choose(). NULL: the
     * engine follows the messages on the links of the cluster. */
    struct ar_library_prediction (*predict_call)(const struct ar_library *library,
                                                 enum ar_calls calls,
                                                 const struct ar_library_run *run);
    enum ar_status (*run)(struct ar_trial *trial, struct ar_error *err);
    /** Simulates all ranks of a task graph, with all that they send at once. NULL: the engine times
     * each work alone, and graphs are scheduled with these times. */
    enum ar_status (*run_graph)(struct ar_graph_trial *trial, struct ar_error *err);
};

/** The engines in the order in which they are listed: SimGrid, with every rank an actor per channel
 * and every message a communication on the platform; a dataflow recurrence over ranks with max-min
 * shared rates; the closed form (ar_closed.h); the times of a fitted library (ar_library_fit.h);
 * NCCL's own cost model (ar_tuning.h). */
#define AR_ENGINE_LIST(X) X(simgrid) X(recurrence) X(closed) X(library) X(nccl)

#define AR_DECLARE_ENGINE(name) extern const struct ar_engine ar_engine_##name;
AR_ENGINE_LIST(AR_DECLARE_ENGINE)

/** The table of all engines. */
extern const struct ar_engine *const ar_engines[];
extern const size_t ar_engines_count;

/** Finds an engine by name; the error names the nearest known one. */
enum ar_status ar_engine_find(const char *where, const char *name, const struct ar_engine **engine,
                              struct ar_error *err);

/** What notes call the algorithm of collectives: the choice of a library, by an engine that times
 * calls, else the algorithm's name, or if it is NULL `other`. */
static inline const char *ar_engine_choice(const struct ar_engine *engine,
                                           const struct ar_algorithm *algorithm, const char *other)
{
    const char *name = algorithm != NULL ? algorithm->name : other;
    return engine->predict_call != NULL ? "the choice of the library" : name;
}

/** The engine beside which another one is checked: a simulation; the recurrence beside that. */
static inline const struct ar_engine *ar_engine_checker(const struct ar_engine *engine)
{
    return engine->run_graph != NULL ? &ar_engine_recurrence : &ar_engine_simgrid;
}

/** Whether an engine times the calls of a communication library, and knows of no messages: it needs
 * the library (ar_trial.library), which may choose the algorithm. */
bool ar_engine_times_calls(const struct ar_engine *engine);

/** Whether an engine times calls and has no price of one: NCCL's own model of an all-to-all. */
static inline bool ar_engine_lacks_call(const struct ar_engine *engine, enum ar_library_call call)
{
    return engine->predict_call != NULL && !engine->has_band && call >= AR_PRICED_CALLS;
}

/** The algorithm of an operation if nobody names one: the first; NULL, the choice of a library, by
 * an engine that times calls. */
const struct ar_algorithm *ar_engine_algorithm(const struct ar_engine *engine,
                                               const struct ar_operation *operation);

/** The engine of messages for which a library has no calls: an engine itself, if it follows
 * messages, else the recurrence. */
static inline const struct ar_engine *ar_engine_of_messages(const struct ar_engine *engine)
{
    return engine->predict_call != NULL ? &ar_engine_recurrence : engine;
}

/** The library by which an engine times calls: the fitted one (NULL: there is none), or NCCL's own
 * constants. NULL for engines that follow messages. */
const struct ar_library *ar_engine_pick_library(const struct ar_engine *engine,
                                                const struct ar_library *fitted,
                                                const struct ar_library *constants);

/** Whether an engine is fitted to measurements, so that its times have a 95 % band. */
bool ar_engine_is_fitted(const struct ar_engine *engine);

/** Whether an engine simulates each message, as the reference, and all ranks of task graphs. */
static inline bool ar_engine_simulates(const struct ar_engine *engine)
{
    return engine->run_graph != NULL;
}

/** Whether an engine says when ranks do what (ar_trial.timeline). */
static inline bool ar_engine_has_timeline(const struct ar_engine *engine)
{
    return engine->cost.message_s > 0;
}

/** Refuses, with AR_USAGE, what an engine cannot run: the choice of a library (no algorithm) by one
 * that makes none; by one that times calls a cluster without a library (`library` is NULL) and
 * algorithms that the library does not have. */
enum ar_status ar_engine_check(const struct ar_engine *engine,
                               const struct ar_collective *collective,
                               const struct ar_library *library, struct ar_error *err);

/** Estimated time of a trial of so many collectives, messages; `is_even`: ranks start at once. */
double ar_engine_cost_s(const struct ar_engine *engine, double ranks, double channels,
                        double collectives, double messages, bool is_even);
