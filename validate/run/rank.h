/** \file rank.h
 * One rank of a measurement over a transport, timed from a barrier on. The threads of `host` and
 * the processes of `mpi` run the same function.
 */
#ifndef AR_VALIDATE_RANK_H
#define AR_VALIDATE_RANK_H

#include "executor.h"
#include "payload.h"

/** Runs all repetitions of a collective or a probe with the measurement, config, ports and
 * transport of `execution`; results go to `own`: the times are those of this rank. Only ranks that
 * measure write times of a probe. */
enum ar_status rank_run(const struct execution *execution, const struct payload *payload,
                        struct ar_arena *arena, struct measurement *own, struct ar_error *err);

#endif
