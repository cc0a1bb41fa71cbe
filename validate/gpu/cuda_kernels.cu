#include "cuda_kernels.h"
#include "cuda_reduce.h"

enum { THREADS = 256, BLOCKS_MAX = 2048 };

__device__ static uint64_t thread_number(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static uint64_t threads_count(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

__global__ static void reduce_single(float *sum, const float *addend, struct reduce_cut cut)
{
    reduce_share_single(sum, addend, cut, thread_number(), threads_count());
}

__global__ static void reduce_half(__half *sum, const __half *addend, struct reduce_cut cut)
{
    reduce_share_half(sum, addend, cut, thread_number(), threads_count());
}

extern "C" cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum,
                                      const unsigned char *addend, uint64_t count,
                                      cudaStream_t stream)
{
    struct reduce_cut cut = reduce_cut_run(element_bytes, sum, addend, count);
    uint64_t turns = cut.vectors > 0 ? cut.vectors : count;
    uint64_t blocks = (turns + THREADS - 1) / THREADS;
    unsigned grid = (unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
    if (count == 0) {
        return cudaSuccess;
    }
    if (element_bytes == sizeof(float)) {
        reduce_single<<<grid, THREADS, 0, stream>>>((float *)sum, (const float *)addend, cut);
    } else {
        reduce_half<<<grid, THREADS, 0, stream>>>((__half *)sum, (const __half *)addend, cut);
    }
    return cudaGetLastError();
}
