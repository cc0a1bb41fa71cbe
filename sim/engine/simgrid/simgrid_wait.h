/** \file simgrid_wait.h
 * When a communication ended: SimGrid tells that in C++ only.
 */
#ifndef AR_SIMGRID_WAIT_H
#define AR_SIMGRID_WAIT_H

#include <simgrid/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Waits for a communication and releases it; returns when it ended, which may be long ago. */
double simgrid_wait(sg_comm_t comm);

#ifdef __cplusplus
}
#endif

#endif
