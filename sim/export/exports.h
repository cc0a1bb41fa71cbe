/** \file exports.h
 * Where the time of a step, or of one collective, that was run goes; the inputs of a prediction
 * with their sources; the load of links. Writers of what other programs read: timelines in the
 * Trace Event Format and as rows, schedules of GOAL, workloads of ASTRA-sim, tables of NCCL's tuner
 * plug-in. Each source file says how its format is filled. Write errors are left for ferror().
 */
#pragma once

#include <stdio.h>

#include "ar_arena.h"
#include "ar_collective.h"
#include "ar_graph_trial.h"
#include "ar_library_fit.h"
#include "ar_link_load.h"
#include "ar_record.h"
#include "ar_row.h"
#include "ar_scenario.h"
#include "ar_timing.h"

/** Ranks that are shown unless others are named; tasks that a picture shows at most. */
enum { TIMELINE_RANKS = 8, TIMELINE_TASKS_MAX = 20000 };

/** Chooses the ranks that are shown: up to four of the first node, the first rank of the nodes
 * after it, and the last rank, in ascending order; at most TIMELINE_RANKS. Returns how many. */
uint32_t timeline_choose_ranks(uint32_t ranks_count, uint32_t gpus_per_node,
                               uint32_t ranks[TIMELINE_RANKS]);

/** Writes a step that was run in the Trace Event Format: its ranks if it ran with a timeline, else
 * the rows of timeline_write_tasks(), of any number: a process for each rank or role, with
 * a track for each stream, on which every task is a slice; of a step that was simulated with a
 * usage also counters from 0 to 1 (usage_choose()). The row and `made_by`, the mark of the command,
 * become metadata. A step of one rank has no stream. */
void timeline_write_trace(FILE *file, const struct ar_timing *timing, const struct ar_row *row,
                          const char *made_by);

/** The links and GPUs of a usage that a trace shows. */
enum { USAGE_LINKS_MAX = 24, USAGE_SHOWN_MAX = USAGE_LINKS_MAX + TIMELINE_RANKS };

struct usage_shown {
    uint32_t count;       /**< of items */
    uint32_t links_count; /**< of these: the links that are busy for longest, then GPUs */
    uint32_t links_used;  /**< of the cluster */
    struct usage_item {
        uint32_t item;   /**< of the usage */
        double capacity; /**< bytes per second of a link; 1 for a GPU */
        char name[64];
    } items[USAGE_SHOWN_MAX];
};

/** Chooses what is shown of the usage of a step that was simulated with one: the busiest links, and
 * the GPUs of timeline_choose_ranks(). */
void usage_choose(const struct ar_timing *timing, struct usage_shown *shown);

/** The part of an interval for which an item is busy, at most 1: messages whose rate changes on
 * their way may add up to more (ar_usage.h). */
double usage_share(const struct ar_timing *timing, const struct usage_item *item, uint32_t bin);

/** Writes the same in the format of Paje, which pajeng and ViTE read: a container and a variable,
 * `busy`, for each item. `made_by` is a comment. */
void usage_write_paje(FILE *file, const struct ar_timing *timing, const char *made_by);

/** Writes the tasks of a step that was run as CSV: stage, kind (a pass, or the axis along which it
 * sends), stream, micro-batch, chunk, begin and end. AR_USAGE: more than a picture shows. */
enum ar_status timeline_write_tasks(FILE *file, const struct ar_timing *timing,
                                    struct ar_arena *arena, struct ar_error *err);

/** Messages and tasks of all ranks of a schedule, at most. */
enum { GOAL_OPERATIONS_MAX = 10000000 };

/** Writes the schedule of a graph whose computations are timed. `made_by` is a comment. AR_USAGE
 * where switches sum, or with more than GOAL_OPERATIONS_MAX messages and tasks of all ranks. */
enum ar_status goal_write(FILE *file, const struct ar_graph_trial *trial, const char *made_by,
                          struct ar_error *err);

/** Writes the workload of a step that was run; `*left_out_s` becomes the time that the format
 * cannot hold. AR_USAGE names what else it cannot. */
enum ar_status astra_workload_write(FILE *file, const struct ar_timing *timing, double *left_out_s,
                                    struct ar_error *err);

/** Writes the table of the operation of a collective (NULL: of all operations of the library) by a
 * library that was fitted, or by its own constants. `collective` has the cluster and the shape.
 * AR_USAGE for an operation, or a number of nodes, without a model. */
enum ar_status tuner_write(FILE *file, const struct ar_library *library, bool is_fitted,
                           const struct ar_collective *collective, const char *made_by,
                           struct ar_error *err);

/* --- explanations ----------------------------------------------------------------------------- */

/** Writes where the time goes, to stdout. A collective: the closed form or the calls of the
 * library, who shares the busiest link, and the parameters. A step of a trace: also the iteration
 * and its buckets, all summed up. A strategy without buckets, a workload, placed operators: roles
 * and messages. Servers: workers, messages, bounds. */
enum ar_status explain_timing(const struct ar_scenario *scenario, const struct ar_timing *timing,
                              const struct ar_row *row, struct ar_error *err);

/** Its parts: a task graph, a step of a workload or of operators, a step with servers. */
void explain_graph(const struct ar_timing *timing, struct ar_arena *arena);
void explain_sent(FILE *file, const struct ar_view *view, const struct ar_timing *timing);
void explain_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                    const struct ar_row *row);
void explain_servers(const struct ar_timing *timing, const struct ar_row *row);

/** Writes every term of the framework that is on, its value and source, and how much longer the
 * step, of `iteration_s` with all terms, takes than with that term alone at its default. */
enum ar_status explain_terms(const struct ar_scenario *scenario, double iteration_s,
                             struct ar_error *err);

/* --- parameters ------------------------------------------------------------------------------- */

struct parameter {
    const char *parameter; /**< `hca.bandwidth` */
    const char *value;     /**< as written */
    const char *source;
};

/** Parameters so far, in an arena. */
struct parameters {
    struct ar_arena *arena;
    struct parameter *list;
    size_t count;
};

extern const struct ar_columns parameter_columns;

/** Adds one; all texts are copied. A parameter that has another value already becomes "varies". */
void parameters_add(struct parameters *parameters, struct parameter parameter);

/** Adds the values of the cluster and the trace of a loaded scenario. */
void parameters_add_inputs(struct parameters *parameters, const struct ar_scenario *scenario);

/** The same, and the terms of its framework. */
void parameters_add_scenario(struct parameters *parameters, const struct ar_scenario *scenario);

/* --- loads of links --------------------------------------------------------------------------- */

/** Writes the link that is busy for the longest time of the row, and who shares it, without the end
 * of the line; false if no link carries a message. */
bool link_table_write_busiest(FILE *file, const struct ar_cluster *cluster,
                              const struct ar_link_load *loads, const struct ar_row *row);

/** Writes the links that carry some of `loads`, of all links of a cluster, for the row whose
 * all-reduces they are of. A table is the busiest link, then the busiest `top` of them; CSV and
 * JSON are all links. */
void link_table_write(FILE *file, const struct ar_view *view, const struct ar_cluster *cluster,
                      const struct ar_link_load *loads, const struct ar_row *row, uint64_t top,
                      struct ar_arena *arena);
