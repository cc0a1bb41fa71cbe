/** \file cuda_share.h
 * A run of elements that is copied, or added to another, as the threads of a GPU share it; C++ for
 * nvcc, and for tests on a processor.
 *
 * A run is cut into elements up to a multiple of 16 bytes, vectors of 16 bytes, and the rest; runs
 * whose alignments differ modulo 16 have no vectors. Thread `first` of `stride` threads takes every
 * stride-th of each, several vectors at a time, since memory of another GPU answers late.
 */
#pragma once

#include <cuda_fp16.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define SHARE_FUNCTION __device__ static inline
#else
#define SHARE_FUNCTION static inline
#endif

enum { SHARE_VECTOR_BYTES = 16, SHARE_AT_A_TIME = 4 };

/** Eight halves that are read and written as one vector. */
struct alignas(SHARE_VECTOR_BYTES) share_halves {
    __half2 pairs[4];
};

SHARE_FUNCTION void share_add(float *sum, float addend)
{
    *sum += addend;
}

SHARE_FUNCTION void share_add(__half *sum, __half addend)
{
    *sum = __hadd(*sum, addend);
}

SHARE_FUNCTION void share_add(float4 *sum, float4 addend)
{
    float4 total = *sum;
    total.x += addend.x;
    total.y += addend.y;
    total.z += addend.z;
    total.w += addend.w;
    *sum = total;
}

SHARE_FUNCTION void share_add(struct share_halves *sum, struct share_halves addend)
{
    struct share_halves total = *sum;
    for (int i = 0; i < 4; i++) {
        total.pairs[i] = __hadd2(total.pairs[i], addend.pairs[i]);
    }
    *sum = total;
}

/* Elements, or vectors, first, first + stride, ... before count. */
template <typename Item, bool SUMS>
SHARE_FUNCTION void share_items(Item *to, const Item *from, uint64_t count, uint64_t first,
                                uint64_t stride)
{
    uint64_t i = first;
    for (; i + (SHARE_AT_A_TIME - 1) * stride < count; i += SHARE_AT_A_TIME * stride) {
        Item items[SHARE_AT_A_TIME];
        for (int k = 0; k < SHARE_AT_A_TIME; k++) {
            items[k] = from[i + k * stride];
        }
        for (int k = 0; k < SHARE_AT_A_TIME; k++) {
            SUMS ? share_add(to + i + k * stride, items[k]) : (void)(to[i + k * stride] = items[k]);
        }
    }
    for (; i < count; i += stride) {
        SUMS ? share_add(to + i, from[i]) : (void)(to[i] = from[i]);
    }
}

/** The part of one thread in a run of `count` elements. */
template <typename Element, typename Vector, bool SUMS>
SHARE_FUNCTION void share_run(unsigned char *to_bytes, const unsigned char *from_bytes,
                              uint64_t count, uint64_t first, uint64_t stride)
{
    Element *to = (Element *)to_bytes;
    const Element *from = (const Element *)from_bytes;
    uint32_t over = (uint32_t)((uintptr_t)to % SHARE_VECTOR_BYTES);
    if (over == (uintptr_t)from % SHARE_VECTOR_BYTES && over % sizeof(Element) == 0) {
        uint64_t head = (SHARE_VECTOR_BYTES - over) % SHARE_VECTOR_BYTES / sizeof(Element);
        head = head < count ? head : count;
        uint64_t vectors = (count - head) / (SHARE_VECTOR_BYTES / sizeof(Element));
        uint64_t done = head + vectors * (SHARE_VECTOR_BYTES / sizeof(Element));
        share_items<Vector, SUMS>((Vector *)(to + head), (const Vector *)(from + head), vectors,
                                  first, stride);
        share_items<Element, SUMS>(to, from, head, first, stride);
        to += done;
        from += done;
        count -= done;
    }
    share_items<Element, SUMS>(to, from, count, first, stride);
}
