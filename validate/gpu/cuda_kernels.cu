#include "cuda_kernels.h"
#include "cuda_reduce.h"

static const int THREADS = 256;
static const uint64_t BLOCKS_MAX = 2048;

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

/* Enough blocks for `turns` iterations of threads. */
static cudaLaunchConfig_t configure(uint64_t turns, cudaStream_t stream)
{
    int device, threads_max;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&threads_max, cudaDevAttrMaxThreadsPerBlock, device);
    unsigned threads = (unsigned)(THREADS < threads_max ? THREADS : threads_max);
    uint64_t blocks = (turns + threads - 1) / threads;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX));
    config.blockDim = dim3(threads);
    config.stream = stream;
    return config;
}

extern "C" cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum,
                                      const unsigned char *addend, uint64_t count,
                                      cudaStream_t stream)
{
    struct reduce_cut cut = reduce_cut_run(element_bytes, sum, addend, count);
    if (count == 0) {
        return cudaSuccess;
    }
    cudaLaunchConfig_t config = configure(cut.vectors > 0 ? cut.vectors : count, stream);
    return element_bytes == sizeof(float)
               ? cudaLaunchKernelEx(&config, reduce_single, (float *)sum, (const float *)addend,
                                    cut)
               : cudaLaunchKernelEx(&config, reduce_half, (__half *)sum, (const __half *)addend,
                                    cut);
}
