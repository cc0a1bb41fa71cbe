/** \file ar_kind.h
 * A kind of question: a row that says what differs between a collective, a step of a trace, of a
 * transformer, and so on. Everything else treats jobs alike.
 *
 * A row first makes a job of a scenario (`load`, `job`), then a graph of the job, and
 * last fills the columns of a row with what was asked and what came out. A new kind is a file and a
 * row.
 */
#pragma once

#include <stdio.h>

#include "ar_row.h"
#include "ar_scenario.h"
#include "ar_step_errors.h"
#include "ar_timing.h"

struct ar_kind {
    const char *name;   /**< for people */
    unsigned keys;      /**< uses (enum ar_key_use) of the keys that have a meaning for it */
    bool is_collective; /**< a collective alone: its time is no step's */
    bool has_layout;    /**< the layout of the job says where everything lies, from the start; else
                             its collective does */

    enum ar_step_class published; /**< steps that others measured and that are like it */

    bool has_baseline; /**< samples per second are compared with those of a baseline */
    bool has_wire;     /**< gradients are sent in the precision that the framework says */

    /** Loads what is peculiar to the kind, derives what no key said, and rejects what does not fit;
     * part of ar_scenario_load(). */
    enum ar_status (*load)(struct ar_scenario *scenario, struct ar_error *err);
    /** Completes a job that ar_scenario_job() has begun. NULL: there is nothing to complete. */
    void (*job)(const struct ar_scenario *scenario, struct ar_job *job);
    /** Makes the task graph and, of a trace, buckets and layout, in the timing; computations are
     * slowed down (NULL: are not). NULL: it has servers, and servers_run() in place of a graph. */
    enum ar_status (*graph)(const struct ar_job *job, const struct ar_slowdown *slowdown,
                            struct ar_timing *timing, struct ar_error *err);
    /** The parameters of a row that not all kinds have. */
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

/* --- scenarios run ---------------------------------------------------------------------------- */

/** The parameters of a row; there are no results yet. */
void ar_run_describe(const struct ar_scenario *scenario, struct ar_row *row);

/** Computes a row. On failure the row has the parameters and the error as its status. */
enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err);

/** Answers the job of a scenario, which may ask for a timeline, and fills the row. */
enum ar_status ar_run_job(const struct ar_scenario *scenario, const struct ar_job *job,
                          struct ar_arena *arena, struct ar_timing *timing, struct ar_row *row,
                          struct ar_error *err);

/** Estimated seconds on one core, the baseline included, by the rates of the engine (ar_trial.h);
 * good to a factor of two or so. */
double ar_run_cost_s(const struct ar_scenario *scenario);

/* Notes: what a reader should know beside a row, written to `notes` (ar_row.h). */

/** Notes what all rows of steps have in common, the baseline of efficiency among it. */
void ar_note_points(FILE *notes, const struct ar_scenario *scenario, size_t points_count);

/** A text that says which efficiency is 100 %; static storage. */
const char *ar_note_baseline(enum ar_baseline baseline);

/** Whether nothing happens between the layers, and all GPUs are equally fast. */
bool ar_scenario_is_ideal(const struct ar_scenario *scenario);

/** Notes what an ideal scenario leaves out, and how far published steps like another were off. */
void ar_note_how_sure(FILE *notes, const struct ar_scenario *scenario);

/** Notes the shape made of a number of GPUs that none was given for, if that is not to be expected:
 * a grid, a ring, groups smaller than a node. */
void ar_note_shape(FILE *notes, const struct ar_scenario *scenario);

/** Notes what concerns all points of a sweep, by one of its combinations and its GPU counts. */
void ar_note_sweep(FILE *notes, const struct ar_scenario *scenario, const uint64_t *gpus,
                   size_t gpus_count);

/** Notes links made slow or taken out, though no message of so many ranks takes them, and routes
 * without a choice. */
void ar_note_links(FILE *notes, const struct ar_scenario *scenario, uint32_t ranks);

/** Before scenarios that differ in payload only are run one after the other: all that concerns one
 * scenario, values without effect, what is assumed or not measured, whether it takes long. */
void ar_note_before(FILE *notes, const struct ar_scenario *scenario, double cost_s);

/** Notes that an engine takes long, if it does. */
void ar_note_duration(FILE *notes, const struct ar_scenario *scenario, double cost_s);

/** Which shape and algorithm were chosen. */
void ar_note_choice(FILE *notes, const struct ar_scenario *scenario);

/** Notes assumptions about a transformer that hold in all its layouts. */
void ar_note_model(FILE *notes, const struct ar_scenario *scenario);

/** Notes assumptions and risks of one layout of a transformer. */
void ar_note_layout(FILE *notes, const struct ar_scenario *scenario);

/** Terms of the framework that change nothing; the scenario has a trace. */
void ar_note_framework(FILE *notes, const struct ar_scenario *scenario);

/** The middle of "what ... is left out": things that the kernels of a workload leave out; NULL:
 * nothing that is known. */
const char *ar_note_left_out(const struct ar_scenario *scenario);

/** Notes what can hardly be meant in a trace: times in another unit, a batch beyond the GPU's
 * memory. Returns whether there was something. */
bool ar_note_trace(FILE *notes, const struct ar_scenario *scenario);

/** The values of the cluster file whose source is "assumed". */
void ar_note_assumed(FILE *notes, const struct ar_scenario *scenario);
