/* What a calibration prints: the records of its parameters, errors and runs. */
#include <inttypes.h>
#include <string.h>

#include "calibration.h"

#define COLUMN(kind, field, name, ...) AR_COLUMN(kind, struct parameter, field, name, __VA_ARGS__)

static const struct ar_column table_columns[] = {
    COLUMN(string, parameter, "", "", .heading = "parameter"),
    COLUMN(string, value_text, "", "", .heading = "value"),
    COLUMN(number, relative_standard_error, "", "", .heading = "+- (%)", .factor = 100,
           .decimals = 1),
    COLUMN(string, state, "", "", .heading = "what the rows say"),
    COLUMN(string, prior_text, "", "", .heading = "prior"),
    COLUMN(string, prior_source, "", "", .heading = "source of the prior"),
};

/* JSON has all but `kind`, CSV all but `state`. */
enum { KIND, STATE = 6, PARAMETER_COLUMNS = 9 };

static const struct ar_column columns[PARAMETER_COLUMNS] = {
    COLUMN(string, kind, "kind", "parameter or accuracy"),
    COLUMN(string, parameter, "parameter", "of the fit"),
    COLUMN(number, value, "value", "that was fitted"),
    COLUMN(string, unit, "unit", "of value and prior"),
    COLUMN(number, relative_standard_error, "relative_standard_error", "of the value"),
    COLUMN(flag, identified, "identified", "the rows say more of it than the prior",
           .is_boolean = true),
    COLUMN(string, state, "state", "what the rows say of it"),
    COLUMN(number, prior, "prior", "where the fit starts"),
    COLUMN(string, prior_source, "prior_source", "where that is from"),
};

/* A line of the CSV, which has two kinds: a parameter leaves the columns of errors empty, and the
 * other way round. */
struct csv_line {
    struct parameter parameter;
    struct ar_compared_error error;
};

static void print_csv(const struct calibration *calibration)
{
    struct ar_column list[PARAMETER_COLUMNS - 1 + AR_COMPARED_ERROR_COLUMNS];
    struct ar_column *errors = list + PARAMETER_COLUMNS - 1;
    struct csv_line empty = {.parameter.kind = NULL};
    struct ar_records records;
    memcpy(list, columns, STATE * sizeof *columns);
    memcpy(list + STATE, columns + STATE + 1, (PARAMETER_COLUMNS - STATE - 1) * sizeof *columns);
    ar_compared_error_columns(calibration->compared.is_by_gpus, offsetof(struct csv_line, error),
                              errors);
    ar_record_clear(AR_COLUMNS(list), &empty);
    empty.error.set = AR_COMPARED_SETS;
    ar_records_begin(&records, stdout, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(list));
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        struct csv_line line = {.parameter = calibration->parameters[i], .error = empty.error};
        ar_records_add(&records, &line);
    }
    for (size_t i = 0; i < calibration->compared.errors_count; i++) {
        struct csv_line line = {.parameter = empty.parameter,
                                .error = calibration->compared.errors[i]};
        line.parameter.kind = "accuracy";
        ar_records_add(&records, &line);
    }
    ar_records_end(&records);
}

#define HEAD(kind, name, help) AR_COLUMN(kind, struct calibration, name, #name, help)

static const struct ar_column head_columns[] = {
    HEAD(string, tuning, "NCCL's release and machine"),
    HEAD(number, node_bus_Bps, "of its rings in a node"),
    HEAD(number, net_bus_Bps, "across the network"),
    AR_COLUMN(count, struct calibration, rows_count, "rows", "that were fitted"),
    HEAD(number, residual_frac, "scatter of the fitted rows"),
};

static const struct ar_column run_columns[] = {
    AR_COLUMN(string, struct ar_measured_run, path, "path", "of the log"),
    AR_COLUMN(count, struct ar_measured_run, line, "line", "where the run begins"),
    AR_COLUMN(count, struct ar_measured_run, nodes, "nodes", "of the run"),
    AR_COLUMN(count, struct ar_measured_run, ranks, "gpus", "of the run"),
    AR_COLUMN(count, struct ar_measured_run, rows_count, "rows", "that are used"),
};

static void print_json(const struct calibration *calibration)
{
    const struct ar_measured *measured = calibration->measured;
    struct ar_column list[PARAMETER_COLUMNS - 1];
    memcpy(list, columns + KIND + 1, sizeof list);
    printf("{");
    ar_json_members(stdout, AR_COLUMNS(head_columns), calibration);
    printf(",\n  \"runs\": ");
    ar_json_array(stdout, AR_COLUMNS(run_columns), measured->runs, measured->runs_count,
                  sizeof *measured->runs);
    printf(",\n  \"parameters\": ");
    ar_json_array(stdout, AR_COLUMNS(list), calibration->parameters, calibration->parameters_count,
                  sizeof *calibration->parameters);
    printf(",\n  \"accuracy\": ");
    ar_comparison_write_errors(stdout, AR_VIEW(AR_FORMAT_JSON), &calibration->compared);
    printf("\n}\n");
}

void calibration_print(const struct calibration *calibration, const struct ar_view *view)
{
    if (view->format == AR_FORMAT_CSV) {
        print_csv(calibration);
        return;
    }
    if (view->format == AR_FORMAT_JSON) {
        print_json(calibration);
        return;
    }
    printf("%s; %" PRIu64 " rows fitted, residual %.2f %%\n\n", calibration->model,
           calibration->rows_count, calibration->residual_frac * 100);
    ar_records_write(stdout, view, AR_COLUMNS(table_columns), calibration->parameters,
                     calibration->parameters_count, sizeof *calibration->parameters);
    if (calibration->compared.errors_count > 0) {
        printf("\n");
        ar_comparison_write_errors(stdout, view, &calibration->compared);
        return;
    }
}
