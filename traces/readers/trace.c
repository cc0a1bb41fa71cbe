#include "ar_trace.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ar_status ar_trace_copy(const struct ar_trace *trace, struct ar_trace **copy,
                             struct ar_error *err)
{
    size_t layers_bytes = trace->layers_count * sizeof *trace->layers;
    size_t tensors_bytes = trace->tensors_count * sizeof *trace->tensor_elements;
    struct ar_trace *made = malloc(sizeof *made);
    struct ar_layer *layers = malloc(layers_bytes);
    uint64_t *tensor_elements = malloc(tensors_bytes);
    if (made == NULL || layers == NULL || tensor_elements == NULL) {
        free(made);
        free(layers);
        free(tensor_elements);
        return ar_error_no_memory(err, trace->name);
    }
    *made = *trace;
    made->layers = memcpy(layers, trace->layers, layers_bytes);
    made->tensor_elements = memcpy(tensor_elements, trace->tensor_elements, tensors_bytes);
    *copy = made;
    return AR_OK;
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
