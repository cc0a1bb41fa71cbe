#include "ar_kernel_comparison.h"

#include <math.h>
#include <string.h>

#include "ar_numbers.h"

/* Aliases are the words of PyTorch and of Hugging Face's configurations. */
#define SIZE(field, ...)                                                                           \
    AR_COLUMN(count, struct ar_measured_kernel, field, #field, "", .max = 1e9, __VA_ARGS__)
#define COMMON                                                                                     \
    AR_COLUMN(string, struct ar_measured_kernel, gpu, "gpu", "the name of a cost table",           \
              .alias = "device"),                                                                  \
        AR_COLUMN(choice, struct ar_measured_kernel, precision, "precision", "",                   \
                  .names = ar_precision_names, .alias = "dtype"),                                  \
        AR_COLUMN(number, struct ar_measured_kernel, time_s, "time_s",                             \
                  "seconds > 0 and at most 1000, as of one kernel", .min = 1e-9, .max = 1000)

static const struct ar_column product_columns[] = {COMMON, SIZE(m, .min = 1), SIZE(n, .min = 1),
                                                   SIZE(k, .min = 1)};
static const struct ar_column attention_columns[] = {
    COMMON,
    SIZE(batch, .min = 1, .alias = "batch_size"),
    SIZE(sequence, .min = 1, .alias = "seq_len"),
    SIZE(heads, .min = 1, .alias = "num_heads"),
    SIZE(kv_heads, .alias = "num_kv_heads"),
    SIZE(head_elements, .min = 1, .alias = "head_dim"),
};

static const struct ar_column directives[] = {{.name = "source",
                                               .kind = AR_COLUMN_string,
                                               .help = "",
                                               .may_be_empty = true,
                                               .may_be_missing = true}};

bool ar_kernels_are_in(const struct ar_csv *csv)
{
    return ar_csv_has_columns(csv, AR_COLUMNS(product_columns)) ||
           ar_csv_has_columns(csv, AR_COLUMNS(attention_columns));
}

enum ar_status ar_measured_kernels_read(const struct ar_csv *csv,
                                        struct ar_measured_kernels *kernels, struct ar_error *err)
{
    const char *source; /* for people, not used */
    struct ar_measured_kernels made = {.csv = csv,
                                       .count = csv->rows_count,
                                       .are_attention =
                                           !ar_csv_has_columns(csv, AR_COLUMNS(product_columns))};
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(directives), &source, err));
    AR_TRY(ar_csv_read_rows(
        csv, made.are_attention ? AR_COLUMNS(attention_columns) : AR_COLUMNS(product_columns), NULL,
        &made.list, err));
    AR_REFUSE(made.count == 0, err, AR_BAD_DATA, "%s: found no row; expected measured kernels",
              csv->path);
    *kernels = made;
    return AR_OK;
}

const char *ar_kernel_cost_name(const char *gpu)
{
    static const char *const names[][2] = {
        {"a100", "a100-80gb-sxm"}, {"h100", "h100-sxm"}, {"h200", "h200-sxm"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(gpu, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return gpu;
}

/* Time of a kernel by a table, which has the kernel's precision and, for attention, its group. */
static double find_kernel_s(const struct ar_device_cost *single,
                            const struct ar_measured_kernels *kernels,
                            const struct ar_measured_kernel *kernel)
{
    if (kernels->are_attention) {
        const struct ar_attention attention = {.count = kernel->batch * kernel->heads,
                                               .kv_count = kernel->batch * kernel->kv_heads,
                                               .queries = kernel->sequence,
                                               .keys = kernel->sequence,
                                               .head_elements = kernel->head_elements,
                                               .is_causal = true};
        return ar_device_attention_s(single, kernel->precision, &attention);
    }
    const struct ar_gemm gemm = {1, kernel->m, kernel->n, kernel->k};
    return ar_device_gemm_s(single, kernel->precision, &gemm) +
           ar_device_cast_s(single, kernel->precision, (double)kernel->m * (double)kernel->k);
}

/* --- errors -------------------------------------------------------------------------------- */

#define PERCENT                .factor = 100, .decimals = 1
#define CELL(kind, field, ...) AR_COLUMN(kind, struct ar_kernel_error, field, #field, __VA_ARGS__)
static const struct ar_column error_columns[] = {
    CELL(string, gpu, "as in the file", .heading = "gpu"),
    CELL(string, precision, "of the products", .heading = "precision"),
    CELL(string, kind, "product or attention", .heading = "kernels"),
    CELL(count, count, "measured rows", .heading = "rows"),
    CELL(number, median_frac, "of |predicted / measured - 1|", .heading = "median (%)", PERCENT),
    CELL(number, mean_frac, "of predicted / measured - 1", .heading = "mean (%)", .is_signed = true,
         PERCENT),
    CELL(number, p95_frac, "95th percentile of |predicted / measured - 1|",
         .heading = "95th percentile (%)", PERCENT),
};
const struct ar_columns ar_kernel_error_columns = AR_COLUMNS(error_columns);

struct ar_kernel_error ar_kernel_error_of(const struct ar_measured_kernels *kernels,
                                          const struct ar_measured_kernel *first,
                                          const struct ar_device_cost *single, double *errors)
{
    size_t count = 0;
    double sum = 0;
    AR_EACH(const struct ar_measured_kernel, kernel, kernels->list, kernels->count) {
        if (kernel->precision == first->precision && strcmp(kernel->gpu, first->gpu) == 0) {
            double error = find_kernel_s(single, kernels, kernel) / kernel->time_s - 1;
            sum += error;
            errors[count++] = fabs(error);
        }
    }
    ar_sort(errors, count);
    return (struct ar_kernel_error){.gpu = first->gpu,
                                    .precision = ar_precision_names[first->precision],
                                    .kind = kernels->are_attention ? "attention" : "product",
                                    .count = count,
                                    .median_frac = ar_quantile(errors, count, 0.5),
                                    .mean_frac = sum / (double)count,
                                    .p95_frac = ar_quantile(errors, count, 0.95)};
}
