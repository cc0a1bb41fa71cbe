/** \file executor.h
 * Executes the moves of one rank: on every channel a walk through the steps of the algorithm, over
 * the ports of a transport.
 *
 * A step sends a span in pieces of a slot, and receives a span piece by piece, each of which is
 * added to the buffer or copied into it. The next step begins when both are done; sent means
 * written to slots (or, with a transport that sends from the buffer, handed over: then a piece is
 * not received where one is still being read), so up to `window` pieces of a port are in flight and
 * a rank may run ahead of its peers. A message of no elements is sent as one empty piece. One
 * thread drives all channels of a rank in turn and sleeps when none can go on.
 */
#ifndef AR_VALIDATE_EXECUTOR_H
#define AR_VALIDATE_EXECUTOR_H

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

/** What a rank executes, and with what. */
struct execution {
    const struct measurement *measurement;
    const struct run_config *config;
    const struct ports *ports;
    struct transport *transport;
    unsigned char *buffer; /**< of all elements, in the config's memory; all-reduced in place */
};

/** Runs the collective once. AR_INTERNAL with who waits for whom if there is no progress for the
 * config's timeout; AR_INTERRUPTED if another rank has failed. */
enum ar_status execution_run(const struct execution *execution, struct ar_error *err);

/** Room that a slot needs: no piece is larger. */
size_t execution_slot_bytes(const struct measurement *measurement, const struct run_config *config);

#endif
