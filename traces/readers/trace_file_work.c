/* A trace file of work per image, to be timed by a device cost table. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "trace_rows.h"

static const char *const columns[] = {TRACE_COLUMNS,     "kind",  "macs",        "input_elements",
                                      "output_elements", "width", "channels_in", "channels_out",
                                      "kernel",          "stride"};
enum { KIND = TRACE_COLUMNS_COUNT, MACS, WIDTH = MACS + 3, COLUMNS_COUNT = WIDTH + 5 };

static enum ar_status read_kind(const struct ar_csv *csv, size_t row, size_t column,
                                enum ar_layer_kind *kind, struct ar_error *err)
{
    const char *name = ar_csv_cell(csv, row, column);
    for (int i = 0; i < AR_LAYER_KINDS_COUNT; i++) {
        if (strcmp(name, ar_layer_kind_name((enum ar_layer_kind)i)) == 0) {
            *kind = (enum ar_layer_kind)i;
            return AR_OK;
        }
    }
    return ar_csv_cell_error(csv, row, column, "conv, fc, bn, relu, add, maxpool, avgpool or loss",
                             err);
}

static enum ar_status read_shape(const struct ar_csv *csv, size_t row, const size_t *places,
                                 struct ar_layer_work *work, struct ar_error *err)
{
    uint32_t *const targets[] = {&work->width, &work->channels_in, &work->channels_out,
                                 &work->kernel, &work->stride};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        uint64_t count;
        AR_TRY(ar_csv_count(csv, row, places[WIDTH + i], 0, 1000000,
                            "a whole number from 0 to 1000000", &count, err));
        *targets[i] = (uint32_t)count;
    }
    return AR_OK;
}

static enum ar_status read_work(const struct ar_csv *csv, size_t row, const size_t *places,
                                struct ar_layer_work *work, struct ar_error *err)
{
    uint64_t *const targets[] = {&work->macs, &work->input_elements, &work->output_elements};
    AR_TRY(read_kind(csv, row, places[KIND], &work->kind, err));
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        AR_TRY(ar_csv_count(csv, row, places[MACS + i], 0, AR_TRACE_ELEMENTS_MAX,
                            "a whole number from 0 to 2^50", targets[i], err));
    }
    AR_TRY(read_shape(csv, row, places, work, err));
    bool has_macs = work->kind == AR_LAYER_CONV || work->kind == AR_LAYER_FC;
    if ((work->macs > 0) != has_macs) {
        return ar_csv_cell_error(csv, row, places[MACS],
                                 has_macs ? "more than 0 for conv and fc"
                                          : "0 for a layer that is neither conv nor fc",
                                 err);
    }
    return AR_OK;
}

enum ar_status trace_rows_read_work(const struct ar_csv *csv, struct ar_trace *trace,
                                    struct ar_layer_work **work, struct ar_error *err)
{
    static const char *const directives[] = {"source"};
    size_t places[COLUMNS_COUNT];
    bool has_macs = false;
    AR_TRY(ar_csv_check_directives(csv, directives, 1, err));
    AR_TRY(ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err));
    AR_TRY(trace_rows_read(csv, places, trace, err));
    *work = calloc(csv->rows_count, sizeof **work);
    if (*work == NULL) {
        return ar_error_no_memory(err, csv->path);
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        struct ar_layer_work *layer = &(*work)[row];
        AR_TRY(read_work(csv, row, places, layer, err));
        layer->is_first = layer->macs > 0 && !has_macs;
        has_macs = has_macs || layer->macs > 0;
    }
    ar_copy_text(trace->source, sizeof trace->source,
                 ar_csv_directive_text(csv, "source", "work table"));
    return AR_OK;
}
