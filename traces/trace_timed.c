/* A trace of measured times: one batch, one precision. */
#include <inttypes.h>

#include "ar_text.h"
#include "trace_build.h"

static const char *const columns[] = {"layer", "forward_s", "backward_s", "gradient_elements"};
enum { LAYER, FORWARD, BACKWARD, ELEMENTS, COLUMNS_COUNT };

static const char *const directives[] = {"batch", "precision", "optimizer_s", "overhead_s",
                                         "source"};
enum { DIRECTIVES_COUNT = sizeof directives / sizeof directives[0] };

static enum ar_status read_batch(const struct ar_csv *csv, struct ar_trace *trace,
                                 struct ar_error *err)
{
    double batch;
    const char *expected = "a whole number of images from 1 to 1000000";
    if (ar_csv_find_directive(csv, "batch") == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"batch\" is missing; expected a line such as "
                            "\"# batch = 32\" before the header",
                            csv->path);
    }
    enum ar_status status =
        ar_csv_directive_number(csv, "batch", 1, AR_TRACE_BATCH_MAX, expected, &batch, err);
    if (status != AR_OK) {
        return status;
    }
    trace->batch = (uint32_t)batch;
    if (trace->batch != batch) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": directive \"batch\" is \"%s\"; expected %s", csv->path,
                            ar_csv_find_directive(csv, "batch")->line,
                            ar_csv_directive_text(csv, "batch", ""), expected);
    }
    return AR_OK;
}

static enum ar_status read_precision(const struct ar_csv *csv, struct ar_trace *trace,
                                     struct ar_error *err)
{
    const struct ar_csv_directive *directive = ar_csv_find_directive(csv, "precision");
    struct ar_error ignored;
    char shown[64];
    if (directive == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive \"precision\" is missing; expected a line such as "
                            "\"# precision = fp16\" before the header",
                            csv->path);
    }
    const char *text = csv->text + directive->value;
    if (ar_precision_parse("", text, &trace->precision, &ignored) != AR_OK) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64
                            ": directive \"precision\" is \"%s\"; expected fp16 or fp32",
                            csv->path, directive->line, ar_csv_show(text, shown));
    }
    return AR_OK;
}

static enum ar_status read_directives(const struct ar_csv *csv, struct ar_trace *trace,
                                      struct ar_error *err)
{
    enum ar_status status = ar_csv_check_directives(csv, directives, DIRECTIVES_COUNT, err);
    if (status == AR_OK) {
        status = read_batch(csv, trace, err);
    }
    if (status == AR_OK) {
        status = read_precision(csv, trace, err);
    }
    if (status == AR_OK) {
        status = ar_csv_directive_number(csv, "optimizer_s", 0, AR_TRACE_SECONDS_MAX,
                                         "seconds >= 0", &trace->optimizer_s, err);
    }
    if (status == AR_OK) {
        status = ar_csv_directive_number(csv, "overhead_s", 0, AR_TRACE_SECONDS_MAX, "seconds >= 0",
                                         &trace->step_overhead_s, err);
    }
    const char *source = ar_csv_directive_text(csv, "source", "not stated in the file");
    ar_copy_text(trace->source, sizeof trace->source, source);
    return status;
}

static enum ar_status check_request(const struct ar_csv *csv,
                                    const struct ar_trace_request *request,
                                    const struct ar_trace *trace, struct ar_error *err)
{
    if (request->batch != 0 && request->batch != trace->batch) {
        return ar_error_set(err, AR_USAGE,
                            "%s: measured at batch %" PRIu32 ", batch %" PRIu32
                            " was asked for; expected the same",
                            csv->path, trace->batch, request->batch);
    }
    if (request->precision_is_given && request->precision != trace->precision) {
        return ar_error_set(
            err, AR_USAGE, "%s: measured in %s, %s was asked for; expected the same", csv->path,
            ar_precision_name(trace->precision), ar_precision_name(request->precision));
    }
    return AR_OK;
}

static enum ar_status read_layers(const struct ar_csv *csv, struct ar_trace *trace,
                                  struct ar_error *err)
{
    size_t places[COLUMNS_COUNT];
    enum ar_status status = ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err);
    for (size_t row = 0; status == AR_OK && row < csv->rows_count; row++) {
        struct ar_layer *layer = &trace->layers[row];
        status = ar_trace_add_layer(csv, row, places[LAYER], places[ELEMENTS], trace, err);
        if (status == AR_OK) {
            status = ar_csv_number(csv, row, places[FORWARD], 0, AR_TRACE_SECONDS_MAX,
                                   "seconds >= 0", &layer->forward_s, err);
        }
        if (status == AR_OK) {
            status = ar_csv_number(csv, row, places[BACKWARD], 0, AR_TRACE_SECONDS_MAX,
                                   "seconds >= 0", &layer->backward_s, err);
        }
    }
    return status == AR_OK ? ar_trace_finish(csv, places[LAYER], trace, err) : status;
}

enum ar_status ar_trace_read_timed(const struct ar_csv *csv, const struct ar_trace_request *request,
                                   struct ar_trace **trace, struct ar_error *err)
{
    struct ar_trace *read;
    enum ar_status status = ar_trace_begin(csv, &read, err);
    if (status != AR_OK) {
        return status;
    }
    read->is_timed = true;
    status = read_directives(csv, read, err);
    if (status == AR_OK) {
        status = read_layers(csv, read, err);
    }
    if (status == AR_OK) {
        status = check_request(csv, request, read, err);
    }
    if (status != AR_OK) {
        ar_trace_destroy(read);
        return status;
    }
    *trace = read;
    return AR_OK;
}
