/* Matrix products: by hand, as properties, and beside the measured ones that tables are fitted to.
 */
#include "test_shipped.h"

#include <math.h>
#include <stdlib.h>

#include "ar_csv.h"
#include "ar_device_cost.h"

struct row {
    const char *table, *source;
    enum ar_precision precision;
    uint64_t count, m, n, k;
    double time_s;
};

#define COUNT(field) AR_COLUMN(count, struct row, field, #field, "", .min = 1)

static const struct ar_column columns[] = {
    AR_COLUMN(string, struct row, table, "table", ""),
    AR_COLUMN(choice, struct row, precision, "precision", "", .names = ar_precision_names),
    AR_COLUMN(string, struct row, source, "source", ""),
    COUNT(count),
    COUNT(m),
    COUNT(n),
    COUNT(k),
    AR_COLUMN(number, struct row, time_s, "time_s", ""),
};

static struct ar_device_cost *load(const char *name)
{
    struct ar_device_cost *cost = NULL;
    struct ar_error err;
    char path[512];
    snprintf(path, sizeof path, SHIPPED("device/%s.cost.csv"), name);
    cr_assert_eq(ar_device_cost_load(path, &test_arena, &cost, &err), AR_OK, "%s", err.text);
    return cost;
}

Test(gemm, a_product_takes_whole_waves_of_tiles)
{
    struct ar_device_cost *cost = load("v100-sxm2");
    for (enum ar_cost i = AR_COST_GEMM_EDGE; i <= AR_COST_GEMM_FIXED; i++) {
        cost->value[i][AR_FP16] = 0;
    }
    cost->value[AR_COST_KERNEL_FLOOR][AR_FP16] = 0;
    cost->value[AR_COST_GEMM_EFFICIENCY][AR_FP16] = 0.5;
    /* 80 processors and tiles of 64 x 64: one wave up to 80 tiles, two from 81 on. */
    double wave_s = 80 * 2 * 64 * 64 * 4000.0 / 62.5e12;
    const struct ar_gemm one = {1, 64 * 80, 64, 4000};
    const struct ar_gemm two = {1, 64 * 80 + 1, 64, 4000};
    const struct ar_gemm batch = {80, 64, 64, 4000};
    cr_expect_float_eq(ar_device_product_s(cost, AR_FP16, &one, 0), wave_s, 1e-12);
    cr_expect_float_eq(ar_device_product_s(cost, AR_FP16, &two, 0), 2 * wave_s, 1e-12);
    cr_expect_float_eq(ar_device_product_s(cost, AR_FP16, &batch, 0), wave_s, 1e-12);
    /* Bound by memory: (5120 + 64) x 4000 operands and 5120 x 64 products of 2 bytes at 780 GB/s.
     */
    cr_expect_float_eq(ar_device_gemm_s(cost, AR_FP16, &one), 2 * (5184 * 4000.0 + 327680) / 780e9,
                       1e-12);
}

Test(gemm, a_deep_product_of_few_tiles_is_split)
{
    struct ar_device_cost *cost = load("a100-80gb-sxm");
    const struct ar_gemm shallow = {1, 64, 256, 4096};
    const struct ar_gemm deep = {1, 64, 256, 64 * 4096};
    double time_s = ar_device_gemm_s(cost, AR_BF16, &shallow);
    cr_expect(ar_device_gemm_s(cost, AR_BF16, &deep) < 12 * time_s, "not 64 times as long");
}

Test(gemm, fused_attention_computes_half_with_a_mask_and_more_backward)
{
    struct ar_device_cost *cost = load("h100-sxm");
    struct ar_attention attention = {
        .count = 32, .queries = 8192, .keys = 8192, .head_elements = 128};
    double full_s = ar_device_attention_s(cost, AR_BF16, &attention);
    cr_expect_float_eq(full_s, 4.0 * 32 * 8192 * 8192 * 128 / (0.35 * 989.4e12), 1e-9);
    attention.is_causal = true;
    cr_expect_float_eq(ar_device_attention_s(cost, AR_BF16, &attention), full_s / 2, 1e-12);
    attention.is_backward = true;
    cr_expect_float_eq(ar_device_attention_s(cost, AR_BF16, &attention), full_s * 1.25, 1e-12);
}

Test(gemm, what_is_bound_by_memory_takes_its_bytes_and_at_least_the_floor)
{
    struct ar_device_cost *cost = load("a100-80gb-sxm");
    cr_expect_float_eq(ar_device_memory_s(cost, AR_FP16, 1.83e9), 1e-3, 1e-12);
    cr_expect_float_eq(ar_device_memory_s(cost, AR_FP16, 1), 3.9e-6, 1e-15);
    cr_expect_float_eq(ar_device_peak_flops(cost, AR_TF32), 156e12, 1);
}

/* --- beside measured products ------------------------------------------------------------------
 */

static struct row *read_rows(size_t *count)
{
    struct ar_csv *csv;
    struct ar_error err;
    cr_assert_eq(ar_csv_load(SHIPPED("device/gemms.csv"), &test_arena, &csv, &err), AR_OK, "%s",
                 err.text);
    struct row *rows = ar_arena_alloc(&test_arena, csv->rows_count, sizeof *rows);
    cr_assert_eq(ar_csv_read_rows(csv, AR_COLUMNS(columns), rows, sizeof *rows, &err), AR_OK, "%s",
                 err.text);
    *count = csv->rows_count;
    return rows;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct error {
    double median, squares;
};

/* The median error and the sum of squared logarithms of the rows of a table, precision and source.
 */
static struct error error_of(const struct ar_device_cost *cost, enum ar_precision precision,
                             const char *source)
{
    size_t rows_count, count = 0;
    const struct row *rows = read_rows(&rows_count);
    double *errors = ar_arena_alloc(&test_arena, rows_count, sizeof *errors);
    struct error error = {0};
    for (size_t i = 0; i < rows_count; i++) {
        const struct row *row = &rows[i];
        const struct ar_gemm gemm = {row->count, row->m, row->n, row->k};
        if (strcmp(row->table, cost->name) == 0 && row->precision == precision &&
            strcmp(row->source, source) == 0) {
            double ratio = ar_device_gemm_s(cost, precision, &gemm) / row->time_s;
            errors[count++] = fabs(ratio - 1);
            error.squares += log(ratio) * log(ratio);
        }
    }
    cr_assert(count > 0);
    qsort(errors, count, sizeof *errors, compare);
    error.median = errors[count / 2];
    return error;
}

static const struct fit {
    const char *table;
    enum ar_precision precision;
    const char *source;
    double median;  /* as README.md says */
    bool is_fitted; /* all four values, to these rows alone */
} fits[] = {
    {"a100-80gb-sxm", AR_FP16, "vidur", 0.054, true},
    {"h100-sxm", AR_FP16, "vidur", 0.016, false},
    {"h100-sxm", AR_BF16, "xla", 0.123, false},
    {"h100-sxm", AR_TF32, "xla", 0.129, true},
    {"b200", AR_BF16, "xla", 0.009, true},
    {"b200", AR_TF32, "xla", 0.020, true},
    {"b200", AR_FP8, "xla", 0.042, true},
};

Test(gemm, measured_products_are_met_as_the_readme_says)
{
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        const struct fit *fit = &fits[i];
        struct error error = error_of(load(fit->table), fit->precision, fit->source);
        cr_expect_float_eq(error.median, fit->median, 0.001, "%s %s %s: %.4f", fit->table,
                           ar_precision_names[fit->precision], fit->source, error.median);
    }
}

Test(gemm, no_fitted_value_is_better_when_moved_by_a_tenth)
{
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        const struct fit *fit = &fits[i];
        struct ar_device_cost *cost = load(fit->table);
        double squares = error_of(cost, fit->precision, fit->source).squares;
        for (enum ar_cost j = AR_COST_GEMM_EFFICIENCY; fit->is_fitted && j <= AR_COST_GEMM_FIXED;
             j++) {
            double shipped = cost->value[j][fit->precision];
            for (int k = -1; k <= 1; k += 2) {
                cost->value[j][fit->precision] = shipped * (1 + 0.1 * k);
                cr_expect_geq(error_of(cost, fit->precision, fit->source).squares, 0.999 * squares,
                              "%s %s value %d", fit->table, ar_precision_names[fit->precision],
                              (int)j);
            }
            cost->value[j][fit->precision] = shipped;
        }
    }
}
