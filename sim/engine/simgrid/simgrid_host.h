/** \file simgrid_host.h
 * Private to the module: the hosts of a platform.
 */
#ifndef AR_SIMGRID_HOST_H
#define AR_SIMGRID_HOST_H

#include <simgrid/host.h>

#include "ar_cluster.h"

/** The host of a rank, or of AR_SWITCH with a rank. */
sg_host_t child_host(uint32_t rank);

#endif
