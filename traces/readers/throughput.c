#include "throughput.h"

#include <stdio.h>
#include <stdlib.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_text.h"
#include "ar_trace_file.h"

enum { PATH_SIZE = 4096 };

static const char *join(const char *root, const char *file, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", root, file);
    return path;
}

double ar_throughput_error_frac(const struct ar_throughput *row)
{
    return row->predicted / row->published - 1;
}

/* What predictions are made from. */
struct inputs {
    struct ar_trace_file *trace;
    struct ar_device_cost *cost;
};

static void free_inputs(struct inputs *inputs)
{
    ar_trace_file_destroy(inputs->trace);
    ar_device_cost_destroy(inputs->cost);
}

static enum ar_status load_inputs(const char *root, struct inputs *inputs, struct ar_error *err)
{
    char path[PATH_SIZE];
    *inputs = (struct inputs){0};
    AR_TRY(ar_trace_file_load(join(root, "traces/resnet50-v1.5.csv", path), &inputs->trace, err));
    enum ar_status status = ar_device_cost_load(
        join(root, "traces/device/v100-sxm2.cost.csv", path), &inputs->cost, err);
    if (status != AR_OK) {
        free_inputs(inputs);
    }
    return status;
}

static enum ar_status make_trace(const struct inputs *inputs, uint32_t batch,
                                 enum ar_precision precision, struct ar_trace **trace,
                                 struct ar_error *err)
{
    const struct ar_trace_request request = {
        .batch = batch, .precision = precision, .precision_is_given = true};
    return ar_trace_create(inputs->trace, inputs->cost, &request, trace, err);
}

static const char *const training_columns[] = {"framework",     "hardware", "precision",
                                               "batch_per_gpu", "gpus",     "images_per_s",
                                               "batch_note",    "source"};
enum { FRAMEWORK, HARDWARE, PRECISION, BATCH, GPUS, RATE, NOTE, SOURCE, TRAINING_COUNT };

static enum ar_status read_training_row(const struct ar_csv *csv, size_t row, const size_t *places,
                                        struct ar_throughput *out, struct ar_error *err)
{
    uint64_t batch, gpus;
    const char *whole = "a whole number of at least 1";
    ar_copy_text(out->framework, sizeof out->framework, ar_csv_cell(csv, row, places[FRAMEWORK]));
    ar_copy_text(out->hardware, sizeof out->hardware, ar_csv_cell(csv, row, places[HARDWARE]));
    ar_copy_text(out->batch_note, sizeof out->batch_note, ar_csv_cell(csv, row, places[NOTE]));
    AR_TRY(ar_precision_parse("published precision", ar_csv_cell(csv, row, places[PRECISION]),
                              &out->precision, err));
    AR_TRY(ar_csv_count(csv, row, places[BATCH], 1, 100000, whole, &batch, err));
    AR_TRY(ar_csv_count(csv, row, places[GPUS], 1, 100000, whole, &gpus, err));
    AR_TRY(ar_csv_number(csv, row, places[RATE], 1e-3, 1e9, "images/s", &out->published, err));
    out->batch = (uint32_t)batch;
    out->gpus = (uint32_t)gpus;
    return AR_OK;
}

static enum ar_status predict_training(const struct inputs *inputs, struct ar_throughput *row,
                                       struct ar_error *err)
{
    struct ar_trace *trace;
    AR_TRY(make_trace(inputs, row->batch, row->precision, &trace, err));
    row->predicted = row->gpus * row->batch / ar_trace_compute_s(trace);
    ar_trace_destroy(trace);
    return AR_OK;
}

static enum ar_status read_training(const struct ar_csv *csv, const struct inputs *inputs,
                                    struct ar_throughput *rows, size_t *rows_count,
                                    struct ar_error *err)
{
    size_t places[TRAINING_COUNT];
    size_t count = 0;
    AR_TRY(ar_csv_find_columns(csv, training_columns, TRAINING_COUNT, places, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        if (ar_csv_cell(csv, i, places[BATCH])[0] != '\0') {
            AR_TRY(read_training_row(csv, i, places, &rows[count], err));
            AR_TRY(predict_training(inputs, &rows[count], err));
            count++;
        }
    }
    *rows_count = count;
    return AR_OK;
}

static enum ar_status read_forward_only(const struct ar_csv *csv, const struct inputs *inputs,
                                        struct ar_throughput *rows, size_t *rows_count,
                                        struct ar_error *err)
{
    static const char *const columns[] = {"batch", "images_per_s"};
    size_t places[2];
    double constant_s = 0;
    inputs->cost->value[AR_COST_KERNEL_FLOOR][AR_FP16] = 0;
    inputs->cost->value[AR_COST_BN_FORWARD][AR_FP16] = 2; /* running statistics */
    AR_TRY(ar_csv_find_columns(csv, columns, 2, places, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        struct ar_throughput *row = &rows[i];
        struct ar_trace *trace;
        uint64_t batch;
        AR_TRY(ar_csv_count(csv, i, places[0], 1, 100000, "a batch", &batch, err));
        AR_TRY(ar_csv_number(csv, i, places[1], 1e-3, 1e9, "images/s", &row->published, err));
        AR_TRY(make_trace(inputs, (uint32_t)batch, AR_FP16, &trace, err));
        double time_s = ar_trace_forward_s(trace);
        ar_trace_destroy(trace);
        row->gpus = 1;
        row->batch = (uint32_t)batch;
        constant_s = i == 0 ? row->batch / row->published - time_s : constant_s;
        row->predicted = row->batch / (constant_s + time_s);
    }
    *rows_count = csv->rows_count;
    return AR_OK;
}

/* Reads a published table and predicts its rows. */
typedef enum ar_status read_function(const struct ar_csv *csv, const struct inputs *inputs,
                                     struct ar_throughput *rows, size_t *rows_count,
                                     struct ar_error *err);

static enum ar_status compare(const char *root, const char *file, read_function *read,
                              struct ar_throughput **rows, size_t *rows_count, struct ar_error *err)
{
    char path[PATH_SIZE];
    struct ar_csv *csv;
    struct ar_arena arena = {NULL};
    struct inputs inputs;
    AR_TRY(load_inputs(root, &inputs, err));
    enum ar_status status = ar_csv_load(join(root, file, path), &arena, &csv, err);
    if (status != AR_OK) {
        free_inputs(&inputs);
        return status;
    }
    struct ar_throughput *made = calloc(csv->rows_count + 1, sizeof *made);
    status =
        made == NULL ? ar_error_no_memory(err, path) : read(csv, &inputs, made, rows_count, err);
    ar_arena_end(&arena);
    free_inputs(&inputs);
    if (status != AR_OK) {
        free(made);
        return status;
    }
    *rows = made;
    return AR_OK;
}

enum ar_status ar_throughput_training(const char *root, struct ar_throughput **rows,
                                      size_t *rows_count, struct ar_error *err)
{
    return compare(root, "validate/data/v100_resnet50_training.csv", read_training, rows,
                   rows_count, err);
}

enum ar_status ar_throughput_forward_only(const char *root, struct ar_throughput **rows,
                                          size_t *rows_count, struct ar_error *err)
{
    return compare(root, "validate/data/v100_resnet50_forward_only.csv", read_forward_only, rows,
                   rows_count, err);
}
