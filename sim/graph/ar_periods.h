/** \file ar_periods.h
 * Graphs of pipelines from which equal periods are left out (fast_periods.c).
 *
 * A pipeline warms up, goes through period after period, which are equal but for their begin, and
 * drains. The graph has fewer micro-batches than the layout; some tasks of each role stand for
 * those of the periods that are left out. Sums over a step count them as often as they are done;
 * tasks after them start and end `left_out * period_s` later than they do in the graph.
 */
#pragma once

#include "ar_strategy.h"

struct ar_periods {
    uint32_t left_out;     /**< periods */
    uint32_t batches;      /**< micro-batches of these */
    double period_s;       /**< result of ar_periods_find() or of a simulation: how long one takes;
                                NAN: the simulation is not steady */
    const uint32_t *warm;  /**< [role]: first task that is compared with one a period later */
    const uint32_t *begin; /**< [role]: first task of a period that stands for those left out, */
    const uint32_t *end;   /**< [role]: and the first one after it */
};

/** The graph of a step without the periods that can be left out, which ar_periods_find(), or the
 * engine that simulates it, must confirm; NULL where it would be as large as the whole one, or too
 * small for a schedule to pay (not if it is `simulated`). */
struct ar_graph *ar_periods_graph(const struct ar_layout *layout, const struct ar_part_times *times,
                                  bool is_simulated, struct ar_arena *arena);

/** Whether a graph that was scheduled is steady where periods are left out; sets period_s. False:
 * only the whole graph says how long the step takes. */
bool ar_periods_find(struct ar_graph *graph);

/** How often a task is done in a step. */
static inline double ar_task_times(const struct ar_graph *graph, uint32_t task)
{
    const struct ar_periods *periods = graph->periods;
    uint32_t role = graph->tasks[task].role;
    bool is_there = periods != NULL && task >= periods->begin[role] && task < periods->end[role];
    return is_there ? 1.0 + periods->left_out : 1;
}

/** How much later a task is than the graph says: the last of those it stands for. */
static inline double ar_task_late_s(const struct ar_graph *graph, uint32_t task)
{
    const struct ar_periods *periods = graph->periods;
    bool is_late = periods != NULL && task >= periods->begin[graph->tasks[task].role];
    return is_late ? periods->left_out * periods->period_s : 0;
}
