/** \file msccl.h
 * A collective of any algorithm as an XML file of MSCCL (microsoft/msccl, RCCL): what each thread
 * block of each GPU sends, receives, sums and copies.
 *
 * A buffer has as many chunks as all messages are whole numbers of, for each channel; chunks of
 * parts lie in the order of ranks, as NCCL has them:
 *
 * - Of a walk whose messages are one chunk a thread block of each GPU takes from one peer and sends
 *   to the other, what it takes in a step and sends in the next in one operation (`rrcs`, `rcs`,
 *   `rrs` if nobody reads the sum again). Each such walk has an MSCCL channel of its own.
 * - All else shares one: there is a thread block for each peer that a GPU sends to, and one for
 *   each that it takes from. Beyond 32 of either there are more channels, by how far apart ranks
 *   are.
 *
 * An operation is of one chunk. It waits (`depid`, `deps`) for those of other thread blocks that
 * have written what it reads or writes, or read what it writes. A connection needs room for two
 * chunks, so that GPUs that swap chunks, or pass them round, do not wait for each other for ever.
 *
 * All-reduce, all-gather, reduce-scatter and broadcast work in place; reduce and all-to-all copy to
 * scratch and back; others are `custom`, in one buffer of which each rank has its part.
 */
#ifndef AR_MSCCL_H
#define AR_MSCCL_H

#include <stdio.h>

#include "ar_collective.h"

/** What MSCCL takes a file for. */
struct msccl_use {
    const char *call; /**< allreduce, ..., custom */
    bool is_in_place; /**< of calls in place alone; else of others alone */
    uint32_t channels;
};

/** Writes the file; `*use` becomes what it is of. AR_USAGE where switches sum, for several groups,
 * and beyond the limits of MSCCL's parser: 32 channels, 216 thread blocks of a GPU, 256 steps of
 * each, 32,767 chunks of a buffer. Write errors are left for ferror(). */
enum ar_status msccl_write(FILE *file, const struct ar_collective *collective, const char *made_by,
                           struct msccl_use *use, struct ar_error *err);

#endif
