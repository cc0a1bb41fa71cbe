/** \file simgrid_wait.h
 * Things that SimGrid offers in C++ only: the time when a communication ended, what else its owner
 * wants to know of it, communications between any two hosts, and fractions of bytes as sizes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <simgrid/comm.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Waits for a communication and releases it; returns when it ended, which may be long ago. */
double simgrid_wait(sg_comm_t comm);

/** Sets a note of a communication: simgrid_wait() calls child_note_moved() (child.c) with it, and
 * with the times at which the first byte and the last one left. */
void simgrid_set_note(sg_comm_t comm, void *note);
void child_note_moved(void *note, double begin_s, double end_s);

/** Begins a communication to a mailbox. */
sg_comm_t simgrid_put(sg_mailbox_t mailbox, void *payload, double bytes);

/** The same, where nobody waits for it to have left. */
void simgrid_put_and_forget(sg_mailbox_t mailbox, void *payload, double bytes);

/** Begins a communication from one host to another, with no actors at its ends; SimGrid takes whole
 * bytes there, at least 1. */
sg_comm_t simgrid_send(sg_host_t from, sg_host_t to, uint64_t bytes);

/** Keeps memory that SimGrid drops from now on (fast_blocks.cpp), unless a test has said no. */
void simgrid_keep_blocks(void);
extern bool simgrid_keeps_blocks;

#ifdef __cplusplus
}
#endif
