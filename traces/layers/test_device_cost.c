#include "test_shipped.h"

#include "ar_device_cost.h"

static struct ar_device_cost *load(void)
{
    struct ar_device_cost *cost = NULL;
    struct ar_error err;
    cr_assert_eq(
        ar_device_cost_load(SHIPPED("device/v100-sxm2.cost.csv"), &test_arena, &cost, &err), AR_OK,
        "%s", err.text);
    return cost;
}

/* The 1x1 convolution 64 to 256 channels at 56x56, which was measured. */
static const struct ar_layer_work measured = {.kind = AR_LAYER_CONV,
                                              .macs = 51380224,
                                              .input_elements = 200704,
                                              .output_elements = 802816,
                                              .width = 56,
                                              .channels_in = 64,
                                              .channels_out = 256,
                                              .kernel = 1,
                                              .stride = 1};

Test(device_cost, a_measured_convolution_takes_its_measured_time)
{
    struct ar_device_cost *cost = load();
    cr_expect_str_eq(cost->name, "v100-sxm2");
    cr_expect_eq(cost->points.count, 60);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_FORWARD, AR_FP16, 8), 26e-6,
                       1e-12);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_FORWARD, AR_FP16, 16), 48e-6,
                       1e-12);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_FORWARD, AR_FP16, 12), 37e-6,
                       1e-12);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_BACKWARD_WEIGHTS, AR_FP32, 8),
                       143e-6, 1e-12);
}

Test(device_cost, above_the_measured_batches_an_image_adds_its_marginal_time)
{
    struct ar_device_cost *cost = load();
    /* Bound by memory: 1003520 elements of 2 bytes at 780 GB/s. */
    double marginal_s = ar_device_cost_marginal_s(cost, &measured, AR_CONV_FORWARD, AR_FP16);
    cr_expect_float_eq(marginal_s, 2007040 / 780e9, 1e-15);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_FORWARD, AR_FP16, 256),
                       48e-6 + 240 * marginal_s, 1e-12);
}

Test(device_cost, a_shape_that_was_not_measured_takes_the_common_rate)
{
    struct ar_device_cost *cost = load();
    struct ar_layer_work work = {.kind = AR_LAYER_CONV,
                                 .macs = 115605504,
                                 .input_elements = 200704,
                                 .output_elements = 200704,
                                 .width = 56,
                                 .channels_in = 64,
                                 .channels_out = 64,
                                 .kernel = 3,
                                 .stride = 1};
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &work, AR_CONV_FORWARD, AR_FP16, 100),
                       5.44e-6 + 200.0 * 115605504 / 52.1e12, 1e-12);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &work, AR_CONV_FORWARD, AR_FP32, 100),
                       27.24e-6 + 200.0 * 115605504 / 2.25 / 12.34e12, 1e-12);
    work.stride = 2; /* no Winograd */
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &work, AR_CONV_FORWARD, AR_FP32, 100),
                       27.24e-6 + 200.0 * 115605504 / 12.34e12, 1e-12);
}

Test(device_cost, the_first_convolution_has_no_gradient_of_the_data)
{
    struct ar_device_cost *cost = load();
    struct ar_layer_work first = measured;
    double forward_s, backward_s, first_backward_s;
    first.is_first = true;
    ar_device_cost_layer_s(cost, &measured, AR_FP32, 64, &forward_s, &backward_s);
    ar_device_cost_layer_s(cost, &first, AR_FP32, 64, &forward_s, &first_backward_s);
    cr_expect_float_eq(backward_s - first_backward_s,
                       ar_device_cost_conv_s(cost, &measured, AR_CONV_BACKWARD_DATA, AR_FP32, 64),
                       1e-12);
}

static void expect_layer(enum ar_layer_kind kind, enum ar_precision precision, uint32_t batch,
                         double wanted_forward_s, double wanted_backward_s)
{
    struct ar_device_cost *cost = load();
    const struct ar_layer_work work = {
        .kind = kind, .input_elements = 780000, .output_elements = 780000};
    double forward_s, backward_s;
    ar_device_cost_layer_s(cost, &work, precision, batch, &forward_s, &backward_s);
    cr_expect_float_eq(forward_s, wanted_forward_s, 1e-12, "%s", ar_layer_kinds[kind]);
    cr_expect_float_eq(backward_s, wanted_backward_s, 1e-12, "%s", ar_layer_kinds[kind]);
}

Test(device_cost, memory_bound_layers_take_bytes_over_bandwidth_and_at_least_the_floor)
{
    /* 780000 elements of 2 bytes at 780 GB/s: 2 us a pass and image; the floor is 31.8 us. */
    expect_layer(AR_LAYER_BN, AR_FP16, 100, 600e-6, 1000e-6);
    expect_layer(AR_LAYER_BN, AR_FP16, 1, 31.8e-6, 31.8e-6);
    expect_layer(AR_LAYER_BN, AR_FP32, 100, 1200e-6, 2000e-6);
    expect_layer(AR_LAYER_RELU, AR_FP16, 100, 0, 0);
    expect_layer(AR_LAYER_RELU, AR_FP32, 100, 800e-6, 1200e-6);
    expect_layer(AR_LAYER_ADD, AR_FP16, 1, 2e-6, 2e-6); /* fused: no floor */
    expect_layer(AR_LAYER_ADD, AR_FP32, 100, 1200e-6, 0);
    expect_layer(AR_LAYER_MAXPOOL, AR_FP16, 100, 400e-6, 800e-6);
    expect_layer(AR_LAYER_AVGPOOL, AR_FP16, 100, 400e-6, 400e-6);
    expect_layer(AR_LAYER_LOSS, AR_FP16, 1, 31.8e-6, 31.8e-6);
}

Test(device_cost, the_optimizer_moves_20_bytes_a_parameter)
{
    struct ar_device_cost *cost = load();
    cr_expect_float_eq(ar_device_cost_optimizer_s(cost, AR_FP16, 25557032), 20.0 * 25557032 / 780e9,
                       1e-12);
    cr_expect_float_eq(ar_device_cost_optimizer_s(cost, AR_FP32, 1), 3 * 31.8e-6, 1e-12);
}

Test(device_cost, shipped_tables_time_products_and_a_lower_precision_is_never_slower)
{
    static const char *const names[] = {"v100-sxm2", "a100-40gb-sxm", "a100-80gb-sxm",
                                        "h100-sxm",  "h200-sxm",      "b200"};
    static const enum ar_precision falling[] = {AR_FP32, AR_TF32, AR_FP16, AR_FP8};
    const struct ar_gemm gemm = {1, 8192, 8192, 8192};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        struct ar_device_cost *cost = NULL;
        struct ar_error err;
        double before_s = 1;
        snprintf(path, sizeof path, SHIPPED("device/%s.cost.csv"), names[i]);
        cr_assert_eq(ar_device_cost_load(path, &test_arena, &cost, &err), AR_OK, "%s", err.text);
        for (size_t j = 0; j < sizeof falling / sizeof falling[0]; j++) {
            if (ar_device_cost_has_group(cost, falling[j], AR_COST_OF_PRODUCTS)) {
                double time_s = ar_device_gemm_s(cost, falling[j], &gemm);
                double peak_s = 2.0 * 8192 * 8192 * 8192 / ar_device_peak_flops(cost, falling[j]);
                cr_expect(time_s < before_s && time_s > peak_s, "%s %s: %g s, %g s at the peak",
                          names[i], ar_precision_names[falling[j]], time_s, peak_s);
                before_s = time_s;
            }
        }
        cr_expect(before_s < 1, "%s", names[i]);
    }
}

/* A copy of the shipped table with another line for its convolutions. */
static const char *table_with(const char *line)
{
    static char text[20000];
    char table[16384];
    FILE *file = fopen(SHIPPED("device/v100-sxm2.cost.csv"), "rb");
    size_t bytes = fread(table, 1, sizeof table - 1, file);
    fclose(file);
    table[bytes] = '\0';
    snprintf(text, sizeof text, "%s%s", line, strstr(table, "\nquantity,"));
    return text;
}

Test(device_cost, a_table_may_do_without_measured_convolutions_and_begin_with_a_byte_order_mark)
{
    struct ar_device_cost *cost = NULL;
    struct ar_error err;
    const char *text = table_with("\xef\xbb\xbf# source = none measured");
    const char *path = test_write("plain.cost.csv", text, strlen(text));
    cr_assert_eq(ar_device_cost_load(path, &test_arena, &cost, &err), AR_OK, "%s", err.text);
    remove(path);
    cr_expect_eq(cost->points.count, 0);
    cr_expect_str_eq(cost->source, "none measured");
    double marginal_s = ar_device_cost_marginal_s(cost, &measured, AR_CONV_FORWARD, AR_FP16);
    cr_expect_float_eq(ar_device_cost_conv_s(cost, &measured, AR_CONV_FORWARD, AR_FP16, 8),
                       5.44e-6 + 8 * marginal_s, 1e-12);
}

#define HEADER "quantity,precision,value,unit,source\n"

static void expect_refused(const char *text, const char *expected)
{
    struct ar_device_cost *cost = NULL;
    struct ar_error err;
    const char *path = test_write("x.cost.csv", text, strlen(text));
    cr_expect_neq(ar_device_cost_load(path, &test_arena, &cost, &err), AR_OK);
    cr_expect_null(cost);
    cr_expect_not_null(strstr(err.text, expected), "found \"%s\"", err.text);
    remove(path);
}

Test(device_cost, bad_tables_are_refused)
{
    expect_refused(HEADER, "quantity \"memory_Bps\" is missing for fp16");
    expect_refused(HEADER "memory_Bps,any,780e9,GB/s,x\n",
                   ":2: column \"unit\" is \"GB/s\"; expected B/s, the unit of memory_Bps");
    expect_refused(HEADER "memory_Bps,any,780e9,B/s,\n",
                   ":2: column \"source\" is \"\"; expected where the value comes from");
    expect_refused(HEADER "memory_Bps,any,-1,B/s,x\n", ":2: column \"value\" is \"-1\"");
    expect_refused(HEADER "memory_bps,any,1e9,B/s,x\n",
                   ":2: column \"quantity\" is \"memory_bps\"; expected memory_Bps");
    expect_refused(HEADER "memory_Bps,fp64,1e9,B/s,x\n",
                   "expected fp16, fp32, bf16, fp8, tf32 or any");
    expect_refused(HEADER "memory_Bps,any,1e9,B/s,x\nmemory_Bps,fp32,1e9,B/s,x\n",
                   ":3: column \"quantity\" is \"memory_Bps\"; expected each quantity once");
    expect_refused("# units = SI\n" HEADER, "unknown directive \"units\"");
}

#define POINTS                                                                                     \
    "precision,batch,width,channels_in,channels_out,kernel,stride,forward_s,backward_data_s,"      \
    "backward_weights_s\n"

static void expect_points_refused(const char *points, const char *expected)
{
    char path[1024];
    char line[1100];
    snprintf(path, sizeof path, "%s", test_write("points.csv", points, strlen(points)));
    snprintf(line, sizeof line, "# convolutions = %s", strrchr(path, '/') + 1);
    expect_refused(table_with(line), expected);
    remove(path);
}

Test(device_cost, bad_convolutions_are_refused)
{
    expect_points_refused(
        POINTS "fp16,8,56,64,256,1,1,0.1,0,0.1\n",
        "points.csv:2: column \"backward_data_s\" is \"0\"; expected seconds > 0");
    expect_points_refused(POINTS "fp64,8,56,64,256,1,1,1,1,1\n",
                          "expected fp16, fp32, bf16, fp8 or tf32");
    expect_points_refused(POINTS "fp16,0,56,64,256,1,1,1,1,1\n", "column \"batch\" is \"0\"");
    expect_points_refused(POINTS "fp16,8,56,64,256,1,1,1,1,1\nfp16,8,56,64,256,1,1,2,1,1\n",
                          "channels 64 to 256, batch 8 is given twice");
    expect_points_refused("# convolutions", "no header line");
}
