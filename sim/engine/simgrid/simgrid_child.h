/** \file simgrid_child.h
 * The part of the `simgrid` engine that lives in a process of its own, and what all children share.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * forked child; engine_simgrid.c forks it and reads its results.
 */
#ifndef AR_SIMGRID_CHILD_H
#define AR_SIMGRID_CHILD_H

#include "ar_trial.h"
#include "simgrid_fork.h"

/** SimGrid's settings that matter to a result: pinned, and recorded with every row. Its defaults
 * model TCP: LV08 multiplies latency by 13.01 and bandwidth by 0.97; cross traffic takes 5 % for
 * acknowledgements; TCP-gamma limits a flow to a window over its round trip. None of that exists on
 * NVLink or InfiniBand. Times are told apart to 1e-12 s instead of 1e-9 s, which moves contended
 * times by up to 1e-3. */
#define AR_SIMGRID_OPTIONS(X)                                                                      \
    X("network/model:CM02")                                                                        \
    X("network/crosstraffic:0")                                                                    \
    X("network/TCP-gamma:0")                                                                       \
    X("surf/precision:1e-12")

/** A trial for a child, and the platform file that it simulates on. */
struct trial_task {
    struct simgrid_task task;
    struct ar_trial *trial;
    const char *platform_path;
};

/** What a child answers of a trial: its peak memory, then these. */
enum { TRIAL_PARTS = 3 };

struct trial_part {
    void *data;
    size_t size;
};

/** Lists the parts of the results, some of which may be empty; returns the size of the answer. */
size_t trial_list_parts(const struct ar_trial *trial, struct trial_part parts[TRIAL_PARTS]);

/** In the child: simulates the trial and answers its results. */
bool simgrid_answer_trial(struct simgrid_task *task, int answer);

/** Memory that a child does not free; without memory for `what` the child ends. */
void *child_alloc(size_t count, size_t size, const char *what);

/** Begins to watch: from now on the child ends if it computes for long (simgrid_task) while nobody
 * counts child_progress up. To be called when the platform has been loaded. */
void child_watch(const struct simgrid_task *task);
extern volatile unsigned long child_progress;

#endif
