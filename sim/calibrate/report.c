#include "report.h"

#include <math.h>
#include <string.h>

/* --- errors ------------------------------------------------------------------------------- */

#define ERROR_COLUMN(kind, name, ...) AR_COLUMN(kind, struct report_error, name, #name, __VA_ARGS__)
#define PERCENT(title)                .heading = title, .factor = 100, .decimals = 2

static const struct ar_column error_columns[REPORT_ERROR_COLUMNS] = {
    ERROR_COLUMN(string, set, "what the rows were to the fit", .heading = "rows"),
    ERROR_COLUMN(count, nodes, "count of the rows; all if empty", .heading = "nodes"),
    ERROR_COLUMN(count, rows, "how many", .heading = "count"),
    ERROR_COLUMN(number, median_frac, "of |predicted / measured - 1|",
                 PERCENT("error, median\n(%)")),
    ERROR_COLUMN(number, mean_frac, "of the same", PERCENT("mean\n(%)")),
    ERROR_COLUMN(number, p95_frac, "95th percentile", PERCENT("95th %\n(%)")),
    ERROR_COLUMN(number, worst_frac, "largest", PERCENT("worst\n(%)")),
    ERROR_COLUMN(number, covered_frac, "rows within their 95 % band", .heading = "inside band\n(%)",
                 .factor = 100, .decimals = 1, .is_rare = true),
    ERROR_COLUMN(number, tuning_median_frac, "the same by NCCL's own constants",
                 PERCENT("NCCL's own, median\n(%)"), .is_rare = true),
    ERROR_COLUMN(number, tuning_mean_frac, "of them", PERCENT("mean\n(%)"), .is_rare = true),
    ERROR_COLUMN(number, tuning_p95_frac, "of them", PERCENT("95th %\n(%)"), .is_rare = true),
    ERROR_COLUMN(number, tuning_worst_frac, "of them", PERCENT("worst\n(%)"), .is_rare = true),
};

void report_error_columns(bool is_by_gpus, size_t offset,
                          struct ar_column columns[REPORT_ERROR_COLUMNS])
{
    memcpy(columns, error_columns, sizeof error_columns);
    for (size_t i = 0; i < REPORT_ERROR_COLUMNS; i++) {
        columns[i].offset += offset;
    }
    if (is_by_gpus) {
        columns[1].name = "gpus";
        columns[1].heading = "gpus";
    }
}

static struct report_error error_of(const struct ar_compared_error *line)
{
    const struct ar_library_error *model = &line->model;
    const struct ar_library_error *tuning = &line->tuning;
    bool has_tuning = tuning->count > 0;
    return (struct report_error){
        .set = ar_compared_set_name(line->set),
        .nodes = line->nodes > 0 ? line->nodes : AR_NO_COUNT,
        .rows = model->count,
        .median_frac = model->median_frac,
        .mean_frac = model->mean_frac,
        .p95_frac = model->p95_frac,
        .worst_frac = model->worst_frac,
        .covered_frac = line->has_bands ? model->covered_frac : NAN,
        .tuning_median_frac = has_tuning ? tuning->median_frac : NAN,
        .tuning_mean_frac = has_tuning ? tuning->mean_frac : NAN,
        .tuning_p95_frac = has_tuning ? tuning->p95_frac : NAN,
        .tuning_worst_frac = has_tuning ? tuning->worst_frac : NAN,
    };
}

struct report_error *report_errors(const struct ar_compared_errors *errors, struct ar_arena *arena)
{
    struct report_error *records = ar_arena_alloc(arena, errors->count + 1, sizeof *records);
    for (size_t i = 0; records != NULL && i < errors->count; i++) {
        records[i] = error_of(&errors->lines[i]);
    }
    return records;
}

enum ar_status report_write_errors(FILE *file, enum ar_format format,
                                   const struct ar_compared_errors *errors, struct ar_arena *arena,
                                   struct ar_error *err)
{
    struct ar_column list[REPORT_ERROR_COLUMNS];
    struct ar_columns columns = {list, REPORT_ERROR_COLUMNS};
    const struct report_error *records = report_errors(errors, arena);
    if (records == NULL) {
        return ar_error_no_memory(err, "the errors of predictions");
    }
    report_error_columns(errors->is_by_gpus, 0, list);
    if (format == AR_FORMAT_JSON) {
        ar_json_array(file, columns, records, errors->count, sizeof *records);
        return AR_OK;
    }
    return ar_records_write(file, format, columns, records, errors->count, sizeof *records, err);
}

/* --- a fit -------------------------------------------------------------------------------- */

#define PARAMETER_COLUMN(kind, name, ...)                                                          \
    AR_COLUMN(kind, struct report_parameter, name, #name, __VA_ARGS__)

static const struct ar_column parameter_columns[] = {
    PARAMETER_COLUMN(string, parameter, "of the fit"),
    PARAMETER_COLUMN(number, value, "that was fitted"),
    PARAMETER_COLUMN(string, unit, "of value and prior"),
    PARAMETER_COLUMN(number, relative_standard_error, "of the value"),
    PARAMETER_COLUMN(flag, identified, "the rows say more of it than the prior",
                     .is_boolean = true),
    PARAMETER_COLUMN(string, state, "what the rows say of it"),
    PARAMETER_COLUMN(number, prior, "where the fit starts"),
    PARAMETER_COLUMN(string, prior_source, "where that is from"),
};

static const struct ar_column table_columns[] = {
    PARAMETER_COLUMN(string, parameter, "", .heading = "parameter"),
    PARAMETER_COLUMN(string, value_text, "", .heading = "value"),
    PARAMETER_COLUMN(number, relative_standard_error, "", .heading = "+- (%)", .factor = 100,
                     .decimals = 1),
    PARAMETER_COLUMN(string, state, "", .heading = "what the rows say"),
    PARAMETER_COLUMN(string, prior_text, "", .heading = "prior"),
    PARAMETER_COLUMN(string, prior_source, "", .heading = "source of the prior"),
};

/* A line of the CSV, which has two kinds: a parameter leaves the columns of errors empty, and the
 * other way round. */
struct csv_line {
    struct report_parameter parameter;
    struct report_error error;
};

#define LINE_COLUMN(kind, name)                                                                    \
    AR_COLUMN(kind, struct csv_line, parameter.name, #name, "as in JSON")

static const struct ar_column line_columns[] = {
    LINE_COLUMN(string, kind),
    LINE_COLUMN(string, parameter),
    LINE_COLUMN(number, value),
    LINE_COLUMN(string, unit),
    LINE_COLUMN(number, relative_standard_error),
    LINE_COLUMN(flag, identified),
    LINE_COLUMN(number, prior),
    LINE_COLUMN(string, prior_source),
};

enum { LINE_COLUMNS = sizeof line_columns / sizeof line_columns[0] };

static enum ar_status print_csv(const struct report *report, struct ar_arena *arena,
                                struct ar_error *err)
{
    struct ar_column list[LINE_COLUMNS + REPORT_ERROR_COLUMNS];
    struct ar_columns columns = {list, LINE_COLUMNS + REPORT_ERROR_COLUMNS};
    struct csv_line empty = {.parameter.kind = NULL};
    struct ar_records records;
    const struct report_error *errors = report_errors(report->errors, arena);
    if (errors == NULL) {
        return ar_error_no_memory(err, "the errors of predictions");
    }
    memcpy(list, line_columns, sizeof line_columns);
    report_error_columns(report->errors->is_by_gpus, offsetof(struct csv_line, error),
                         list + LINE_COLUMNS);
    ar_record_clear(columns, &empty);
    ar_records_begin(&records, stdout, AR_FORMAT_CSV, columns);
    for (size_t i = 0; i < report->parameters_count; i++) {
        struct csv_line line = {.parameter = report->parameters[i], .error = empty.error};
        ar_records_add(&records, &line);
    }
    for (size_t i = 0; i < report->errors->count; i++) {
        struct csv_line line = {.parameter = empty.parameter, .error = errors[i]};
        line.parameter.kind = "accuracy";
        ar_records_add(&records, &line);
    }
    return ar_records_end(&records, err);
}

static const struct ar_column head_columns[] = {
    AR_COLUMN(string, struct report, tuning, "tuning", "NCCL's release and machine"),
    AR_COLUMN(number, struct report, node_bus_Bps, "node_bus_Bps", "of its rings in a node"),
    AR_COLUMN(number, struct report, net_bus_Bps, "net_bus_Bps", "across the network"),
    AR_COLUMN(count, struct report, rows, "rows", "that were fitted"),
    AR_COLUMN(number, struct report, residual_frac, "residual_frac", "scatter of the fitted rows"),
};

static const struct ar_column run_columns[] = {
    AR_COLUMN(string, struct ar_measured_run, path, "path", "of the log"),
    AR_COLUMN(count, struct ar_measured_run, line, "line", "where the run begins"),
    AR_COLUMN(count, struct ar_measured_run, nodes, "nodes", "of the run"),
    AR_COLUMN(count, struct ar_measured_run, ranks, "gpus", "of the run"),
    AR_COLUMN(count, struct ar_measured_run, rows_count, "rows", "that are used"),
};

static enum ar_status print_json(const struct report *report, struct ar_arena *arena,
                                 struct ar_error *err)
{
    printf("{");
    ar_json_members(stdout, AR_COLUMNS(head_columns), report);
    printf(",\n  \"runs\": ");
    ar_json_array(stdout, AR_COLUMNS(run_columns), report->measured->runs,
                  report->measured->runs_count, sizeof *report->measured->runs);
    printf(",\n  \"parameters\": ");
    ar_json_array(stdout, AR_COLUMNS(parameter_columns), report->parameters,
                  report->parameters_count, sizeof *report->parameters);
    printf(",\n  \"accuracy\": ");
    AR_TRY(report_write_errors(stdout, AR_FORMAT_JSON, report->errors, arena, err));
    printf("\n}\n");
    return AR_OK;
}

enum ar_status report_print(const struct report *report, enum ar_format format,
                            struct ar_arena *arena, struct ar_error *err)
{
    if (format == AR_FORMAT_CSV) {
        return print_csv(report, arena, err);
    }
    if (format == AR_FORMAT_JSON) {
        return print_json(report, arena, err);
    }
    printf("%s\n\n", report->head);
    AR_TRY(ar_records_write(stdout, format, AR_COLUMNS(table_columns), report->parameters,
                            report->parameters_count, sizeof *report->parameters, err));
    if (report->errors->count > 0) {
        printf("\n");
        return report_write_errors(stdout, format, report->errors, arena, err);
    }
    return AR_OK;
}
