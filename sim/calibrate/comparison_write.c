/* Predictions beside measured rows, as table, CSV and JSON. */
#include <stdio.h>

#include "ar_comparison.h"
#include "ar_output.h"

#define COLUMN(kind, field, name, ...) AR_COLUMN(kind, struct ar_compared, field, name, __VA_ARGS__)
#define MICROSECONDS(title)            .heading = title "\n(us)", .factor = 1e6, .decimals = 2
#define SIGNED_PERCENT                 .heading = "error\n(%)", .factor = 100, .decimals = 1, .is_signed = true

static const struct ar_column columns[] = {
    COLUMN(count, row.run.nodes, "nodes", "of the run", .heading = "nodes"),
    COLUMN(count, row.run.ranks, "gpus", "of the run", .heading = "gpus"),
    COLUMN(string, choice, "choice", "algorithm and protocol", .heading = "choice"),
    COLUMN(string, set_name, "set", "what the row was to the fit", .heading = "rows"),
    COLUMN(number, row.run.bytes, "payload_bytes", "of one rank", .heading = "payload\n(B)"),
    COLUMN(number, row.time_s, "measured_s", "time", MICROSECONDS("measured")),
    COLUMN(number, predicted_s, "predicted_s", "time", MICROSECONDS("predicted")),
    COLUMN(number, low_s, "low_s", "of the 95 % band", MICROSECONDS("low"), .is_rare = true),
    COLUMN(number, high_s, "high_s", "of the 95 % band", MICROSECONDS("high"), .is_rare = true),
    COLUMN(number, error_frac, "error_frac", "predicted / measured - 1", SIGNED_PERCENT),
    COLUMN(number, tuning_s, "tuning_s", "by NCCL's own constants", MICROSECONDS("NCCL's own"),
           .is_rare = true),
    COLUMN(number, tuning_error_frac, "tuning_error_frac", "of them", SIGNED_PERCENT,
           .is_rare = true),
};

enum ar_status ar_comparison_write(FILE *file, enum ar_format format,
                                   const struct ar_comparison *comparison, struct ar_error *err)
{
    const struct ar_compared *rows = comparison->rows;
    size_t count = comparison->rows_count;
    if (format == AR_FORMAT_JSON) {
        fputs("{\n  \"rows\": ", file);
        ar_json_array(file, AR_COLUMNS(columns), rows, count, sizeof *rows);
        fputs(",\n  \"accuracy\": ", file);
        AR_TRY(ar_compared_write(file, format, &comparison->errors, err));
        fputs("\n}\n", file);
        return AR_OK;
    }
    AR_TRY(ar_records_write(file, format, AR_COLUMNS(columns), rows, count, sizeof *rows, err));
    if (format == AR_FORMAT_CSV) {
        return AR_OK;
    }
    fputc('\n', file);
    return ar_compared_write(file, format, &comparison->errors, err);
}

enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err)
{
    char *rows_path = ar_arena_format(arena, "%s/compare.csv", directory);
    char *errors_path = ar_arena_format(arena, "%s/accuracy.csv", directory);
    struct ar_output *rows;
    struct ar_output *errors;
    if (rows_path == NULL || errors_path == NULL) {
        return ar_error_no_memory(err, "two files");
    }
    AR_TRY(ar_output_begin(rows_path, arena, &rows, err));
    AR_TRY(ar_output_begin(errors_path, arena, &errors, err));
    AR_TRY(ar_comparison_write(rows->file, AR_FORMAT_CSV, comparison, err));
    AR_TRY(ar_compared_write(errors->file, AR_FORMAT_CSV, &comparison->errors, err));
    AR_TRY(ar_output_commit(rows, err));
    return ar_output_commit(errors, err);
}
