/* A trace file of measured times: one batch, one precision. */
#include <inttypes.h>

#include "ar_text.h"
#include "trace_rows.h"

static const char *const columns[] = {TRACE_COLUMNS, "forward_s", "backward_s"};
enum { FORWARD = TRACE_COLUMNS_COUNT, BACKWARD, COLUMNS_COUNT };

static const char *const directives[] = {"batch", "precision", "optimizer_s", "overhead_s",
                                         "source"};
enum { DIRECTIVES_COUNT = sizeof directives / sizeof directives[0] };

static enum ar_status require_directive(const struct ar_csv *csv, const char *key,
                                        const char *example, struct ar_error *err)
{
    if (ar_csv_find_directive(csv, key) != NULL) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: directive \"%s\" is missing; expected a line such as "
                        "\"# %s = %s\" before the header",
                        csv->path, key, key, example);
}

static enum ar_status report_directive(const struct ar_csv *csv, const char *key,
                                       const char *expected, struct ar_error *err)
{
    char shown[64];
    return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": directive \"%s\" is \"%s\"; expected %s",
                        csv->path, ar_csv_find_directive(csv, key)->line, key,
                        ar_csv_show(ar_csv_directive_text(csv, key, ""), shown), expected);
}

static enum ar_status read_batch(const struct ar_csv *csv, uint32_t *batch, struct ar_error *err)
{
    static const char expected[] = "a whole number of images from 1 to 1000000";
    double number;
    AR_TRY(require_directive(csv, "batch", "32", err));
    AR_TRY(ar_csv_directive_number(csv, "batch", 1, AR_TRACE_BATCH_MAX, expected, &number, err));
    *batch = (uint32_t)number;
    return *batch == number ? AR_OK : report_directive(csv, "batch", expected, err);
}

static enum ar_status read_precision(const struct ar_csv *csv, enum ar_precision *precision,
                                     struct ar_error *err)
{
    struct ar_error ignored;
    AR_TRY(require_directive(csv, "precision", "fp16", err));
    const char *text = ar_csv_directive_text(csv, "precision", "");
    return ar_precision_parse("", text, precision, &ignored) == AR_OK
               ? AR_OK
               : report_directive(csv, "precision", "fp16 or fp32", err);
}

static enum ar_status read_directives(const struct ar_csv *csv, struct ar_trace *trace,
                                      struct ar_error *err)
{
    AR_TRY(ar_csv_check_directives(csv, directives, DIRECTIVES_COUNT, err));
    AR_TRY(read_batch(csv, &trace->batch, err));
    AR_TRY(read_precision(csv, &trace->precision, err));
    AR_TRY(ar_csv_directive_number(csv, "optimizer_s", 0, AR_TRACE_SECONDS_MAX, "seconds >= 0",
                                   &trace->optimizer_s, err));
    AR_TRY(ar_csv_directive_number(csv, "overhead_s", 0, AR_TRACE_SECONDS_MAX, "seconds >= 0",
                                   &trace->step_overhead_s, err));
    ar_copy_text(trace->source, sizeof trace->source,
                 ar_csv_directive_text(csv, "source", "not stated in the file"));
    return AR_OK;
}

enum ar_status trace_rows_read_timed(const struct ar_csv *csv, struct ar_trace *trace,
                                     struct ar_error *err)
{
    size_t places[COLUMNS_COUNT];
    trace->is_timed = true;
    AR_TRY(read_directives(csv, trace, err));
    AR_TRY(ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err));
    AR_TRY(trace_rows_read(csv, places, trace, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        struct ar_layer *layer = &trace->layers[row];
        AR_TRY(ar_csv_number(csv, row, places[FORWARD], 0, AR_TRACE_SECONDS_MAX, "seconds >= 0",
                             &layer->forward_s, err));
        AR_TRY(ar_csv_number(csv, row, places[BACKWARD], 0, AR_TRACE_SECONDS_MAX, "seconds >= 0",
                             &layer->backward_s, err));
    }
    return AR_OK;
}
