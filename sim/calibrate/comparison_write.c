/* Predictions beside measured rows, as table, CSV and JSON. */
#include <stdio.h>

#include "ar_comparison.h"
#include "ar_output.h"
#include "report.h"

struct record {
    ar_cell_count nodes, gpus;
    ar_cell_string choice, set;
    ar_cell_number payload_bytes, measured_s, predicted_s, low_s, high_s, error_frac, tuning_s,
        tuning_error_frac;
};

#define COLUMN(kind, name, ...) AR_COLUMN(kind, struct record, name, #name, __VA_ARGS__)
#define MICROSECONDS(title)     .heading = title "\n(us)", .factor = 1e6, .decimals = 2
#define SIGNED_PERCENT          .heading = "error\n(%)", .factor = 100, .decimals = 1, .is_signed = true

static const struct ar_column columns[] = {
    COLUMN(count, nodes, "of the run", .heading = "nodes"),
    COLUMN(count, gpus, "of the run", .heading = "gpus"),
    COLUMN(string, choice, "algorithm and protocol", .heading = "choice"),
    COLUMN(string, set, "what the row was to the fit", .heading = "rows"),
    COLUMN(number, payload_bytes, "of one rank", .heading = "payload\n(B)"),
    COLUMN(number, measured_s, "time", MICROSECONDS("measured")),
    COLUMN(number, predicted_s, "time", MICROSECONDS("predicted")),
    COLUMN(number, low_s, "of the 95 % band", MICROSECONDS("low"), .is_rare = true),
    COLUMN(number, high_s, "of the 95 % band", MICROSECONDS("high"), .is_rare = true),
    COLUMN(number, error_frac, "predicted / measured - 1", SIGNED_PERCENT),
    COLUMN(number, tuning_s, "by NCCL's own constants", MICROSECONDS("NCCL's own"),
           .is_rare = true),
    COLUMN(number, tuning_error_frac, "of them", SIGNED_PERCENT, .is_rare = true),
};

static struct record *make_records(const struct ar_comparison *comparison, struct ar_arena *arena)
{
    struct record *records = ar_arena_alloc(arena, comparison->rows_count + 1, sizeof *records);
    for (size_t i = 0; records != NULL && i < comparison->rows_count; i++) {
        const struct ar_compared *row = &comparison->rows[i];
        records[i] = (struct record){.nodes = row->row.run.nodes,
                                     .gpus = row->row.run.ranks,
                                     .choice = row->choice,
                                     .set = ar_compared_set_name(row->set),
                                     .payload_bytes = row->row.run.bytes,
                                     .measured_s = row->row.time_s,
                                     .predicted_s = row->predicted_s,
                                     .low_s = row->low_s,
                                     .high_s = row->high_s,
                                     .error_frac = row->predicted_s / row->row.time_s - 1,
                                     .tuning_s = row->tuning_s,
                                     .tuning_error_frac = row->tuning_s / row->row.time_s - 1};
    }
    return records;
}

enum ar_status ar_comparison_write(FILE *file, enum ar_format format,
                                   const struct ar_comparison *comparison, struct ar_arena *arena,
                                   struct ar_error *err)
{
    const struct record *records = make_records(comparison, arena);
    size_t count = comparison->rows_count;
    if (records == NULL) {
        return ar_error_no_memory(err, "the compared rows");
    }
    if (format == AR_FORMAT_JSON) {
        fputs("{\n  \"rows\": ", file);
        ar_json_array(file, AR_COLUMNS(columns), records, count, sizeof *records);
        fputs(",\n  \"accuracy\": ", file);
        AR_TRY(report_write_errors(file, format, &comparison->errors, arena, err));
        fputs("\n}\n", file);
        return AR_OK;
    }
    AR_TRY(
        ar_records_write(file, format, AR_COLUMNS(columns), records, count, sizeof *records, err));
    if (format == AR_FORMAT_CSV) {
        return AR_OK;
    }
    fputc('\n', file);
    return report_write_errors(file, format, &comparison->errors, arena, err);
}

static enum ar_status write_both(const struct ar_comparison *comparison, FILE *rows, FILE *errors,
                                 struct ar_arena *arena, struct ar_error *err)
{
    AR_TRY(ar_comparison_write(rows, AR_FORMAT_CSV, comparison, arena, err));
    return report_write_errors(errors, AR_FORMAT_CSV, &comparison->errors, arena, err);
}

enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err)
{
    char *rows_path = ar_arena_format(arena, "%s/compare.csv", directory);
    char *errors_path = ar_arena_format(arena, "%s/accuracy.csv", directory);
    struct ar_output *outputs = ar_arena_alloc(arena, 2, sizeof *outputs);
    if (rows_path == NULL || errors_path == NULL || outputs == NULL) {
        return ar_error_no_memory(err, "two files");
    }
    AR_TRY(ar_output_open(rows_path, &outputs[0], err));
    enum ar_status status = ar_output_open(errors_path, &outputs[1], err);
    if (status != AR_OK) {
        ar_output_abort(&outputs[0]);
        return status;
    }
    status = write_both(comparison, outputs[0].file, outputs[1].file, arena, err);
    if (status == AR_OK) {
        status = ar_output_commit(&outputs[0], err);
    } else {
        ar_output_abort(&outputs[0]);
    }
    if (status != AR_OK) {
        ar_output_abort(&outputs[1]);
        return status;
    }
    return ar_output_commit(&outputs[1], err);
}
