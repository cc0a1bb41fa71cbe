/** \file ar_kind.h
 * A kind of question: a row that says what differs between a collective, a step of a trace, of a
 * transformer, and so on. Everything else treats jobs alike.
 *
 * A row first makes a job of a scenario (`load`, `job`), then a graph of the job, and
 * last fills the columns of a row with what was asked and what came out. A new kind is a file and a
 * row.
 */
#ifndef AR_KIND_H
#define AR_KIND_H

#include <stdio.h>

#include "ar_row.h"
#include "ar_scenario.h"
#include "ar_timing.h"

struct ar_kind {
    const char *name;   /**< for people */
    unsigned keys;      /**< uses (enum ar_key_use) of the keys that have a meaning for it */
    bool is_collective; /**< a collective alone: its time is no step's */
    bool has_layout;    /**< the layout of the job says where everything lies, from the start; else
                             its collective does */

    bool has_baseline; /**< samples per second are compared with those of a baseline */
    bool has_wire;     /**< gradients are sent in the precision that the framework says */

    /** Loads what is peculiar to the kind, derives what no key said, and rejects what does not fit;
     * part of ar_scenario_load(). */
    enum ar_status (*load)(struct ar_scenario *scenario, struct ar_inputs *inputs,
                           struct ar_error *err);
    /** Completes a job that ar_scenario_job() has begun. NULL: there is nothing to complete. */
    void (*job)(const struct ar_scenario *scenario, struct ar_job *job);
    /** Makes the task graph and, of a trace, buckets and layout, in the timing; computations are
     * slowed down (NULL: are not). NULL: it has servers, and servers_run() in place of a graph. */
    enum ar_status (*graph)(const struct ar_job *job, const struct ar_slowdown *slowdown,
                            struct ar_timing *timing, struct ar_error *err);
    /** The parameters of a row that only this kind has. NULL: none. */
    void (*describe)(const struct ar_scenario *scenario, struct ar_row *row);
    /** The results. */
    void (*fill)(const struct ar_scenario *scenario, const struct ar_timing *timing,
                 struct ar_row *row);
    /** Notes on what was assumed and on what cannot be meant. */
    void (*note)(FILE *notes, const struct ar_scenario *scenario);
    /** Estimated seconds on one core. */
    double (*cost_s)(const struct ar_scenario *scenario);
};

extern const struct ar_kind ar_kind_collective, ar_kind_trace, ar_kind_transformer,
    ar_kind_recorded, ar_kind_operators, ar_kind_servers_of_trace, ar_kind_servers_of_layout;

/** The kind that the keys of a scenario ask for. */
const struct ar_kind *ar_scenario_kind(const struct ar_scenario *scenario);

/** The job of a scenario that is loaded and settled. */
struct ar_job ar_scenario_job(const struct ar_scenario *scenario);

#endif
