#include "mpi_memory.h"

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

/* MPICH has no such question; it is taken at its word that it was built for the GPUs. */
static bool is_cuda_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#elif defined(OPEN_MPI)
    return false;
#else
    return true;
#endif
}

enum ar_status mpi_memory_check(const struct memory *memory, uint32_t local_rank,
                                struct ar_error *err)
{
    if (memory->is_host) {
        return AR_OK;
    }
    if (!is_cuda_aware()) {
        return ar_error_set(
            err, AR_UNAVAILABLE,
            "--memory %s: this MPI library is not CUDA-aware; expected one that is, "
            "or --memory host",
            memory->name);
    }
#ifdef VALIDATE_HAS_CUDA
    return memory_device_select(local_rank, err);
#else
    (void)local_rank;
    return AR_OK;
#endif
}
