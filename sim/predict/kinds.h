/** \file kinds.h
 * What the sources of kinds (kind_*.c, one row of ar_kind.h each), of notes and of a timing share.
 */
#pragma once

#include "ar_kind.h"
#include "ar_link_load.h"

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

/* notes.c */

/** Notes of collectives and of steps of traces. */
void collective_note(FILE *notes, const struct ar_scenario *scenario);
void note_sparse(FILE *notes, const struct ar_scenario *scenario);
void note_library(FILE *notes, const struct ar_scenario *scenario);
void note_end_of_run(FILE *notes, const struct ar_scenario *scenario);

/** Says that what the fullest GPU holds does not fit, or that nobody knows. */
void note_memory(FILE *notes, const struct ar_scenario *scenario, double states_bytes,
                 double activations_bytes);

double collective_cost_s(const struct ar_scenario *scenario);
double trace_cost_s(const struct ar_scenario *scenario);

/* --- a job that is being timed ---------------------------------------------------------------- */

/** A work, and what it takes alone. */
struct work_known {
    struct ar_work work;
    const struct ar_flows *flows; /**< also of those that differ in their bytes; NULL: none yet, or
                                       another one has them */
    double time_s;                /**< AR_GRAPH_UNTIMED: not known yet */
    uint64_t messages_count;
    bool exact;
    struct ar_link_load *loads; /**< [link]: what it sends; NULL: not known yet */
};

/** Slowdowns of computations and messages by what runs beside them. */
struct overlap {
    struct ar_slowdown *slowdowns; /**< [role], of computations; NULL: none */
    struct ar_sendings *sendings;  /**< [role]; NULL: nothing that is sent does */
    const double *const *speeds;   /**< as in struct ar_graph_request */
    bool is_scheduled;             /**< even ranks are, with what is found here */
};

struct timer {
    const struct ar_job *job;
    struct ar_timing *timing;     /**< what is found out; all lies in its arena */
    const struct ar_flows *flows; /**< of the job's own collective; NULL: none is needed */
    struct ar_known *known;       /**< the job's, or `own_known` */
    struct ar_known own_known;
    uint64_t works_messages; /**< of works that were timed once */
    struct ar_call *calls;   /**< [task]: room for a series, */
    struct ar_call_time *call_times;
    double *series_start_s; /**< and [rank] for its ranks */
    double *series_factor;
    double *rank_finish_s;
    struct overlap overlap;
    struct ar_timeline *timeline; /**< of the series; NULL: none */
    bool is_unsteady; /**< its graph leaves out periods that are not equal: nothing is known */
    double *agreed_s; /**< [call]: all ranks agreed to it; NULL: nothing is negotiated */
};

/** Answers a job, but for its baseline and bands. */
enum ar_status job_time(const struct ar_job *job, struct ar_arena *arena, struct ar_timing *timing,
                        struct ar_error *err);

/** Whether ranks differ from each other, if only in when they begin the second step. */
bool job_is_uneven(const struct ar_job *job);

/** Whether buckets are negotiated in cycles. */
bool job_has_cycles(const struct ar_job *job);

/** The fraction of their speed that communication leaves to computations; 1 without contention. */
enum ar_status job_find_speed(const struct ar_job *job, double *speed_frac, struct ar_error *err);

/** Least time of a step that its input allows. */
double job_input_s(const struct ar_job *job);

/** Makes the graph; with a slowdown, or NULL: buckets are negotiated beside it. */
enum ar_status timer_make_graph(struct timer *timer, const struct ar_slowdown *slowdown,
                                struct ar_error *err);

/** Whether the engine runs the whole graph, rank by rank. */
bool timer_runs_ranks(const struct timer *timer);

/** Times what is sent, schedules the graph; `has_ranks`: on ranks with starts and factors. */
enum ar_status timer_schedule(struct timer *timer, bool has_ranks, struct ar_error *err);

/** Finds what goes slower because of what runs beside it: the slowdowns with which even ranks find
 * the times that make them; the graph is made with them. Nothing where the engine runs all ranks.
 * AR_BAD_DATA if times do not settle. */
enum ar_status timer_find_overlap(struct timer *timer, struct ar_error *err);

/** How long the busiest link is busy in a step of works that were timed one by one, an estimate
 * from above where stages differ, and the energy of all links; NAN by engines that know no links.
 */
double timer_busiest_s(const struct timer *timer, double *moved_j);

/** Times a strategy with servers: an asynchronous run (ar_async.h) in place of a graph, all
 * iterations at once; fills in all but what the baseline decides. */
enum ar_status servers_run(const struct ar_job *job, struct ar_timing *timing,
                           struct ar_error *err);

/** The entry of a work among those that are known, a new one where it has none; valid until the
 * next call. */
struct work_known *timer_find_known(struct timer *timer, const struct ar_work *work);

/** The flows of a work, by its number, for an engine that has them; else NULL. */
enum ar_status timer_find_flows(struct timer *timer, uint32_t work, const struct ar_flows **flows,
                                struct ar_error *err);

/** Whether flows that were made for one work are those of another, which may differ in bytes. */
bool work_has_flows_of(const struct ar_work *known, const struct ar_work *work);

/** The engine that times a work. */
const struct ar_engine *work_engine(const struct ar_job *job, const struct ar_work *work);

/** The collective of a work. */
struct ar_collective work_collective(const struct ar_job *job, const struct ar_layout *layout,
                                     const struct ar_work *work);
uint64_t work_elements(const struct ar_work *work, const struct ar_collective *collective);
