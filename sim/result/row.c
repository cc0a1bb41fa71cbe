#include "ar_row.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "cells.h"

enum ar_status ar_row_format_parse(const char *where, const char *text, enum ar_row_format *format,
                                   struct ar_error *err)
{
    static const char *const names[] = {"table", "csv", "json"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum ar_row_format)i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE, "%s: found \"%s\"; expected table, csv or json", where,
                        text);
}

static void clear_text(ar_row_text *value)
{
    (*value)[0] = '\0';
}

static void clear_count(ar_row_count *value)
{
    *value = AR_ROW_NO_COUNT;
}

static void clear_number(ar_row_number *value)
{
    *value = NAN;
}

struct ar_row ar_row_empty(void)
{
    struct ar_row row;
    memset(&row, 0, sizeof row);
#define X(kind, name, help) clear_##kind(&row.name);
    AR_COLUMN_LIST(X)
#undef X
    return row;
}

static void write_csv_header(FILE *file)
{
    const char *comma = "";
    AR_COLUMN_LIST(CELLS_CSV_NAME)
    fputc('\n', file);
}

static void write_csv_row(FILE *file, const struct ar_row *row)
{
    const char *comma = "";
    AR_COLUMN_LIST(CELLS_CSV_VALUE)
    fputc('\n', file);
}

void ar_row_write_json(FILE *file, const struct ar_row *row)
{
    const char *comma = "{";
    AR_COLUMN_LIST(CELLS_JSON_VALUE)
    fputc('}', file);
}

static void write_json_row(FILE *file, const struct ar_row *row)
{
    fputs("\n  ", file);
    ar_row_write_json(file, row);
}

void ar_row_columns_write(FILE *file)
{
#define X(kind, name, help) fprintf(file, "%-16s %-7s %s\n", #name, #kind, help);
    AR_COLUMN_LIST(X)
#undef X
}

/* The table of a bare all-reduce, in the words of nccl-tests. */
static void write_allreduce_header(FILE *file)
{
    fprintf(file, "%6s %-12s %-11s %8s %-10s %14s %12s %11s %11s %12s\n", "gpus", "algorithm",
            "shape", "channels", "engine", "payload (B)", "time (us)", "algbw GB/s", "busbw GB/s",
            "messages");
}

static void write_allreduce_row(FILE *file, const struct ar_row *row)
{
    char channels[24] = "-";
    if (row->channels != AR_ROW_NO_COUNT) {
        snprintf(channels, sizeof channels, "%" PRIu64, row->channels);
    }
    fprintf(file, "%6" PRIu64 " %-12s %-11s %8s %-10s %14" PRIu64, row->gpus, row->algorithm,
            row->shape[0] != '\0' ? row->shape : "-", channels, row->engine, row->payload_bytes);
    if (strcmp(row->status, "ok") != 0) {
        fprintf(file, " %s\n", row->status);
        return;
    }
    fprintf(file, " %12.2f %11.3f %11.3f", row->allreduce_s * 1e6, row->algbw_Bps / 1e9,
            row->busbw_Bps / 1e9);
    if (row->messages_count != AR_ROW_NO_COUNT) {
        fprintf(file, " %12" PRIu64 "\n", row->messages_count);
    } else if (isfinite(row->low_s)) {
        fprintf(file, " %12s  95 %% band %.2f to %.2f us\n", "-", row->low_s * 1e6,
                row->high_s * 1e6);
    } else {
        fprintf(file, " %12s\n", "-");
    }
}

static void write_step_header(FILE *file)
{
    fprintf(file, "%6s %-12s %-11s %-10s %14s %13s %15s %13s %12s %14s  %s\n", "gpus", "algorithm",
            "shape", "engine", "iteration (ms)", "compute (ms)", "allreduce (ms)", "exposed (ms)",
            "images/s", "efficiency (%)", "of one");
}

static void write_step_row(FILE *file, const struct ar_row *row)
{
    fprintf(file, "%6" PRIu64 " %-12s %-11s %-10s", row->gpus, row->algorithm,
            row->shape[0] != '\0' ? row->shape : "-", row->engine);
    if (strcmp(row->status, "ok") != 0) {
        fprintf(file, " %s\n", row->status);
        return;
    }
    fprintf(file, " %14.3f %13.3f %15.3f %13.3f %12.0f %14.2f  %s", row->iteration_s * 1e3,
            row->compute_s * 1e3, row->allreduce_s * 1e3, row->exposed_s * 1e3, row->images_per_s,
            row->efficiency_frac * 100, row->baseline);
    if (isfinite(row->low_s)) {
        fprintf(file, "  95 %% band %.3f to %.3f ms", row->low_s * 1e3, row->high_s * 1e3);
    }
    fputc('\n', file);
}

void ar_rows_begin(FILE *file, enum ar_row_format format, bool are_bare)
{
    if (format == AR_ROW_CSV) {
        write_csv_header(file);
    } else if (format == AR_ROW_JSON) {
        fputc('[', file);
    } else if (are_bare) {
        write_allreduce_header(file);
    } else {
        write_step_header(file);
    }
}

void ar_rows_add(FILE *file, enum ar_row_format format, const struct ar_row *row, bool is_first)
{
    if (format == AR_ROW_CSV) {
        write_csv_row(file, row);
    } else if (format == AR_ROW_JSON) {
        fputs(is_first ? "" : ",", file);
        write_json_row(file, row);
    } else if (row->trace[0] == '\0') {
        write_allreduce_row(file, row);
    } else {
        write_step_row(file, row);
    }
}

void ar_rows_end(FILE *file, enum ar_row_format format, bool is_empty)
{
    if (format == AR_ROW_JSON) {
        fputs(is_empty ? "]\n" : "\n]\n", file);
    }
}

void ar_rows_write(FILE *file, enum ar_row_format format, const struct ar_row *rows, size_t count)
{
    ar_rows_begin(file, format, count > 0 && rows[0].trace[0] == '\0');
    for (size_t i = 0; i < count; i++) {
        ar_rows_add(file, format, &rows[i], i == 0);
    }
    ar_rows_end(file, format, count == 0);
}
