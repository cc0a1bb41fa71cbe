/** \file exports.h
 * Writers of what other programs read: timelines in the Trace Event Format and as rows, schedules
 * of GOAL, workloads of ASTRA-sim, tables of NCCL's tuner plug-in. Each source file says how its
 * format is filled. Write errors are left for ferror().
 */
#ifndef AR_EXPORTS_H
#define AR_EXPORTS_H

#include <stdio.h>

#include "ar_collective.h"
#include "ar_graph_trial.h"
#include "ar_library_fit.h"
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
 * a track for each stream, on which every task is a slice. The row and `made_by`, the mark of the
 * command, become metadata. A step of one rank has no stream. */
void timeline_write_trace(FILE *file, const struct ar_timing *timing, const struct ar_row *row,
                          const char *made_by);

/** Writes the tasks of a step that was run as CSV: stage, kind (a pass, or the axis along which it
 * sends), stream, micro-batch, chunk, begin and end. AR_USAGE if there are more than a picture
 * shows. */
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

#endif
