#include "ar_trace_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"
#include "trace_rows.h"

static enum ar_status read_file(const struct ar_csv *csv, struct ar_trace_file *file,
                                struct ar_error *err)
{
    bool is_work = ar_csv_has_column(csv, "kind") || ar_csv_has_column(csv, "macs");
    ar_copy_stem(file->trace.name, sizeof file->trace.name, csv->path, ".csv");
    file->path = strdup(csv->path);
    if (file->path == NULL) {
        return ar_error_no_memory(err, csv->path);
    }
    return is_work ? trace_rows_read_work(csv, &file->trace, &file->work, err)
                   : trace_rows_read_timed(csv, &file->trace, err);
}

enum ar_status ar_trace_file_load(const char *path, struct ar_trace_file **file,
                                  struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_arena arena = {NULL};
    AR_TRY(ar_csv_load(path, &arena, &csv, err));
    struct ar_trace_file *loaded = calloc(1, sizeof *loaded);
    enum ar_status status =
        loaded == NULL ? ar_error_no_memory(err, path) : read_file(csv, loaded, err);
    ar_arena_end(&arena);
    if (status != AR_OK) {
        ar_trace_file_destroy(loaded);
        return status;
    }
    *file = loaded;
    return AR_OK;
}

void ar_trace_file_destroy(struct ar_trace_file *file)
{
    if (file != NULL) {
        free(file->path);
        free(file->trace.layers);
        free(file->trace.tensor_elements);
        free(file->work);
        free(file);
    }
}

static enum ar_status check_timed(const struct ar_trace_file *file,
                                  const struct ar_trace_request *request, struct ar_error *err)
{
    const struct ar_trace *trace = &file->trace;
    if (request->batch != 0 && request->batch != trace->batch) {
        return ar_error_set(err, AR_USAGE,
                            "%s: measured at batch %" PRIu32 ", batch %" PRIu32
                            " was asked for; expected the same",
                            file->path, trace->batch, request->batch);
    }
    if (request->precision_is_given && request->precision != trace->precision) {
        return ar_error_set(
            err, AR_USAGE, "%s: measured in %s, %s was asked for; expected the same", file->path,
            ar_precision_name(trace->precision), ar_precision_name(request->precision));
    }
    return AR_OK;
}

static enum ar_status check_work(const struct ar_trace_file *file,
                                 const struct ar_device_cost *cost,
                                 const struct ar_trace_request *request, struct ar_error *err)
{
    const char *missing = request->batch == 0            ? "batch per GPU"
                          : !request->precision_is_given ? "precision"
                          : cost == NULL                 ? "device cost table"
                                                         : NULL;
    if (missing != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "%s: states the work of one image; expected a %s to be given with it",
                            file->path, missing);
    }
    if (request->batch > AR_TRACE_BATCH_MAX) {
        return ar_error_set(err, AR_USAGE, "%s: batch %u was asked for; expected 1 to %d",
                            file->path, request->batch, AR_TRACE_BATCH_MAX);
    }
    return AR_OK;
}

static enum ar_status check_seconds(const struct ar_trace_file *file, const struct ar_trace *trace,
                                    struct ar_error *err)
{
    double compute_s = ar_trace_compute_s(trace);
    if (!(compute_s > 0) || compute_s > AR_TRACE_SECONDS_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: the times add up to %g s; expected more than 0 and at most %g s",
                            file->path, compute_s, AR_TRACE_SECONDS_MAX);
    }
    return AR_OK;
}

/* What a cost table says of the work of a file. */
static void add_times(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                      const struct ar_trace_request *request, struct ar_trace *trace)
{
    struct ar_device_cost table = *cost; /* its points stay the caller's */
    enum ar_precision precision = request->precision;
    if (request->has_kernel_floor) {
        table.value[AR_COST_KERNEL_FLOOR][precision] = request->kernel_floor_s;
    }
    trace->batch = request->batch;
    trace->precision = precision;
    trace->memory_Bps = table.value[AR_COST_MEMORY][precision];
    trace->kernel_floor_s = table.value[AR_COST_KERNEL_FLOOR][precision];
    trace->step_overhead_s = table.value[AR_COST_STEP_OVERHEAD][precision];
    if (snprintf(trace->source, sizeof trace->source, "%s, times from %s (%.150s)",
                 file->trace.source, cost->name, cost->source) < 0) {
        trace->source[0] = '\0'; /* cut where it is too long */
    }
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        struct ar_layer *layer = &trace->layers[i];
        ar_device_cost_layer_s(&table, &file->work[i], precision, trace->batch, &layer->forward_s,
                               &layer->backward_s);
    }
    trace->optimizer_s =
        ar_device_cost_optimizer_s(&table, precision, ar_trace_gradient_elements(trace));
}

enum ar_status ar_trace_create(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                               const struct ar_trace_request *request, struct ar_trace **trace,
                               struct ar_error *err)
{
    struct ar_trace *made;
    AR_TRY(file->trace.is_timed ? check_timed(file, request, err)
                                : check_work(file, cost, request, err));
    AR_TRY(ar_trace_copy(&file->trace, &made, err));
    if (!made->is_timed) {
        add_times(file, cost, request, made);
    }
    enum ar_status status = check_seconds(file, made, err);
    if (status != AR_OK) {
        ar_trace_destroy(made);
        return status;
    }
    *trace = made;
    return AR_OK;
}
