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

enum { SIMGRID_CAUSE = 320, SIMGRID_STALL_S = 60 };

/** What a child does. */
enum simgrid_kind {
    SIMGRID_TRIAL,   /**< struct trial_task */
    SIMGRID_CONTENT, /**< struct platform_content_task */
    SIMGRID_ROUTES,  /**< struct platform_routes_task */
    SIMGRID_RATES    /**< struct platform_rates_task */
};

/** To be the first member of the struct of its kind. */
struct simgrid_task {
    enum simgrid_kind kind;
    uint64_t actors_count; /**< about how many */
    /** One option more, such as `--cfg=network/optim:Full`; NULL: none. */
    const char *option;
    uint32_t stall_s; /**< processor time without progress after which the child gives up; 0: the
                           usual SIMGRID_STALL_S */
};

/** What came back from a child; `data` is the caller's (free), also after a failure. */
struct simgrid_answer {
    char *data;
    size_t size;
    char cause[SIMGRID_CAUSE]; /**< why the child died, in SimGrid's words; "" if unknown */
};

/** Forks, runs the task in the module (simgrid_module.h) and reads its answer. A child that dies is
 * AR_INTERNAL, one without memory AR_NO_MEMORY; the answer then holds what it wrote before. */
enum ar_status simgrid_fork(struct simgrid_task *task, struct simgrid_answer *answer,
                            struct ar_error *err);

/** Writes all of it; for tasks. */
bool simgrid_write(int descriptor, const void *data, size_t size);

#endif
