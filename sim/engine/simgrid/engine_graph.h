/** \file engine_graph.h
 * Private to this folder: what the row of the engine and its graphs share, in the program.
 */
#ifndef AR_ENGINE_GRAPH_H
#define AR_ENGINE_GRAPH_H

#include "ar_graph_trial.h"
#include "ar_platform.h"

/** The pairs of ranks that send to each other, and of ranks and switches: a platform need not have
 * other routes. In the arena. */
enum ar_status simgrid_find_pairs(const struct ar_collective *collective, struct ar_arena *arena,
                                  struct ar_flow **pairs, size_t *count, struct ar_error *err);

/** Runs a graph rank by rank. */
enum ar_status engine_graph_run(struct ar_graph_trial *trial, struct ar_error *err);

#endif
