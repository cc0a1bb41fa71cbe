/** \file ar_device_cost.h
 * What the layers of a network cost on one device, for any batch and precision.
 *
 * A layer is one or more kernels. With B images, `bytes` an element of the precision (2 or 4):
 *
 * **Memory-bound kernels** (bn, relu, add, pooling, loss) take
 *
 *     max(kernel_floor_s, passes * B * elements * bytes / memory_Bps)
 *
 * where `passes` counts how often the tensor is read or written. The table says how often for bn,
 * relu and add, since that depends on what the framework fuses: a fused relu has 0 passes, a fused
 * add is part of the bn kernel and only adds its own traffic, without a floor. Pooling reads its
 * input and writes its output; max pooling reads both and the gradient again on the way back. Loss
 * has 2 passes each way.
 *
 * **Convolutions and fc** have three passes: forward, gradient of the data, gradient of the
 * weights. The first such layer of a network has no gradient of the data. One more image costs
 *
 *     marginal_s = max(2 * macs / winograd_ratio / rate, (inputs + outputs) * bytes / memory_Bps)
 *
 * with the rate of the pass and precision; winograd_ratio counts for 3x3 kernels of stride 1 only.
 *
 * - A shape that is in the table of measured convolutions takes its measured time. Between measured
 *   batches the time is linear in the batch; above, each image adds
 *   min(marginal_s, measured time per image); below, each image less saves marginal_s, but the time
 *   per image never falls below that of the smallest measured batch.
 * - Any other shape takes fixed_s + B * marginal_s.
 * - No kernel takes less than kernel_floor_s.
 *
 * Validity: the fixed times and rates of `v100-sxm2` are fitted to convolutions of ResNet-50 at
 * batch 8 and 16; batches above are extrapolated. Kernels with 3 input channels, depthwise and
 * grouped convolutions have no measured neighbour and are taken at the common rate, which is too
 * fast for them.
 *
 * **Optimizer**: max(optimizer_kernels * kernel_floor_s,
 * parameters * optimizer_bytes_per_parameter / memory_Bps).
 *
 * The file is a CSV with the columns `quantity,precision,value,unit,source`, one row for each
 * quantity of AR_COST_LIST and precision (`fp16`, `fp32`, or `any` for both), and the directives
 * `source` and, optionally, `convolutions`: a file beside the table, a CSV of
 * measured convolutions with the columns `precision,batch,width,channels_in,channels_out,kernel,
 * stride,forward_s,backward_data_s,backward_weights_s` and, optionally, the directive `source`.
 */
#ifndef AR_DEVICE_COST_H
#define AR_DEVICE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_precision.h"

enum ar_conv_pass {
    AR_CONV_FORWARD,
    AR_CONV_BACKWARD_DATA,
    AR_CONV_BACKWARD_WEIGHTS,
    AR_CONV_PASSES_COUNT
};

/** One measured convolution. */
struct ar_conv_point {
    enum ar_precision precision;
    uint32_t batch;
    uint32_t width; /**< of the square input */
    uint32_t channels_in;
    uint32_t channels_out;
    uint32_t kernel;
    uint32_t stride;
    double time_s[AR_CONV_PASSES_COUNT];
};

/** All zero: none. */
struct ar_conv_points {
    struct ar_conv_point *list; /**< ordered by precision, shape, batch */
    size_t count;
};

/** Reads a file into the arena. */
enum ar_status ar_conv_points_load(const char *path, struct ar_arena *arena,
                                   struct ar_conv_points *points, struct ar_error *err);

/** Points of the precision and shape of `shape` in ascending batch; returns how many, 0 if it was
 * not measured. */
size_t ar_conv_points_find(const struct ar_conv_points *points, const struct ar_conv_point *shape,
                           const struct ar_conv_point **found);

/** Quantities of a cost table: symbol, name, unit, least and most allowed value. */
#define AR_COST_LIST(X)                                                                            \
    X(AR_COST_MEMORY, "memory_Bps", "B/s", 1e6, 1e15)                                              \
    X(AR_COST_KERNEL_FLOOR, "kernel_floor_s", "s", 0, 0.01)                                        \
    X(AR_COST_STEP_OVERHEAD, "step_overhead_s", "s", 0, 100)                                       \
    X(AR_COST_FORWARD_FIXED, "conv_forward_fixed_s", "s", 0, 0.1)                                  \
    X(AR_COST_FORWARD_RATE, "conv_forward_rate", "flop/s", 1e6, 1e18)                              \
    X(AR_COST_DATA_FIXED, "conv_backward_data_fixed_s", "s", 0, 0.1)                               \
    X(AR_COST_DATA_RATE, "conv_backward_data_rate", "flop/s", 1e6, 1e18)                           \
    X(AR_COST_WEIGHTS_FIXED, "conv_backward_weights_fixed_s", "s", 0, 0.1)                         \
    X(AR_COST_WEIGHTS_RATE, "conv_backward_weights_rate", "flop/s", 1e6, 1e18)                     \
    X(AR_COST_WINOGRAD, "winograd_ratio", "1", 1, 4)                                               \
    X(AR_COST_BN_FORWARD, "bn_forward_passes", "1", 0, 100)                                        \
    X(AR_COST_BN_BACKWARD, "bn_backward_passes", "1", 0, 100)                                      \
    X(AR_COST_RELU_FORWARD, "relu_forward_passes", "1", 0, 100)                                    \
    X(AR_COST_RELU_BACKWARD, "relu_backward_passes", "1", 0, 100)                                  \
    X(AR_COST_ADD_FORWARD, "add_forward_passes", "1", 0, 100)                                      \
    X(AR_COST_ADD_BACKWARD, "add_backward_passes", "1", 0, 100)                                    \
    X(AR_COST_ADD_IS_FUSED, "add_is_fused", "1", 0, 1)                                             \
    X(AR_COST_OPTIMIZER_BYTES, "optimizer_bytes_per_parameter", "B", 0, 1000)                      \
    X(AR_COST_OPTIMIZER_KERNELS, "optimizer_kernels", "1", 0, 1e6)

enum ar_cost {
#define X(symbol, name, unit, min, max) symbol,
    AR_COST_LIST(X)
#undef X
        AR_COSTS_COUNT
};

/** Kinds of layer in a work table: symbol, name. */
#define AR_LAYER_KIND_LIST(X)                                                                      \
    X(AR_LAYER_CONV, "conv")                                                                       \
    X(AR_LAYER_FC, "fc")                                                                           \
    X(AR_LAYER_BN, "bn")                                                                           \
    X(AR_LAYER_RELU, "relu")                                                                       \
    X(AR_LAYER_ADD, "add")                                                                         \
    X(AR_LAYER_MAXPOOL, "maxpool")                                                                 \
    X(AR_LAYER_AVGPOOL, "avgpool")                                                                 \
    X(AR_LAYER_LOSS, "loss")

enum ar_layer_kind {
#define X(symbol, name) symbol,
    AR_LAYER_KIND_LIST(X)
#undef X
        AR_LAYER_KINDS_COUNT
};

/** Names of the kinds as in the work table; NULL ends them. */
extern const char *const ar_layer_kinds[];

/** The work of one layer for one image; the shape fields are 0 where a kind has none. */
struct ar_layer_work {
    enum ar_layer_kind kind;
    uint64_t macs;            /**< multiply-accumulates, forward */
    uint64_t input_elements;  /**< activations read */
    uint64_t output_elements; /**< activations written */
    uint32_t width;           /**< of the square input */
    uint32_t channels_in;
    uint32_t channels_out;
    uint32_t kernel; /**< 3 for 3x3 */
    uint32_t stride;
    bool is_first; /**< first conv or fc of the network: no gradient of the data */
};

struct ar_device_cost {
    char name[64];      /**< `v100-sxm2` */
    const char *source; /**< the directive `source` of the file */
    /** By ar_cost and ar_precision, in the unit of the list. */
    double value[AR_COSTS_COUNT][AR_PRECISIONS_COUNT];
    struct ar_conv_points points; /**< measured convolutions; may be none */
};

/** Reads a cost table and the convolutions that it names into the arena. */
enum ar_status ar_device_cost_load(const char *path, struct ar_arena *arena,
                                   struct ar_device_cost **cost, struct ar_error *err);

/** Time of one image more in one pass of a conv or fc layer, far from any fixed cost. */
double ar_device_cost_marginal_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision);

/** Time of one pass of a conv or fc layer, without the kernel floor. `batch` >= 1. */
double ar_device_cost_conv_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                             enum ar_conv_pass pass, enum ar_precision precision, uint32_t batch);

/** Forward and backward time of a layer, kernel floors included. `batch` >= 1. */
void ar_device_cost_layer_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_precision precision, uint32_t batch, double *forward_s,
                            double *backward_s);

/** Time of the parameter update at the end of a step. */
double ar_device_cost_optimizer_s(const struct ar_device_cost *cost, enum ar_precision precision,
                                  uint64_t parameters);

#endif
