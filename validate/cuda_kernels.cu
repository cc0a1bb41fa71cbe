#include <cuda_fp16.h>

#include "cuda_kernels.h"

enum { THREADS = 256, BLOCKS_MOST = 2048, VECTOR_BYTES = 16 };

/* How a run is cut: `head` elements up to a multiple of 16 bytes, `vectors` vectors, the rest. */
struct cut {
    uint64_t head;
    uint64_t vectors;
    uint64_t tail_first;
    uint64_t count;
};

__device__ static void add_vector(float4 *sum, const float4 *addend)
{
    float4 a = *sum;
    float4 b = *addend;
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
    *sum = a;
}

/* Eight halves that are read and written as one float4. */
__device__ static void add_halves(float4 *sum, const float4 *addend)
{
    union {
        float4 vector;
        __half2 pairs[4];
    } a, b;
    a.vector = *sum;
    b.vector = *addend;
    for (int i = 0; i < 4; i++) {
        a.pairs[i] = __hadd2(a.pairs[i], b.pairs[i]);
    }
    *sum = a.vector;
}

__global__ static void reduce_single(float *sum, const float *addend, struct cut cut)
{
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    float4 *sums = (float4 *)(sum + cut.head);
    const float4 *addends = (const float4 *)(addend + cut.head);
    for (uint64_t i = first; i < cut.vectors; i += stride) {
        add_vector(sums + i, addends + i);
    }
    for (uint64_t i = first; i < cut.head; i += stride) {
        sum[i] += addend[i];
    }
    for (uint64_t i = cut.tail_first + first; i < cut.count; i += stride) {
        sum[i] += addend[i];
    }
}

__global__ static void reduce_half(__half *sum, const __half *addend, struct cut cut)
{
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    float4 *sums = (float4 *)(sum + cut.head);
    const float4 *addends = (const float4 *)(addend + cut.head);
    for (uint64_t i = first; i < cut.vectors; i += stride) {
        add_halves(sums + i, addends + i);
    }
    for (uint64_t i = first; i < cut.head; i += stride) {
        sum[i] = __hadd(sum[i], addend[i]);
    }
    for (uint64_t i = cut.tail_first + first; i < cut.count; i += stride) {
        sum[i] = __hadd(sum[i], addend[i]);
    }
}

__global__ static void nothing(void)
{
}

/* Without a common multiple of 16 bytes there are no vectors and everything is tail. */
static struct cut cut_run(uint32_t element_bytes, const unsigned char *sum,
                          const unsigned char *addend, uint64_t count)
{
    struct cut cut = {0, 0, 0, count};
    uint32_t over = (uint32_t)((uintptr_t)sum % VECTOR_BYTES);
    if (over == (uintptr_t)addend % VECTOR_BYTES && over % element_bytes == 0) {
        uint64_t head = (VECTOR_BYTES - over) % VECTOR_BYTES / element_bytes;
        cut.head = head < count ? head : count;
        cut.vectors = (count - cut.head) * element_bytes / VECTOR_BYTES;
        cut.tail_first = cut.head + cut.vectors * (VECTOR_BYTES / element_bytes);
    }
    return cut;
}

extern "C" cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum,
                                      const unsigned char *addend, uint64_t count,
                                      cudaStream_t stream)
{
    struct cut cut = cut_run(element_bytes, sum, addend, count);
    uint64_t turns = cut.vectors > 0 ? cut.vectors : count;
    uint64_t blocks = (turns + THREADS - 1) / THREADS;
    unsigned grid = (unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST);
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

extern "C" cudaError_t kernels_nothing(cudaStream_t stream)
{
    nothing<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
