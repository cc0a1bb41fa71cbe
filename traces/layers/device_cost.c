/* The time laws of ar_device_cost.h. */
#include "ar_device_cost.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Least depth of a part of k: products up to it were measured to run in one part. */
enum { PART_MIN = 4096 };

const char *const ar_layer_kinds[] = {
#define X(symbol, name) name,
    AR_LAYER_KIND_LIST(X)
#undef X
        NULL};

bool ar_device_cost_has_group(const struct ar_device_cost *cost, enum ar_precision precision,
                              enum ar_cost_group group)
{
    static const enum ar_cost first[AR_COST_GROUPS_COUNT] = {
        [AR_COST_OF_KERNELS] = AR_COST_MEMORY,
        [AR_COST_OF_CONVOLUTIONS] = AR_COST_FORWARD_FIXED,
        [AR_COST_OF_PRODUCTS] = AR_COST_PEAK,
        [AR_COST_OF_ATTENTION] = AR_COST_ATTENTION_FORWARD,
    };
    return !isnan(cost->value[first[group]][precision]);
}

bool ar_device_cost_has(const struct ar_device_cost *cost, enum ar_precision precision)
{
    return ar_device_cost_has_group(cost, precision, AR_COST_OF_KERNELS);
}

char *ar_device_cost_precisions(const struct ar_device_cost *cost,
                                char text[AR_DEVICE_COST_PRECISIONS_TEXT])
{
    int used = 0;
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        if (ar_device_cost_has(cost, (enum ar_precision)i)) {
            used += snprintf(text + used, AR_DEVICE_COST_PRECISIONS_TEXT - (size_t)used, "%s%s",
                             used > 0 ? ", " : "", ar_precision_names[i]);
        }
    }
    return text;
}

/* --- what all laws use --------------------------------------------------------------------- */

static double cost_value(const struct ar_device_cost *cost, enum ar_precision precision,
                         enum ar_cost quantity)
{
    return cost->value[quantity][precision];
}

static double stored_element_bytes(enum ar_precision precision)
{
    return ar_precision_bytes(ar_precision_stored(precision));
}

/* The time of a kernel: at least the floor. */
static double floored_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        double time_s)
{
    return fmax(time_s, cost_value(cost, precision, AR_COST_KERNEL_FLOOR));
}

/* --- matrix products, attention, memory ---------------------------------------------------- */

/* The multiprocessors' time with tiles of rows x columns and k in `parts`. */
static double tiles_s(const struct ar_device_cost *cost, enum ar_precision precision,
                      const struct ar_gemm *gemm, double rows, double columns, double parts)
{
    double processors = cost_value(cost, precision, AR_COST_MULTIPROCESSORS);
    double rate = cost_value(cost, precision, AR_COST_GEMM_EFFICIENCY) *
                  cost_value(cost, precision, AR_COST_PEAK) / processors;
    double edge = cost_value(cost, precision, AR_COST_GEMM_EDGE);
    double slow = (1 + edge * (1 / rows + 1 / columns)) / (1 + edge * (1.0 / 256 + 1.0 / 128));
    double tiles = (double)gemm->count * ceil((double)gemm->m / rows) *
                   ceil((double)gemm->n / columns) * parts;
    double depth = (double)gemm->k / parts + cost_value(cost, precision, AR_COST_GEMM_DEPTH);
    return ceil(tiles / processors) * 2 * rows * columns * depth * slow / rate;
}

double ar_device_product_s(const struct ar_device_cost *cost, enum ar_precision precision,
                           const struct ar_gemm *gemm, double bytes)
{
    static const double tiles[][2] = {{256, 128}, {128, 256}, {128, 128},
                                      {128, 64},  {64, 128},  {64, 64}};
    double best_s = INFINITY;
    double sums = (double)gemm->count * (double)gemm->m * (double)gemm->n;
    for (double parts = 1; parts == 1 || (double)gemm->k / parts >= PART_MIN; parts *= 2) {
        double partial_bytes = parts > 1 ? 2 * parts * sums * ar_precision_bytes(AR_FP32) : 0;
        double traffic_s = (bytes + partial_bytes) / cost_value(cost, precision, AR_COST_MEMORY);
        for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
            double time_s = tiles_s(cost, precision, gemm, tiles[i][0], tiles[i][1], parts);
            best_s = fmin(best_s, fmax(time_s, traffic_s));
        }
    }
    return cost_value(cost, precision, AR_COST_GEMM_FIXED) + best_s;
}

double ar_device_gemm_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        const struct ar_gemm *gemm)
{
    double operands = ((double)gemm->m + (double)gemm->n) * (double)gemm->k;
    double products = (double)gemm->m * (double)gemm->n;
    double bytes = (double)gemm->count * (operands * ar_precision_bytes(precision) +
                                          products * stored_element_bytes(precision));
    return floored_s(cost, precision, ar_device_product_s(cost, precision, gemm, bytes));
}

double ar_device_attention_s(const struct ar_device_cost *cost, enum ar_precision precision,
                             const struct ar_attention *attention)
{
    double pairs = (double)attention->queries * (double)attention->keys;
    double flop = 4 * (double)attention->count * pairs * (double)attention->head_elements *
                  (attention->is_causal ? 0.5 : 1) * (attention->is_backward ? 2.5 : 1);
    double efficiency =
        cost_value(cost, precision,
                   attention->is_backward ? AR_COST_ATTENTION_BACKWARD : AR_COST_ATTENTION_FORWARD);
    return floored_s(cost, precision,
                     flop / (efficiency * cost_value(cost, precision, AR_COST_PEAK)));
}

double ar_device_memory_s(const struct ar_device_cost *cost, enum ar_precision precision,
                          double bytes)
{
    return floored_s(cost, precision, bytes / cost_value(cost, precision, AR_COST_MEMORY));
}

double ar_device_peak_flops(const struct ar_device_cost *cost, enum ar_precision precision)
{
    return cost_value(cost, precision, AR_COST_PEAK);
}

/* --- convolutions -------------------------------------------------------------------------- */

double ar_device_cost_marginal_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision)
{
    static const enum ar_cost rates[] = {AR_COST_FORWARD_RATE, AR_COST_DATA_RATE,
                                         AR_COST_WEIGHTS_RATE};
    double flop = 2 * (double)work->macs;
    if (work->kernel == 3 && work->stride == 1) {
        flop /= cost_value(cost, precision, AR_COST_WINOGRAD);
    }
    double bytes = ((double)work->input_elements + (double)work->output_elements) *
                   stored_element_bytes(precision);
    return fmax(flop / cost_value(cost, precision, rates[pass]),
                bytes / cost_value(cost, precision, AR_COST_MEMORY));
}

/* Time at `batch` from measured points of one shape in ascending batch; see the header. */
static double measured_s(const struct ar_conv_point *points, size_t points_count,
                         enum ar_conv_pass pass, double marginal_s, uint32_t batch)
{
    const struct ar_conv_point *last = &points[points_count - 1];
    double samples = batch;
    if (batch <= points[0].batch) {
        double min_s = points[0].time_s[pass] * samples / points[0].batch;
        return fmax(min_s, points[0].time_s[pass] - (points[0].batch - samples) * marginal_s);
    }
    for (size_t i = 1; i < points_count; i++) {
        if (batch <= points[i].batch) {
            double part = (samples - points[i - 1].batch) / (points[i].batch - points[i - 1].batch);
            return points[i - 1].time_s[pass] * (1 - part) + points[i].time_s[pass] * part;
        }
    }
    double slope_s = fmin(marginal_s, last->time_s[pass] / last->batch);
    return last->time_s[pass] + (samples - last->batch) * slope_s;
}

/* A pass as a product; strides leave no work out of the gradient of the data. */
static double implicit_product_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision, uint32_t batch)
{
    uint64_t outputs = work->output_elements;
    uint64_t inputs = work->input_elements;
    uint64_t features_out = work->channels_out > 0 ? work->channels_out : outputs;
    uint64_t features_in = work->channels_in > 0 ? work->channels_in : inputs;
    const struct ar_gemm forward = {1, batch * (outputs / features_out), features_out,
                                    work->macs / outputs};
    const struct ar_gemm gemms[AR_CONV_PASSES_COUNT] = {
        [AR_CONV_FORWARD] = forward,
        [AR_CONV_BACKWARD_DATA] = {1, batch * (inputs / features_in), features_in,
                                   work->macs / inputs},
        [AR_CONV_BACKWARD_WEIGHTS] = {1, forward.k, forward.n, forward.m},
    };
    double elements =
        (double)batch * ((double)inputs + (double)outputs) + (double)forward.n * (double)forward.k;
    return ar_device_product_s(cost, precision, &gemms[pass],
                               elements * stored_element_bytes(precision));
}

double ar_device_cost_conv_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                             enum ar_conv_pass pass, enum ar_precision precision, uint32_t batch)
{
    static const enum ar_cost fixed[] = {AR_COST_FORWARD_FIXED, AR_COST_DATA_FIXED,
                                         AR_COST_WEIGHTS_FIXED};
    assert(batch >= 1);
    if (!ar_device_cost_has_group(cost, precision, AR_COST_OF_CONVOLUTIONS)) {
        return implicit_product_s(cost, work, pass, precision, batch);
    }
    double marginal_s = ar_device_cost_marginal_s(cost, work, pass, precision);
    const struct ar_conv_point shape = {.precision = precision,
                                        .width = work->width,
                                        .channels_in = work->channels_in,
                                        .channels_out = work->channels_out,
                                        .kernel = work->kernel,
                                        .stride = work->stride};
    const struct ar_conv_point *points = NULL;
    size_t points_count = ar_conv_points_find(&cost->points, &shape, &points);
    if (points_count > 0) {
        return measured_s(points, points_count, pass, marginal_s, batch);
    }
    return cost_value(cost, precision, fixed[pass]) + batch * marginal_s;
}

/* --- layers -------------------------------------------------------------------------------- */

/* One pass of a conv or fc layer as a kernel. */
static double conv_kernel_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_conv_pass pass, enum ar_precision precision, uint32_t batch)
{
    double time_s = ar_device_cost_conv_s(cost, work, pass, precision, batch);
    return time_s > 0 ? floored_s(cost, precision, time_s) : 0;
}

/* Elements read and written for one sample by a memory-bound layer. */
static void count_memory_elements(const struct ar_device_cost *cost,
                                  const struct ar_layer_work *work, enum ar_precision precision,
                                  double *forward, double *backward)
{
    static const struct {
        bool is_in_table;
        enum ar_cost forward, backward;
    } passes[AR_LAYER_KINDS_COUNT] = {
        [AR_LAYER_BN] = {true, AR_COST_BN_FORWARD, AR_COST_BN_BACKWARD},
        [AR_LAYER_RELU] = {true, AR_COST_RELU_FORWARD, AR_COST_RELU_BACKWARD},
        [AR_LAYER_ADD] = {true, AR_COST_ADD_FORWARD, AR_COST_ADD_BACKWARD},
    };
    double outputs = (double)work->output_elements;
    if (passes[work->kind].is_in_table) {
        *forward = outputs * cost_value(cost, precision, passes[work->kind].forward);
        *backward = outputs * cost_value(cost, precision, passes[work->kind].backward);
        return;
    }
    *forward = (double)work->input_elements + outputs;
    *backward = work->kind == AR_LAYER_MAXPOOL ? 2 * *forward : *forward;
}

void ar_device_cost_layer_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_precision precision, uint32_t batch, double *forward_s,
                            double *backward_s)
{
    if (work->kind == AR_LAYER_CONV || work->kind == AR_LAYER_FC) {
        *forward_s = conv_kernel_s(cost, work, AR_CONV_FORWARD, precision, batch);
        *backward_s = conv_kernel_s(cost, work, AR_CONV_BACKWARD_WEIGHTS, precision, batch);
        if (!work->is_first) {
            *backward_s += conv_kernel_s(cost, work, AR_CONV_BACKWARD_DATA, precision, batch);
        }
        return;
    }
    double elements[2];
    double *times_s[] = {forward_s, backward_s};
    bool is_own_kernel =
        work->kind != AR_LAYER_ADD || cost_value(cost, precision, AR_COST_ADD_IS_FUSED) < 0.5;
    count_memory_elements(cost, work, precision, &elements[0], &elements[1]);
    for (int i = 0; i < 2; i++) {
        double time_s = batch * elements[i] * stored_element_bytes(precision) /
                        cost_value(cost, precision, AR_COST_MEMORY);
        *times_s[i] = time_s > 0 && is_own_kernel ? floored_s(cost, precision, time_s) : time_s;
    }
}

double ar_device_cost_optimizer_s(const struct ar_device_cost *cost, enum ar_precision precision,
                                  uint64_t parameters)
{
    double bytes = (double)parameters * cost_value(cost, precision, AR_COST_OPTIMIZER_BYTES);
    double launches_s = cost_value(cost, precision, AR_COST_OPTIMIZER_KERNELS) *
                        cost_value(cost, precision, AR_COST_KERNEL_FLOOR);
    return fmax(launches_s, bytes / cost_value(cost, precision, AR_COST_MEMORY));
}
