/** \file simgrid_wait.h
 * Two things that SimGrid offers in C++ only: the time when a communication ended, and
 * communications between any two hosts.
 */
#pragma once

#include <stdint.h>

#include <simgrid/comm.h>
#include <simgrid/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Waits for a communication and releases it; returns when it ended, which may be long ago. */
double simgrid_wait(sg_comm_t comm);

/** Begins a communication from one host to another, with no actors at its ends. */
sg_comm_t simgrid_send(sg_host_t from, sg_host_t to, uint64_t bytes);

#ifdef __cplusplus
}
#endif
