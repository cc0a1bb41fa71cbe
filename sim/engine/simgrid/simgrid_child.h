/** \file simgrid_child.h
 * The tasks of children that have SimGrid to themselves, and what all children share.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * forked child; engine_simgrid.c forks it and reads its results. platform_file.c asks other
 * children about a platform file. Child and parent are one program, so answers are structs as they
 * lie in memory.
 */
#ifndef AR_SIMGRID_CHILD_H
#define AR_SIMGRID_CHILD_H

#include "ar_actors.h"
#include "ar_graph_trial.h"
#include "ar_trial.h"
#include "simgrid_simulation.h"

/** A trial for a child. */
struct trial_task {
    struct simgrid_simulation simulation;
    struct ar_trial *trial;
};

/** Actors of one's own. */
struct actors_task {
    struct simgrid_simulation simulation;
    const struct ar_actors *actors;
    double end_s;            /**< result */
    uint64_t messages_count; /**< result */
};

enum { PLATFORM_NAME_SIZE = 1024 };

/** A task graph. */
struct graph_time {
    double start_s, end_s;
};
struct graph_task {
    struct simgrid_simulation simulation;
    const struct ar_graph_trial *trial;
    struct graph_time *times; /**< result: [task] */
    double *rank_end_s;       /**< result: [rank] */
};

/** Answers platform_counts; for each host its name; for each link its bandwidth (double), a byte
 * that says whether it is shared, and its name. Names end with a zero byte. */
struct platform_content_task {
    struct simgrid_task task;
    const char *path;
};

struct platform_counts {
    uint32_t hosts;
    uint32_t links;
};

/** Answers one byte once SimGrid runs, then for each pair platform_route_head and the numbers of
 * its links; without links there is no route. The child dies of some pairs without a route. */
struct platform_routes_task {
    struct simgrid_task task;
    const struct ar_cluster *cluster;
    const struct ar_platform_route *routes;
    size_t routes_count;
};

struct platform_route_head {
    double latency_s;
    uint32_t links_count;
};

/** Answers the rate of each flow. */
struct platform_rates_task {
    struct simgrid_task task;
    const struct ar_cluster *cluster;
    const struct ar_flow *flows;
    size_t flows_count;
    const double *guesses_Bps;
};

/** The tasks; in the child. */
bool simgrid_answer_trial(struct simgrid_task *task, FILE *answer);
bool simgrid_answer_actors(struct simgrid_task *task, FILE *answer);
bool simgrid_answer_graph(struct simgrid_task *task, FILE *answer);
bool platform_answer_content(struct simgrid_task *task, FILE *answer);
bool platform_answer_routes(struct simgrid_task *task, FILE *answer);
bool platform_answer_rates(struct simgrid_task *task, FILE *answer);

/** For a child: loads the platform file in SimGrid and makes the slow links of the cluster slow. */
void platform_open(const struct ar_cluster *cluster, const char *path);

/** Memory that a child does not free; without memory for `what` the child ends. */
void *child_alloc(size_t count, size_t size, const char *what);
_Noreturn void child_no_memory(const char *what);

/** Begins to watch: from now on the child ends if it computes for long (simgrid_task) while nobody
 * counts child_progress up. To be called when the platform has been loaded. */
void child_watch(const struct simgrid_task *task);
extern volatile unsigned long child_progress;

/** Actors that have been started and have not ended; whoever starts some and counts them here makes
 * it an error that they wait for ever. */
extern uint64_t child_actors_left;

#endif
