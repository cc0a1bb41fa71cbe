/** \file probes.h
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
#ifndef AR_VALIDATE_PROBES_H
#define AR_VALIDATE_PROBES_H

#include "executor.h"

/** Column `algorithm` of a probe. */
const char *probe_name(enum probe probe);

/** One rank of a probe, as rank_run(). */
enum ar_status probe_run(const struct execution *execution, struct ar_arena *arena,
                         struct measurement *own, struct ar_error *err);

#endif
