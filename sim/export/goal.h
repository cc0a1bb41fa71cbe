/** \file goal.h
 * A task graph, rank by rank, as a schedule of GOAL: the text that `txt2bin` of LogGOPSim and
 * ATLAHS reads.
 *
 * Of every rank each computation is a `calc` (nanoseconds), each message a `send` and a `recv`, and
 * a collective the moves of its algorithm on its channels, each on a `cpu` of its own: 0 computes,
 * 1 + stream * channels + channel sends. What waits for what is said by `requires`:
 *
 * - a send for the receives of earlier steps, of an exchange at once for those before its phase,
 *   and for the send before it; a receive for the one before it;
 * - what a receive sums up or moves is a `calc` behind it, a setup one in front of a collective;
 * - a task for the one before it on its stream, and for its needs on this rank. What it needs of
 *   another role is the `recv` of a message.
 *
 * Sends and receives match by their ranks and tags, in order: a tag is that of a work, a stream and
 * a channel, or of one message between roles. GOAL knows of no window, of no start that both ranks
 * come to, and of no part of a computation that is slowed down: it has its length in the step that
 * was run. A message without bytes has one, since LogGOPSim subtracts one from the size.
 *
 * Format: spcl/LogGOPSim, `txt2bin.re`; T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation
 * Assembly Language, ICPP (2009).
 */
#ifndef AR_GOAL_H
#define AR_GOAL_H

#include <stdio.h>

#include "ar_graph_trial.h"

enum { GOAL_OPERATIONS_MAX = 10000000 };

/** Writes the schedule of a graph whose computations are timed. `made_by` is a comment. AR_USAGE
 * where switches sum, or with more than GOAL_OPERATIONS_MAX messages and tasks of all ranks. Write
 * errors are left for ferror(). */
enum ar_status goal_write(FILE *file, const struct ar_graph_trial *trial, const char *made_by,
                          struct ar_error *err);

#endif
