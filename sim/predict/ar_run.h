/** \file ar_run.h
 * Scenarios run: from a loaded scenario to a row.
 */
#ifndef AR_RUN_H
#define AR_RUN_H

#include <stdio.h>

#include "ar_row.h"
#include "ar_scenario.h"
#include "ar_timing.h"

/** The parameters of a row; there are no results yet. */
void ar_run_describe(const struct ar_scenario *scenario, struct ar_row *row);

/** Computes a row. On failure the row has the parameters and the error as its status. */
enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err);

/** The same of a bare collective that is run at several payloads: what does not depend on them is
 * kept in `*kept`, NULL at first, which the caller destroys. Steps leave it. */
enum ar_status ar_run_kept(const struct ar_scenario *scenario, struct ar_flows **kept,
                           struct ar_row *row, struct ar_error *err);

/** Answers the job of a scenario, which may ask for a timeline, and fills the row. */
enum ar_status ar_run_job(const struct ar_scenario *scenario, const struct ar_job *job,
                          struct ar_arena *arena, struct ar_timing *timing, struct ar_row *row,
                          struct ar_error *err);

/** Estimated seconds on one core, the baseline included, by the rates of the engine (ar_trial.h);
 * good to a factor of two or so. */
double ar_run_cost_s(const struct ar_scenario *scenario);

/* Notes: what a reader should know beside a row, written to `notes` (ar_note.h). */

/** Notes what all rows of steps have in common, the baseline of efficiency among it. */
void ar_note_points(FILE *notes, const struct ar_scenario *scenario, size_t points_count);

/** A text that says which efficiency is 100 %; static storage. */
const char *ar_note_baseline(enum ar_baseline baseline);

/** Whether nothing happens between the layers, and all GPUs are equally fast. */
bool ar_scenario_is_ideal(const struct ar_scenario *scenario);

/** Notes what an ideal scenario leaves out; nothing of another. */
void ar_note_ideal(FILE *notes, const struct ar_scenario *scenario);

/** Notes the shape made of a number of GPUs that none was given for, if that is not to be expected:
 * a grid, a ring, groups smaller than a node. */
void ar_note_shape(FILE *notes, const struct ar_scenario *scenario);

/** Notes what concerns all points of a sweep, by one of its combinations and its GPU counts. */
void ar_note_sweep(FILE *notes, const struct ar_scenario *scenario, const uint64_t *gpus,
                   size_t gpus_count);

/** Before scenarios that differ in payload only are run one after the other: all that concerns one
 * scenario, values without effect, what is assumed or beyond measurements, whether it takes long.
 */
void ar_note_before(FILE *notes, const struct ar_scenario *scenario, double cost_s);

/** Notes that an engine takes long, if it does. */
void ar_note_duration(FILE *notes, const struct ar_scenario *scenario, double cost_s);

/** Which shape and algorithm were chosen. */
void ar_note_choice(FILE *notes, const struct ar_scenario *scenario);

/** Terms of the framework that change nothing; the scenario has a trace. */
void ar_note_framework(FILE *notes, const struct ar_scenario *scenario);

/** Notes what can hardly be meant in a trace: times in another unit, a batch beyond the GPU's
 * memory. Returns whether there was something. */
bool ar_note_trace(FILE *notes, const struct ar_scenario *scenario);

/** The values of the cluster file whose source is "assumed". */
void ar_note_assumed(FILE *notes, const struct ar_scenario *scenario);

/** How many of so many rows are not exact, if any, and how far such rows were from the simulation.
 */
void ar_note_estimates(FILE *notes, size_t estimates, size_t count);
size_t ar_rows_estimates(const struct ar_row *rows, size_t count);

#endif
