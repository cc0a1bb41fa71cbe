/** \file ar_device_cost.h
 * What the layers of a network cost on one device, for any batch and precision.
 *
 * A layer is one or more kernels. With B samples, `bytes` an element as the precision stores it
 * (ar_precisions[].stored):
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
 * weights. The first such layer of a network has no gradient of the data. One more sample costs
 *
 *     marginal_s = max(2 * macs / winograd_ratio / rate, (inputs + outputs) * bytes / memory_Bps)
 *
 * with the rate of the pass and precision; winograd_ratio counts for 3x3 kernels of stride 1 only.
 *
 * - A shape that is in the table of measured convolutions takes its measured time. Between measured
 *   batches the time is linear in the batch; above, each sample adds
 *   min(marginal_s, measured time per sample); below, each sample less saves marginal_s, but the
 *   time per sample never falls below that of the smallest measured batch.
 * - Any other shape takes fixed_s + B * marginal_s.
 * - A table without rates of convolutions takes each pass as an implicit product, see below, whose
 *   operands are read once.
 * - A locally connected layer (local) has weights of its own at each place of its output, as many
 * as macs. Each pass takes max(2 * B * macs / rate, (macs + B * (inputs + outputs)) * bytes /
 *   memory_Bps), rate = gemm_efficiency * peak_rate: an estimate from below, since its products
 * have few columns.
 * - No kernel takes less than kernel_floor_s.
 *
 * Validity: the fixed times and rates of `v100-sxm2` are fitted to convolutions of ResNet-50 at
 * batch 8 and 16; batches above are extrapolated. Kernels with 3 input channels, depthwise and
 * grouped convolutions have no measured neighbour and are taken at the common rate, which is too
 * fast for them.
 *
 * **Matrix products** of m x k and k x n are tiles of tm x tn, one at a time on a multiprocessor:
 *
 *     waves  = ceil(count * ceil(m / tm) * ceil(n / tn) * parts / multiprocessors)
 *     rate   = gemm_sustained_frac * gemm_efficiency * peak_rate / multiprocessors   (sustained)
 *     slow   = (1 + edge * (1/tm + 1/tn)) / (1 + edge * (1/256 + 1/128))
 *     tiles_s   = waves * 2 * tm * tn * (k / parts + depth) * slow / rate
 *     traffic_s = bytes / (gemm_memory_frac * memory_Bps)
 *     time_s = gemm_fixed_s + (tiles_s^4 + traffic_s^4)^(1/4)
 *
 * with the tile (256 x 128 down to 64 x 64, no side below gemm_tile_elements) and the parts of k (a
 * power of two, each at least gemm_part_elements deep, whose sums are written and read in fp32)
 * that take the least time. `edge` is what smaller tiles lose since they read more per product,
 * `depth` what the first and last steps of a tile cost, in elements of k: gemm_edge_elements,
 * gemm_depth_elements. Operands have gemm_operand_bytes, the product is written as it is stored.
 * The fourth powers are a maximum that is rounded where both are alike. A product whose m is no
 * multiple of 4 takes gemm_ragged_s longer, and copies its operands once, where that is above 0
 * (block scales are aligned). Tiles and waves: NVIDIA, Matrix Multiplication Background User's
 * Guide, DU-09799-001. The rest is fitted to measured products; README.md says how well.
 *
 * A GPU has two states. **Sustained** kernels, one dense kernel after the other for tens of
 * milliseconds, meet the power limit, and their arithmetic runs at gemm_sustained_frac of the rate:
 * steps do. **Single** kernels run at high clocks, but those that are long are felt, since a
 * benchmark repeats them: tiles_s then grows by gemm_heat_frac for each power of ten from 0.1 ms on
 * up to 10 ms. Fits are to single kernels.
 *
 * **Casts.** Operands narrower than what is stored (fp8, fp8_block, nvfp4) are made before a
 * product from the stored ones: cast_fixed_s and cast_bytes of traffic for each element (it is
 * read, its scale is found, it is written).
 *
 * **Fused attention** takes tiles of 128 queries, each with all its keys (half of them with a
 * causal mask) and attention_tile_s, spread evenly over the multiprocessors until the last tile,
 * which is halfway on average, runs alone:
 *
 *     flop   = 4 * head_elements + attention_exp_flop      (forward, for each query and key)
 *              10 * head_elements + attention_exp_flop     (backward)
 *     key_s  = 128 * flop / (attention_*_efficiency * peak_rate / multiprocessors), as rate above
 *     mine   = tiles / multiprocessors
 *     time_s = attention_fixed_s + key_s * (mine * keys + all_keys / 2)
 *              + attention_tile_s * (mine + 1/2) + attention_passes * bytes / memory_Bps
 *
 * with the bytes of queries, keys, values and output (backward twice as many). attention_exp_flop
 * stands for the exponential, attention_passes for what is done to queries, keys and values before
 * (rotation, layout). It runs in the precision that is stored where operands of products are
 * narrower: training in fp8 has attention in bf16. Attention that is not fused is two batched
 * products each way and memory-bound kernels.
 *
 * **Optimizer**: max(optimizer_kernels * kernel_floor_s,
 * parameters * optimizer_bytes_per_parameter / memory_Bps).
 *
 * The file is a CSV with the columns `quantity,precision,value,unit,source`, one row for each
 * quantity of AR_COST_LIST and precision (`any`: all that other rows of the table name), and the
 * directives `source` and, optionally, `convolutions`: a file beside the table, a CSV of
 * measured convolutions with the columns `precision,batch,width,channels_in,channels_out,kernel,
 * stride,forward_s,backward_data_s,backward_weights_s` and, optionally, the directive `source`.
 * A precision that the table names has the group `kernels`, and `convolutions`, `products` or both;
 * of a group it has none, or all quantities but those with a default. A third directive, `base`,
 * names another table, such as `h100-sxm`, that has all that is not given here.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_units.h"

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
    uint32_t width; /**< side of the square input */
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

/** Groups of quantities; a precision has all of one or none. */
enum ar_cost_group {
    AR_COST_OF_KERNELS, /**< every precision of a table has them */
    AR_COST_OF_CONVOLUTIONS,
    AR_COST_OF_PRODUCTS,
    AR_COST_OF_ATTENTION, /**< fused */
    AR_COST_GROUPS_COUNT
};

/** Quantities of a cost table: symbol, name, unit, least and most allowed value, value where a
 * table does not say (NAN: it must; gemm_operand_bytes 0: those of the precision; energies 0: not
 * known), group. */
#define AR_COST_LIST(X)                                                                            \
    X(AR_COST_MEMORY, "memory_Bps", "B/s", 1e6, 1e15, NAN, AR_COST_OF_KERNELS)                     \
    X(AR_COST_KERNEL_FLOOR, "kernel_floor_s", "s", 0, 0.01, NAN, AR_COST_OF_KERNELS)               \
    X(AR_COST_STEP_OVERHEAD, "step_overhead_s", "s", 0, 100, NAN, AR_COST_OF_KERNELS)              \
    X(AR_COST_FORWARD_FIXED, "conv_forward_fixed_s", "s", 0, 0.1, NAN, AR_COST_OF_CONVOLUTIONS)    \
    X(AR_COST_FORWARD_RATE, "conv_forward_rate", "flop/s", 1e6, 1e18, NAN,                         \
      AR_COST_OF_CONVOLUTIONS)                                                                     \
    X(AR_COST_DATA_FIXED, "conv_backward_data_fixed_s", "s", 0, 0.1, NAN, AR_COST_OF_CONVOLUTIONS) \
    X(AR_COST_DATA_RATE, "conv_backward_data_rate", "flop/s", 1e6, 1e18, NAN,                      \
      AR_COST_OF_CONVOLUTIONS)                                                                     \
    X(AR_COST_WEIGHTS_FIXED, "conv_backward_weights_fixed_s", "s", 0, 0.1, NAN,                    \
      AR_COST_OF_CONVOLUTIONS)                                                                     \
    X(AR_COST_WEIGHTS_RATE, "conv_backward_weights_rate", "flop/s", 1e6, 1e18, NAN,                \
      AR_COST_OF_CONVOLUTIONS)                                                                     \
    X(AR_COST_WINOGRAD, "winograd_ratio", "1", 1, 4, NAN, AR_COST_OF_CONVOLUTIONS)                 \
    X(AR_COST_PEAK, "peak_rate", "flop/s", 1e6, 1e18, NAN, AR_COST_OF_PRODUCTS)                    \
    X(AR_COST_MULTIPROCESSORS, "multiprocessors", "1", 1, 1e6, NAN, AR_COST_OF_PRODUCTS)           \
    X(AR_COST_GEMM_EFFICIENCY, "gemm_efficiency", "1", 0.01, 1, NAN, AR_COST_OF_PRODUCTS)          \
    X(AR_COST_GEMM_EDGE, "gemm_edge_elements", "1", 0, 1e4, NAN, AR_COST_OF_PRODUCTS)              \
    X(AR_COST_GEMM_DEPTH, "gemm_depth_elements", "1", 0, 1e5, NAN, AR_COST_OF_PRODUCTS)            \
    X(AR_COST_GEMM_FIXED, "gemm_fixed_s", "s", 0, 0.1, NAN, AR_COST_OF_PRODUCTS)                   \
    X(AR_COST_GEMM_TILE, "gemm_tile_elements", "1", 64, 128, 64, AR_COST_OF_PRODUCTS)              \
    X(AR_COST_GEMM_PART, "gemm_part_elements", "1", 64, 1e9, 4096, AR_COST_OF_PRODUCTS)            \
    X(AR_COST_GEMM_MEMORY, "gemm_memory_frac", "1", 0.05, 1, 1, AR_COST_OF_PRODUCTS)               \
    X(AR_COST_GEMM_SUSTAINED, "gemm_sustained_frac", "1", 0.1, 1, 1, AR_COST_OF_PRODUCTS)          \
    X(AR_COST_GEMM_HEAT, "gemm_heat_frac", "1", 0, 1, 0, AR_COST_OF_PRODUCTS)                      \
    X(AR_COST_GEMM_OPERAND, "gemm_operand_bytes", "B", 0.1, 8, 0, AR_COST_OF_PRODUCTS)             \
    X(AR_COST_GEMM_RAGGED, "gemm_ragged_s", "s", 0, 0.01, 0, AR_COST_OF_PRODUCTS)                  \
    X(AR_COST_CAST_FIXED, "cast_fixed_s", "s", 0, 0.01, 0, AR_COST_OF_PRODUCTS)                    \
    X(AR_COST_CAST_BYTES, "cast_bytes", "B", 0, 100, 4, AR_COST_OF_PRODUCTS)                       \
    X(AR_COST_FLOP_ENERGY, "flop_energy", "J/flop", 0, 1e-6, 0, AR_COST_OF_PRODUCTS)               \
    X(AR_COST_MEMORY_ENERGY, "memory_energy", "J/B", 0, 1e-6, 0, AR_COST_OF_KERNELS)               \
    X(AR_COST_ATTENTION_FORWARD, "attention_forward_efficiency", "1", 0.01, 1, NAN,                \
      AR_COST_OF_ATTENTION)                                                                        \
    X(AR_COST_ATTENTION_BACKWARD, "attention_backward_efficiency", "1", 0.01, 1, NAN,              \
      AR_COST_OF_ATTENTION)                                                                        \
    X(AR_COST_ATTENTION_FIXED, "attention_fixed_s", "s", 0, 0.01, 0, AR_COST_OF_ATTENTION)         \
    X(AR_COST_ATTENTION_TILE, "attention_tile_s", "s", 0, 0.01, 0, AR_COST_OF_ATTENTION)           \
    X(AR_COST_ATTENTION_EXP, "attention_exp_flop", "flop", 0, 1e5, 0, AR_COST_OF_ATTENTION)        \
    X(AR_COST_ATTENTION_PASSES, "attention_passes", "1", 0, 100, 0, AR_COST_OF_ATTENTION)          \
    X(AR_COST_BN_FORWARD, "bn_forward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)               \
    X(AR_COST_BN_BACKWARD, "bn_backward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)             \
    X(AR_COST_RELU_FORWARD, "relu_forward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)           \
    X(AR_COST_RELU_BACKWARD, "relu_backward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)         \
    X(AR_COST_ADD_FORWARD, "add_forward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)             \
    X(AR_COST_ADD_BACKWARD, "add_backward_passes", "1", 0, 100, NAN, AR_COST_OF_KERNELS)           \
    X(AR_COST_ADD_IS_FUSED, "add_is_fused", "1", 0, 1, NAN, AR_COST_OF_KERNELS)                    \
    X(AR_COST_OPTIMIZER_BYTES, "optimizer_bytes_per_parameter", "B", 0, 1000, NAN,                 \
      AR_COST_OF_KERNELS)                                                                          \
    X(AR_COST_OPTIMIZER_KERNELS, "optimizer_kernels", "1", 0, 1e6, NAN, AR_COST_OF_KERNELS)

enum ar_cost { AR_COST_LIST(AR_LIST_FIRST) AR_COSTS_COUNT };

/** Kinds of layer in a work table: symbol, name. */
#define AR_LAYER_KIND_LIST(X)                                                                      \
    X(AR_LAYER_CONV, "conv")                                                                       \
    X(AR_LAYER_FC, "fc")                                                                           \
    X(AR_LAYER_LOCAL, "local")                                                                     \
    X(AR_LAYER_BN, "bn")                                                                           \
    X(AR_LAYER_RELU, "relu")                                                                       \
    X(AR_LAYER_ADD, "add")                                                                         \
    X(AR_LAYER_MAXPOOL, "maxpool")                                                                 \
    X(AR_LAYER_AVGPOOL, "avgpool")                                                                 \
    X(AR_LAYER_LOSS, "loss")

enum ar_layer_kind { AR_LAYER_KIND_LIST(AR_LIST_FIRST) AR_LAYER_KINDS_COUNT };

/** Names of the kinds as in the work table; NULL ends them. */
extern const char *const ar_layer_kinds[];

/** Whether layers of a kind multiply by weights: they have macs. */
static inline bool ar_layer_has_macs(enum ar_layer_kind kind)
{
    return kind == AR_LAYER_CONV || kind == AR_LAYER_FC || kind == AR_LAYER_LOCAL;
}

/** The work of one layer for one sample; the shape fields are 0 where a kind has none. */
struct ar_layer_work {
    enum ar_layer_kind kind;
    uint64_t macs;            /**< multiply-accumulates, forward */
    uint64_t input_elements;  /**< activations read */
    uint64_t output_elements; /**< activations written */
    uint32_t width;           /**< side of the square input */
    uint32_t channels_in;
    uint32_t channels_out;
    uint32_t kernel; /**< 3 for 3x3 */
    uint32_t stride;
    bool is_first; /**< first conv or fc of the network: no gradient of the data */
};

struct ar_device_cost {
    char name[64];       /**< `v100-sxm2` */
    const char *source;  /**< the directive `source` of the file */
    const char *base;    /**< the directive `base`; NULL: none */
    unsigned precisions; /**< bits 1 << precision of those that it has */
    /** By ar_cost and ar_precision, in the unit of the list; NAN: the table has none. */
    double value[AR_COSTS_COUNT][AR_PRECISIONS_COUNT];
    struct ar_conv_points points; /**< measured convolutions; may be none */
    bool is_single;               /**< of single kernels, not of sustained ones */
};

/** Reads a cost table and the convolutions that it names into the arena. A table with a base is
 * still to be completed. */
enum ar_status ar_device_cost_load(const char *path, struct ar_arena *arena,
                                   struct ar_device_cost **cost, struct ar_error *err);

/** Fills in what the table of the path leaves to its base, but for convolutions, whose times are of
 * that GPU alone. base NULL: only what has a default is filled in. */
enum ar_status ar_device_cost_complete(const char *path, const struct ar_device_cost *base,
                                       struct ar_device_cost *cost, struct ar_error *err);

/** Whether the table has a group of quantities of a precision; it has AR_COST_OF_KERNELS of all
 * precisions that it has. */
bool ar_device_cost_has_group(const struct ar_device_cost *cost, enum ar_precision precision,
                              enum ar_cost_group group);

/** A copy of the table, the arena's, for kernels that run alone: clocks are high, and a kernel
 * takes its own time without the floor, as it was measured. */
struct ar_device_cost *ar_device_cost_single(const struct ar_device_cost *cost,
                                             struct ar_arena *arena);

/** Writes the names of the precisions of the table, `fp16, fp32`; returns `text`. */
enum { AR_DEVICE_COST_PRECISIONS_TEXT = 96 };
char *ar_device_cost_precisions(const struct ar_device_cost *cost,
                                char text[AR_DEVICE_COST_PRECISIONS_TEXT]);
#define AR_SHOW_PRECISIONS(cost)                                                                   \
    ar_device_cost_precisions((cost), (char[AR_DEVICE_COST_PRECISIONS_TEXT]){""})

/** Time of one sample more in one pass of a conv or fc layer, far from any fixed cost; of a table
 * with rates of convolutions. */
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

/* --- matrix products, attention and what is bound by memory ------------------------------------
 * The precision has the group AR_COST_OF_PRODUCTS. */

/** `count` independent products of m x k and k x n in one kernel; all at least 1. */
struct ar_gemm {
    uint64_t count;
    uint64_t m, n, k;
};

/** Time of the kernel; operands are read, and the product is written as it is stored. */
double ar_device_gemm_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        const struct ar_gemm *gemm);

/** Time to make `elements` of operands of products from stored ones; 0 where these are as wide. */
double ar_device_cast_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        double elements);

/** Time of the product with `bytes` of traffic, without the kernel floor. */
double ar_device_product_s(const struct ar_device_cost *cost, enum ar_precision precision,
                           const struct ar_gemm *gemm, double bytes);

/** Fused attention of `count` heads over all sequences, each `queries` x `keys`. */
struct ar_attention {
    uint64_t count;
    uint64_t kv_count; /**< heads of keys and values; 0: as many */
    uint64_t queries, keys, head_elements;
    bool is_causal;
    bool is_backward;
};

/** The precision of attention in a step whose products run in `precision`. */
enum ar_precision ar_attention_precision(enum ar_precision precision);

/** Time of the kernel; its precision has the group AR_COST_OF_ATTENTION. */
double ar_device_attention_s(const struct ar_device_cost *cost, enum ar_precision precision,
                             const struct ar_attention *attention);

/** Time of a kernel that reads and writes `bytes` and computes next to nothing. */
double ar_device_memory_s(const struct ar_device_cost *cost, enum ar_precision precision,
                          double bytes);

/** Peak of dense products in flop/s, what a model flops utilization is of. */
double ar_device_peak_flops(const struct ar_device_cost *cost, enum ar_precision precision);
