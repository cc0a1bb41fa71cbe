#include "test_traces.h"

#include <math.h>

#include "ar_layer_comparison.h"

static struct ar_trace_file *load_file(const char *path)
{
    struct ar_trace_file *file = NULL;
    TEST_OK(ar_trace_file_load(path, &test_arena, &file, &why));
    return file;
}

/* Gradients of bucket tensors were ready 0.08, 3.92, 8.69, 23.7, 63.2 ms after backward began. */
Test(layer_comparison, the_recorded_step_has_all_tensors_their_ready_times_and_kinds_that_sum)
{
    const struct ar_trace *trace = &load_file(SHIPPED("resnet50-v1.5-recorded.csv"))->trace;
    cr_expect_eq(trace->tensors_count, 161);
    cr_expect_eq(ar_trace_gradient_elements(trace), 25557032);
    cr_expect_float_eq(ar_trace_compute_s(trace), 95.6e-3, 0.1e-3);
    struct ar_layer_comparison comparison = {0};
    struct ar_trace_request request = {.batch = trace->batch, .precision = trace->precision};
    struct ar_trace *computed = NULL;
    TEST_OK(test_trace(SHIPPED("resnet50-v1.5.csv"), SHIPPED("device/v100-sxm2.cost.csv"), request,
                       &computed, &why));
    TEST_OK(ar_layer_comparison_make(trace, computed, load_file(SHIPPED("resnet50-v1.5.csv")),
                                     &test_arena, &comparison, &why));
    static const struct {
        const char *layer;
        double ready_s;
    } wanted[] = {{"conv1", 63.18e-3}, {"fc", 0.076e-3}, {"layer4.2.conv3", 0.9862e-3}};
    AR_EACH(const struct ar_compared_layer, row, comparison.layers, comparison.layers_count) {
        for (size_t j = 0; j < sizeof wanted / sizeof wanted[0]; j++) {
            if (strcmp(row->layer, wanted[j].layer) == 0) {
                cr_expect_float_eq(row->ready_measured_s, wanted[j].ready_s, 5e-6, "%s: %g",
                                   row->layer, row->ready_measured_s);
            }
        }
        cr_expect_eq(isnan(row->ready_measured_s) != 0, strcmp(row->kind, "conv") != 0 &&
                                                            strcmp(row->kind, "bn") != 0 &&
                                                            strcmp(row->kind, "fc") != 0);
    }
    const struct ar_compared_layer *all = &comparison.kinds[comparison.kinds_count - 1];
    uint64_t layers = 0;
    for (size_t i = 0; i + 1 < comparison.kinds_count; i++) {
        layers += comparison.kinds[i].layers;
    }
    cr_expect_eq(layers, comparison.layers_count);
    cr_expect_str_eq(all->kind, "all");
    cr_expect_eq(all->layers, trace->layers_count);
    cr_expect_float_eq(all->backward_measured_s, ar_trace_backward_s(trace), 1e-9);
    cr_expect_float_eq(all->forward_error_frac,
                       all->forward_predicted_s / all->forward_measured_s - 1, 1e-12);
}

Test(layer_comparison, other_layers_are_refused)
{
    struct ar_layer_comparison comparison = {0};
    struct ar_trace *computed = NULL;
    struct ar_trace_request request = {.batch = 32, .precision = AR_FP32};
    const struct ar_trace *measured = &load_file(SHIPPED("example-timed.csv"))->trace;
    TEST_OK(test_trace(SHIPPED("resnet50-v1.5.csv"), SHIPPED("device/v100-sxm2.cost.csv"), request,
                       &computed, &why));
    TEST_FAILS(AR_BAD_DATA, "example-timed: layer 2 is conv2; expected bn1, as in resnet50-v1.5",
               ar_layer_comparison_make(measured, computed, load_file(SHIPPED("resnet50-v1.5.csv")),
                                        &test_arena, &comparison, &why));
}
