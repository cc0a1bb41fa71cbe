/** \file runner.h
 * Repetitions of a measurement: the same loop for all backends.
 *
 * A crew is the ranks that one thread drives: a thread of `host` and a process of `mpi` drive one,
 * `cuda` and `nccl` drive all that are in their process. crew_repeat() fills, runs, times and
 * checks. rank_run() makes a crew of one rank over a transport, timed from a barrier on, for a
 * collective or a probe:
 *
 * | probe | time | payload |
 * |---|---|---|
 * | latency | half a round trip of one message | of that message |
 * | bandwidth | until the receiver has all of it and has said so | sent one way |
 * | copy, reduce | copied, or added to another buffer, once | copied, added |
 * | launch | from a barrier of all ranks to the next one | none |
 *
 * Ranks that a probe does not involve wait.
 */
#pragma once

#include "executor.h"
#include "payload.h"

/** First member of a backend's struct for its ranks. */
struct crew {
    const struct memory *memory;
    uint32_t first;          /**< rank */
    uint32_t count;          /**< ranks; 0: nothing is filled and checked, as in probes */
    unsigned char **buffers; /**< [rank of the crew]: all elements, in `memory` */
    unsigned char **results; /**< [rank of the crew]: where it ends; NULL: in its buffer */

    uint32_t calls; /**< timed one behind the other, neither filled nor checked; 0: one, checked */

    /** Runs the collective, or the probe, so often; `time_s` of one begins as 0. */
    enum ar_status (*run)(struct crew *crew, uint32_t calls, double *time_s, struct ar_error *err);
};

/** Warms up, repeats, and fills in times and mismatch of `measurement`. In each repetition the
 * buffers are filled anew, and every element is checked after one call, warm-up included. A crew in
 * host memory has one rank. `payload` is not read if the crew has none. */
enum ar_status crew_repeat(struct crew *crew, const struct run_config *config,
                           const struct payload *payload, struct ar_arena *arena,
                           struct measurement *measurement, struct ar_error *err);

/** Runs all repetitions of a collective or a probe with the measurement, config, ports and
 * transport of `execution`. Results go to `own`: the times are those of this rank, and only ranks
 * that measure write times of a probe. */
enum ar_status rank_run(const struct execution *execution, const struct payload *payload,
                        struct ar_arena *arena, struct measurement *own, struct ar_error *err);
