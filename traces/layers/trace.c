/* Traces: sums, scaling; the file, layers with tensors and times or work, and traces made of it. */
#include "ar_trace.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_numbers.h"
#include "ar_text.h"

/* --- sums and scaling ---------------------------------------------------------------------- */

double ar_trace_forward_s(const struct ar_trace *trace)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sum_s += trace->layers[i].forward_s;
    }
    return sum_s;
}

double ar_trace_backward_s(const struct ar_trace *trace)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sum_s += trace->layers[i].backward_s;
    }
    return sum_s;
}

double ar_trace_compute_s(const struct ar_trace *trace)
{
    return trace->step_overhead_s + ar_trace_forward_s(trace) + ar_trace_backward_s(trace) +
           trace->optimizer_s;
}

uint64_t ar_trace_gradient_elements(const struct ar_trace *trace)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        sum += trace->tensor_elements[i];
    }
    return sum;
}

uint64_t ar_trace_layer_elements(const struct ar_trace *trace, uint32_t layer)
{
    const struct ar_layer *at = &trace->layers[layer];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < at->tensors_count; i++) {
        sum += trace->tensor_elements[at->tensors_first + i];
    }
    return sum;
}

enum ar_status ar_trace_scale_gradients(struct ar_trace *trace, double scale, struct ar_error *err)
{
    double sum = 0;
    assert(scale > 0);
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        sum += fmax(1, round((double)trace->tensor_elements[i] * scale));
    }
    AR_REFUSE(sum > (double)AR_TRACE_ELEMENTS_MAX, err, AR_USAGE,
              "trace %s: found %.3g gradient elements with gradients %g times as large; expected "
              "at most 2^50",
              trace->name, sum, scale);
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        double scaled = fmax(1, round((double)trace->tensor_elements[i] * scale));
        trace->tensor_elements[i] = (uint64_t)scaled;
    }
    return AR_OK;
}

void ar_trace_scale(struct ar_trace *trace, double factor)
{
    trace->step_overhead_s *= factor;
    trace->optimizer_s *= factor;
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        trace->layers[i].forward_s *= factor;
        trace->layers[i].backward_s *= factor;
    }
}

/* --- columns of the file ------------------------------------------------------------------- */

struct trace_row {
    struct ar_layer layer; /* without tensors */
    const char *tensors;
    struct ar_layer_work work;
};

#define ROW_COLUMNS                                                                                \
    AR_COLUMN(text, struct trace_row, layer.name, "layer", "a name of 1 to 63 characters"),        \
        AR_COLUMN(string, struct trace_row, tensors, "gradient_elements", "",                      \
                  .may_be_empty = true)

#define SECONDS(owner, field, name, is_optional)                                                   \
    AR_COLUMN(number, owner, field, name, "seconds >= 0", .max = AR_TRACE_SECONDS_MAX,             \
              .may_be_missing = is_optional)

static const struct ar_column timed_columns[] = {
    ROW_COLUMNS,
    SECONDS(struct trace_row, layer.forward_s, "forward_s", false),
    SECONDS(struct trace_row, layer.backward_s, "backward_s", false),
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
    AR_COLUMN(count, struct trace_row, work.field, #field, "a whole number from 0 to 2^50",        \
              .max = AR_TRACE_ELEMENTS_MAX)
#define SIDE(field) AR_COLUMN(count, struct trace_row, work.field, #field, "", .max = 1000000)

static const struct ar_column work_columns[] = {
    ROW_COLUMNS,
    AR_COLUMN(choice, struct trace_row, work.kind, "kind", "", .names = ar_layer_kinds),
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

/* --- the whole ----------------------------------------------------------------------------- */

AR_ORDER(compare_layer_names, struct ar_layer *const, strcmp((*a)->name, (*b)->name),
         AR_COMPARE(*a, *b))

static enum ar_status read_layers(const struct ar_csv *csv, struct ar_arena *arena,
                                  const struct trace_row *rows, struct ar_trace *trace,
                                  struct ar_error *err)
{
    size_t tensors_max = csv->rows_count;
    uint64_t elements = 0;
    for (size_t i = 0; i < csv->rows_count; i++) {
        for (const char *text = rows[i].tensors; *text != '\0'; text++) {
            tensors_max += *text == '+';
        }
    }
    trace->layers = ar_arena_alloc(arena, csv->rows_count, sizeof *trace->layers);
    trace->tensor_elements = ar_arena_alloc(arena, tensors_max, sizeof *trace->tensor_elements);
    for (size_t i = 0; i < csv->rows_count; i++) {
        struct ar_layer *layer = &trace->layers[trace->layers_count++];
        *layer = rows[i].layer;
        /* A layer has the tensors of `2048000+1000`; nothing or 0 means none. */
        const char *text = rows[i].tensors;
        layer->tensors_first = trace->tensors_count;
        for (bool goes_on = text[0] != '\0' && strcmp(text, "0") != 0; goes_on; text++) {
            size_t digits = strspn(text, "0123456789");
            uint64_t tensor = strtoull(text, NULL, 10); /* the largest value if it is too large */
            text += digits;
            goes_on = *text == '+';
            AR_CSV_REFUSE(digits == 0 || tensor == 0 || tensor > AR_TRACE_ELEMENTS_MAX ||
                              (!goes_on && *text != '\0'),
                          csv, i, "gradient_elements", err,
                          "elements of each tensor joined by \"+\" (2048000+1000), 0 for none, "
                          "each at most 2^50");
            trace->tensor_elements[trace->tensors_count++] = tensor;
            layer->tensors_count++;
        }
    }
    const struct ar_layer **sorted = ar_arena_alloc(arena, trace->layers_count, sizeof *sorted);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sorted[i] = &trace->layers[i];
    }
    qsort(sorted, trace->layers_count, sizeof *sorted, compare_layer_names);
    for (uint32_t i = 1; i < trace->layers_count; i++) {
        AR_CSV_REFUSE(strcmp(sorted[i - 1]->name, sorted[i]->name) == 0, csv,
                      (size_t)(sorted[i] - trace->layers), "layer", err, "each layer name once");
    }
    for (uint32_t i = 0; i < trace->tensors_count; i++) {
        elements += trace->tensor_elements[i];
        AR_REFUSE(elements > AR_TRACE_ELEMENTS_MAX, err, AR_BAD_DATA,
                  "%s: gradient_elements add up to more than 2^50; expected less", csv->path);
    }
    AR_REFUSE(
        elements == 0, err, AR_BAD_DATA,
        "%s: no layer has gradient elements; expected at least one tensor to sum over the GPUs",
        csv->path);
    return AR_OK;
}

enum ar_status ar_trace_file_load(const char *path, struct ar_arena *arena,
                                  struct ar_trace_file **file, struct ar_error *err)
{
    struct ar_csv *csv;
    /* Folders may have any name. */
    AR_REFUSE(strstr(basename(path), ".json") != NULL, err, AR_BAD_DATA,
              "%.300s: found JSON by its name; expected CSV, as 'allreckon trace import' makes it",
              path);
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_trace_file *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_trace *trace = &made->trace;
    made->path = csv->path;
    ar_copy_stem(trace->name, sizeof trace->name, path, ".csv");
    bool is_work =
        ar_csv_find_column(csv, "kind") != SIZE_MAX || ar_csv_find_column(csv, "macs") != SIZE_MAX;
    trace->is_timed = !is_work;
    trace->source = is_work ? "work table" : "not stated in the file";
    AR_TRY(ar_csv_read_directives(
        csv, is_work ? AR_COLUMNS(work_directives) : AR_COLUMNS(timed_directives), trace, err));
    struct trace_row *rows;
    AR_TRY(ar_csv_read_rows(csv, is_work ? AR_COLUMNS(work_columns) : AR_COLUMNS(timed_columns),
                            &(struct trace_row){.tensors = ""}, &rows, err));
    AR_REFUSE_LINE(csv->rows_count == 0, err, csv->path, csv->header_line,
                   "no layers follow the header");
    AR_TRY(read_layers(csv, arena, rows, trace, err));
    if (is_work) {
        bool had_macs = false;
        struct ar_layer_work *list = ar_arena_alloc(arena, csv->rows_count, sizeof *list);
        for (size_t i = 0; i < csv->rows_count; i++) {
            list[i] = rows[i].work;
            bool has_macs = ar_layer_has_macs(list[i].kind);
            AR_CSV_REFUSE((list[i].macs > 0) != has_macs, csv, i, "macs", err,
                          has_macs ? "more than 0 for conv, fc and local"
                                   : "0 for a layer that is neither conv, fc nor local");
            AR_CSV_REFUSE(has_macs && (list[i].input_elements == 0 || list[i].output_elements == 0),
                          csv, i,
                          list[i].input_elements == 0 ? "input_elements" : "output_elements", err,
                          "more than 0 for conv, fc and local");
            list[i].is_first = has_macs && !had_macs;
            had_macs = had_macs || has_macs;
        }
        made->work = list;
    }
    *file = made;
    return AR_OK;
}

/* --- traces -------------------------------------------------------------------------------- */

enum ar_status ar_trace_create(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                               const struct ar_trace_request *request, struct ar_arena *arena,
                               struct ar_trace **trace, struct ar_error *err)
{
    const struct ar_trace *read = &file->trace;
    struct ar_trace *made = ar_arena_copy(arena, read, 1, sizeof *made);
    /* The layers get times of their own; the tensors, too, may be changed. */
    made->layers = ar_arena_copy(arena, read->layers, read->layers_count, sizeof *made->layers);
    made->tensor_elements = ar_arena_copy(arena, read->tensor_elements, read->tensors_count,
                                          sizeof *made->tensor_elements);
    if (!made->is_timed) {
        assert(cost != NULL);
        AR_REFUSE(request->batch < 1 || request->batch > AR_TRACE_BATCH_MAX, err, AR_USAGE,
                  "%s: batch %u was asked for; expected 1 to %d", file->path, request->batch,
                  AR_TRACE_BATCH_MAX);
        struct ar_device_cost table = *cost; /* its points stay the caller's */
        enum ar_precision precision = request->precision;
        if (request->has_kernel_floor) {
            table.value[AR_COST_KERNEL_FLOOR][precision] = request->kernel_floor_s;
        }
        made->batch = request->batch;
        made->precision = precision;
        made->memory_Bps = table.value[AR_COST_MEMORY][precision];
        made->kernel_floor_s = table.value[AR_COST_KERNEL_FLOOR][precision];
        made->step_overhead_s = table.value[AR_COST_STEP_OVERHEAD][precision];
        double bytes = ar_stored_bytes(precision);
        double elements = (double)ar_trace_gradient_elements(made);
        made->memory_bytes = 2 * elements * bytes; /* weights and gradients */
        for (uint32_t i = 0; i < made->layers_count; i++) {
            struct ar_layer *layer = &made->layers[i];
            const struct ar_layer_work *work = &file->work[i];
            bool is_kept = work->macs > 0 || work->kind == AR_LAYER_RELU;
            made->memory_bytes +=
                (is_kept ? (double)work->output_elements : 0) * made->batch * bytes;
            ar_device_cost_layer_s(&table, work, precision, made->batch, &layer->forward_s,
                                   &layer->backward_s);
        }
        made->optimizer_s =
            ar_device_cost_optimizer_s(&table, precision, ar_trace_gradient_elements(made));
        made->source = ar_arena_format(arena, "%s, times from %s (%s)", read->source, cost->name,
                                       cost->source);
    }
    double compute_s = ar_trace_compute_s(made);
    AR_REFUSE(!(compute_s > 0) || compute_s > AR_TRACE_SECONDS_MAX, err, AR_BAD_DATA,
              "%s: the times add up to %g s; expected more than 0 and at most %g s", file->path,
              compute_s, AR_TRACE_SECONDS_MAX);
    *trace = made;
    return AR_OK;
}

/* --- writing ------------------------------------------------------------------------------- */

void ar_trace_write(FILE *file, const struct ar_trace *trace)
{
    fprintf(file, "# source = %s\n# batch = %u\n# precision = %s\n", trace->source, trace->batch,
            ar_precision_names[trace->precision]);
    fprintf(file, "# optimizer_s = %.9g\n# overhead_s = %.9g\n", trace->optimizer_s,
            trace->step_overhead_s);
    fputs("layer,forward_s,backward_s,gradient_elements\n", file);
    AR_EACH(const struct ar_layer, layer, trace->layers, trace->layers_count) {
        ar_csv_write_cell(file, layer->name, true);
        fprintf(file, ",%.9g,%.9g,", layer->forward_s, layer->backward_s);
        for (uint32_t k = 0; k < layer->tensors_count; k++) {
            fprintf(file, "%s%" PRIu64, k > 0 ? "+" : "",
                    trace->tensor_elements[layer->tensors_first + k]);
        }
        fputs(layer->tensors_count == 0 ? "0\n" : "\n", file);
    }
}
