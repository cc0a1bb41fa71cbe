/** \file cuda_program.h
 * The moves of a measurement as what the lanes of kernels_execute() do, a rank on a channel each.
 *
 * A rank reads what others send to it from their memory. Within a step everything is read as it was
 * before: what a rank sends is copied to its window first if the step also writes it, or if GPUs
 * cannot read the memory of each other. Who waits for whom follows from the addresses: an operation
 * waits for those before it that wrote what it reads, or touched what it writes.
 */
#pragma once

#include "cuda_kernels.h"
#include "measurement.h"

/** The memory of a rank, at addresses of this process. */
struct rank_memory {
    unsigned char *buffer; /**< all elements */
    unsigned char *window; /**< as many, which others read */
    uint32_t *flags;       /**< [channel][rank][KERNEL_BLOCKS_MAX] */
};

/** The operations of a lane, which are the arena's. */
struct program {
    struct kernel_op *ops;
    uint32_t ops_count;
    uint64_t listeners; /**< a bit for each rank that waits for this one */
};

/** Messages of a probe of latency, there and back in turn. */
enum { PROGRAM_MESSAGES = 200 };

/** The programs of all lanes, [rank * channels + channel], of a collective or of a probe of links;
 * `ranks` has the memory of each rank. All processes of a run get the same but for addresses.
 * `packs_all`: all messages go through windows. Lanes of several blocks wait for their own, too. */
struct program *programs_create(const struct measurement *measurement,
                                const struct rank_memory *ranks, bool packs_all, uint32_t blocks,
                                struct ar_arena *arena);
