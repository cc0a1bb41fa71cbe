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

#include "rank.h"

/** Column `algorithm` of a probe. */
const char *probe_name(enum probe probe);

/** The ports of a rank: both ends of the pair that a probe of a link is about. */
enum ar_status probe_ports(const struct measurement *measurement, uint32_t rank,
                           struct ports *ports, struct ar_error *err);

/** One rank of a probe, as rank_run(). Only ranks that measure write times. */
enum ar_status probe_run(const struct measurement *measurement, const struct run_config *config,
                         struct transport *transport, struct rank_result *result,
                         struct ar_error *err);

#endif
