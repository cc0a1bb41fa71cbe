/** \file crew.h
 * Repetitions of a measurement on the ranks that one thread drives: a thread of `host` and a
 * process of `mpi` drive one, `cuda` and `nccl` drive all that are in their process.
 */
#ifndef AR_VALIDATE_CREW_H
#define AR_VALIDATE_CREW_H

#include "payload.h"

/** First member of what a backend has for its ranks. */
struct crew {
    const struct memory *memory;
    uint32_t first;          /**< rank */
    uint32_t count;          /**< of ranks; 0: nothing is filled and checked, as in probes */
    unsigned char **buffers; /**< of each rank, with all elements, in `memory` */
    unsigned char **results; /**< where each ends; NULL: in its buffer */

    /** Runs the collective, or the probe, once; `time_s` begins as 0. */
    enum ar_status (*run)(struct crew *crew, double *time_s, struct ar_error *err);
};

/** Warms up, repeats, and fills in times and mismatch of `measurement`. Before each repetition the
 * buffers are filled anew, after each every element is checked, warm-up included. A crew in host
 * memory is of one rank. `payload` is not read if the crew is of none. */
enum ar_status crew_repeat(struct crew *crew, const struct run_config *config,
                           const struct payload *payload, struct ar_arena *arena,
                           struct measurement *measurement, struct ar_error *err);

#endif
