/** \file nccl_ranks.h
 * NCCL, found when the program runs: this is built with its header alone and starts without the
 * library. A process drives all ranks, one per GPU, or with MPI one rank.
 *
 * An operation is one call of NCCL, or, where NCCL has none, one group of ncclSend and ncclRecv.
 * All run in place but the all-to-all. Since NCCL wants equal parts, the elements of a
 * reduce-scatter or an all-gather are a multiple of the ranks.
 *
 * The 2D torus is made of library calls as Sony did: ncclReduceScatter along the row, ncclAllReduce
 * down the column on the shard, ncclAllGather along the row. NCCL wants equal shards, so a buffer
 * is padded to a multiple of X elements.
 */
#pragma once

#include <nccl.h>

#include "runner.h"

/** The functions of NCCL that are used: name in this program, name in the library. */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(get_version, ncclGetVersion)                                                                 \
    X(get_unique_id, ncclGetUniqueId)                                                              \
    X(get_error_string, ncclGetErrorString)                                                        \
    X(comm_init_all, ncclCommInitAll)                                                              \
    X(comm_init_rank, ncclCommInitRank)                                                            \
    X(comm_split, ncclCommSplit)                                                                   \
    X(comm_destroy, ncclCommDestroy)                                                               \
    X(comm_abort, ncclCommAbort)                                                                   \
    X(comm_get_async_error, ncclCommGetAsyncError)                                                 \
    X(group_start, ncclGroupStart)                                                                 \
    X(group_end, ncclGroupEnd)                                                                     \
    X(all_reduce, ncclAllReduce)                                                                   \
    X(reduce_scatter, ncclReduceScatter)                                                           \
    X(all_gather, ncclAllGather)                                                                   \
    X(broadcast, ncclBroadcast)                                                                    \
    X(reduce, ncclReduce)                                                                          \
    X(send, ncclSend)                                                                              \
    X(recv, ncclRecv)

#define NCCL_MEMBER(member, function) __typeof__(&function) member;
struct nccl_library {
    NCCL_FUNCTIONS(NCCL_MEMBER)
};

/** Loads libnccl.so.2; it stays loaded. AR_UNAVAILABLE if it is not there, or lacks a function
 * (ncclCommSplit came with 2.18). */
enum ar_status nccl_library_load(struct nccl_library *library, struct ar_error *err);

/** Which ranks are here and on what GPU. */
struct nccl_place {
    uint32_t first; /**< rank */
    uint32_t count; /**< ranks of this process, from `first` on */
    int device;     /**< GPU of the first one; the others have the next ones */
    bool is_alone;  /**< all ranks are in this process; else `id` brings them together */
    ncclUniqueId id;
};

/** Communicators of this process's ranks, made once for all measurements that want the same. */
struct nccl_communicators {
    uint32_t ranks;
    uint32_t x; /**< rows of so many ranks; 0: no torus */
    uint32_t count;
    const struct nccl_library *library;
    ncclComm_t *all; /**< [rank of this process], as row and column; NULL where it was aborted */
    ncclComm_t *row, *column;
    bool owns_all; /**< else those of an earlier one */
    struct nccl_communicators *next;
};

/** Makes buffers and streams, the arena's, and communicators if `made` has none yet, which are
 * those of `keep`. A run is the collective, so many times, behind a sum of one element that all
 * ranks wait for. Its time is that of the slowest rank of this process, between events around the
 * collectives. After an error of NCCL, or `timeout_s`, the communicators are aborted and the run
 * returns AR_INTERNAL. */
enum ar_status nccl_ranks_create(const struct nccl_library *library,
                                 const struct measurement *measurement,
                                 const struct nccl_place *place, double timeout_s,
                                 struct ar_arena *keep, struct nccl_communicators **made,
                                 struct ar_arena *arena, struct crew **crew, struct ar_error *err);
