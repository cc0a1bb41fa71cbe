#include "accuracy.h"

#include <stdio.h>
#include <stdlib.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_text.h"
#include "trace_build.h"

enum { PATH_SIZE = 4096 };

static const char *join(const char *folder, const char *file, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, file);
    return path;
}

double ar_accuracy_error_frac(const struct ar_accuracy_row *row)
{
    return row->predicted / row->published - 1;
}

enum ar_status ar_accuracy_load(const char *folder, uint32_t batch, enum ar_precision precision,
                                struct ar_trace **trace, struct ar_error *err)
{
    char path[PATH_SIZE];
    char cost_path[PATH_SIZE];
    const struct ar_trace_request request = {.path = join(folder, "resnet50-v1.5.csv", path),
                                             .cost_path =
                                                 join(folder, "v100-sxm2.cost.csv", cost_path),
                                             .batch = batch,
                                             .precision = precision,
                                             .precision_is_given = 1};
    return ar_trace_load(&request, trace, err);
}

static const char *const training_columns[] = {"framework",     "hardware", "precision",
                                               "batch_per_gpu", "gpus",     "images_per_s",
                                               "batch_note",    "source"};
enum { FRAMEWORK, HARDWARE, PRECISION, BATCH, GPUS, RATE, NOTE, SOURCE, TRAINING_COUNT };

static enum ar_status read_training_row(const struct ar_csv *csv, size_t row, const size_t *places,
                                        struct ar_accuracy_row *out, struct ar_error *err)
{
    uint64_t batch, gpus;
    const char *whole = "a whole number of at least 1";
    ar_copy_text(out->framework, sizeof out->framework, ar_csv_cell(csv, row, places[FRAMEWORK]));
    ar_copy_text(out->hardware, sizeof out->hardware, ar_csv_cell(csv, row, places[HARDWARE]));
    ar_copy_text(out->batch_note, sizeof out->batch_note, ar_csv_cell(csv, row, places[NOTE]));
    enum ar_status status = ar_precision_parse(
        "published precision", ar_csv_cell(csv, row, places[PRECISION]), &out->precision, err);
    if (status == AR_OK) {
        status = ar_csv_count(csv, row, places[BATCH], 1, 100000, whole, &batch, err);
    }
    if (status == AR_OK) {
        status = ar_csv_count(csv, row, places[GPUS], 1, 100000, whole, &gpus, err);
    }
    if (status == AR_OK) {
        status = ar_csv_number(csv, row, places[RATE], 1e-3, 1e9, "images/s", &out->published, err);
    }
    if (status == AR_OK) {
        out->batch = (uint32_t)batch;
        out->gpus = (uint32_t)gpus;
    }
    return status;
}

static enum ar_status predict_training(const char *folder, struct ar_accuracy_row *row,
                                       struct ar_error *err)
{
    struct ar_trace *trace;
    enum ar_status status = ar_accuracy_load(folder, row->batch, row->precision, &trace, err);
    if (status == AR_OK) {
        row->predicted = row->gpus * row->batch / ar_trace_compute_s(trace);
        ar_trace_destroy(trace);
    }
    return status;
}

static enum ar_status read_training(const struct ar_csv *csv, const char *folder,
                                    struct ar_accuracy_row *rows, size_t *rows_count,
                                    struct ar_error *err)
{
    size_t places[TRAINING_COUNT];
    size_t count = 0;
    enum ar_status status = ar_csv_find_columns(csv, training_columns, TRAINING_COUNT, places, err);
    for (size_t i = 0; status == AR_OK && i < csv->rows_count; i++) {
        if (ar_csv_cell(csv, i, places[BATCH])[0] == '\0') {
            continue;
        }
        status = read_training_row(csv, i, places, &rows[count], err);
        if (status == AR_OK) {
            status = predict_training(folder, &rows[count], err);
            count++;
        }
    }
    *rows_count = count;
    return status;
}

/* Loads a published table with zeroed rows of results beside it. */
static enum ar_status open_published(const char *folder, const char *file, struct ar_csv **csv,
                                     struct ar_accuracy_row **rows, struct ar_error *err)
{
    char path[PATH_SIZE];
    enum ar_status status = ar_csv_load(join(folder, file, path), csv, err);
    if (status != AR_OK) {
        return status;
    }
    *rows = calloc((*csv)->rows_count + 1, sizeof **rows);
    if (*rows == NULL) {
        ar_csv_destroy(*csv);
        return ar_error_no_memory(err, path);
    }
    return AR_OK;
}

static enum ar_status close_published(struct ar_csv *csv, struct ar_accuracy_row *read,
                                      enum ar_status status, struct ar_accuracy_row **rows)
{
    ar_csv_destroy(csv);
    if (status == AR_OK) {
        *rows = read;
    } else {
        free(read);
    }
    return status;
}

enum ar_status ar_accuracy_training(const char *folder, struct ar_accuracy_row **rows,
                                    size_t *rows_count, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_accuracy_row *read;
    enum ar_status status =
        open_published(folder, "../validate/data/v100_resnet50_training.csv", &csv, &read, err);
    if (status != AR_OK) {
        return status;
    }
    status = read_training(csv, folder, read, rows_count, err);
    return close_published(csv, read, status, rows);
}

/* Time of the forward kernels alone, bn with running statistics. */
static enum ar_status forward_s(const struct ar_csv *work, const struct ar_device_cost *cost,
                                uint32_t batch, double *time_s, struct ar_error *err)
{
    const struct ar_trace_request request = {.batch = batch, .precision = AR_FP16};
    struct ar_trace *trace;
    enum ar_status status = ar_trace_read_work(work, &request, cost, &trace, err);
    if (status == AR_OK) {
        *time_s = ar_trace_forward_s(trace);
        ar_trace_destroy(trace);
    }
    return status;
}

static enum ar_status read_forward_only(const struct ar_csv *csv, const struct ar_csv *work,
                                        const struct ar_device_cost *cost,
                                        struct ar_accuracy_row *rows, struct ar_error *err)
{
    static const char *const columns[] = {"batch", "images_per_s"};
    size_t places[2];
    double constant_s = 0;
    enum ar_status status = ar_csv_find_columns(csv, columns, 2, places, err);
    for (size_t i = 0; status == AR_OK && i < csv->rows_count; i++) {
        struct ar_accuracy_row *row = &rows[i];
        uint64_t batch = 1;
        double time_s;
        row->gpus = 1;
        status = ar_csv_count(csv, i, places[0], 1, 100000, "a batch", &batch, err);
        if (status == AR_OK) {
            status = ar_csv_number(csv, i, places[1], 1e-3, 1e9, "images/s", &row->published, err);
        }
        if (status == AR_OK) {
            status = forward_s(work, cost, (uint32_t)batch, &time_s, err);
        }
        if (status == AR_OK) {
            row->batch = (uint32_t)batch;
            constant_s = i == 0 ? row->batch / row->published - time_s : constant_s;
            row->predicted = row->batch / (constant_s + time_s);
        }
    }
    return status;
}

static enum ar_status load_inference(const char *folder, struct ar_csv **work,
                                     struct ar_device_cost **cost, struct ar_error *err)
{
    char path[PATH_SIZE];
    enum ar_status status = ar_csv_load(join(folder, "resnet50-v1.5.csv", path), work, err);
    if (status != AR_OK) {
        return status;
    }
    status = ar_device_cost_load(join(folder, "v100-sxm2.cost.csv", path), cost, err);
    if (status != AR_OK) {
        ar_csv_destroy(*work);
        return status;
    }
    (*cost)->value[AR_COST_KERNEL_FLOOR][AR_FP16] = 0;
    (*cost)->value[AR_COST_BN_FORWARD][AR_FP16] = 2;
    return AR_OK;
}

enum ar_status ar_accuracy_forward_only(const char *folder, struct ar_accuracy_row **rows,
                                        size_t *rows_count, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_csv *work;
    struct ar_device_cost *cost;
    struct ar_accuracy_row *read;
    enum ar_status status =
        open_published(folder, "../validate/data/v100_resnet50_forward_only.csv", &csv, &read, err);
    if (status != AR_OK) {
        return status;
    }
    status = load_inference(folder, &work, &cost, err);
    if (status == AR_OK) {
        status = read_forward_only(csv, work, cost, read, err);
        ar_csv_destroy(work);
        ar_device_cost_destroy(cost);
    }
    if (status == AR_OK) {
        *rows_count = csv->rows_count;
    }
    return close_published(csv, read, status, rows);
}
