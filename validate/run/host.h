/** \file host.h
 * Ranks as threads of one process: a mailbox in shared memory for each connection.
 *
 * A mailbox holds the addresses of messages and two counters, sent and taken, each written by one
 * side; the receiver reads the sender's memory. A rank that finds nothing to do sleeps on its bell,
 * which its peers ring when they send to it or take from it; so many more ranks than cores make
 * progress. Where every rank has a core, it looks some hundred times before it sleeps.
 */
#pragma once

#include "executor.h"
#include "payload.h"

struct host_group;

/** Connects the ports of all ranks, `ports[rank]`, which must match in pairs and stay with the
 * caller; all of it is the arena's. */
struct host_group *host_group_create(const struct ports *ports, uint32_t ranks, uint32_t window,
                                     size_t slot_bytes, struct ar_arena *arena);

/** The transport of a rank, for one thread at a time. */
struct transport *host_group_transport(struct host_group *group, uint32_t rank);

/** Runs a measurement with a thread for each rank, which selects its memory of the config. */
enum ar_status host_run(const struct run_config *config, struct ar_arena *arena,
                        struct measurement *measurement, struct ar_error *err);
