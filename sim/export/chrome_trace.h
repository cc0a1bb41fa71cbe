/** \file chrome_trace.h
 * A training step as a timeline in the Trace Event Format, which Perfetto and chrome://tracing
 * open.
 *
 * Every observed rank is a process with these tracks (threads):
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
#ifndef AR_CHROME_TRACE_H
#define AR_CHROME_TRACE_H

#include "ar_row.h"
#include "ar_timing.h"

enum { CHROME_TRACE_RANKS = 8 };

/** Chooses the ranks that stand for all: up to four of the first node, the first rank of the nodes
 * after it, and the last rank, in ascending order; at most CHROME_TRACE_RANKS. Returns how many. */
uint32_t chrome_trace_choose(uint32_t ranks_count, uint32_t gpus_per_node,
                             uint32_t ranks[CHROME_TRACE_RANKS]);

/** Writes the last iteration of a step: of one that ran with a timeline its ranks, of others the
 * roles of the graph, each with a track for each stream, on which every task is a slice. The row
 * and `made_by`, the mark of the command, become metadata. A step of one rank has no stream. Write
 * errors are left for ferror().
 */
void chrome_trace_write(FILE *file, const struct ar_timing *timing, const struct ar_row *row,
                        const char *made_by);

/** Writes the steps of an asynchronous run with spans: each of the workers that are listed is a
 * process with tracks for what it computes and waits for, pushes and pulls. */
void chrome_trace_write_servers(FILE *file, const struct ar_async *run, const uint32_t *workers,
                                uint32_t count, const struct ar_row *row, const char *made_by);

#endif
