#include "trace_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

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
        if (!next_tensor(&text, &trace->tensor_elements[trace->tensors_count])) {
            return ar_csv_cell_error(
                csv, row, column,
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
static size_t tensors_max(const struct ar_csv *csv, size_t column)
{
    size_t count = csv->rows_count;
    for (size_t row = 0; row < csv->rows_count; row++) {
        for (const char *text = ar_csv_cell(csv, row, column); *text != '\0'; text++) {
            count += *text == '+';
        }
    }
    return count;
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

enum ar_status trace_rows_read(const struct ar_csv *csv, const size_t *places,
                               struct ar_trace *trace, struct ar_error *err)
{
    if (csv->rows_count == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": no layers follow the header",
                            csv->path, csv->header_line);
    }
    trace->layers = calloc(csv->rows_count, sizeof *trace->layers);
    trace->tensor_elements =
        calloc(tensors_max(csv, places[TRACE_TENSORS]), sizeof *trace->tensor_elements);
    if (trace->layers == NULL || trace->tensor_elements == NULL) {
        return ar_error_no_memory(err, csv->path);
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *name = ar_csv_cell(csv, row, places[TRACE_LAYER]);
        struct ar_layer *layer = &trace->layers[trace->layers_count++];
        if (name[0] == '\0' || strlen(name) >= sizeof layer->name) {
            return ar_csv_cell_error(csv, row, places[TRACE_LAYER], "a name of 1 to 63 characters",
                                     err);
        }
        ar_copy_text(layer->name, sizeof layer->name, name);
        AR_TRY(add_tensors(csv, row, places[TRACE_TENSORS], trace, layer, err));
    }
    AR_TRY(check_names(csv, places[TRACE_LAYER], trace, err));
    return check_tensors(csv, trace, err);
}
