/* The time laws of ar_device_cost.h. */
#include "ar_device_cost.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

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

static bool is_winograd(const struct ar_layer_work *work)
{
    return work->kernel == 3 && work->stride == 1;
}

double ar_device_cost_marginal_s(const struct ar_device_cost *cost,
                                 const struct ar_layer_work *work, enum ar_conv_pass pass,
                                 enum ar_precision precision)
{
    static const enum ar_cost rates[] = {AR_COST_FORWARD_RATE, AR_COST_DATA_RATE,
                                         AR_COST_WEIGHTS_RATE};
    double flop = 2 * (double)work->macs;
    if (is_winograd(work)) {
        flop /= cost->value[AR_COST_WINOGRAD][precision];
    }
    double bytes = ((double)work->input_elements + (double)work->output_elements) *
                   ar_precision_bytes(ar_precision_stored(precision));
    return fmax(flop / cost->value[rates[pass]][precision],
                bytes / cost->value[AR_COST_MEMORY][precision]);
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
                               elements * ar_precision_bytes(ar_precision_stored(precision)));
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
    return cost->value[fixed[pass]][precision] + batch * marginal_s;
}

static double kernel_s(const struct ar_device_cost *cost, enum ar_precision precision,
                       double work_s)
{
    return work_s > 0 ? fmax(work_s, cost->value[AR_COST_KERNEL_FLOOR][precision]) : 0;
}

static double traffic_s(const struct ar_device_cost *cost, enum ar_precision precision,
                        double elements)
{
    return elements * ar_precision_bytes(ar_precision_stored(precision)) /
           cost->value[AR_COST_MEMORY][precision];
}

static double conv_kernel_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_conv_pass pass, enum ar_precision precision, uint32_t batch)
{
    return kernel_s(cost, precision, ar_device_cost_conv_s(cost, work, pass, precision, batch));
}

static void conv_layer_s(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                         enum ar_precision precision, uint32_t batch, double *forward_s,
                         double *backward_s)
{
    *forward_s = conv_kernel_s(cost, work, AR_CONV_FORWARD, precision, batch);
    *backward_s = conv_kernel_s(cost, work, AR_CONV_BACKWARD_WEIGHTS, precision, batch);
    if (!work->is_first) {
        *backward_s += conv_kernel_s(cost, work, AR_CONV_BACKWARD_DATA, precision, batch);
    }
}

/* Elements read and written for one sample by a memory-bound layer. */
static void memory_elements(const struct ar_device_cost *cost, const struct ar_layer_work *work,
                            enum ar_precision precision, double *forward, double *backward)
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
        *forward = outputs * cost->value[passes[work->kind].forward][precision];
        *backward = outputs * cost->value[passes[work->kind].backward][precision];
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
        conv_layer_s(cost, work, precision, batch, forward_s, backward_s);
        return;
    }
    double forward, backward;
    memory_elements(cost, work, precision, &forward, &backward);
    *forward_s = traffic_s(cost, precision, batch * forward);
    *backward_s = traffic_s(cost, precision, batch * backward);
    bool is_own_kernel =
        work->kind != AR_LAYER_ADD || cost->value[AR_COST_ADD_IS_FUSED][precision] < 0.5;
    if (is_own_kernel) {
        *forward_s = kernel_s(cost, precision, *forward_s);
        *backward_s = kernel_s(cost, precision, *backward_s);
    }
}

double ar_device_cost_optimizer_s(const struct ar_device_cost *cost, enum ar_precision precision,
                                  uint64_t parameters)
{
    double bytes = (double)parameters * cost->value[AR_COST_OPTIMIZER_BYTES][precision];
    double launches_s = cost->value[AR_COST_OPTIMIZER_KERNELS][precision] *
                        cost->value[AR_COST_KERNEL_FLOOR][precision];
    return fmax(launches_s, bytes / cost->value[AR_COST_MEMORY][precision]);
}
