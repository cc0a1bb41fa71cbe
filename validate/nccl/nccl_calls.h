/** \file nccl_calls.h
 * The calls of NCCL, or groups of them, that make an operation, on the ranks of this process.
 */
#ifndef AR_VALIDATE_NCCL_CALLS_H
#define AR_VALIDATE_NCCL_CALLS_H

#include "crew.h"
#include "nccl_library.h"

#include <cuda_runtime_api.h>

struct nccl_rank {
    uint32_t rank;
    int device;
    ncclComm_t all;
    ncclComm_t row;    /* NULL unless the torus runs */
    ncclComm_t column; /* NULL unless the torus runs */
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    unsigned char *buffer; /* of X shards; the crew's */
    unsigned char *result; /* of an all-to-all */
    unsigned char *token;  /* one element, of the barrier */
};

struct nccl_ranks {
    struct crew crew;
    const struct nccl_library *library;
    const struct measurement *measurement;
    ncclDataType_t type;
    uint64_t shard; /* elements */
    const struct nccl_call_row *library_call;
    struct nccl_rank *ranks;
    double timeout_s;
};

/** What a rank contributes to a group of calls. */
typedef ncclResult_t nccl_call(const struct nccl_ranks *ranks, struct nccl_rank *rank);

/** An operation as a group of calls. */
struct nccl_call_row {
    const struct ar_operation *operation;
    nccl_call *function;
    const char *name; /**< of NCCL's functions */
    bool has_result;  /**< beside the buffer; else in place */
};

/** The calls of an operation. */
const struct nccl_call_row *nccl_call_find(const struct ar_operation *operation);

#endif
