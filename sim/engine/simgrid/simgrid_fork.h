/** \file simgrid_fork.h
 * Private to this folder: a forked child that has SimGrid to itself.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so whatever needs it is a
 * task that runs in a child of its own and writes its answer to a file in memory. What the child
 * prints is SimGrid's business and goes to a second one; if the child dies, the line that says why
 * becomes the error.
 *
 * All that calls SimGrid is in a module, liballreckon-simgrid.so, which is loaded when the first
 * simulation is asked for: SimGrid and what it brings (ns-3) take 20 ms to load, ten times as long
 * as the smallest prediction. The module is linked to SimGrid alone and uses the functions of
 * the program, which exports them, so that nothing exists twice. A program that links the objects
 * of the module (`ar_simgrid_child`), as the tests do, uses these and loads nothing.
 */
#ifndef AR_SIMGRID_FORK_H
#define AR_SIMGRID_FORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

enum { SIMGRID_CAUSE = 320, SIMGRID_STALL_S = 60 };

/** What a child does. */
enum simgrid_kind {
    SIMGRID_TRIAL,  /**< struct trial_task */
    SIMGRID_ACTORS, /**< struct actors_task */
    SIMGRID_GRAPH   /**< struct graph_task */
};

/** To be the first member of the struct of its kind. */
struct simgrid_task {
    enum simgrid_kind kind;
    uint64_t actors_count; /**< about how many */
    uint32_t stall_s; /**< processor time without progress after which the child gives up; 0: the
                           usual SIMGRID_STALL_S */
};

/** What came back from a child; `data` is the caller's (free), also after a failure. */
struct simgrid_answer {
    char *data;
    size_t size;
    char cause[SIMGRID_CAUSE]; /**< why the child died, in SimGrid's words; "" if unknown */
};

struct simgrid_module {
    void (*version)(int *major, int *minor, int *patch); /**< of SimGrid */
    /** In a child: starts SimGrid with the pinned options, does the task, writes its answer and
     * says whether that worked. Errors of SimGrid end the child. */
    bool (*run)(struct simgrid_task *task, FILE *answer);
};

/** The module, loaded by the first call and never unloaded. AR_UNAVAILABLE if it is not there. */
enum ar_status simgrid_module_get(const struct simgrid_module **module, struct ar_error *err);

/** Forks, runs the task in the module and reads its answer. A child that dies is AR_INTERNAL, one
 * without memory AR_NO_MEMORY; the answer then holds what it wrote before. */
enum ar_status simgrid_fork(struct simgrid_task *task, struct simgrid_answer *answer,
                            struct ar_error *err);

/** A file in memory: nothing to clean up, nothing on the disk. */
enum ar_status simgrid_open(const char *what, int *file, struct ar_error *err);

#endif
