/** \file simgrid_child.h
 * The part of the `simgrid` engine that lives in a process of its own.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * forked child; engine_simgrid.c forks it and reads its results.
 */
#ifndef AR_SIMGRID_CHILD_H
#define AR_SIMGRID_CHILD_H

#include "ar_trial.h"

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

/** Simulates the trial on the platform file and writes `times` (and `rank_finish_s`, if not NULL).
 * Must be called at most once in a process; errors of SimGrid end the process. */
void simgrid_child_run(struct ar_trial *trial, const char *platform_path);

#endif
