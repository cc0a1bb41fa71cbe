/** \file mpi_memory.h
 * Where the buffers of MPI's processes may be: GPU memory too, if the program was built with CUDA
 * and the library says that it is CUDA-aware.
 */
#ifndef AR_VALIDATE_MPI_MEMORY_H
#define AR_VALIDATE_MPI_MEMORY_H

#include "memory.h"

#ifdef VALIDATE_HAS_CUDA
#include "memory_device.h"
#define MPI_MEMORIES                                                                               \
    {                                                                                              \
        &memory_host, &memory_device                                                               \
    }
#else
#define MPI_MEMORIES                                                                               \
    {                                                                                              \
        &memory_host                                                                               \
    }
#endif

/** AR_UNAVAILABLE if MPI cannot send from this memory, or there is no GPU for this process, the
 * `local_rank`-th of its node. */
enum ar_status mpi_memory_check(const struct memory *memory, uint32_t local_rank,
                                struct ar_error *err);

#endif
