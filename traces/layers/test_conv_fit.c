/* The fixed times and rates of v100-sxm2 are the fit to the measured convolutions and nothing else:
 * the fit is done again here from the shipped points. */
#include <criterion/criterion.h>
#include <math.h>

#include "ar_device_cost.h"

static struct ar_arena test_arena; /* of a test, which is a process */

#define COST_PATH AR_TEST_SOURCE_DIR "/traces/device/v100-sxm2.cost.csv"

static const enum ar_cost rates[] = {AR_COST_FORWARD_RATE, AR_COST_DATA_RATE, AR_COST_WEIGHTS_RATE};
static const enum ar_cost fixed[] = {AR_COST_FORWARD_FIXED, AR_COST_DATA_FIXED,
                                     AR_COST_WEIGHTS_FIXED};

static struct ar_layer_work work_of(const struct ar_conv_point *point)
{
    uint64_t width = point->width / point->stride;
    uint64_t inputs = (uint64_t)point->width * point->width * point->channels_in;
    uint64_t outputs = width * width * point->channels_out;
    return (struct ar_layer_work){.kind = AR_LAYER_CONV,
                                  .macs =
                                      outputs * point->channels_in * point->kernel * point->kernel,
                                  .input_elements = inputs,
                                  .output_elements = outputs,
                                  .width = point->width,
                                  .kernel = point->kernel,
                                  .stride = point->stride};
}

static bool is_left_out(const struct ar_conv_point *point, const struct ar_conv_point *out)
{
    return out != NULL && point->width == out->width && point->channels_in == out->channels_in &&
           point->channels_out == out->channels_out && point->stride == out->stride;
}

/* Sum of squared relative errors at the rate in `cost`, with the best fixed time. */
static double residual(const struct ar_device_cost *cost, enum ar_conv_pass pass,
                       enum ar_precision precision, const struct ar_conv_point *out,
                       double *fixed_s)
{
    double xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < cost->points.count; i++) {
        const struct ar_conv_point *point = &cost->points.list[i];
        if (point->precision != precision || is_left_out(point, out)) {
            continue;
        }
        const struct ar_layer_work work = work_of(point);
        double x = 1 / point->time_s[pass];
        double y = 1 - x * point->batch * ar_device_cost_marginal_s(cost, &work, pass, precision);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    *fixed_s = fmax(0, xy / xx);
    return yy - 2 * *fixed_s * xy + *fixed_s * *fixed_s * xx;
}

/* Scans the rate in steps of 0.05 %; leaves the best in `cost`. */
static void fit(struct ar_device_cost *cost, enum ar_conv_pass pass, enum ar_precision precision,
                const struct ar_conv_point *out)
{
    double max = precision == AR_FP16 ? 125e12 : 15.7e12; /* peak of a V100 SXM2 */
    double best = INFINITY, best_rate = 0, best_fixed_s = 0;
    for (double rate = max / 10; rate <= max; rate *= 1.0005) {
        double fixed_s;
        cost->value[rates[pass]][precision] = rate;
        double found = residual(cost, pass, precision, out, &fixed_s);
        if (found < best) {
            best = found;
            best_rate = rate;
            best_fixed_s = fixed_s;
        }
    }
    cost->value[rates[pass]][precision] = best_rate;
    cost->value[fixed[pass]][precision] = best_fixed_s;
}

static struct ar_device_cost *load(void)
{
    struct ar_device_cost *cost = NULL;
    struct ar_error err;
    cr_assert_eq(ar_device_cost_load(COST_PATH, &test_arena, &cost, &err), AR_OK, "%s", err.text);
    return cost;
}

Test(conv_fit, the_shipped_rates_are_the_fit_to_the_shipped_points)
{
    struct ar_device_cost *shipped = load();
    struct ar_device_cost *refit = load();
    for (int i = 0; i < 2 * AR_CONV_PASSES_COUNT; i++) {
        enum ar_conv_pass pass = (enum ar_conv_pass)(i / 2);
        enum ar_precision precision = (enum ar_precision)(i % 2);
        fit(refit, pass, precision, NULL);
        double rate = refit->value[rates[pass]][precision];
        double fixed_s = refit->value[fixed[pass]][precision];
        cr_expect_float_eq(shipped->value[rates[pass]][precision], rate, 0.002 * rate, "%g", rate);
        cr_expect_float_eq(shipped->value[fixed[pass]][precision], fixed_s, 0.01 * fixed_s, "%g",
                           fixed_s);
    }
}

/* Root mean square relative error on shapes that the fit has not seen. */
static double held_out_error(enum ar_conv_pass pass, enum ar_precision precision)
{
    struct ar_device_cost *cost = load();
    double sum = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < cost->points.count; i++) {
        const struct ar_conv_point *point = &cost->points.list[i];
        if (point->precision != precision) {
            continue;
        }
        const struct ar_layer_work work = work_of(point);
        fit(cost, pass, precision, point);
        double time_s = cost->value[fixed[pass]][precision] +
                        point->batch * ar_device_cost_marginal_s(cost, &work, pass, precision);
        sum += pow(time_s / point->time_s[pass] - 1, 2);
        count++;
    }
    return sqrt(sum / count);
}

Test(conv_fit, a_shape_left_out_of_the_fit_is_predicted_within_a_third)
{
    for (int i = 0; i < 2 * AR_CONV_PASSES_COUNT; i++) {
        double error = held_out_error((enum ar_conv_pass)(i / 2), (enum ar_precision)(i % 2));
        cr_expect(error > 0.15 && error < 0.35, "pass %d %s: %.3f", i / 2,
                  ar_precision_names[i % 2], error);
    }
}
