#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "throughput.h"

#define ROOT AR_TEST_SOURCE_DIR

static struct ar_arena arena; /* of a test, which is a process */

static struct ar_throughput *training(size_t *rows_count)
{
    struct ar_throughput *rows = NULL;
    struct ar_error err;
    cr_assert_eq(ar_throughput_training(ROOT, &arena, &rows, rows_count, &err), AR_OK, "%s",
                 err.text);
    return rows;
}

static bool is_mxnet(const struct ar_throughput *row)
{
    return strncmp(row->framework, "MXNet", 5) == 0;
}

Test(throughput, one_gpu_training_in_mxnet_is_met_within_10_percent)
{
    size_t rows_count;
    size_t checked = 0;
    struct ar_throughput *rows = training(&rows_count);
    for (size_t i = 0; i < rows_count; i++) {
        if (is_mxnet(&rows[i]) && rows[i].gpus == 1) {
            cr_expect_lt(fabs(rows[i].error_frac), 0.10, "%s %s batch %u: %.1f", rows[i].framework,
                         ar_precision_names[rows[i].precision], rows[i].batch, rows[i].predicted);
            cr_expect(rows[i].batch >= 96 && rows[i].batch <= 256);
            checked++;
        }
    }
    cr_expect_eq(checked, 10);
}

Test(throughput, a_node_in_mxnet_is_met_within_14_percent_without_communication)
{
    size_t rows_count;
    size_t checked = 0;
    struct ar_throughput *rows = training(&rows_count);
    for (size_t i = 0; i < rows_count; i++) {
        if (is_mxnet(&rows[i]) && rows[i].gpus > 1) {
            double error = rows[i].error_frac;
            cr_expect(error > -0.08 && error < 0.14, "%u GPUs %s batch %u: %.3f", rows[i].gpus,
                      ar_precision_names[rows[i].precision], rows[i].batch, error);
            checked++;
        }
    }
    cr_expect_eq(checked, 32);
}

Test(throughput, single_precision_in_other_frameworks_is_met_within_13_percent)
{
    size_t rows_count;
    struct ar_throughput *rows = training(&rows_count);
    for (size_t i = 0; i < rows_count; i++) {
        if (rows[i].gpus == 1 && rows[i].precision == AR_FP32) {
            cr_expect_lt(fabs(rows[i].error_frac), 0.13, "%s", rows[i].framework);
        }
    }
}

Test(throughput, forward_only_is_met_within_10_percent_up_to_batch_64)
{
    struct ar_throughput *rows;
    size_t rows_count;
    struct ar_error err;
    cr_assert_eq(ar_throughput_forward_only(ROOT, &arena, &rows, &rows_count, &err), AR_OK, "%s",
                 err.text);
    cr_expect_eq(rows_count, 8);
    for (size_t i = 0; i < rows_count; i++) {
        double max = rows[i].batch <= 64 ? 0.10 : 0.15;
        cr_expect_lt(fabs(rows[i].error_frac), max, "batch %u: %.1f", rows[i].batch,
                     rows[i].predicted);
    }
}

Test(throughput, a_missing_folder_is_one_error_line)
{
    struct ar_throughput *rows = NULL;
    size_t rows_count;
    struct ar_error err;
    cr_expect_eq(ar_throughput_training("/no/such", &arena, &rows, &rows_count, &err), AR_NO_INPUT);
    cr_expect_eq(ar_throughput_forward_only("/no/such", &arena, &rows, &rows_count, &err),
                 AR_NO_INPUT);
    cr_expect_null(rows);
}

/* --- the spread of GPUs -------------------------------------------------------------------- */

static struct ar_throughput row_of(const char *framework, uint32_t gpus, double published)
{
    struct ar_throughput row = {.framework = framework,
                                .hardware = "",
                                .precision = AR_FP32,
                                .batch = 96,
                                .gpus = gpus,
                                .published = published};
    return row;
}

Test(throughput, gpus_that_lose_what_the_slowest_of_eight_costs_give_the_variation_back)
{
    const struct ar_throughput rows[] = {row_of("A", 1, 400),
                                         row_of("A", 8, 8 * 400 / (1 + 0.02 * 1.42360)),
                                         row_of("A", 2, 2 * 400 / (1 + 0.01 * 0.56419)),
                                         row_of("A", 16, 16 * 400 / (1 + 0.06 * 1.76599)),
                                         row_of("B", 8, 1),
                                         row_of("A", 3, 1)};
    struct ar_gpu_spread spread;
    struct ar_error err;
    cr_assert_eq(ar_gpu_spread_estimate(rows, 6, AR_FP32, &arena, &spread, &err), AR_OK);
    cr_expect_eq(spread.rows_count, 3);
    cr_expect_float_eq(spread.median, 0.02, 1e-9);
    cr_expect_float_eq(spread.low, 0.015, 1e-9);
    cr_expect_float_eq(spread.high, 0.04, 1e-9);
}

Test(throughput, rows_without_one_of_a_single_gpu_are_refused)
{
    const struct ar_throughput rows[] = {row_of("A", 8, 3000), row_of("B", 1, 400)};
    struct ar_gpu_spread spread;
    struct ar_error err;
    cr_expect_eq(ar_gpu_spread_estimate(rows, 2, AR_FP32, &arena, &spread, &err), AR_BAD_DATA);
    cr_expect_eq(ar_gpu_spread_estimate(rows, 2, AR_FP16, &arena, &spread, &err), AR_BAD_DATA);
}

/* The jitter of the shipped frameworks and the figures of traces/README.md. */
Test(throughput, published_nodes_vary_by_two_percent)
{
    size_t rows_count;
    struct ar_gpu_spread spread;
    struct ar_error err;
    struct ar_throughput *rows = training(&rows_count);
    cr_assert_eq(ar_gpu_spread_estimate(rows, rows_count, AR_FP32, &arena, &spread, &err), AR_OK);
    cr_expect_float_eq(spread.median, 0.02, 0.0005);
    cr_assert_eq(ar_gpu_spread_estimate(rows, rows_count, AR_FP16, &arena, &spread, &err), AR_OK);
}
