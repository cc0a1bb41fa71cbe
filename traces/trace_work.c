/* A table of work per image, timed by a device cost table. */
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "trace_build.h"

static const char *const columns[] = {
    "layer",       "kind",         "macs",   "input_elements", "output_elements",  "width",
    "channels_in", "channels_out", "kernel", "stride",         "gradient_elements"};
enum {
    LAYER,
    KIND,
    MACS,
    INPUTS,
    OUTPUTS,
    WIDTH,
    CHANNELS_IN,
    CHANNELS_OUT,
    KERNEL,
    STRIDE,
    ELEMENTS,
    COLUMNS_COUNT
};

static const char *const kind_names[] = {
#define X(symbol, name) name,
    AR_LAYER_KIND_LIST(X)
#undef X
};

static enum ar_status read_kind(const struct ar_csv *csv, size_t row, size_t column,
                                enum ar_layer_kind *kind, struct ar_error *err)
{
    const char *name = ar_csv_cell(csv, row, column);
    for (size_t i = 0; i < AR_LAYER_KINDS_COUNT; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
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
        enum ar_status status = ar_csv_count(csv, row, places[WIDTH + i], 0, 1000000,
                                             "a whole number from 0 to 1000000", &count, err);
        if (status != AR_OK) {
            return status;
        }
        *targets[i] = (uint32_t)count;
    }
    return AR_OK;
}

static enum ar_status read_work(const struct ar_csv *csv, size_t row, const size_t *places,
                                struct ar_layer_work *work, struct ar_error *err)
{
    uint64_t *const targets[] = {&work->macs, &work->input_elements, &work->output_elements};
    enum ar_status status = read_kind(csv, row, places[KIND], &work->kind, err);
    for (size_t i = 0; status == AR_OK && i < sizeof targets / sizeof targets[0]; i++) {
        status = ar_csv_count(csv, row, places[MACS + i], 0, AR_TRACE_ELEMENTS_MAX,
                              "a whole number from 0 to 2^50", targets[i], err);
    }
    if (status == AR_OK) {
        status = read_shape(csv, row, places, work, err);
    }
    bool has_macs = work->kind == AR_LAYER_CONV || work->kind == AR_LAYER_FC;
    if (status == AR_OK && (work->macs > 0) != has_macs) {
        return ar_csv_cell_error(csv, row, places[MACS],
                                 has_macs ? "more than 0 for conv and fc"
                                          : "0 for a layer that is neither conv nor fc",
                                 err);
    }
    return status;
}

static enum ar_status read_layers(const struct ar_csv *csv, const struct ar_device_cost *cost,
                                  struct ar_trace *trace, struct ar_error *err)
{
    size_t places[COLUMNS_COUNT];
    bool has_conv = false;
    enum ar_status status = ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err);
    for (size_t row = 0; status == AR_OK && row < csv->rows_count; row++) {
        struct ar_layer *layer = &trace->layers[row];
        struct ar_layer_work work = {.is_first = !has_conv};
        status = ar_trace_add_layer(csv, row, places[LAYER], places[ELEMENTS], trace, err);
        if (status == AR_OK) {
            status = read_work(csv, row, places, &work, err);
        }
        if (status == AR_OK) {
            has_conv = has_conv || work.macs > 0;
            ar_device_cost_layer_s(cost, &work, trace->precision, trace->batch, &layer->forward_s,
                                   &layer->backward_s);
        }
    }
    if (status != AR_OK) {
        return status;
    }
    trace->optimizer_s =
        ar_device_cost_optimizer_s(cost, trace->precision, ar_trace_gradient_elements(trace));
    return ar_trace_finish(csv, places[LAYER], trace, err);
}

static enum ar_status check_batch(const struct ar_csv *csv, uint32_t batch, struct ar_error *err)
{
    if (batch < 1 || batch > AR_TRACE_BATCH_MAX) {
        return ar_error_set(err, AR_USAGE, "%s: batch %u was asked for; expected 1 to %d",
                            csv->path, batch, AR_TRACE_BATCH_MAX);
    }
    return AR_OK;
}

enum ar_status ar_trace_read_work(const struct ar_csv *csv, const struct ar_trace_request *request,
                                  const struct ar_device_cost *cost, struct ar_trace **trace,
                                  struct ar_error *err)
{
    static const char *const directives[] = {"source"};
    struct ar_trace *read;
    enum ar_status status = check_batch(csv, request->batch, err);
    if (status == AR_OK) {
        status = ar_csv_check_directives(csv, directives, 1, err);
    }
    if (status == AR_OK) {
        status = ar_trace_begin(csv, &read, err);
    }
    if (status != AR_OK) {
        return status;
    }
    read->batch = request->batch;
    read->precision = request->precision;
    read->memory_Bps = cost->value[AR_COST_MEMORY][read->precision];
    read->kernel_floor_s = cost->value[AR_COST_KERNEL_FLOOR][read->precision];
    read->step_overhead_s = cost->value[AR_COST_STEP_OVERHEAD][read->precision];
    snprintf(read->source, sizeof read->source, "%s, times from %s (%.150s)",
             ar_csv_directive_text(csv, "source", "work table"), cost->name, cost->source);
    status = read_layers(csv, cost, read, err);
    if (status != AR_OK) {
        ar_trace_destroy(read);
        return status;
    }
    *trace = read;
    return AR_OK;
}
