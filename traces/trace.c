#include "ar_trace.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "trace_build.h"

uint32_t ar_precision_bytes(enum ar_precision precision)
{
    return precision == AR_FP16 ? 2 : 4;
}

const char *ar_precision_name(enum ar_precision precision)
{
    return precision == AR_FP16 ? "fp16" : "fp32";
}

enum ar_status ar_precision_parse(const char *where, const char *text, enum ar_precision *precision,
                                  struct ar_error *err)
{
    char shown[64];
    if (strcmp(text, "fp16") == 0) {
        *precision = AR_FP16;
    } else if (strcmp(text, "fp32") == 0) {
        *precision = AR_FP32;
    } else {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected fp16 or fp32", where,
                            ar_csv_show(text, shown));
    }
    return AR_OK;
}

static enum ar_status load_work(const struct ar_csv *csv, const struct ar_trace_request *request,
                                struct ar_trace **trace, struct ar_error *err)
{
    if (request->batch == 0 || !request->precision_is_given) {
        return ar_error_set(err, AR_USAGE,
                            "%s: states the work of one image; expected a %s to be given with it",
                            csv->path, request->batch == 0 ? "batch per GPU" : "precision");
    }
    if (request->cost_path == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "%s: states the work of one image; expected a device cost table "
                            "to be given with it",
                            csv->path);
    }
    struct ar_device_cost *cost;
    enum ar_status status = ar_device_cost_load(request->cost_path, &cost, err);
    if (status == AR_OK) {
        if (request->has_kernel_floor) {
            cost->value[AR_COST_KERNEL_FLOOR][AR_FP16] = request->kernel_floor_s;
            cost->value[AR_COST_KERNEL_FLOOR][AR_FP32] = request->kernel_floor_s;
        }
        status = ar_trace_read_work(csv, request, cost, trace, err);
        ar_device_cost_destroy(cost);
    }
    return status;
}

enum ar_status ar_trace_load(const struct ar_trace_request *request, struct ar_trace **trace,
                             struct ar_error *err)
{
    struct ar_csv *csv;
    enum ar_status status = ar_csv_load(request->path, &csv, err);
    if (status != AR_OK) {
        return status;
    }
    if (ar_csv_has_column(csv, "kind") || ar_csv_has_column(csv, "macs")) {
        status = load_work(csv, request, trace, err);
    } else {
        status = ar_trace_read_timed(csv, request, trace, err);
    }
    ar_csv_destroy(csv);
    return status;
}

void ar_trace_destroy(struct ar_trace *trace)
{
    if (trace != NULL) {
        free(trace->layers);
        free(trace->tensor_elements);
        free(trace);
    }
}

double ar_trace_forward_s(const struct ar_trace *trace)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sum_s += trace->layers[i].forward_s;
    }
    return sum_s;
}

double ar_trace_backward_s(const struct ar_trace *trace)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sum_s += trace->layers[i].backward_s;
    }
    return sum_s;
}

double ar_trace_compute_s(const struct ar_trace *trace)
{
    return trace->step_overhead_s + ar_trace_forward_s(trace) + ar_trace_backward_s(trace) +
           trace->optimizer_s;
}

uint64_t ar_trace_gradient_elements(const struct ar_trace *trace)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        sum += trace->tensor_elements[i];
    }
    return sum;
}

static uint64_t scale_elements(uint64_t elements, double scale)
{
    double scaled = round((double)elements * scale);
    return scaled < 1 ? 1 : (uint64_t)fmin(scaled, 2.0 * (double)AR_TRACE_ELEMENTS_MAX);
}

enum ar_status ar_trace_scale_gradients(struct ar_trace *trace, double scale, struct ar_error *err)
{
    double sum = 0;
    assert(scale > 0);
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        sum += (double)scale_elements(trace->tensor_elements[i], scale);
    }
    if (sum > (double)AR_TRACE_ELEMENTS_MAX) {
        return ar_error_set(err, AR_USAGE,
                            "trace %s: found %.3g gradient elements with gradients %g times as "
                            "large; expected at most 2^50",
                            trace->name, sum, scale);
    }
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        trace->tensor_elements[i] = scale_elements(trace->tensor_elements[i], scale);
    }
    return AR_OK;
}

void ar_trace_scale(struct ar_trace *trace, double factor)
{
    trace->step_overhead_s *= factor;
    trace->optimizer_s *= factor;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        trace->layers[i].forward_s *= factor;
        trace->layers[i].backward_s *= factor;
    }
}
