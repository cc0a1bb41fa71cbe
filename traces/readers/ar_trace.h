/** \file ar_trace.h
 * A trace: the layers of one training step of one GPU, in forward order, with their times and the
 * gradient tensors that data parallelism has to sum.
 *
 * ar_trace_create() (ar_trace_file.h) makes one from a file that has been read.
 */
#ifndef AR_TRACE_H
#define AR_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_error.h"
#include "ar_units.h"

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
    double step_overhead_s; /**< per-step time outside layers and optimizer (framework), before the
                                 forward pass */
    uint32_t layers_count;
    struct ar_layer *layers; /**< in forward order */
    uint32_t tensors_count;
    uint64_t *tensor_elements; /**< in forward order, layer after layer */
    bool is_timed;             /**< no cost table: the three below are 0 */
    double memory_Bps;         /**< of the device, by the cost table */
    double kernel_floor_s;     /**< least time of a kernel, as it was used */
    /** Of a GPU, about and at least: what the backward pass needs of the outputs of conv, fc and
     * relu, weights and their gradients. Nobody can say it of a timed trace, which did run. */
    double memory_bytes;
    const char *work;       /**< of a timed trace: the table of its layers' work, */
    const char *cost_table; /**< and of its GPU; NULL: not said */
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

/** Multiplies all times by `factor` > 0. */
void ar_trace_scale(struct ar_trace *trace, double factor);

#endif
