/** \file nccl_library.h
 * NCCL, found when the program runs: it is built with the header alone and starts without the
 * library.
 */
#ifndef AR_VALIDATE_NCCL_LIBRARY_H
#define AR_VALIDATE_NCCL_LIBRARY_H

#include <nccl.h>

#include "ar_error.h"

/** The functions of NCCL that are used: name in this program, name in the library. */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(get_version, ncclGetVersion)                                                                 \
    X(get_unique_id, ncclGetUniqueId)                                                              \
    X(get_error_string, ncclGetErrorString)                                                        \
    X(comm_init_all, ncclCommInitAll)                                                              \
    X(comm_init_rank, ncclCommInitRank)                                                            \
    X(comm_split, ncclCommSplit)                                                                   \
    X(comm_destroy, ncclCommDestroy)                                                               \
    X(group_start, ncclGroupStart)                                                                 \
    X(group_end, ncclGroupEnd)                                                                     \
    X(all_reduce, ncclAllReduce)                                                                   \
    X(reduce_scatter, ncclReduceScatter)                                                           \
    X(all_gather, ncclAllGather)                                                                   \
    X(broadcast, ncclBroadcast)                                                                    \
    X(reduce, ncclReduce)                                                                          \
    X(send, ncclSend)                                                                              \
    X(recv, ncclRecv)

struct nccl_library {
#define X(member, function) __typeof__(&function) member;
    NCCL_FUNCTIONS(X)
#undef X
};

/** Loads libnccl.so.2; it stays loaded. AR_UNAVAILABLE if it is not there, or lacks a function
 * (ncclCommSplit came with 2.18). */
enum ar_status nccl_library_load(struct nccl_library *library, struct ar_error *err);

/** AR_OK, or AR_INTERNAL with what NCCL says about `call`. */
enum ar_status nccl_check(const struct nccl_library *library, ncclResult_t code, const char *call,
                          struct ar_error *err);

#endif
