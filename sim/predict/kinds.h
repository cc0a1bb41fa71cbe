/** \file kinds.h
 * Shared by the sources of kinds (kind_*.c, one row of ar_kind.h each) and of notes.
 */
#pragma once

#include "ar_kind.h"

/* kinds.c */

/** Rejects keys that have no meaning for a kind, or with a trace. */
enum ar_status kind_check_keys(const struct ar_scenario *scenario, const struct ar_kind *kind,
                               struct ar_error *err);

/* kind_collective.c */

/** Fills in what the engine says about a trial, and the closed form's parts of its calls. */
void fill_trial(const struct ar_trial *trial, struct ar_row *row);

/* kind_trace.c */

/** The precision of a trace's gradients on the wire: that of --gradients, else of the framework. */
enum ar_precision trace_wire(const struct ar_scenario *scenario);

/** Loads the layers, scaled to what the framework and measured rates make of them. */
enum ar_status trace_load_layers(struct ar_scenario *scenario, struct ar_error *err);
enum ar_status trace_load_buckets(struct ar_scenario *scenario, struct ar_error *err);
void trace_complete_job(const struct ar_scenario *scenario, struct ar_job *job);
void trace_describe(const struct ar_scenario *scenario, struct ar_row *row);
void trace_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                struct ar_row *row);

/* kind_transformer.c */

/** Sets the sizes of the layout by --mesh. Its axes are those of a layout, in its order; one that
 * is not named has one GPU; without --mesh there are replicas alone. */
enum ar_status layout_take_mesh(struct ar_scenario *scenario, struct ar_error *err);

/** Finds the cost table of the cluster's GPU, which `key` needs; with products and, if `has_fused`,
 * fused attention in the precision. */
enum ar_status layout_find_cost(struct ar_scenario *scenario, enum ar_key key, bool has_fused,
                                struct ar_error *err);
enum ar_status layout_make_graph(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                 struct ar_timing *timing, struct ar_error *err);
void layout_describe(const struct ar_scenario *scenario, struct ar_row *row);
void layout_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                 struct ar_row *row);
double layout_cost_s(const struct ar_scenario *scenario);
enum ar_status transformer_load(struct ar_scenario *scenario, struct ar_error *err);
void transformer_complete_job(const struct ar_scenario *scenario, struct ar_job *job);

/** How large a workload is, what is left out, and whether it fits. */
void transformer_note(FILE *notes, const struct ar_scenario *scenario);
/** Says which options are given and change nothing in a layout, or in a step of a trace. */
void layout_note_idle(FILE *notes, const struct ar_scenario *scenario);

/* notes.c */

/** Notes of collectives and of steps of traces. */
void collective_note(FILE *notes, const struct ar_scenario *scenario);
void note_library(FILE *notes, const struct ar_scenario *scenario);
void note_end_of_run(FILE *notes, const struct ar_scenario *scenario);

/** Says that what the fullest GPU holds does not fit, or that nobody knows. */
void note_memory(FILE *notes, const struct ar_scenario *scenario, double states_bytes,
                 double activations_bytes);

double collective_cost_s(const struct ar_scenario *scenario);
double trace_cost_s(const struct ar_scenario *scenario);

/* jobs */

/** Whether ranks differ from each other, if only in when they begin the second step. */
bool job_is_uneven(const struct ar_job *job);

/** Whether buckets are negotiated in cycles. */
bool job_has_cycles(const struct ar_job *job);

/** The fraction of their speed that communication leaves to computations; 1 without contention. */
enum ar_status job_find_speed(const struct ar_job *job, double *speed_frac, struct ar_error *err);

/** Least time of a step that its input allows. */
double job_input_s(const struct ar_job *job);

/** Times a strategy with servers: an asynchronous run (ar_async.h) in place of a graph, all
 * iterations at once; fills in all but what the baseline decides. */
enum ar_status servers_run(const struct ar_job *job, struct ar_timing *timing,
                           struct ar_error *err);
