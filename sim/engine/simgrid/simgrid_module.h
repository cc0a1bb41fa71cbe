/** \file simgrid_module.h
 * Where the program ends and SimGrid begins.
 *
 * All that calls SimGrid is in a module, liballreckon-simgrid.so, which is loaded when the first
 * simulation is asked for: SimGrid and what it brings (ns-3) take 20 ms to load, four times as long
 * as all the rest of a prediction. The module is linked to SimGrid alone and uses the functions of
 * the program, which exports them, so that nothing exists twice. A program that links the objects
 * of the module (`ar_simgrid_child`), as the tests do, uses these and loads nothing.
 */
#ifndef AR_SIMGRID_MODULE_H
#define AR_SIMGRID_MODULE_H

#include "simgrid_fork.h"

struct simgrid_module {
    void (*version)(int *major, int *minor, int *patch); /**< of SimGrid */
    /** In a child: starts SimGrid with the pinned options, does the task, writes its answer and
     * says whether that worked. Errors of SimGrid end the child. */
    bool (*run)(struct simgrid_task *task, int answer);
};

/** The module, loaded by the first call and never unloaded. AR_UNAVAILABLE if it is not there. */
enum ar_status simgrid_module_get(const struct simgrid_module **module, struct ar_error *err);

#endif
