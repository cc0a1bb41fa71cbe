/** \file kinds.h
 * Functions that the files kind_*.c and kinds.c (one row of ar_kind.h each) call in each other.
 */
#ifndef AR_KINDS_H
#define AR_KINDS_H

#include "ar_kind.h"
#include "ar_run.h"

/* kinds.c */

/** Rejects keys that have no meaning for a kind, or with a trace. */
enum ar_status kind_check_keys(const struct ar_scenario *scenario, const struct ar_kind *kind,
                               struct ar_error *err);

/* kind_servers.c */

/** Rejects keys of servers and of work units with a strategy that has none. */
enum ar_status servers_check_keys(const struct ar_scenario *scenario, struct ar_error *err);

/* kind_collective.c */

/** The operation of a row, its groups and its root. */
void describe_groups(const struct ar_scenario *scenario, struct ar_row *row);

/** The algorithm of a row with its shape; of a step of a layout the one that was named, if any. */
void describe_algorithm(const struct ar_scenario *scenario, bool is_laid_out, struct ar_row *row);

/** Fills in what the engine says about a trial, and the closed form's parts of its calls. */
void fill_trial(const struct ar_trial *trial, struct ar_row *row);

/* kind_trace.c */

/** Loads the layers, scaled to what the framework and measured rates make of them. */
enum ar_status trace_load_layers(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                 struct ar_error *err);
enum ar_status trace_load(struct ar_scenario *scenario, struct ar_inputs *inputs,
                          struct ar_error *err);
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
enum ar_status layout_find_cost(struct ar_scenario *scenario, enum ar_key key,
                                struct ar_inputs *inputs, bool has_fused, struct ar_error *err);
enum ar_status layout_make_graph(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                 struct ar_timing *timing, struct ar_error *err);
void layout_describe(const struct ar_scenario *scenario, struct ar_row *row);
void layout_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                 struct ar_row *row);
double layout_cost_s(const struct ar_scenario *scenario);
enum ar_status transformer_load(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                struct ar_error *err);
void transformer_complete_job(const struct ar_scenario *scenario, struct ar_job *job);

/** How large a workload is, what is left out, and whether it fits. */
void transformer_note(FILE *notes, const struct ar_scenario *scenario);

/* notes.c */

/** Notes of collectives and of steps of traces. */
void collective_note(FILE *notes, const struct ar_scenario *scenario);
void trace_note(FILE *notes, const struct ar_scenario *scenario);
void note_sparse(FILE *notes, const struct ar_scenario *scenario);
void note_end_of_run(FILE *notes, const struct ar_scenario *scenario);

/* cost.c */

double collective_cost_s(const struct ar_scenario *scenario);
double trace_cost_s(const struct ar_scenario *scenario);

#endif
