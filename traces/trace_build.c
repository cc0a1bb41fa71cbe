#include "trace_build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

void ar_file_stem(const char *path, const char *suffix, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    ar_copy_text(stem, size, slash == NULL ? path : slash + 1);
    size_t bytes = strlen(stem);
    size_t suffix_bytes = strlen(suffix);
    if (bytes > suffix_bytes && strcmp(stem + bytes - suffix_bytes, suffix) == 0) {
        stem[bytes - suffix_bytes] = '\0';
    }
}

enum ar_status ar_trace_begin(const struct ar_csv *csv, struct ar_trace **trace,
                              struct ar_error *err)
{
    if (csv->rows_count == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": no layers follow the header",
                            csv->path, csv->header_line);
    }
    struct ar_trace *begun = calloc(1, sizeof *begun);
    if (begun != NULL) {
        begun->layers = calloc(csv->rows_count, sizeof *begun->layers);
    }
    if (begun == NULL || begun->layers == NULL) {
        free(begun);
        return ar_error_no_memory(err, csv->path);
    }
    ar_file_stem(csv->path, ".csv", begun->name, sizeof begun->name);
    *trace = begun;
    return AR_OK;
}

/* One of `2048000+1000`; `*text` moves behind it. */
static bool next_tensor(const char **text, uint64_t *elements)
{
    uint64_t value = 0;
    const char *digit = *text;
    while (*digit >= '0' && *digit <= '9' && value < AR_TRACE_ELEMENTS_MAX) {
        value = 10 * value + (uint64_t)(*digit - '0');
        digit++;
    }
    if (digit == *text || value == 0 || value > AR_TRACE_ELEMENTS_MAX) {
        return false;
    }
    if (*digit == '+') {
        digit++;
        if (*digit == '\0') {
            return false;
        }
    } else if (*digit != '\0') {
        return false;
    }
    *text = digit;
    *elements = value;
    return true;
}

static bool add_tensor(struct ar_trace *trace, uint64_t elements)
{
    /* Room doubles at powers of two, so its size need not be kept. */
    uint32_t count = trace->tensors_count;
    if ((count & (count - 1)) == 0) {
        size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
        uint64_t *moved = realloc(trace->tensor_elements, capacity * sizeof *moved);
        if (moved == NULL) {
            return false;
        }
        trace->tensor_elements = moved;
    }
    trace->tensor_elements[trace->tensors_count++] = elements;
    return true;
}

static enum ar_status add_tensors(const struct ar_csv *csv, size_t row, size_t column,
                                  struct ar_trace *trace, struct ar_layer *layer,
                                  struct ar_error *err)
{
    const char *text = ar_csv_cell(csv, row, column);
    layer->tensors_first = trace->tensors_count;
    if (strcmp(text, "0") == 0) {
        return AR_OK;
    }
    while (*text != '\0') {
        uint64_t elements;
        if (!next_tensor(&text, &elements)) {
            return ar_csv_cell_error(
                csv, row, column,
                "elements of each tensor joined by \"+\" (2048000+1000), 0 for "
                "none, each at most 2^50",
                err);
        }
        if (!add_tensor(trace, elements)) {
            return ar_error_no_memory(err, csv->path);
        }
        layer->tensors_count++;
    }
    return AR_OK;
}

enum ar_status ar_trace_add_layer(const struct ar_csv *csv, size_t row, size_t name_column,
                                  size_t tensors_column, struct ar_trace *trace,
                                  struct ar_error *err)
{
    const char *name = ar_csv_cell(csv, row, name_column);
    struct ar_layer *layer = &trace->layers[trace->layers_count];
    if (name[0] == '\0' || strlen(name) >= sizeof layer->name) {
        return ar_csv_cell_error(csv, row, name_column, "a name of 1 to 63 characters", err);
    }
    ar_copy_text(layer->name, sizeof layer->name, name);
    trace->layers_count++;
    return add_tensors(csv, row, tensors_column, trace, layer, err);
}

static int compare_layers(const void *a, const void *b)
{
    const struct ar_layer *left = *(const struct ar_layer *const *)a;
    const struct ar_layer *right = *(const struct ar_layer *const *)b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

static enum ar_status check_names(const struct ar_csv *csv, size_t name_column,
                                  const struct ar_trace *trace, struct ar_error *err)
{
    const struct ar_layer **sorted = calloc(trace->layers_count, sizeof *sorted);
    if (sorted == NULL) {
        return ar_error_no_memory(err, csv->path);
    }
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        sorted[i] = &trace->layers[i];
    }
    qsort(sorted, trace->layers_count, sizeof *sorted, compare_layers);
    enum ar_status status = AR_OK;
    for (uint32_t i = 1; status == AR_OK && i < trace->layers_count; i++) {
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            status = ar_csv_cell_error(csv, (size_t)(sorted[i] - trace->layers), name_column,
                                       "each layer name once", err);
        }
    }
    free(sorted);
    return status;
}

static enum ar_status check_totals(const struct ar_csv *csv, const struct ar_trace *trace,
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
    double compute_s = ar_trace_compute_s(trace);
    if (!(compute_s > 0) || compute_s > AR_TRACE_SECONDS_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: the times add up to %g s; expected more than 0 and at most %g s",
                            csv->path, compute_s, AR_TRACE_SECONDS_MAX);
    }
    return AR_OK;
}

enum ar_status ar_trace_finish(const struct ar_csv *csv, size_t name_column, struct ar_trace *trace,
                               struct ar_error *err)
{
    enum ar_status status = check_names(csv, name_column, trace, err);
    return status == AR_OK ? check_totals(csv, trace, err) : status;
}
