/** \file executor.h
 * Executes the moves of one rank: on every channel a walk through the steps of the algorithm, over
 * the ports of a transport.
 *
 * A step sends a slice in pieces of a slot, straight from the buffer, and receives one piece by
 * piece, each of which is added to the buffer or copied into it. The next step begins when both are
 * done; sent means handed over. In a phase whose steps are at once, sends do not wait for receives.
 * A piece is not received where an earlier message is still being read. A message that has several
 * runs, or lies where the step also receives, is copied first. Up to `window` pieces of a port are
 * in flight, so a rank may run ahead of its peers. A message of no elements is sent as one empty
 * piece. One thread drives all channels of a rank in turn and waits when none can go on.
 */
#pragma once

#include "transport.h"

struct cursor;

/** The work of a rank, and its means. */
struct execution {
    const struct measurement *measurement;
    const struct run_config *config;
    const struct ports *ports;
    struct transport *transport;

    struct ar_arena *arena; /**< this and what follows is set by execution_create() */
    unsigned char *buffer;  /**< of all elements, in the config's memory; changed in place */
    struct cursor *cursors; /**< of each channel */
};

/** Makes the buffer and the state of runs in an arena that stays as long as the runs. */
enum ar_status execution_create(struct ar_arena *arena, struct execution *execution,
                                struct ar_error *err);

/** Runs the collective once. AR_INTERNAL, which says who waits for whom, if there is no progress
 * for the config's timeout; AR_INTERRUPTED if another rank has failed. */
enum ar_status execution_run(const struct execution *execution, struct ar_error *err);

/** Waits until peers have read what was copied for them; comes before the arena ends. */
enum ar_status execution_end(const struct execution *execution, struct ar_error *err);

/** Bytes that a slot needs: no piece is larger. */
size_t execution_slot_bytes(const struct measurement *measurement, const struct run_config *config);

/** Whether no element is in both. */
bool slices_are_apart(const struct ar_slice *a, const struct ar_slice *b);
