/** \file ar_graph_trial.h
 * A task graph (ar_graph.h) whose ranks an engine runs one by one: parameters and results.
 *
 * The ranks of a role follow each other, role after role; a rank's *counterpart* in another role
 * stands at the same place there. Every rank works through the tasks of its role as they say, on
 * each stream in order. It starts a task when the one before it on its stream, and all that the
 * task needs on this rank or, of another role, on its counterpart, have ended:
 *
 * - a computation takes its time, times the factor of the rank; those beside the second stream
 *   of their rank, but for the optimizer, go at `speed_frac` of their speed while that is busy;
 * - in a collective the ranks of each group along its axes do the moves of its algorithm
 *   (ar_trial.h), each from when it has come to it; a rank has ended it when its moves are done;
 * - a message goes from each rank to its counterpart, and ends when it has arrived.
 *
 * All that is under way shares the links of its paths.
 *
 * Where a graph leaves out periods (ar_graph.h), the engine also says how long one takes, or
 * that it is not steady: where some task of some rank, in the slots that are compared, is not a
 * period later than the same one a period before.
 */
#pragma once

#include "ar_collective.h"
#include "ar_graph.h"
#include "ar_usage.h"

/** How a work is sent; of computations nothing counts. */
struct ar_graph_sending {
    struct ar_collective collective; /**< on all ranks; of a message cluster, channels and bytes of
                                          an element count */
    uint64_t elements;
};

struct ar_graph_trial {
    /* Parameters. */
    struct ar_graph *graph; /**< its works of computations are timed */
    const struct ar_cluster *cluster;
    uint32_t ranks;                          /**< of all roles */
    const struct ar_graph_sending *sendings; /**< [work] */
    const double *rank_start_s;              /**< [rank], at least 0; NULL: 0 for all */
    const double *rank_factor;               /**< [rank], of computations; NULL: 1 for all */
    double speed_frac;                       /**< above 0, up to 1 */

    /* Results: start_s, end_s, longer_s and waited_for of the graph's tasks, as the ranks of one
     * place have them, that of the rank that ends last; the mean time_s of what is sent; and: */
    double *rank_end_s;     /**< [rank], of its last task; room for all ranks, or NULL */
    struct ar_usage *usage; /**< of links and GPUs; NULL: none */
    uint64_t messages_count;
};

/** Messages of a graph, all ranks and all its periods, those of exchanges `exchange_weight` times;
 * UINT64_MAX: more than can be counted. */
uint64_t ar_graph_trial_messages(const struct ar_graph_trial *trial, uint32_t exchange_weight);
