/** \file ports.h
 * The connections that the moves of a measurement need: one port for each peer that a rank sends to
 * or receives from on a channel.
 */
#ifndef AR_VALIDATE_PORTS_H
#define AR_VALIDATE_PORTS_H

#include "measurement.h"
#include "transport.h"

/** The ports that a rank needs, of a probe those of its link, to the peer and from it. */
enum ar_status ports_create(const struct measurement *measurement, uint32_t rank,
                            struct ar_arena *arena, struct ports *ports, struct ar_error *err);

/** Those of all ranks. */
enum ar_status ports_create_all(const struct measurement *measurement, struct ar_arena *arena,
                                struct ports **ports, struct ar_error *err);

/** The index of a port, the number of ports if there is none. */
uint32_t ports_find(const struct ports *ports, struct port port);

/** Of the ports of all ranks: the index, at its peer, of the other end of a port of a rank. */
uint32_t ports_other_end(const struct ports *ports, uint32_t rank, uint32_t index);

#endif
