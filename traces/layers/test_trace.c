#include "test_traces.h"

#define DIRECTIVES "# batch = 32\n# precision = fp16\n"
#define HEADER     "layer,forward_s,backward_s,gradient_elements\n"
#define GOOD       DIRECTIVES HEADER "a,0.001,0.002,10+2\nb,0.003,0.004,\n"

static struct ar_trace *load_text(const char *text)
{
    struct ar_trace *trace = NULL;
    TEST_OK(test_load(text, strlen(text), &trace, &why));
    return trace;
}

Test(trace, the_example_file_loads_and_its_sums_are_those_of_its_columns)
{
    struct ar_trace *trace;
    TEST_OK(
        test_trace(SHIPPED("example-timed.csv"), NULL, (struct ar_trace_request){0}, &trace, &why));
    char *text = ar_arena_format(&test_arena, "%s: %s, batch %u, %s,", trace->name, trace->source,
                                 trace->batch, ar_precision_names[trace->precision]);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        text = ar_arena_format(&test_arena, "%s %u+%u", text, trace->layers[i].tensors_first,
                               trace->layers[i].tensors_count);
    }
    cr_expect_str_eq(text,
                     "example-timed: made up, to show the format, batch 32, fp16, 0+2 2+2 4+2 "
                     "6+0 6+2 8+0");
    cr_expect_float_eq(ar_trace_forward_s(trace), 0.00183, 1e-12);
    cr_expect_float_eq(ar_trace_backward_s(trace), 0.00364, 1e-12);
    cr_expect_float_eq(ar_trace_compute_s(trace), 0.00183 + 0.00364 + 0.0004 + 0.0002, 1e-12);
    cr_expect_eq(ar_trace_gradient_elements(trace),
                 9408 + 64 + 36864 + 64 + 147456 + 128 + 2048000 + 1000);
}

Test(trace, bad_cells_columns_directives_and_wholes_are_refused_with_their_line)
{
    static const char *const cases[][2] = {
        {DIRECTIVES HEADER "a,0.001,-0.003,5\n",
         "trace.csv:4: column \"backward_s\" is \"-0.003\"; expected seconds >= 0"},
        {DIRECTIVES HEADER "a,1,0,-5\n", ":4: column \"gradient_elements\" is \"-5\""},
        {DIRECTIVES HEADER "a,1,0,5+\n", ":4: column \"gradient_elements\" is \"5+\""},
        {DIRECTIVES HEADER "a,1,0,5+0\n", ":4: column \"gradient_elements\" is \"5+0\""},
        {DIRECTIVES HEADER "a,1,0,+5\n", ":4: column \"gradient_elements\" is \"+5\""},
        {DIRECTIVES HEADER "a,1,0,1.5\n", ":4: column \"gradient_elements\" is \"1.5\""},
        {DIRECTIVES HEADER "a,1,0,1125899906842625\n", "each at most 2^50"},
        {DIRECTIVES "layer,forward_s,backwards_s,gradient_elements\na,1,2,3\n",
         ":3: unknown column \"backwards_s\"; did you mean \"backward_s\"?"},
        {"# colour = red\n" GOOD, "; expected one of batch precision optimizer_s"},
        {HEADER "a,1,2,3\n", "directive \"batch\" is missing"},
        {"# batch = 32\n" HEADER "a,1,2,3\n", "directive \"precision\" is missing"},
        {"# batch = 0\n# precision = fp16\n" HEADER "a,1,2,3\n",
         ":1: directive \"batch\" is \"0\""},
        {"# batch = 9\n# precision = fp64\n" HEADER "a,1,2,3\n",
         ":2: directive \"precision\" is \"fp64\"; expected fp16, fp32"},
        {"# overhead_s = 3ms\n" GOOD, ":1: directive \"overhead_s\" is \"3ms\""},
        {DIRECTIVES HEADER, ":3: no layers follow the header"},
        {DIRECTIVES HEADER "a,1,2,3\nb,1,2,3\na,1,2,3\n",
         ":6: column \"layer\" is \"a\"; expected each layer name once"},
        {DIRECTIVES HEADER "a,1,2,0\nb,1,2,\n", "no layer has gradient elements"},
        {DIRECTIVES HEADER "a,0,0,5\n", "the times add up to 0 s; expected more than 0"},
        {DIRECTIVES HEADER "a,9e8,9e8,5\n", "the times add up to 1.8e+09 s"},
        {DIRECTIVES HEADER "a,1,2,1125899906842624+1\n", "add up to more than 2^50"},
    };
    struct ar_trace *trace = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, cases, test_load(given, strlen(given), &trace, &why));
    cr_expect_null(trace);
}

/* Weights and gradients, and 2 bytes of what convolutions, relus and fc write: 20.7 million
 * elements an image, of which NGC's MXNet trained 208 on 16 GB. */
Test(trace, the_memory_of_a_step_grows_with_the_batch)
{
    struct ar_trace_request request = {.batch = 1};
    double bytes[2];
    for (size_t i = 0; i < 2; i++) {
        bytes[i] = test_resnet50(request)->memory_bytes;
        request.batch++;
    }
    double image_bytes = bytes[1] - bytes[0];
    cr_expect_float_eq(bytes[0] - image_bytes, 2 * 2 * 25557032.0, 1);
    cr_expect(image_bytes > 35e6 && image_bytes < 50e6, "%g", image_bytes);
}

Test(trace, a_work_trace_needs_a_batch_and_a_cost_table)
{
    const char *path = SHIPPED("resnet50-v1.5.csv");
    const char *cost_path = SHIPPED("device/v100-sxm2.cost.csv");
    struct ar_trace_request request = {.batch = 0};
    struct ar_trace *trace = NULL;
    TEST_FAILS(AR_NO_INPUT, "no-such.csv: No such file or directory",
               test_trace(SHIPPED("no-such.csv"), NULL, request, &trace, &why));
    TEST_FAILS(AR_USAGE, "batch 0 was asked for",
               test_trace(path, cost_path, request, &trace, &why));
    request.batch = 1000001;
    TEST_FAILS(AR_USAGE, "batch 1000001 was asked for; expected 1 to",
               test_trace(path, cost_path, request, &trace, &why));
    request.batch = 32;
    TEST_FAILS(AR_NO_INPUT, "no-such.cost.csv: No such file",
               test_trace(path, SHIPPED("no-such.cost.csv"), request, &trace, &why));
    cr_expect_null(trace);
}

Test(trace, a_file_says_what_it_offers_and_makes_any_number_of_traces)
{
    static const struct ar_trace_request requests[] = {
        {.batch = 32}, {.batch = 64, .precision = AR_FP32}, {.batch = 32}};
    struct ar_trace_file *file = NULL;
    struct ar_device_cost *cost = NULL;
    struct ar_trace *traces[3];
    TEST_OK(ar_trace_file_load(SHIPPED("resnet50-v1.5.csv"), &test_arena, &file, &why));
    TEST_OK(ar_device_cost_load(SHIPPED("device/v100-sxm2.cost.csv"), &test_arena, &cost, &why));
    cr_expect_not(file->trace.is_timed);
    cr_expect_eq(file->trace.batch, 0);
    for (size_t i = 0; i < 3; i++) {
        TEST_OK(ar_trace_create(file, cost, &requests[i], &test_arena, &traces[i], &why));
        cr_expect_eq(ar_trace_gradient_elements(traces[i]), 25557032);
    }
    cr_expect_gt(ar_trace_compute_s(traces[1]), ar_trace_compute_s(traces[0]));
    cr_expect_eq(ar_trace_compute_s(traces[2]), ar_trace_compute_s(traces[0]));
}

#define WORK_HEADER                                                                                \
    "layer,kind,macs,input_elements,output_elements,width,channels_in,channels_out,kernel,"        \
    "stride,gradient_elements\n"

static enum ar_status load_work(const char *rows, struct ar_trace **trace, struct ar_error *err)
{
    const char *text = ar_arena_format(&test_arena, WORK_HEADER "%s", rows);
    const char *path = test_write("work.csv", text, strlen(text));
    enum ar_status status = test_trace(path, SHIPPED("device/v100-sxm2.cost.csv"),
                                       (struct ar_trace_request){.batch = 32}, trace, err);
    remove(path);
    return status;
}

Test(trace, bad_work_rows_are_refused)
{
    static const char *const rows[][2] = {
        {"a,convolution,1,1,1,1,1,1,1,1,5\n",
         ":2: column \"kind\" is \"convolution\"; expected conv, fc, local"},
        {"a,conv,0,1,1,1,1,1,1,1,5\n", "expected more than 0 for conv, fc and local"},
        {"a,fc,1,1,0,1,1,1,1,1,5\n", "expected more than 0 for conv, fc and local"},
        {"a,bn,7,1,1,1,1,1,1,1,5\n", "expected 0 for a layer that is neither"},
        {"a,conv,1,1,1,1,1,1,9999999,1,5\n", ":2: column \"kernel\" is \"9999999\""},
    };
    struct ar_trace *trace = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, rows, load_work(given, &trace, &why));
}

Test(trace, scaled_gradients_are_whole_elements_times_stay_and_too_many_are_refused)
{
    struct ar_trace *trace = load_text(DIRECTIVES HEADER "a,0.001,0.002,10+3+1\nb,0.003,0.004,\n");
    cr_expect_str_eq(trace->source, "not stated in the file");
    TEST_OK(ar_trace_scale_gradients(trace, 1, &why));
    cr_expect_eq(ar_trace_gradient_elements(trace), 14);
    TEST_OK(ar_trace_scale_gradients(trace, 0.25, &why));
    cr_expect_eq(trace->tensor_elements[0], 3, "2.5 is rounded");
    cr_expect_eq(trace->tensor_elements[1], 1);
    cr_expect_eq(trace->tensor_elements[2], 1, "no tensor vanishes");
    TEST_OK(ar_trace_scale_gradients(trace, 1000, &why));
    cr_expect_eq(ar_trace_gradient_elements(trace), 5000);
    cr_expect_float_eq(ar_trace_compute_s(trace), 0.010, 1e-15);
    trace = load_text(DIRECTIVES HEADER "a,1,2,1125899906842000\n");
    TEST_FAILS(AR_USAGE, "2 times as large; expected at most 2^50",
               ar_trace_scale_gradients(trace, 2, &why));
    cr_expect_eq(trace->tensor_elements[0], 1125899906842000);
}
