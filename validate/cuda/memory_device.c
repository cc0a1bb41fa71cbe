/* GPU memory as the memory of ranks. */
#include "cuda_device.h"
#include "cuda_kernels.h"
#include "memory.h"

/* Direction and GPUs are found out by CUDA; what MPI sends next must have been written. */
static enum ar_status copy(unsigned char *to, const unsigned char *from, size_t bytes,
                           struct ar_error *err)
{
    CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, cudaStreamPerThread);
    return cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "a copy", err);
}

static enum ar_status reduce(const struct element_type *type, unsigned char *sum,
                             const unsigned char *addend, uint64_t count, struct ar_error *err)
{
    AR_TRY(cuda_check(kernels_reduce(type->bytes, sum, addend, count, cudaStreamPerThread),
                      "the launch of a sum", err));
    return cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "a sum", err);
}

/* The GPUs of a node in turn, if they are fewer than processes. */
static enum ar_status select_gpu(uint32_t local_rank, struct ar_error *err)
{
    uint32_t gpus;
    AR_TRY(cuda_count(&gpus, err));
    CUDA_TRY(cudaSetDevice, (int)(local_rank % gpus));
    return AR_OK;
}

const struct memory memory_device = {
    .name = "device",
    .select = select_gpu,
    .allocate = cuda_allocate,
    .copy = copy,
    .reduce = reduce,
};
