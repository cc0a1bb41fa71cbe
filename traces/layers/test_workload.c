/* Buckets of gradients: rules of fusion, cycles, slowdown. */
#include "test_traces.h"

#include "ar_workload.h"

enum { MIB = 1048576, RESNET50 = 25557032 };

static struct ar_fusion rule(const char *text)
{
    struct ar_fusion fusion;
    TEST_OK(ar_fusion_parse("--fusion", text, &fusion, &why));
    cr_assert_str_eq(fusion.text, text);
    return fusion;
}

static struct ar_workload *make(const struct ar_trace *trace, const char *text,
                                uint32_t element_bytes)
{
    struct ar_fusion fusion = rule(text);
    struct ar_workload *workload = NULL;
    TEST_OK(ar_workload_make(&(struct ar_workload_request){.trace = trace,
                                                           .fusion = &fusion,
                                                           .element_bytes = element_bytes},
                             &test_arena, &workload, &why));
    return workload;
}

/* --- a small trace ------------------------------------------------------------------------- */

/* Four layers, the third without parameters; the backward pass ends them at 13, 15, 16 and 20 s.
 * Elements of 4 bytes make tensors of 4, 1, 2 and 8 MiB in forward order. */
static struct ar_layer small_layers[] = {
    {.name = "a", .forward_s = 1, .backward_s = 4, .tensors_first = 0, .tensors_count = 2},
    {.name = "b", .forward_s = 2, .backward_s = 1, .tensors_first = 2, .tensors_count = 1},
    {.name = "c", .forward_s = 3, .backward_s = 2, .tensors_first = 3, .tensors_count = 0},
    {.name = "d", .forward_s = 4, .backward_s = 2.5, .tensors_first = 3, .tensors_count = 1},
};
static uint64_t small_tensors[] = {1 * MIB, MIB / 4, MIB / 2, 2 * MIB};
static const struct ar_trace small = {.name = "small",
                                      .batch = 1,
                                      .optimizer_s = 0.25,
                                      .step_overhead_s = 0.5,
                                      .layers_count = 4,
                                      .layers = small_layers,
                                      .tensors_count = 4,
                                      .tensor_elements = small_tensors};

/* Buckets by a rule: when they are ready, their MiB of elements, and their tensors. */
struct expected {
    const char *rule, *buckets;
};

static void expect_buckets(const struct ar_trace *trace, uint32_t element_bytes,
                           const struct expected *expected)
{
    struct ar_workload *workload = make(trace, expected->rule, element_bytes);
    char text[256] = "";
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        const struct ar_bucket *found = &workload->buckets[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%g: %.9g x%u", i > 0 ? ", " : "",
                 found->ready_s, (double)found->elements / MIB, found->tensors_count);
    }
    cr_expect_str_eq(text, expected->buckets, "%s: %s", expected->rule, text);
}

Test(workload, every_rule_fuses_the_tensors_of_a_small_trace_in_backward_order)
{
    static const struct expected cases[] = {
        {"tensor", "13: 2 x1, 16: 0.5 x1, 20: 0.25 x1, 20: 1 x1"},
        {"one", "20: 3.75 x4"},
        {"horovod", "20: 3.75 x4"},
        /* The first bucket closes once it holds 1 MiB, which the first tensor does alone. */
        {"ddp", "13: 2 x1, 20: 1.75 x3"},
        {"8MiB", "13: 2 x1, 20: 1.75 x3"},
        {"10MiB", "16: 2.5 x2, 20: 1.25 x2"},
        {"11MiB", "20: 2.75 x3, 20: 1 x1"},
        {"3MiB", "13: 2 x1, 20: 0.75 x2, 20: 1 x1"},
        /* By the number of tensors, the larger groups being those of the first layers. */
        {"groups:1", "20: 3.75 x4"},
        {"groups:2", "16: 2.5 x2, 20: 1.25 x2"},
        {"groups:3", "13: 2 x1, 16: 0.5 x1, 20: 1.25 x2"},
        {"groups:4", "13: 2 x1, 16: 0.5 x1, 20: 0.25 x1, 20: 1 x1"},
        {"groups:9", "13: 2 x1, 16: 0.5 x1, 20: 0.25 x1, 20: 1 x1"},
        {"1B", "13: 2 x1, 16: 0.5 x1, 20: 0.25 x1, 20: 1 x1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_buckets(&small, 4, &cases[i]);
    }
    /* Passes follow each other. */
    struct ar_workload *workload = make(&small, "one", 4);
    cr_expect_eq(workload->forward_end_s, 0.5 + 10);
    cr_expect_eq(workload->backward_end_s, 0.5 + 10 + 9.5);
    /* Half as many bytes per element fill a bucket half as fast. */
    expect_buckets(&small, 2, &(struct expected){"5MiB", "16: 2.5 x2, 20: 1.25 x2"});
}

/* A DDP bucket may pass its threshold by its last tensor; a Horovod one may not. */
Test(workload, ddp_passes_its_threshold_by_one_tensor_where_a_size_does_not)
{
    struct ar_layer layers[] = {
        {.name = "all", .backward_s = 1, .tensors_first = 0, .tensors_count = 5}};
    uint64_t tensors[] = {9 * MIB, 10 * MIB, 10 * MIB, 10 * MIB, 1 * MIB};
    struct ar_trace trace = {
        .layers_count = 1, .layers = layers, .tensors_count = 5, .tensor_elements = tensors};
    static const struct expected cases[] = {
        {"ddp", "1: 1 x1, 1: 30 x3, 1: 9 x1"},
        {"25MiB", "1: 21 x3, 1: 19 x2"},
    };
    expect_buckets(&trace, 1, &cases[0]);
    expect_buckets(&trace, 1, &cases[1]);
}

/* --- ResNet-50 ----------------------------------------------------------------------------- */

static void check_resnet50(const struct ar_trace *trace, const char *text, uint32_t element_bytes)
{
    struct ar_workload *workload = make(trace, text, element_bytes);
    uint64_t elements = 0;
    uint32_t tensors = 0;
    double before_s = workload->forward_end_s;
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        const struct ar_bucket *bucket = &workload->buckets[i];
        elements += bucket->elements;
        tensors += bucket->tensors_count;
        cr_expect_geq(bucket->ready_s, before_s, "%s: bucket %u goes back in time", text, i);
        cr_expect_gt(bucket->tensors_count, 0);
        before_s = bucket->ready_s;
    }
    cr_expect_eq(elements, RESNET50, "%s: %lu elements", text, (unsigned long)elements);
    cr_expect_eq(tensors, 161, "%s: %u tensors", text, tensors);
    /* The first layer is a convolution with parameters: its gradient is the last of all. */
    cr_expect_eq(before_s, workload->backward_end_s, "%s", text);
    double compute_s = ar_trace_compute_s(trace);
    cr_expect_float_eq(workload->backward_end_s + trace->optimizer_s, compute_s, 1e-12 * compute_s);
}

Test(workload, every_rule_sends_all_161_tensors_of_resnet50_once)
{
    static const char *const rules[] = {"ddp",  "horovod", "one",  "tensor", "1B",
                                        "1MiB", "25MiB",   "64MB", "1TB",    "groups:20"};
    for (int precision = AR_FP16; precision <= AR_FP32; precision++) {
        struct ar_trace *trace = test_resnet50(
            (struct ar_trace_request){.batch = 32, .precision = (enum ar_precision)precision});
        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
            check_resnet50(trace, rules[i], ar_precisions[trace->precision].unit_bytes);
        }
    }
}

/* The classifier is the last layer: 1000 biases, then 2048 x 1000 weights, 2.05 M elements. */
Test(workload, the_first_ddp_bucket_of_resnet50_is_its_classifier)
{
    struct ar_trace *trace =
        test_resnet50((struct ar_trace_request){.batch = 32, .precision = AR_FP16});
    struct ar_workload *workload = make(trace, "ddp", 2);
    cr_expect_eq(workload->buckets[0].elements, 2048000 + 1000);
    cr_expect_eq(workload->buckets[0].tensors_count, 2);
    for (uint32_t i = 1; i + 1 < workload->buckets_count; i++) {
        cr_expect_geq(workload->buckets[i].elements * 2, 25 * MIB);
    }
}

/* --- rules --------------------------------------------------------------------------------- */

/* bucket_cap_mb = 25 of PyTorch, whose first bucket is of 1 MiB; 64 MiB of Horovod. */
Test(workload, thresholds_are_those_of_the_frameworks)
{
    struct ar_fusion ddp = rule("ddp");
    struct ar_fusion horovod = rule("horovod");
    cr_expect(ddp.first_bytes == MIB && ddp.bytes == 25 * MIB && ddp.closes_when_reached);
    cr_expect(horovod.first_bytes == 64 * MIB && horovod.bytes == 64 * MIB &&
              !horovod.closes_when_reached);
}

Test(workload, rules_that_are_none_and_traces_without_gradients_are_refused)
{
    static const struct {
        enum ar_status status;
        const char *expected, *texts[11];
    } rows[] = {
        {AR_USAGE,
         "expected ddp, horovod, one, tensor or a size",
         {"", "DDP", "ddp ", "horovd", "all", "-1MiB", " 25MiB", "MiB", "groups", "groups 4"}},
        {AR_USAGE,
         "expected groups:K with a whole number",
         {"groups:", "groups:0", "groups:-1", "groups:2.5", "groups:many", "groups:99999999999"}},
        {AR_USAGE, "expected a size above 0, or tensor: no fusion", {"0MiB"}},
        {AR_BAD_DATA, "found", {"25", "25Mib", "25GB/s", "2.5B", "0x10B", "1e300B"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            struct ar_fusion fusion = {.bytes = 77};
            TEST_FAILS(rows[i].status, rows[i].expected,
                       ar_fusion_parse("--fusion", *text, &fusion, &why));
            TEST_FAILS(rows[i].status, "--fusion: found ",
                       ar_fusion_parse("--fusion", *text, &fusion, &why));
            cr_expect_eq(fusion.bytes, 77);
        }
    }
    struct ar_layer layers[] = {{.name = "relu", .forward_s = 1, .backward_s = 1}};
    struct ar_trace trace = {.name = "bare", .layers_count = 1, .layers = layers};
    struct ar_fusion fusion = rule("ddp");
    struct ar_workload *workload = NULL;
    const struct ar_workload_request request = {
        .trace = &trace, .fusion = &fusion, .element_bytes = 4};
    TEST_FAILS(AR_BAD_DATA, "trace bare: found no gradients; expected a layer with parameters",
               ar_workload_make(&request, &test_arena, &workload, &why));
    cr_expect_null(workload);
}
