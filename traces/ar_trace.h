/** \file ar_trace.h
 * A trace: the layers of one training step of one GPU, in forward order, with their times and the
 * gradient tensors that data parallelism has to sum.
 *
 * A trace comes from a CSV file in one of two forms, told apart by the columns of its header:
 *
 * - **timed**: `layer, forward_s, backward_s, gradient_elements`. Measured times for one per-GPU
 *   batch and one precision. Users bring these. Lines before the header state `# batch = 32` and
 *   `# precision = fp16`, and may state `# optimizer_s = 0.0009`, `# overhead_s = 0` (0 if absent)
 *   and `# source = ...`.
 * - **work**: `layer, kind, macs, input_elements, output_elements, width, channels_in,`
 *   `channels_out, kernel, stride, gradient_elements`. The arithmetic and the memory traffic of
 *   each layer for one image. Times for any batch and precision come from a device cost table
 *   (ar_device_cost.h, which lists the kinds). `width` is that of the square input; the shape is 0
 *   where a kind has none. A line before the header may state `# source = ...`.
 *
 * Columns may stand in any order. `gradient_elements` lists the parameter tensors of a layer,
 * joined by `+` (`2048000+1000`); `0` or an empty field means a layer without parameters. Layer
 * names are unique, 1 to 63 bytes. Limits: 1e9 s in all, 2^50 gradient elements in all, batch 1e6.
 *
 * Both are read by libcsv; every error names file, line and column.
 */
#ifndef AR_TRACE_H
#define AR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

enum ar_precision { AR_FP16, AR_FP32 };

/** Bytes of one gradient element on the wire: 2 or 4. */
uint32_t ar_precision_bytes(enum ar_precision precision);

/** `fp16` or `fp32`. */
const char *ar_precision_name(enum ar_precision precision);

/** Parses `fp16` or `fp32`. `where` begins the error line. */
enum ar_status ar_precision_parse(const char *where, const char *text, enum ar_precision *precision,
                                  struct ar_error *err);

struct ar_layer {
    char name[64];
    double forward_s;       /**< time of the forward pass of this layer, per step */
    double backward_s;      /**< time of its backward pass, data and weight gradients together */
    uint32_t tensors_first; /**< index of its first tensor in ar_trace.tensor_elements */
    uint32_t tensors_count; /**< 0 for a layer without parameters */
};

struct ar_trace {
    char name[64];
    char source[256]; /**< where the times come from, for reports; one line */
    enum ar_precision precision;
    uint32_t batch;         /**< images per GPU and step */
    double optimizer_s;     /**< parameter update at the end of the step */
    double step_overhead_s; /**< per-step time outside layers and optimizer (framework), before the
                                 forward pass */
    uint32_t layers_count;
    struct ar_layer *layers; /**< in forward order */
    uint32_t tensors_count;
    uint64_t *tensor_elements; /**< in forward order, layer after layer */
    bool is_timed;             /**< no cost table: the two below are 0 */
    double memory_Bps;         /**< of the device, by the cost table */
    double kernel_floor_s;     /**< least time of a kernel, as it was used */
};

/** What the caller asks of a trace; zero means "as the file says", which a work trace refuses. */
struct ar_trace_request {
    const char *path;      /**< the trace file */
    const char *cost_path; /**< device cost table; needed by work traces only, may be NULL */
    uint32_t batch;        /**< images per GPU; 0: the file's */
    enum ar_precision precision;
    int precision_is_given; /**< 0: the file's own precision (timed traces) */
    /** Least time of a kernel instead of the cost table's, if `has_kernel_floor`; a timed trace has
     * no use for it. */
    double kernel_floor_s;
    bool has_kernel_floor;
};

/** Reads a trace. A timed trace refuses a batch or precision other than its own; a work trace
 * refuses to be read without them or without a cost table (AR_USAGE). A path that cannot be read is
 * AR_NO_INPUT, contents that are wrong AR_BAD_DATA. The result is owned by the caller and freed
 * with ar_trace_destroy(). */
enum ar_status ar_trace_load(const struct ar_trace_request *request, struct ar_trace **trace,
                             struct ar_error *err);

/** Multiplies the gradient elements of every tensor, rounded to whole elements, at least 1; times
 * stay as they are: a model that is larger by this factor for the same compute. `scale` is above 0.
 * More than 2^50 elements in all are AR_USAGE and leave the trace as it was. */
enum ar_status ar_trace_scale_gradients(struct ar_trace *trace, double scale, struct ar_error *err);

/** Frees a trace; NULL is allowed. */
void ar_trace_destroy(struct ar_trace *trace);

/** Sums over the layers; compute_s is overhead + forward + backward + optimizer. */
double ar_trace_forward_s(const struct ar_trace *trace);
double ar_trace_backward_s(const struct ar_trace *trace);
double ar_trace_compute_s(const struct ar_trace *trace);
uint64_t ar_trace_gradient_elements(const struct ar_trace *trace);

/** Multiplies all times by `factor` > 0. */
void ar_trace_scale(struct ar_trace *trace, double factor);

#endif
