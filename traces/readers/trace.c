#include "ar_trace.h"

#include <assert.h>
#include <math.h>

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
