#include "ar_trace_file.h"

#include <assert.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"
#include "trace_rows.h"

enum ar_status ar_trace_file_load(const char *path, struct ar_arena *arena,
                                  struct ar_trace_file **file, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_trace_file *made = ar_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, path);
    }
    made->path = csv->path;
    ar_copy_stem(made->trace.name, sizeof made->trace.name, path, ".csv");
    AR_TRY(trace_rows_read(csv, arena, made, err));
    *file = made;
    return AR_OK;
}

static enum ar_status check_batch(const struct ar_trace_file *file,
                                  const struct ar_trace_request *request, struct ar_error *err)
{
    if (request->batch < 1 || request->batch > AR_TRACE_BATCH_MAX) {
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

/* Elements of an image that the backward pass needs again: bn reads what conv writes, conv what
 * relu writes; sums, and relus of a fused bn, leave nothing more. */
static double kept_elements(const struct ar_layer_work *work)
{
    bool is_kept =
        work->kind == AR_LAYER_CONV || work->kind == AR_LAYER_FC || work->kind == AR_LAYER_RELU;
    return is_kept ? (double)work->output_elements : 0;
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
    double bytes = ar_precision_bytes(precision);
    double elements = (double)ar_trace_gradient_elements(trace);
    trace->memory_bytes = 2 * elements * bytes; /* weights and gradients */
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        struct ar_layer *layer = &trace->layers[i];
        trace->memory_bytes += kept_elements(&file->work[i]) * trace->batch * bytes;
        ar_device_cost_layer_s(&table, &file->work[i], precision, trace->batch, &layer->forward_s,
                               &layer->backward_s);
    }
    trace->optimizer_s =
        ar_device_cost_optimizer_s(&table, precision, ar_trace_gradient_elements(trace));
}

/* The layers get times of their own; the tensors, too, may be changed. */
static enum ar_status copy_trace(const struct ar_trace *trace, struct ar_arena *arena,
                                 struct ar_trace **copy, struct ar_error *err)
{
    struct ar_trace *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_layer *layers = ar_arena_alloc(arena, trace->layers_count, sizeof *layers);
    uint64_t *elements = ar_arena_alloc(arena, trace->tensors_count, sizeof *elements);
    if (made == NULL || layers == NULL || elements == NULL) {
        return ar_error_no_memory(err, trace->name);
    }
    *made = *trace;
    made->layers = memcpy(layers, trace->layers, trace->layers_count * sizeof *layers);
    made->tensor_elements =
        memcpy(elements, trace->tensor_elements, trace->tensors_count * sizeof *elements);
    *copy = made;
    return AR_OK;
}

enum ar_status ar_trace_create(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                               const struct ar_trace_request *request, struct ar_arena *arena,
                               struct ar_trace **trace, struct ar_error *err)
{
    struct ar_trace *made = NULL;
    AR_TRY(copy_trace(&file->trace, arena, &made, err));
    if (!made->is_timed) {
        assert(cost != NULL);
        AR_TRY(check_batch(file, request, err));
        add_times(file, cost, request, made);
        made->source = ar_arena_format(arena, "%s, times from %s (%s)", file->trace.source,
                                       cost->name, cost->source);
    }
    if (made->source == NULL) {
        return ar_error_no_memory(err, "a trace");
    }
    AR_TRY(check_seconds(file, made, err));
    *trace = made;
    return AR_OK;
}
