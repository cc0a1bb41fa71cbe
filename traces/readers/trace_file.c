/* A trace file: layers with their tensors, and times or work; and the traces that are made of it.
 */
#include "ar_trace_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

struct row {
    struct ar_layer layer; /* without tensors */
    const char *tensors;
    struct ar_layer_work work;
};

#define ROW_COLUMNS                                                                                \
    AR_COLUMN(text, struct row, layer.name, "layer", "a name of 1 to 63 characters"),              \
        AR_COLUMN(string, struct row, tensors, "gradient_elements", "", .may_be_empty = true)

#define SECONDS(owner, field, name, is_optional)                                                   \
    AR_COLUMN(number, owner, field, name, "seconds >= 0", .max = AR_TRACE_SECONDS_MAX,             \
              .may_be_missing = is_optional)

static const struct ar_column timed_columns[] = {
    ROW_COLUMNS,
    SECONDS(struct row, layer.forward_s, "forward_s", false),
    SECONDS(struct row, layer.backward_s, "backward_s", false),
};

static const struct ar_column timed_directives[] = {
    AR_COLUMN(count, struct ar_trace, batch, "batch", "a whole number of samples from 1 to 1000000",
              .min = 1, .max = AR_TRACE_BATCH_MAX),
    AR_COLUMN(choice, struct ar_trace, precision, "precision", "", .names = ar_precision_names),
    SECONDS(struct ar_trace, optimizer_s, "optimizer_s", true),
    SECONDS(struct ar_trace, step_overhead_s, "overhead_s", true),
    AR_COLUMN(string, struct ar_trace, source, "source", "", .may_be_empty = true,
              .may_be_missing = true),
    AR_COLUMN(string, struct ar_trace, work, "work", "a trace", .may_be_missing = true),
    AR_COLUMN(string, struct ar_trace, cost_table, "cost_table", "a device cost table",
              .may_be_missing = true),
};

/* Amounts up to 2^50; sides and channels up to a million. */
#define AMOUNT(field)                                                                              \
    AR_COLUMN(count, struct row, work.field, #field, "a whole number from 0 to 2^50",              \
              .max = AR_TRACE_ELEMENTS_MAX)
#define SIDE(field) AR_COLUMN(count, struct row, work.field, #field, "", .max = 1000000)

static const struct ar_column work_columns[] = {
    ROW_COLUMNS,
    AR_COLUMN(choice, struct row, work.kind, "kind", "", .names = ar_layer_kinds),
    AMOUNT(macs),
    AMOUNT(input_elements),
    AMOUNT(output_elements),
    SIDE(width),
    SIDE(channels_in),
    SIDE(channels_out),
    SIDE(kernel),
    SIDE(stride),
};

static const struct ar_column work_directives[] = {
    AR_COLUMN(string, struct ar_trace, source, "source", "", .may_be_empty = true,
              .may_be_missing = true),
};

/* --- tensors ------------------------------------------------------------------------------ */

/* One of `2048000+1000`; `*text` moves behind it. */
static bool next_tensor(const char **text, uint64_t *elements)
{
    uint64_t value = 0;
    const char *digit = *text;
    while (*digit >= '0' && *digit <= '9' && value < AR_TRACE_ELEMENTS_MAX) {
        value = 10 * value + (uint64_t)(*digit - '0');
        digit++;
    }
    bool is_whole = digit != *text && value != 0 && value <= AR_TRACE_ELEMENTS_MAX;
    bool is_joined = digit[0] == '+' && digit[1] != '\0';
    if (!is_whole || (*digit != '\0' && !is_joined)) {
        return false;
    }
    *text = is_joined ? digit + 1 : digit;
    *elements = value;
    return true;
}

static enum ar_status add_tensors(const struct ar_csv *csv, size_t row, const char *text,
                                  struct ar_trace *trace, struct ar_layer *layer,
                                  struct ar_error *err)
{
    layer->tensors_first = trace->tensors_count;
    if (strcmp(text, "0") == 0) {
        return AR_OK;
    }
    while (*text != '\0') {
        if (!next_tensor(&text, &trace->tensor_elements[trace->tensors_count])) {
            return ar_csv_error(csv, row, "gradient_elements",
                                "elements of each tensor joined by \"+\" (2048000+1000), 0 for "
                                "none, each at most 2^50",
                                err);
        }
        trace->tensors_count++;
        layer->tensors_count++;
    }
    return AR_OK;
}

/* Tensors of all rows, and no fewer. */
static size_t tensors_max(const struct row *rows, size_t count)
{
    size_t max = count;
    for (size_t i = 0; i < count; i++) {
        for (const char *text = rows[i].tensors; *text != '\0'; text++) {
            max += *text == '+';
        }
    }
    return max;
}

/* --- the whole ---------------------------------------------------------------------------- */

static int compare_layers(const void *a, const void *b)
{
    const struct ar_layer *left = *(const struct ar_layer *const *)a;
    const struct ar_layer *right = *(const struct ar_layer *const *)b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

static enum ar_status check_names(const struct ar_csv *csv, struct ar_arena *arena,
                                  const struct ar_trace *trace, struct ar_error *err)
{
    const struct ar_layer **sorted = ar_arena_alloc(arena, trace->layers_count, sizeof *sorted);
    AR_NEED(sorted, err, csv->path);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sorted[i] = &trace->layers[i];
    }
    qsort(sorted, trace->layers_count, sizeof *sorted, compare_layers);
    for (uint32_t i = 1; i < trace->layers_count; i++) {
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            return ar_csv_error(csv, (size_t)(sorted[i] - trace->layers), "layer",
                                "each layer name once", err);
        }
    }
    return AR_OK;
}

static enum ar_status check_tensors(const struct ar_csv *csv, const struct ar_trace *trace,
                                    struct ar_error *err)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        elements += trace->tensor_elements[i];
        if (elements > AR_TRACE_ELEMENTS_MAX) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: gradient_elements add up to more than 2^50; expected less",
                                csv->path);
        }
    }
    if (elements == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: no layer has gradient elements; expected at least one tensor to "
                            "sum over the GPUs",
                            csv->path);
    }
    return AR_OK;
}

static enum ar_status take_layers(const struct ar_csv *csv, struct ar_arena *arena,
                                  const struct row *rows, struct ar_trace *trace,
                                  struct ar_error *err)
{
    trace->layers = ar_arena_alloc(arena, csv->rows_count, sizeof *trace->layers);
    trace->tensor_elements =
        ar_arena_alloc(arena, tensors_max(rows, csv->rows_count), sizeof *trace->tensor_elements);
    AR_NEED(trace->layers && trace->tensor_elements, err, csv->path);
    for (size_t i = 0; i < csv->rows_count; i++) {
        struct ar_layer *layer = &trace->layers[trace->layers_count++];
        *layer = rows[i].layer;
        AR_TRY(add_tensors(csv, i, rows[i].tensors, trace, layer, err));
    }
    AR_TRY(check_names(csv, arena, trace, err));
    return check_tensors(csv, trace, err);
}

static enum ar_status take_work(const struct ar_csv *csv, struct ar_arena *arena,
                                const struct row *rows, struct ar_layer_work **work,
                                struct ar_error *err)
{
    bool had_macs = false;
    struct ar_layer_work *list = ar_arena_alloc(arena, csv->rows_count, sizeof *list);
    AR_NEED(list, err, csv->path);
    for (size_t i = 0; i < csv->rows_count; i++) {
        list[i] = rows[i].work;
        bool has_macs = list[i].kind == AR_LAYER_CONV || list[i].kind == AR_LAYER_FC;
        if ((list[i].macs > 0) != has_macs) {
            return ar_csv_error(csv, i, "macs",
                                has_macs ? "more than 0 for conv and fc"
                                         : "0 for a layer that is neither conv nor fc",
                                err);
        }
        if (has_macs && (list[i].input_elements == 0 || list[i].output_elements == 0)) {
            return ar_csv_error(csv, i,
                                list[i].input_elements == 0 ? "input_elements" : "output_elements",
                                "more than 0 for conv and fc", err);
        }
        list[i].is_first = has_macs && !had_macs;
        had_macs = had_macs || has_macs;
    }
    *work = list;
    return AR_OK;
}

static enum ar_status read_file(const struct ar_csv *csv, struct ar_arena *arena,
                                struct ar_trace_file *file, struct ar_error *err)
{
    struct ar_trace *trace = &file->trace;
    bool is_work = ar_csv_has_column(csv, "kind") || ar_csv_has_column(csv, "macs");
    trace->is_timed = !is_work;
    trace->source = is_work ? "work table" : "not stated in the file";
    AR_TRY(ar_csv_read_directives(
        csv, is_work ? AR_COLUMNS(work_directives) : AR_COLUMNS(timed_directives), trace, err));
    struct row *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *rows);
    AR_NEED(rows, err, csv->path);
    for (size_t i = 0; i < csv->rows_count; i++) {
        rows[i].tensors = "";
    }
    AR_TRY(ar_csv_read_rows(csv, is_work ? AR_COLUMNS(work_columns) : AR_COLUMNS(timed_columns),
                            rows, sizeof *rows, err));
    if (csv->rows_count == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": no layers follow the header",
                            csv->path, csv->header_line);
    }
    AR_TRY(take_layers(csv, arena, rows, trace, err));
    return is_work ? take_work(csv, arena, rows, &file->work, err) : AR_OK;
}

enum ar_status ar_trace_file_load(const char *path, struct ar_arena *arena,
                                  struct ar_trace_file **file, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_trace_file *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, path);
    made->path = csv->path;
    ar_copy_stem(made->trace.name, sizeof made->trace.name, path, ".csv");
    AR_TRY(read_file(csv, arena, made, err));
    *file = made;
    return AR_OK;
}

/* --- traces ------------------------------------------------------------------------------- */

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

/* Elements of a sample that the backward pass needs again: bn reads what conv writes, conv what
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
    double bytes = ar_precision_bytes(ar_precision_stored(precision));
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
    AR_NEED(made && layers && elements, err, trace->name);
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
    AR_NEED(made->source, err, "a trace");
    AR_TRY(check_seconds(file, made, err));
    *trace = made;
    return AR_OK;
}
