#include "throughput.h"

#include <stdio.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_numbers.h"
#include "ar_trace.h"

/* The files that predictions are made from. */
struct inputs {
    struct ar_arena *arena;
    struct ar_trace_file *trace;
    struct ar_device_cost *cost;
};

#define COUNT(field, name) AR_COLUMN(count, struct ar_throughput, field, name, "", .min = 1)
#define RATE                                                                                       \
    AR_COLUMN(number, struct ar_throughput, published, "images_per_s", "images/s", .min = 1e-3,    \
              .max = 1e9)

static const struct ar_column training_columns[] = {
    AR_COLUMN(string, struct ar_throughput, framework, "framework", ""),
    AR_COLUMN(string, struct ar_throughput, hardware, "hardware", ""),
    AR_COLUMN(choice, struct ar_throughput, precision, "precision", "",
              .names = ar_precision_names),
    AR_COLUMN(count, struct ar_throughput, batch, "batch_per_gpu", "", .min = 1,
              .may_be_empty = true),
    COUNT(gpus, "gpus"),
    RATE,
    AR_COLUMN(string, struct ar_throughput, batch_note, "batch_note", "", .may_be_empty = true),
    AR_COLUMN_OTHERS,
};

static const struct ar_column forward_columns[] = {COUNT(batch, "batch"), RATE};

static enum ar_status load_inputs(const char *root, const char *name, struct ar_columns columns,
                                  struct inputs *inputs, struct ar_throughput **rows,
                                  size_t *rows_count, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_arena *arena = inputs->arena;
    char path[4096];
    snprintf(path, sizeof path, "%s/traces/resnet50-v1.5.csv", root);
    AR_TRY(ar_trace_file_load(path, arena, &inputs->trace, err));
    snprintf(path, sizeof path, "%s/traces/device/v100-sxm2.cost.csv", root);
    AR_TRY(ar_device_cost_load(path, arena, &inputs->cost, err));
    snprintf(path, sizeof path, "%s/validate/data/%s.csv", root, name);
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof **rows);
    *rows_count = csv->rows_count;
    return ar_csv_read_rows(csv, columns, *rows, sizeof **rows, err);
}

static enum ar_status make_throughput_trace(const struct inputs *inputs,
                                            const struct ar_throughput *row,
                                            struct ar_trace **trace, struct ar_error *err)
{
    const struct ar_trace_request request = {.batch = row->batch, .precision = row->precision};
    return ar_trace_create(inputs->trace, inputs->cost, &request, inputs->arena, trace, err);
}

static void set_predicted(struct ar_throughput *row, double images_per_s)
{
    row->predicted = images_per_s;
    row->error_frac = images_per_s / row->published - 1;
}

enum ar_status ar_throughput_training(const char *root, struct ar_arena *arena,
                                      struct ar_throughput **rows, size_t *rows_count,
                                      struct ar_error *err)
{
    struct inputs inputs = {.arena = arena};
    size_t read = 0;
    AR_TRY(load_inputs(root, "v100_resnet50_training", AR_COLUMNS(training_columns), &inputs, rows,
                       &read, err));
    *rows_count = 0;
    for (size_t i = 0; i < read; i++) {
        struct ar_throughput *row = &(*rows)[i];
        struct ar_trace *trace;
        if (row->batch > 0) {
            AR_TRY(make_throughput_trace(&inputs, row, &trace, err));
            set_predicted(row, row->gpus * row->batch / ar_trace_compute_s(trace));
            (*rows)[(*rows_count)++] = *row;
        }
    }
    return AR_OK;
}

enum ar_status ar_throughput_forward_only(const char *root, struct ar_arena *arena,
                                          struct ar_throughput **rows, size_t *rows_count,
                                          struct ar_error *err)
{
    struct inputs inputs = {.arena = arena};
    double constant_s = 0;
    AR_TRY(load_inputs(root, "v100_resnet50_forward_only", AR_COLUMNS(forward_columns), &inputs,
                       rows, rows_count, err));
    inputs.cost->value[AR_COST_KERNEL_FLOOR][AR_FP16] = 0;
    inputs.cost->value[AR_COST_BN_FORWARD][AR_FP16] = 2; /* running statistics */
    for (size_t i = 0; i < *rows_count; i++) {
        struct ar_throughput *row = &(*rows)[i];
        struct ar_trace *trace;
        AR_TRY(make_throughput_trace(&inputs, row, &trace, err));
        double time_s = ar_trace_forward_s(trace);
        row->gpus = 1;
        constant_s = i == 0 ? row->batch / row->published - time_s : constant_s;
        set_predicted(row, row->batch / (constant_s + time_s));
    }
    return AR_OK;
}

/* --- the spread of GPUs -------------------------------------------------------------------- */

/* Expected largest of N standard normal variables, 0 for an N that is not in the table. */
static const double expected_largest[] = {
    [2] = 0.56419, [4] = 1.02938, [8] = 1.42360, [16] = 1.76599};

enum { LARGEST_MAX = sizeof expected_largest / sizeof expected_largest[0] - 1 };

static bool is_same_job(const struct ar_throughput *a, const struct ar_throughput *b)
{
    return strcmp(a->framework, b->framework) == 0 && strcmp(a->hardware, b->hardware) == 0 &&
           a->precision == b->precision && a->batch == b->batch;
}

/* The rate of one GPU in the job of `row`, 0 if it was not published. */
static double rate_of_one(const struct ar_throughput *rows, size_t rows_count,
                          const struct ar_throughput *row)
{
    for (size_t i = 0; i < rows_count; i++) {
        if (rows[i].gpus == 1 && is_same_job(&rows[i], row)) {
            return rows[i].published;
        }
    }
    return 0;
}

enum ar_status ar_gpu_spread_estimate(const struct ar_throughput *rows, size_t rows_count,
                                      enum ar_precision precision, struct ar_arena *arena,
                                      struct ar_gpu_spread *spread, struct ar_error *err)
{
    size_t count = 0;
    double *values = ar_arena_alloc(arena, rows_count + 1, sizeof *values);
    for (size_t i = 0; i < rows_count; i++) {
        double largest = rows[i].gpus <= LARGEST_MAX ? expected_largest[rows[i].gpus] : 0;
        double alone = rate_of_one(rows, rows_count, &rows[i]);
        if (rows[i].precision == precision && largest > 0 && alone > 0) {
            values[count++] = (rows[i].gpus * alone / rows[i].published - 1) / largest;
        }
    }
    if (count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "published %s rows: found none of several GPUs with one of a single "
                            "GPU beside it; expected at least one",
                            ar_precision_names[precision]);
    }
    ar_sort(values, count);
    *spread = (struct ar_gpu_spread){.rows_count = count,
                                     .low = ar_quantile(values, count, 0.25),
                                     .median = ar_quantile(values, count, 0.5),
                                     .high = ar_quantile(values, count, 0.75)};
    return AR_OK;
}
