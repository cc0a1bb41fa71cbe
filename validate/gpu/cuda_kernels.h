/** \file cuda_kernels.h
 * The kernels of the GPU. A launch returns at once.
 *
 * `kernels_execute` runs the moves of a collective from its first message to its last on all GPUs
 * at once, without the host: a lane is a rank on one channel, and a group of blocks executes its
 * operations one after the other. An operation reads the memory of another rank, or its own, and
 * writes its own. Before it the lane waits until other lanes have done the operations that it needs
 * (what it reads is there, nobody still reads what it writes); after it the lane tells those that
 * wait for it how far it is, by a flag in their memory. All lanes must run at the same
 * time, so launches are cooperative. Memory of other GPUs is read after an acquire and told of by
 * a release at the scope of the system (PTX's memory model, sm_70 and later).
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KERNEL_BLOCKS_MAX = 32 /**< of a lane */, KERNEL_RANKS_MAX = 64, KERNEL_WAITS_MAX = 4 };

/** Until a rank, on the same channel, has done so many operations. */
struct kernel_wait {
    uint32_t rank, done;
};

/** Copies `count` elements, or adds them to those at `to`. */
struct kernel_op {
    unsigned char *to;
    const unsigned char *from;
    uint64_t count;
    uint32_t sums, waits_count;
    struct kernel_wait waits[KERNEL_WAITS_MAX];
};

/** A rank on a channel. */
struct kernel_lane {
    const struct kernel_op *ops;
    uint64_t *results;  /**< [block]: nanoseconds of all iterations, or KERNEL_STUCK */
    uint64_t listeners; /**< a bit for each rank that waits for this one */
    uint32_t *flags[KERNEL_RANKS_MAX]; /**< where each rank looks: [who tells][KERNEL_BLOCKS_MAX] */
    uint32_t ops_count, rank, ranks;
    uint32_t
        stride; /**< 2 more than the operations of any lane: what flags count in an iteration */
};

/** A result: the lane waited in vain for rank `result - KERNEL_STUCK`. */
#define KERNEL_STUCK (UINT64_MAX - UINT32_MAX)

/** Multiprocessors of the current GPU, and the blocks that lanes can have at the same time. */
cudaError_t kernels_capacity(uint32_t *processors, uint32_t *blocks);

/** Executes lanes of the current GPU, `blocks` for each; all begin together, in each iteration
 * anew. `first` counts the iterations of earlier launches. A lane that waits for longer than
 * `timeout_s` gives up. */
cudaError_t kernels_execute(const struct kernel_lane *lanes, uint32_t lanes_count, uint32_t blocks,
                            uint32_t element_bytes, uint32_t first, uint32_t iterations,
                            double timeout_s, cudaStream_t stream);

/** sum[i] += addend[i] for elements of 4 bytes (single) or 2 (half) on the current GPU. */
cudaError_t kernels_reduce(uint32_t element_bytes, unsigned char *sum, const unsigned char *addend,
                           uint64_t count, cudaStream_t stream);

/** Writes 1 to `differs` if an element of 4 or 2 bytes differs from the expected one, bit by bit;
 * expected ones of all ones are not looked at. */
cudaError_t kernels_compare(uint32_t element_bytes, const unsigned char *found,
                            const unsigned char *expected, uint64_t count, uint32_t *differs,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif
