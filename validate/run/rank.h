/** \file rank.h
 * One rank of a measurement over a transport, timed from a barrier on. The threads of `host` and
 * the processes of `mpi` run the same function.
 *
 * Probes of single properties over a transport: what a message, a copy, a sum and a start cost.
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
#ifndef AR_VALIDATE_RANK_H
#define AR_VALIDATE_RANK_H

#include "executor.h"
#include "payload.h"

/** Runs all repetitions of a collective or a probe with the measurement, config, ports and
 * transport of `execution`; results go to `own`: the times are those of this rank. Only ranks that
 * measure write times of a probe. */
enum ar_status rank_run(const struct execution *execution, const struct payload *payload,
                        struct ar_arena *arena, struct measurement *own, struct ar_error *err);

/** Column `algorithm` of a probe. */
const char *probe_name(enum probe probe);

/** One rank of a probe, as rank_run(). */
enum ar_status probe_run(const struct execution *execution, struct ar_arena *arena,
                         struct measurement *own, struct ar_error *err);

#endif
