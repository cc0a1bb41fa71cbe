/** \file nccl_ranks.h
 * The ranks of an NCCL run that this process drives: all of them, one per GPU, or with MPI one.
 *
 * An operation is one call of NCCL, or what it has none for one group of ncclSend and ncclRecv: all
 * of them in place but the all-to-all. For equal parts, the elements of a reduce-scatter or an
 * all-gather are a multiple of the ranks.
 *
 * The 2D torus is made of library calls as Sony did: ncclReduceScatter along the row, ncclAllReduce
 * down the column on the shard, ncclAllGather along the row. NCCL wants equal shards, so a buffer
 * is padded to a multiple of X elements.
 */
#ifndef AR_VALIDATE_NCCL_RANKS_H
#define AR_VALIDATE_NCCL_RANKS_H

#include "crew.h"
#include "nccl_library.h"

/** Which ranks are here and on what GPU. */
struct nccl_place {
    uint32_t first; /**< rank */
    uint32_t count; /**< ranks of this process, from `first` on */
    int device;     /**< GPU of the first one; the others have the next ones */
    bool is_alone;  /**< all ranks are in this process; else `id` brings them together */
    ncclUniqueId id;
};

/** Makes communicators, buffers and streams, all the arena's. A run is the collective behind a sum
 * of one element that all ranks wait for. Its time is that of the slowest rank of this process,
 * between events around the collective; AR_INTERNAL if it takes longer than `timeout_s`. */
enum ar_status nccl_ranks_create(const struct nccl_library *library,
                                 const struct measurement *measurement,
                                 const struct nccl_place *place, double timeout_s,
                                 struct ar_arena *arena, struct crew **crew, struct ar_error *err);

#endif
