/** \file ar_layout.h
 * How a model is laid out on the GPUs of a mesh, and what that takes: a transformer, or the layers
 * of a trace, of which there are replicas alone.
 *
 * Axes of the mesh, outermost first: `pp` stages of a pipeline, `rep` copies of what replicas
 * share, `dp` replicas, `ep` places for the experts of a mixture, `cp` parts of every sequence,
 * `tp` shards of every layer. `rep` times `dp` times `ep` GPUs see different sequences, and the
 * `cp` GPUs of one sequence different tokens of it; what is not an expert has a replica on each of
 * them, and an expert one on each of `rep` times `dp` times `cp`. A step takes global_batch
 * sequences, micro_batch at a time.
 *
 * **Hybrid sharding.** A strategy of shards (zero1, zero2, zero3) shares them among all replicas,
 * or among those of one of `rep` copies alone, so that what is gathered stays near by: within a
 * copy gradients are reduce-scattered, then each GPU sums its shard over the copies, on a stream of
 * its own beside the next ones (PyTorch, HSDP: torch/distributed/fsdp/_fully_shard; Megatron-LM,
 * --num-distributed-optimizer-instances). It does so whenever gradients are reduce-scattered.
 *
 * **Stages.** The layers of a model are dealt to places, chunk by chunk stage by stage. If they
 * divide, all places have as many. Else, if the layers and two more divide, the embedding and the
 * loss count as a layer each, so that the first and the last place have one less, which may be none
 * (Megatron-LM, --account-for-embedding-in-pipeline-split and -loss-; arXiv:2407.21783, section
 * 3.3.2). Else the first places have one more (DeepSpeed, deepspeed/runtime/utils.py,
 * partition_uniform).
 *
 * **Context parallelism.** A GPU has the tokens of two of 2 cp pieces of the sequence, one from the
 * front and its mirror image, so that all have the same part of a causal attention. Queries stay
 * where they are; keys and values of all tokens are gathered before each attention, forward and
 * backward, and backward their gradients are reduce-scattered (arXiv:2407.21783, section 3.3.2).
 * None of it is hidden, which is an estimate from above where software sends them round a ring
 * beside the attention.
 *
 * **Offload.** The optimizer of a GPU may lie in the memory of its host: master copies, means and
 * variances. Summed gradients go there, the CPUs of the node update the parameters of all its GPUs
 * at once, and new parameters go back (ZeRO-Offload, arXiv:2101.06840). Nothing hides any of it,
 * which is an estimate from above where software copies gradients beside the backward pass, or
 * updates one part while it copies another one. Gradients stay where they are summed.
 */
#pragma once

#include "ar_graph.h"
#include "ar_recorded.h"
#include "ar_schedule.h"
#include "ar_transformer.h"
#include "ar_workload.h"

struct ar_strategy;
struct ar_placed;

/** Place of a gradient among those that are sent with it: of 32 bits, as Aji and Heafield have it
 * (arXiv:1704.05021). */
enum { AR_PLACE_BYTES = 4 };

/** Layers whose parameters zero3 may gather ahead. */
enum { AR_PREFETCH_MAX = 8 };

/** Statistics of batch norm that replicas exchange in fp32 before the optimizer. */
struct ar_statistics {
    uint64_t elements;
    double interval; /**< steps of which one does it; 0: none */
};

/** Tensors that lie in the memory of the host. */
#define AR_OFFLOAD_LIST(X)                                                                         \
    X(AR_OFFLOAD_NONE, "none")                                                                     \
    X(AR_OFFLOAD_OPTIMIZER, "optimizer")

enum ar_offload { AR_OFFLOAD_LIST(AR_LIST_FIRST) };
extern const char *const ar_offload_names[]; /**< NULL ends them */

/** How tokens go to their experts and come back: once to each expert, as activations are kept; or
 * as DeepEP sends them, once to each node, and to experts in fp8 where products are. */
#define AR_DISPATCHER_LIST(X)                                                                      \
    X(AR_DISPATCHER_ALL_TO_ALL, "alltoall")                                                        \
    X(AR_DISPATCHER_DEEPEP, "deepep")

enum ar_dispatcher { AR_DISPATCHER_LIST(AR_LIST_FIRST) };
extern const char *const ar_dispatcher_names[]; /**< NULL ends them */

struct ar_layout {
    const struct ar_transformer *model; /**< NULL: a trace */
    const struct ar_trace *trace;       /**< NULL: a transformer */
    /** A step that another program wrote down; without model and trace; sizes alone count. */
    const struct ar_recorded *recorded;
    const struct ar_placed *placed;     /**< NULL: one of the others; else of them the sizes of
                                             the mesh, the strategy and the precision count */
    const struct ar_workload *workload; /**< of a trace: the buckets of its gradients */
    struct ar_statistics statistics;    /**< of a trace */
    uint32_t sizes[AR_AXES_COUNT];      /**< of the mesh, each at least 1 */
    uint32_t global_batch;              /**< sequences of a step, all GPUs */
    uint32_t micro_batch;               /**< at a time, one replica */
    const struct ar_schedule *schedule;
    uint32_t chunks; /**< V of the schedule */
    struct ar_recompute recompute;
    const struct ar_strategy *strategy; /**< what becomes of replicas */
    bool is_sequence_parallel;
    bool overlaps_tensor; /**< its collectives run beside the products that they belong to, piece by
                               piece: of tp pieces one is not hidden */
    bool overlaps_experts; /**< what experts exchange of one micro-batch is sent while another one
                                is computed, so that the shorter of the two is hidden */
    enum ar_dispatcher dispatcher;
    uint32_t expert_nodes; /**< that the GPUs of a group of `ep` lie on */
    enum ar_attention_kind attention;
    double elementwise;     /**< factor on the bytes of norms and activations */
    bool overlaps;          /**< gradients are summed beside the backward pass, where they can be */
    bool overlaps_gather;   /**< zero1, zero2: parameters, beside the first forward pass */
    bool overlaps_pipeline; /**< messages of a pipeline leave beside computations */
    uint32_t prefetch;      /**< layers that zero3 gathers ahead, up to AR_PREFETCH_MAX; 0: none */
    enum ar_precision precision;
    enum ar_precision gradients; /**< on the wire */
    enum ar_offload offload;
    double host_link_Bps;   /**< with an offload: of a GPU from or to the memory of its host, */
    double host_update_Bps; /**< and of its part of the CPUs in an optimizer */
    double sparse_frac; /**< of all gradients, the largest, that replicas which sum them exchange,
                             each with its place; 0: all */
};

/** Axes of the mesh, as bits, of groups of a recorded step (AR_RECORDED_DP, ...). */
uint32_t ar_recorded_axes(unsigned groups);

/** Replicas, GPUs that see other tokens; and those of them that share a copy of what is sharded. */
uint32_t ar_layout_replicas(const struct ar_layout *layout);
uint32_t ar_layout_shards(const struct ar_layout *layout);

static inline uint32_t ar_layout_gpus(const struct ar_layout *layout)
{
    return ar_layout_replicas(layout) * layout->sizes[AR_AXIS_PP] * layout->sizes[AR_AXIS_TP];
}

/** Bytes that a GPU exchanges with experts in one all-to-all of a micro-batch; 0: no experts.
 *
 * With DeepEP a token of k experts that lie anywhere on n nodes goes to n (1 - (1 - 1/n)^k) of
 * them; on one node n are its GPUs. One of the two exchanges of a pass is in fp8, that to the
 * experts (DeepSeek-AI, arXiv:2412.19437, 3.2.2 and 3.3.1). */
double ar_layout_expert_bytes(const struct ar_layout *layout);

/** Micro-batches of a replica; the pipeline that they go through. */
uint32_t ar_layout_batches(const struct ar_layout *layout);
struct ar_pipeline ar_layout_pipeline(const struct ar_layout *layout);

/** Number of layers at a place of the pipeline; chunk c of stage s has place c * stages + s. Second
 * function: the sum over all places of a stage. */
uint32_t ar_layout_place_layers(const struct ar_layout *layout, uint32_t place);
uint32_t ar_layout_stage_layers(const struct ar_layout *layout, uint32_t stage);
struct ar_transformer_slice ar_layout_slice(const struct ar_layout *layout);

/** Refuses (AR_USAGE) what does not divide: heads, hidden size, feed-forward size and vocabulary by
 * tp, the sequence by cp, experts by ep, the batch by dp, ep and micro-batches; fewer layers than
 * places, and a schedule with chunks without a pipeline. `where` begins the error line. */
enum ar_status ar_layout_check(const char *where, const struct ar_layout *layout,
                               struct ar_error *err);

/** Parameters that a GPU holds of some layers, the embedding and the head, or those of them that
 * are trained; those of experts are not in the sum but in `experts`. */
double ar_layout_parameters(const struct ar_layout *layout, uint32_t layers, bool has_embedding,
                            bool has_head, bool is_trained, double *experts);

/** Layers that a place of the pipeline computes again in the backward pass, in full or in part. */
uint32_t ar_layout_again_layers(const struct ar_layout *layout, uint32_t place);

/** Refuses (AR_USAGE) to compute more layers again than a place has, and modules that the layers of
 * the model do not have. */
enum ar_status ar_layout_check_recompute(const char *where, const struct ar_layout *layout,
                                         struct ar_error *err);

/** Adds to `hash` all that decides the step of a layout of one transformer: those that differ only
 * in options that change nothing there (selective recomputation of fused attention, the overlap of
 * a pipeline of one stage, zero1 or the overlap of gradients of one replica) have the same. */
void ar_layout_hash(const struct ar_layout *layout, uint64_t *hash);

/** Refuses (AR_USAGE) sparse gradients of a strategy that does not sum them. */
enum ar_status ar_layout_check_sparse(const char *where, const struct ar_layout *layout,
                                      struct ar_error *err);

/** Bytes of the fullest GPU: parameters, gradients and optimizer as the strategy shards them, and
 * activations of as many micro-batches as the schedule keeps: what PyTorch counts as allocated.
 * Buffers of collectives and what allocators waste are left out. Not of recorded steps. */
struct ar_layout_memory {
    double states_bytes, activations_bytes;
};
/** Bytes that go to or from the host, and that its CPUs read and write, for each parameter of a
 * part of an optimizer: gradients as they are summed, and 30 bytes: the gradient in fp32, master
 * copy, mean and variance read and written, and the parameter written (DeepSpeed, csrc/adam). */
enum { AR_OFFLOAD_UPDATE_BYTES = 30 };
double ar_layout_offload_bytes(const struct ar_layout *layout);
struct ar_layout_memory ar_layout_memory(const struct ar_layout *layout);

/** Flops of a step that the model needs, and with what is recomputed in full, of all GPUs; and
 * those of them, half of attention, that fused kernels do not compute behind a causal mask. */
double ar_layout_model_flop(const struct ar_layout *layout);
double ar_layout_hardware_flop(const struct ar_layout *layout);
double ar_layout_masked_flop(const struct ar_layout *layout);
