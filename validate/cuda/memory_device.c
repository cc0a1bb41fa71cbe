#include "memory_device.h"

#include "cuda_device.h"
#include "cuda_kernels.h"

static enum ar_status allocate(size_t bytes, unsigned char **memory, struct ar_error *err)
{
    void *allocated = NULL;
    CUDA_TRY(cudaMalloc, &allocated, bytes + 1);
    *memory = allocated;
    return AR_OK;
}

static void release(unsigned char *memory)
{
    cudaFree(memory);
}

/* Direction is found out by CUDA; what MPI sends next must have been written. */
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

const struct memory memory_device = {
    .name = "device",
    .is_host = false,
    .allocate = allocate,
    .release = release,
    .write = copy,
    .read = copy,
    .copy = copy,
    .reduce = reduce,
};

enum ar_status memory_device_select(uint32_t local_rank, struct ar_error *err)
{
    uint32_t gpus;
    enum ar_status status = cuda_count(&gpus, err);
    return status == AR_OK
               ? cuda_check(cudaSetDevice((int)(local_rank % gpus)), "cudaSetDevice", err)
               : status;
}
