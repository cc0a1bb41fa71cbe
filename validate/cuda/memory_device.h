/** \file memory_device.h
 * GPU memory as the memory of a rank, for a CUDA-aware MPI.
 */
#ifndef AR_VALIDATE_MEMORY_DEVICE_H
#define AR_VALIDATE_MEMORY_DEVICE_H

#include "memory.h"

extern const struct memory memory_device;

/** Takes the GPU of this process, the `local_rank`-th of its node, in turn if they are fewer. */
enum ar_status memory_device_select(uint32_t local_rank, struct ar_error *err);

#endif
