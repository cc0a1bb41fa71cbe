/** \file cuda_reduce.h
 * The sum of two runs as the threads of a GPU share it; C++ for nvcc, and for a test on a
 * processor.
 *
 * A run is cut into elements up to a multiple of 16 bytes, vectors of 16 bytes, and the rest.
 * Thread `first` of `stride` threads takes every stride-th of each.
 */
#pragma once

#include <cuda_fp16.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define REDUCE_FUNCTION __host__ __device__ static inline
#else
#define REDUCE_FUNCTION static inline
#endif

enum { REDUCE_VECTOR_BYTES = 16 };

struct reduce_cut {
    uint64_t head;       /**< elements before the first vector */
    uint64_t vectors;    /**< vectors */
    uint64_t tail_first; /**< first element behind them */
    uint64_t count;
};

/** Cuts a run. Runs whose alignments differ modulo 16 have no vectors and are all tail. */
REDUCE_FUNCTION struct reduce_cut reduce_cut_run(uint32_t element_bytes, const void *sum,
                                                 const void *addend, uint64_t count)
{
    struct reduce_cut cut = {0, 0, 0, count};
    uint32_t over = (uint32_t)((uintptr_t)sum % REDUCE_VECTOR_BYTES);
    if (over == (uintptr_t)addend % REDUCE_VECTOR_BYTES && over % element_bytes == 0) {
        uint64_t head = (REDUCE_VECTOR_BYTES - over) % REDUCE_VECTOR_BYTES / element_bytes;
        cut.head = head < count ? head : count;
        cut.vectors = (count - cut.head) * element_bytes / REDUCE_VECTOR_BYTES;
        cut.tail_first = cut.head + cut.vectors * (REDUCE_VECTOR_BYTES / element_bytes);
    }
    return cut;
}

REDUCE_FUNCTION void reduce_vector_single(float4 *sum, const float4 *addend)
{
    float4 a = *sum;
    float4 b = *addend;
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
    *sum = a;
}

/** Eight halves that are read and written as one vector. */
struct alignas(REDUCE_VECTOR_BYTES) reduce_halves {
    __half2 pairs[4];
};

REDUCE_FUNCTION void reduce_vector_half(struct reduce_halves *sum,
                                        const struct reduce_halves *addend)
{
    struct reduce_halves a = *sum;
    struct reduce_halves b = *addend;
    for (int i = 0; i < 4; i++) {
        a.pairs[i] = __hadd2(a.pairs[i], b.pairs[i]);
    }
    *sum = a;
}

/** The share of one thread, of elements of 4 bytes. */
REDUCE_FUNCTION void reduce_share_single(float *sum, const float *addend, struct reduce_cut cut,
                                         uint64_t first, uint64_t stride)
{
    float4 *sums = (float4 *)(sum + cut.head);
    const float4 *addends = (const float4 *)(addend + cut.head);
    for (uint64_t i = first; i < cut.vectors; i += stride) {
        reduce_vector_single(sums + i, addends + i);
    }
    for (uint64_t i = first; i < cut.head; i += stride) {
        sum[i] += addend[i];
    }
    for (uint64_t i = cut.tail_first + first; i < cut.count; i += stride) {
        sum[i] += addend[i];
    }
}

/** The share of one thread, of elements of 2 bytes. */
REDUCE_FUNCTION void reduce_share_half(__half *sum, const __half *addend, struct reduce_cut cut,
                                       uint64_t first, uint64_t stride)
{
    struct reduce_halves *sums = (struct reduce_halves *)(sum + cut.head);
    const struct reduce_halves *addends = (const struct reduce_halves *)(addend + cut.head);
    for (uint64_t i = first; i < cut.vectors; i += stride) {
        reduce_vector_half(sums + i, addends + i);
    }
    for (uint64_t i = first; i < cut.head; i += stride) {
        sum[i] = __hadd(sum[i], addend[i]);
    }
    for (uint64_t i = cut.tail_first + first; i < cut.count; i += stride) {
        sum[i] = __hadd(sum[i], addend[i]);
    }
}
