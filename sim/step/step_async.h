/** \file step_async.h
 * A step of a strategy with servers: an asynchronous run (ar_async.h) in place of a graph.
 */
#ifndef AR_STEP_ASYNC_H
#define AR_STEP_ASYNC_H

#include "ar_step.h"

/** Runs the steps, all iterations at once, in the memory of the step; fills in its results but for
 * those of the baseline. */
enum ar_status step_async_run(struct ar_step *step, struct ar_error *err);

#endif
