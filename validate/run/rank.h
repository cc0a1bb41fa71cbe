/** \file rank.h
 * One rank of a measurement over a transport: warm up, repeat, time, check. The threads of `host`
 * and the processes of `mpi` run the same function.
 */
#ifndef AR_VALIDATE_RANK_H
#define AR_VALIDATE_RANK_H

#include "executor.h"

/** What one rank found. */
struct rank_result {
    double *times_s; /**< of every repetition, from the barrier to this rank's end; the caller's */
    struct mismatch mismatch;
};

/** Runs all repetitions. Before each the buffer is filled anew, after each every element is
 * checked, warm-up included. */
enum ar_status rank_run(const struct measurement *measurement, const struct run_config *config,
                        const struct payload *payload, const struct ports *ports,
                        struct transport *transport, struct rank_result *result,
                        struct ar_error *err);

#endif
