/** \file ar_kineto.h
 * Traces of the PyTorch profiler (Kineto, Chrome JSON) of one rank become timed traces.
 *
 * **What is read.** The text is streamed; of its events operators with numbers of autograd, steps,
 * collectives, launches and what the GPU did are kept. A kernel belongs to the operator around its
 * launch: to a node of the backward pass, to the operator of the forward pass that made the node
 * (by sequence number), to the optimizer (launched later than the backward pass begins), or to the
 * step's overhead (before it). Rows of the trace are nodes that ran kernels, in forward order; a
 * gradient belongs to the last node with kernels before its arrival.
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
 * **Sizes of gradients** are from recorded shapes; or those of another trace's tensors, if their
 * number and the sums of the buckets agree; or each bucket stands as one tensor at the layer that
 * completed it.
 */
#ifndef AR_KINETO_H
#define AR_KINETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_record.h"
#include "ar_trace.h"

/** Waits of the GPU in a step that is still called bound by the GPU, as a part of its time without
 * communication. Of the two recorded runs of ResNet-50 at hand one waits 1 to 2 %, the other 80 %.
 */
#define AR_KINETO_IDLE_MAX 0.1

struct ar_kineto;

/** Reads a file, plain or of gzip, into the arena. AR_NO_INPUT if it cannot be read, AR_BAD_DATA
 * with line and byte if it is no such trace. */
enum ar_status ar_kineto_load(const char *path, struct ar_arena *arena, struct ar_kineto **kineto,
                              struct ar_error *err);

/** Reads a text in memory in the same way; `path` begins error lines. */
enum ar_status ar_kineto_parse(const char *path, const void *text, size_t bytes,
                               struct ar_arena *arena, struct ar_kineto **kineto,
                               struct ar_error *err);

enum ar_kineto_times { AR_KINETO_RECORDED, AR_KINETO_KERNELS };
/** `recorded`, `kernels`; NULL ends them. */
extern const char *const ar_kineto_times_names[];

struct ar_kineto_request {
    enum ar_kineto_times times;
    uint32_t batch;     /**< images per GPU and step; 0: as recorded, or 1 */
    bool has_precision; /**< else as recorded, or fp32 */
    enum ar_precision precision;
    const char *cost_table; /**< name of the GPU's cost table for the trace; NULL: none */
    const struct ar_trace *parameters; /**< whose tensors, in forward order, are the parameters;
                                          NULL if there is none */
};

/** A collective of the step, as recorded. */
#define AR_KINETO_COLLECTIVE_LIST(X)                                                               \
    X(count, order, "place in the step", .heading = "#")                                           \
    X(word, operation, "as it was recorded", .heading = "operation")                               \
    X(word, phase, "of the step: forward, backward or optimizer", .heading = "phase")              \
    X(count, gradients, "gradients that arrived since the collective before it",                   \
      .heading = "gradients")                                                                      \
    X(count, elements, "of the larger of input and output", .heading = "elements")                 \
    X(word, datatype, "as it was recorded", .heading = "type")                                     \
    X(count, payload_bytes, "elements times the size of the type", .heading = "payload\n(B)")      \
    X(count, group_size, "ranks that take part", .heading = "ranks")                               \
    X(text, group, "their numbers", .heading = "group")                                            \
    X(number, ready_s,                                                                             \
      "when the last layer before it was done, from the begin of the backward "                    \
      "pass on",                                                                                   \
      .heading = "ready\n(ms)", .factor = 1e3, .decimals = 3)                                      \
    X(number, recorded_s,                                                                          \
      "least time of its kernels over the steps; of one rank: the wait for "                       \
      "others is in it",                                                                           \
      .heading = "recorded\n(ms)", .factor = 1e3, .decimals = 3)

struct ar_kineto_collective {
#define X(kind, name, ...) ar_cell_##kind name;
    AR_KINETO_COLLECTIVE_LIST(X)
#undef X
};
extern const struct ar_columns ar_kineto_collective_columns;

enum { AR_KINETO_NOTES_MAX = 16 };

struct ar_kineto_step {
    struct ar_trace trace;
    const char *gpu; /**< its name, or "a GPU without a name" */
    struct ar_kineto_collective *collectives;
    size_t collectives_count;
    const char *notes[AR_KINETO_NOTES_MAX]; /**< assumptions, and facts that are not known */
    size_t notes_count;
};

/** The step of a trace that was read, in the arena. AR_BAD_DATA if there is none that can be used.
 */
enum ar_status ar_kineto_step_create(const struct ar_kineto *kineto,
                                     const struct ar_kineto_request *request,
                                     struct ar_arena *arena, struct ar_kineto_step **step,
                                     struct ar_error *err);

#endif
