/** \file ar_workload.h
 * A workload: the buckets of gradients that a framework sends in one step, and when.
 *
 * The step of a GPU runs on one compute stream: overhead, forward pass, backward pass in reverse
 * layer order, optimizer. The gradients of a layer exist when its backward pass ends. They are
 * fused, in that order, into buckets; a bucket is ready when its last gradient is.
 *
 * - `ddp`: a bucket takes tensors until it holds 25 MiB or more, the first until 1 MiB (PyTorch
 *   DDP, bucket_cap_mb);
 * - `horovod`: as long as they fit into 64 MiB (Horovod, fusion threshold);
 * - SIZE, such as `16MiB`: as long as they fit into it;
 * - `one`: all;
 * - `tensor`: one each, no fusion.
 *
 * A tensor larger than the threshold is a bucket of its own; tensors are never split. Horovod's
 * cycle time and its negotiation are not modelled here.
 */
#ifndef AR_WORKLOAD_H
#define AR_WORKLOAD_H

#include "ar_trace.h"

struct ar_fusion {
    char text[32];           /**< as the user wrote it */
    uint64_t first_bytes;    /**< threshold of the first bucket */
    uint64_t bytes;          /**< threshold of the others */
    int closes_when_reached; /**< 1: a bucket may pass its threshold by its last tensor (DDP); 0: it
                                  may not (Horovod) */
};

/** Parses a rule of the table above. `where` begins the error line. */
enum ar_status ar_fusion_parse(const char *where, const char *text, struct ar_fusion *fusion,
                               struct ar_error *err);

struct ar_bucket {
    double ready_s; /**< since the step began */
    uint64_t elements;
    uint32_t tensors_count;
};

struct ar_workload {
    double forward_end_s;
    double backward_end_s; /**< all gradients exist */
    double optimizer_s;
    uint32_t buckets_count;    /**< at least 1 */
    struct ar_bucket *buckets; /**< in the order they become ready */
};

/** Makes the workload of a trace; `element_bytes` is the size of a gradient on the wire. A trace
 * without gradients has nothing to send and is refused (AR_BAD_DATA). Owned by the caller, freed
 * with ar_workload_destroy(). */
enum ar_status ar_workload_create(const struct ar_trace *trace, const struct ar_fusion *fusion,
                                  uint32_t element_bytes, struct ar_workload **workload,
                                  struct ar_error *err);

/** Frees a workload; NULL is allowed. */
void ar_workload_destroy(struct ar_workload *workload);

#endif
