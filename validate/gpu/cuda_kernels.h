/** \file cuda_kernels.h
 * The kernel of the GPU: the sum of two runs of elements. Its launch returns at once.
 *
 * A sum is vectorised (16 bytes per thread and iteration) when both runs have the same alignment
 * modulo 16; elements before the first multiple of 16 and behind the last one are added one by one.
 * Runs with different alignments are added one by one as a whole.
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** sum[i] += addend[i] for elements of 4 bytes (single) or 2 (half) on the current device. */
cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                           uint64_t count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
