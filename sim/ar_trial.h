/** \file ar_trial.h
 * A trial: a stream of all-reduces on a cluster, its parameters and its results in one place.
 *
 * Semantics, the same for every engine. Each rank works through the jobs in order, as a GPU does on
 * one communication stream. A rank starts a job when the job is ready on all ranks, and when the
 * rank itself has finished the job before on all channels. It pays the setup of a collective, then
 * walks through the moves of the algorithm on each channel:
 *
 * - Before a send in step s, the receives of the earlier steps are complete, and reduced where the
 *   move says so (gamma seconds per byte).
 * - A connection sends one message at a time at the rate of its narrowest link; latency is
 *   pipelined: the next message starts when the one before has left, not when it has arrived.
 *   (Where links are shared a message leaves later than that; `simgrid` lets the next one overlap
 *   it, `recurrence` lets it wait.)
 * - A rank has at most `window` messages in flight per channel; with 1 it waits for each message
 *   to arrive.
 * - A message takes the latency of its path once and then shares the bandwidth of every link of the
 *   path with the other messages on it.
 *
 * The results are written by the engine; on failure they are left as they were.
 */
#ifndef AR_TRIAL_H
#define AR_TRIAL_H

#include "ar_closed.h"
#include "ar_collective.h"

/** One all-reduce of the stream. */
struct ar_job {
    double ready_s; /**< the job can start on all ranks; not decreasing from job to job */
    uint64_t elements;
};

struct ar_job_time {
    double start_s;  /**< first rank starts (before the setup) */
    double finish_s; /**< last rank finishes */
};

enum { AR_OPTIONS_TEXT = 160 };

struct ar_trial {
    /* Parameters. */
    struct ar_collective collective;
    const struct ar_job *jobs;
    uint32_t jobs_count;

    /* Results. */
    struct ar_job_time *times; /**< room for jobs_count entries, the caller's */
    double *rank_finish_s;     /**< finish of each rank's last job; room for all ranks, or NULL */
    uint64_t messages_count;
    double wall_s;                 /**< real time the engine took */
    uint64_t memory_bytes;         /**< peak resident memory of the engine; 0 if not measured */
    char options[AR_OPTIONS_TEXT]; /**< engine version and settings that matter to the result */
    bool exact;                    /**< false: the engine neglects something, see `note` */
    char note[AR_OPTIONS_TEXT];    /**< what it neglects; "" if nothing */
};

struct ar_engine {
    const char *name;
    const char *title;
    enum ar_status (*run)(struct ar_trial *trial, struct ar_error *err);
};

/** The table of all engines. */
extern const struct ar_engine *const ar_engines[];
extern const size_t ar_engines_count;

/** Finds an engine by name; the error names the nearest known one. */
enum ar_status ar_engine_find(const char *where, const char *name, const struct ar_engine **engine,
                              struct ar_error *err);

/** Checks the trial and runs it. A collective of one rank takes no time and no engine. */
enum ar_status ar_trial_run(struct ar_trial *trial, const struct ar_engine *engine,
                            struct ar_error *err);

#endif
