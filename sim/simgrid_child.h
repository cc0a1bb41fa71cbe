/** \file simgrid_child.h
 * The part of the `simgrid` engine that lives in a process of its own.
 *
 * SimGrid's engine is a process-wide singleton that aborts on errors, so every simulation runs in a
 * forked child; engine_simgrid.c forks it and reads its results.
 */
#ifndef AR_SIMGRID_CHILD_H
#define AR_SIMGRID_CHILD_H

#include "ar_trial.h"

/** SimGrid's settings as recorded with every result. Its defaults model TCP: LV08 multiplies
 * latency by 13.01 and bandwidth by 0.97; cross traffic takes 5 % for acknowledgements; TCP-gamma
 * limits a flow to a window over its round trip. None of that exists on NVLink or InfiniBand. */
#define AR_SIMGRID_OPTIONS "network/model:CM02 network/crosstraffic:0 network/TCP-gamma:0"

/** Simulates the trial on the platform file and writes `times` (and `rank_finish_s`, if not NULL).
 * Must be called at most once in a process; errors of SimGrid end the process. */
void simgrid_child_run(struct ar_trial *trial, const char *platform_path);

#endif
