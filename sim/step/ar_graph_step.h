/** \file ar_graph_step.h
 * One training step as a task graph (ar_graph.h): a layout of a model on a cluster, timed by an
 * engine.
 *
 * Every work of the graph that is sent is run once by the engine, in all groups along its axes at
 * once, so that groups share the links; a message runs from the GPUs of one stage to those of the
 * next. Collectives take the step's algorithm if it is of their operation, else the first one of
 * the operation (ring; all-to-all: all messages at once); the choice of a library if the engine
 * leaves it to one. What runs along other axes at the same time is not counted.
 *
 *     iteration_s = end of the last task
 *                 = compute + exposed_s by axis + bubble_s, as means over the stages
 *     bubble_frac = bubble_s / compute
 */
#ifndef AR_GRAPH_STEP_H
#define AR_GRAPH_STEP_H

#include "ar_engines.h"
#include "ar_mesh.h"
#include "ar_strategy.h"

struct ar_graph_step {
    /* Parameters. */
    struct ar_layout layout; /**< checked */
    struct ar_part_times times;
    const struct ar_cluster *cluster;
    const struct ar_engine *engine;
    const struct ar_library *library;     /**< for engines that need one; else NULL */
    const struct ar_algorithm *algorithm; /**< NULL: the first of each operation */
    uint32_t channels;
    uint32_t window;

    /* Results. */
    double iteration_s;
    struct ar_graph_split split; /**< mean over the stages */
    double bubble_frac;
    uint64_t messages_count; /**< of the works, each once; 0 if the engine knows of none */
    double wall_s;
    bool exact;             /**< the engine neglects nothing */
    struct ar_graph *graph; /**< scheduled; the step's */
};

/** The mesh of a layout: pp, dp, ep, tp, without those of size 1, along the axes of the bits. */
struct ar_mesh ar_graph_step_mesh(const struct ar_layout *layout, uint32_t axes);

/** Runs a step. On success it is freed with ar_graph_step_destroy(). */
enum ar_status ar_graph_step_run(struct ar_graph_step *step, struct ar_error *err);
void ar_graph_step_destroy(struct ar_graph_step *step);

#endif
