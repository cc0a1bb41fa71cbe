/** \file simgrid_task.h
 * Private to this folder: a simulation on a cluster, in a forked child that has SimGrid to itself.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * child of its own. The parent writes the platform to a file in memory and forks; the child has a
 * copy of the parent's memory, starts its actors, runs them, and what it leaves in the results
 * comes back. A child that crashes, or whose actors wait for ever, becomes one error line with
 * SimGrid's own words.
 *
 * All that calls SimGrid is in a module, liballreckon-simgrid.so, which is loaded when the first
 * simulation is asked for: SimGrid and what it brings (ns-3) take 20 ms to load, ten times as long
 * as the smallest prediction. The module is linked to SimGrid alone and uses the functions of
 * the program, which exports them, so that nothing exists twice. A program that links the objects
 * of the module (`ar_simgrid_child`), as the tests do, uses these and loads nothing.
 */
#pragma once

#include <stdbool.h>
#include <sys/uio.h>

#include "ar_cluster.h"
#include "ar_graph_trial.h"
#include "ar_trial.h"

/** SimGrid's settings that matter to a result: pinned, and recorded with every row. Its defaults
 * model TCP: LV08 multiplies latency by 13.01 and bandwidth by 0.97; cross traffic takes 5 % for
 * acknowledgements; TCP-gamma limits a flow to a window over its round trip. None of that exists on
 * NVLink or InfiniBand. Latencies are the actors' matter, who pay them after a message has left: so
 * messages of a connection follow each other, and flows share links equally (SimGrid would share by
 * the inverse of latency, as TCP does). Flows are updated when their shares change, not all of them
 * at every event: 4 times as fast on 4,096 GPUs. In SimGrid 3.32 this lazy update gives flows wrong
 * shares where the latencies of several end at once; with latencies of 0, as here, it does not.
 * Times are told apart to 1e-12 s instead of 1e-9 s, which moves contended times by up to 4e-3. */
#define AR_SIMGRID_OPTIONS(X)                                                                      \
    X("network/model:CM02")                                                                        \
    X("network/crosstraffic:0")                                                                    \
    X("network/TCP-gamma:0")                                                                       \
    X("network/latency-factor:0")                                                                  \
    X("network/optim:Lazy")                                                                        \
    X("surf/precision:1e-12")

enum { SIMGRID_RESULTS_MAX = 4, SIMGRID_ANSWERS = SIMGRID_RESULTS_MAX + 2 };

/** Kinds of simulations. */
enum simgrid_kind {
    SIMGRID_TRIAL,  /**< struct ar_trial: a stream of collectives */
    SIMGRID_GRAPH,  /**< struct graph_task */
    SIMGRID_ACTORS, /**< struct ar_actors */
    SIMGRID_KINDS_COUNT
};

/** A task graph; the results are the child's. */
struct graph_task {
    const struct ar_graph_trial *trial;
    struct graph_time {
        double start_s, end_s;
    } * times;             /**< [task] */
    double *rank_end_s;    /**< [rank] */
    double period_s;       /**< of a graph that leaves out periods; NAN: it is not steady */
    struct graph_run *run; /**< the child's */
};

struct simgrid_task {
    enum simgrid_kind kind;
    void *data;            /**< the struct of its kind, in the child's copy */
    uint64_t actors_count; /**< about how many */
    const struct ar_cluster *cluster;
    uint32_t ranks; /**< whose nodes the platform has */
    const struct ar_flow
        *pairs; /**< routes that the platform must have; NULL: those of all pairs */
    size_t pairs_count;
    struct ar_usage *usage; /**< which the child fills; NULL: none */
    /** The caller's memory; may be empty. Private behind it: the usage and is_whole. */
    struct iovec results[SIMGRID_ANSWERS];
    bool is_whole;             /**< private: the child left all of its answer */
    const char *platform_path; /**< private */
    int answer; /**< private: a file in memory for what the child leaves in results */
};

struct simgrid_module {
    void (*version)(int *major, int *minor, int *patch); /**< of SimGrid */
    /** In a child: starts SimGrid with the pinned options, does the task, writes the answer and
     * says whether that worked. Errors of SimGrid end the child. */
    bool (*run)(struct simgrid_task *task);
};

/** Runs a simulation and copies its results back. AR_UNAVAILABLE without the module; AR_INTERNAL if
 * the child died; AR_NO_MEMORY. The results are then as before. */
enum ar_status simgrid_task_run(struct simgrid_task *task, struct ar_error *err);

/** Writes SimGrid's version and the pinned settings. */
enum ar_status simgrid_describe(char *text, size_t size, struct ar_error *err);
