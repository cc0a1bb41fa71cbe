/** \file simgrid_fork.h
 * Private to this folder: a forked child that has SimGrid to itself.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so whatever needs it is a
 * task that runs in a child of its own and answers over a pipe. What the child prints is SimGrid's
 * business and is read from a second pipe; if the child dies, the line that says why becomes the
 * error.
 */
#ifndef AR_SIMGRID_FORK_H
#define AR_SIMGRID_FORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

enum { SIMGRID_OPTIONS_MAX = 4, SIMGRID_CAUSE = 320 };

/** What a child does; to be the first member of a struct with the rest. */
struct simgrid_task {
    /** Runs in the child, where SimGrid has started with the pinned options. Writes the answer with
     * simgrid_write() and says whether that worked. Errors of SimGrid end the child. */
    bool (*run)(struct simgrid_task *task, int answer);
    uint64_t actors_count; /**< about how many */
    /** More options such as `--cfg=network/optim:Full`; NULL behind the last. */
    const char *options[SIMGRID_OPTIONS_MAX];
};

/** What came back from a child; `data` is the caller's (free), also after a failure. */
struct simgrid_answer {
    char *data;
    size_t size;
    char cause[SIMGRID_CAUSE]; /**< why the child died, in SimGrid's words; "" if unknown */
};

/** Forks, runs the task and reads its answer. A child that dies is AR_INTERNAL; the answer then
 * holds what it wrote before. */
enum ar_status simgrid_fork(struct simgrid_task *task, struct simgrid_answer *answer,
                            struct ar_error *err);

/** Writes all of it; for tasks. */
bool simgrid_write(int descriptor, const void *data, size_t size);

#endif
