#include <criterion/criterion.h>

#include "throughput.h"

#define ROOT AR_TEST_SOURCE_DIR

static struct ar_arena arena; /* of a test, which is a process */

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

Test(gpu_spread, gpus_that_lose_what_the_slowest_of_eight_costs_give_the_variation_back)
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

Test(gpu_spread, rows_without_one_of_a_single_gpu_are_refused)
{
    const struct ar_throughput rows[] = {row_of("A", 8, 3000), row_of("B", 1, 400)};
    struct ar_gpu_spread spread;
    struct ar_error err;
    cr_expect_eq(ar_gpu_spread_estimate(rows, 2, AR_FP32, &arena, &spread, &err), AR_BAD_DATA);
    cr_expect_eq(ar_gpu_spread_estimate(rows, 2, AR_FP16, &arena, &spread, &err), AR_BAD_DATA);
}

/* The jitter of the shipped frameworks and the figures of traces/README.md. */
Test(gpu_spread, published_nodes_vary_by_two_percent)
{
    struct ar_throughput *rows = NULL;
    size_t rows_count;
    struct ar_gpu_spread spread;
    struct ar_error err;
    cr_assert_eq(ar_throughput_training(ROOT, &arena, &rows, &rows_count, &err), AR_OK, "%s",
                 err.text);
    cr_assert_eq(ar_gpu_spread_estimate(rows, rows_count, AR_FP32, &arena, &spread, &err), AR_OK);
    cr_expect_float_eq(spread.median, 0.02, 0.0005);
    cr_assert_eq(ar_gpu_spread_estimate(rows, rows_count, AR_FP16, &arena, &spread, &err), AR_OK);
}
