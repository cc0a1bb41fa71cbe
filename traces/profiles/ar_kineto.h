/** \file ar_kineto.h
 * Traces of the PyTorch profiler (Kineto, Chrome JSON) of one rank become timed traces.
 *
 * **What is read.** Of the events operators with numbers of autograd, steps, collectives, launches
 * and what the GPU did are kept. A kernel belongs to the operator around its launch: to a node of
 * the backward pass, to the operator of the forward pass that made the node (by sequence number),
 * to the optimizer (launched later than the backward pass begins), or to the step's overhead
 * (before it). Rows of the trace are nodes that ran kernels, in forward order; a gradient belongs
 * to the last node with kernels before its arrival.
 *
 * **Time line.** A kernel's time is what it adds to the time line of the GPU: the part of it behind
 * the end of all kernels before it, plus the time the GPU waited for it, less the part of the wait
 * in which a collective ran. Kernels of collectives add nothing. So the sums from the last layer on
 * are the times at which gradients were ready, and all of it is the step without communication.
 *
 * **Steps** are those of ProfilerStep#N or, without marks, end with Optimizer.step. Used are steps
 * with the same nodes as the last complete one in which the GPU waits at most AR_KINETO_IDLE_MAX of
 * the time; times are medians. If there is none, the trace is bound by the processor, and its times
 * say nothing of the GPU: it is refused, or with AR_KINETO_KERNELS all waits are taken as 0.
 *
 * **A rank of a mesh**, with `is_rank`: calls of torch.distributed (`c10d::`) become collectives,
 * such as those of one GPU with a fake process group, which sends nothing. Those of tensors of
 * several dimensions are along tp, all-to-alls along ep, and the GPU waits for them. Buffers of one
 * dimension are parameters and gradients of all replicas, beside the computations; an all-gather is
 * needed by the next computation, and begins one earlier. Messages between stages are left out.
 *
 * **Sizes of gradients** are from recorded shapes; or each bucket stands as one tensor at the layer
 * that completed it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_recorded.h"
#include "ar_trace.h"

/** Waits of the GPU in a step that is still called bound by the GPU, as a part of its time without
 * communication. Of the two recorded runs of ResNet-50 at hand one waits 1 to 2 %, one 80 %. */
#define AR_KINETO_IDLE_MAX 0.1

enum ar_kineto_times { AR_KINETO_RECORDED, AR_KINETO_KERNELS };
/** `recorded`, `kernels`; NULL ends them. */
extern const char *const ar_kineto_times_names[];

struct ar_kineto_request {
    enum ar_kineto_times times;
    uint32_t batch;     /**< images per GPU and step; 0: as recorded, or 1 */
    bool has_precision; /**< else as recorded, or fp32 */
    enum ar_precision precision;
    bool is_rank;
};

enum { AR_KINETO_NOTES_MAX = 16 };

struct ar_kineto_step {
    struct ar_trace trace;
    struct ar_recorded *recorded;           /**< in its place, with is_rank */
    const char *gpu;                        /**< its name, or "a GPU without a name" */
    const char *notes[AR_KINETO_NOTES_MAX]; /**< assumptions, and facts that are not known */
    size_t notes_count;
};

/** The step of a file, plain or of gzip, in the arena. AR_NO_INPUT if it cannot be read,
 * AR_BAD_DATA if it is no such trace, with its line, or has no step that can be used. */
enum ar_status ar_kineto_load(const char *path, const struct ar_kineto_request *request,
                              struct ar_arena *arena, struct ar_kineto_step **step,
                              struct ar_error *err);

/** The same of a terminated text in memory, which changes meanwhile; `path` begins error lines. */
enum ar_status ar_kineto_parse(const char *path, char *text, size_t bytes,
                               const struct ar_kineto_request *request, struct ar_arena *arena,
                               struct ar_kineto_step **step, struct ar_error *err);
