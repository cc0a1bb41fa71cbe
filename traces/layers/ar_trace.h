/** \file ar_trace.h
 * A trace: the layers of one training step of one GPU, in forward order, with their times and the
 * gradient tensors that data parallelism has to sum. Any number of traces are made from a trace
 * file that was read once.
 *
 * The file is a CSV in one of two forms, told apart by the columns of its header:
 *
 * - **timed**: `layer, forward_s, backward_s, gradient_elements`. Measured times for one per-GPU
 *   batch and one precision. Users bring these. Lines before the header state `# batch = 32` and
 *   `# precision = fp16`, and may state `# optimizer_s = 0.0009`, `# overhead_s = 0` (0 if absent)
 *   and `# source = ...`; `# work = resnet50-v1.5` and `# cost_table = v100-sxm2` name what
 * computes these layers again (ar_layer_comparison.h).
 * - **work**: `layer, kind, macs, input_elements, output_elements, width, channels_in,`
 *   `channels_out, kernel, stride, gradient_elements`. The arithmetic and the memory traffic of
 *   each layer for one sample. Times for any batch and precision come from a device cost table
 *   (ar_device_cost.h, which lists the kinds). `width` is that of the square input; the shape is 0
 *   where a kind has none. A line before the header may state `# source = ...`.
 *
 * Columns may stand in any order. `gradient_elements` lists the parameter tensors of a layer,
 * joined by `+` (`2048000+1000`); `0` or an empty field means a layer without parameters. Layer
 * names are unique, 1 to 63 bytes. Limits: 1e9 s in all, 2^50 gradient elements in all, batch 1e6.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_device_cost.h"

/** Limits of a trace; sums stay far from overflow. */
#define AR_TRACE_SECONDS_MAX  1e9
#define AR_TRACE_ELEMENTS_MAX (UINT64_C(1) << 50)
enum { AR_TRACE_BATCH_MAX = 1000000 };

struct ar_layer {
    char name[64];
    double forward_s;       /**< time of the forward pass of this layer, per step */
    double backward_s;      /**< time of its backward pass, data and weight gradients together */
    uint32_t tensors_first; /**< index of its first tensor in ar_trace.tensor_elements */
    uint32_t tensors_count; /**< 0 for a layer without parameters */
};

struct ar_trace {
    char name[64];
    const char *source; /**< where the times come from, for reports */
    enum ar_precision precision;
    uint32_t batch;         /**< samples per GPU and step */
    double optimizer_s;     /**< parameter update at the end of the step */
    double step_overhead_s; /**< of a step, outside layers and optimizer, before the forward pass */
    uint32_t layers_count;
    struct ar_layer *layers; /**< in forward order */
    uint32_t tensors_count;
    uint64_t *tensor_elements; /**< in forward order, layer after layer */
    bool is_timed;             /**< no cost table: the three below are 0 */
    double memory_Bps;         /**< memory rate of the device, by the cost table */
    double kernel_floor_s;     /**< least time of a kernel, as it was used */
    /** Memory of a GPU, about and at least: outputs of conv, fc and
     * relu, weights and their gradients. 0 for a timed trace, which did run. */
    double memory_bytes;
    const char *work;       /**< in a timed trace: name of the table of its layers' work, */
    const char *cost_table; /**< and of the cost table of its GPU; NULL: unknown */
};

/** Multiplies the gradient elements of every tensor, rounded to whole elements, at least 1; times
 * stay as they are: a model that is larger by this factor for the same compute. `scale` is above 0.
 * More than 2^50 elements in all are AR_USAGE and leave the trace as it was. */
enum ar_status ar_trace_scale_gradients(struct ar_trace *trace, double scale, struct ar_error *err);

/** Sums over the layers; compute_s is overhead + forward + backward + optimizer. */
double ar_trace_forward_s(const struct ar_trace *trace);
double ar_trace_backward_s(const struct ar_trace *trace);
double ar_trace_compute_s(const struct ar_trace *trace);
uint64_t ar_trace_gradient_elements(const struct ar_trace *trace);
uint64_t ar_trace_layer_elements(const struct ar_trace *trace, uint32_t layer);

/** Multiplies all times by `factor` > 0. */
void ar_trace_scale(struct ar_trace *trace, double factor);

struct ar_trace_file {
    const char *path; /**< for error lines */
    /** The contents of the file. For a work table the batch, the precision and the times
     * are 0. `trace.is_timed` tells the form. */
    struct ar_trace trace;
    struct ar_layer_work *work; /**< [layer]: work for one sample; NULL in a timed file */
};

/** Reads a trace file into the arena. A path that cannot be read is AR_NO_INPUT, contents that are
 * wrong AR_BAD_DATA, with file, line and column. */
enum ar_status ar_trace_file_load(const char *path, struct ar_arena *arena,
                                  struct ar_trace_file **file, struct ar_error *err);

/** The batch and precision for a work file; a timed one has its own. */
struct ar_trace_request {
    uint32_t batch; /**< samples per GPU */
    enum ar_precision precision;
    /** Least time of a kernel instead of the cost table's, if `has_kernel_floor`. */
    bool has_kernel_floor;
    double kernel_floor_s;
};

/** Makes the trace of a batch and a precision in the arena; the file stays as long as it is used.
 * `cost` is needed by work files only; NULL for a timed one. */
enum ar_status ar_trace_create(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                               const struct ar_trace_request *request, struct ar_arena *arena,
                               struct ar_trace **trace, struct ar_error *err);

/** Writes a trace as a timed file, which ar_trace_file_load() reads back; its directives follow
 * comments the caller may have written. Times have nine significant digits. Write errors are left
 * for ferror(). */
void ar_trace_write(FILE *file, const struct ar_trace *trace);
