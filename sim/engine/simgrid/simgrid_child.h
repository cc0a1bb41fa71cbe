/** \file simgrid_child.h
 * The tasks of children that have SimGrid to themselves, and what all children share.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * forked child; engine_simgrid.c forks it and reads its results. Child and parent are one program,
 * so answers are structs as they lie in memory.
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

/** The tasks; in the child. */
bool simgrid_answer_trial(struct simgrid_task *task, FILE *answer);
bool simgrid_answer_actors(struct simgrid_task *task, FILE *answer);
bool simgrid_answer_graph(struct simgrid_task *task, FILE *answer);

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
