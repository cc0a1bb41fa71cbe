/** \file timeline.h
 * A training step as a timeline: in the Trace Event Format, which Perfetto and chrome://tracing
 * open, or its tasks as rows of a CSV file, from which `allreckon report` and plots draw it.
 *
 * In the Trace Event Format every observed rank is a process with these tracks (threads):
 *
 * - `compute`: framework overhead, forward and backward pass with their layers inside, the wait for
 *   the all-reduces and the slowest rank, the optimizer;
 * - `stream channel C`: a slice for each bucket from its start on the rank until its messages have
 *   arrived; inside, the setup and the phases of the algorithm.
 *
 * Slices of a track follow each other or lie within each other. Times are in microseconds, rounded
 * to whole nanoseconds before durations are taken, so that slices that touch do not overlap. What
 * takes no nanosecond is left out. Process IDs are rank + 1, since
 * viewers take 0 for the idle process, and thread IDs are unique in the file.
 *
 * Format: "Trace Event Format", Google, complete events ("X") and metadata ("M").
 */
#ifndef AR_TIMELINE_H
#define AR_TIMELINE_H

#include "ar_row.h"
#include "ar_scenario.h"
#include "ar_timing.h"

/** Ranks that are shown unless others are named; tasks that a picture shows at most. */
enum { TIMELINE_RANKS = 8, TIMELINE_TASKS_MAX = 20000 };

/** Chooses the ranks that are shown: up to four of the first node, the first rank of the nodes
 * after it, and the last rank, in ascending order; at most TIMELINE_RANKS. Returns how many. */
uint32_t timeline_choose_ranks(uint32_t ranks_count, uint32_t gpus_per_node,
                               uint32_t ranks[TIMELINE_RANKS]);

/** Writes a step that was run in the Trace Event Format. With servers each of the `workers` is a
 * process with tracks for computing and waiting, pushes and pulls, of all steps. Else the last step
 * is shown: its ranks if it ran with a timeline, or the roles of its graph, each with a track for
 * each stream, on which every task is a slice. The row and `made_by`, the mark of the command,
 * become metadata. A step of one rank has no stream. Write errors are left for ferror(). */
void timeline_write_trace(FILE *file, const struct ar_timing *timing, const uint32_t *workers,
                          uint32_t workers_count, const struct ar_row *row, const char *made_by);

/** Writes the tasks of a step that was run as CSV: stage, kind (a pass, or the axis along which it
 * sends), stream, micro-batch, chunk, begin and end. AR_USAGE if there are more than a picture
 * shows; with servers the spans of the first workers, as many as it shows. */
enum ar_status timeline_write_tasks(FILE *file, const struct ar_timing *timing,
                                    struct ar_arena *arena, struct ar_error *err);

/** How many workers that are. */
uint32_t timeline_workers_shown(const struct ar_async *run);

/** The room for the spans of a step with servers (ar_async.h); AR_USAGE if that is too much for
 * `use`, such as "a timeline". */
enum ar_status timeline_room(const struct ar_scenario *scenario, const char *use, uint32_t *spans,
                             struct ar_error *err);

#endif
