/** \file report.h
 * What a calibration and a comparison print: the records of their errors, parameters and runs.
 */
#ifndef AR_CALIBRATE_REPORT_H
#define AR_CALIBRATE_REPORT_H

#include "ar_compared.h"
#include "ar_measured.h"
#include "ar_record.h"

/** One line of errors. */
struct report_error {
    ar_cell_string set;
    ar_cell_count nodes; /**< or GPUs; AR_NO_COUNT: all */
    ar_cell_count rows;
    ar_cell_number median_frac, mean_frac, p95_frac, worst_frac, covered_frac;
    ar_cell_number tuning_median_frac, tuning_mean_frac, tuning_p95_frac, tuning_worst_frac;
};

enum { REPORT_ERROR_COLUMNS = 12 };

/** The columns of a report_error that begins at `offset` of a record. */
void report_error_columns(bool is_by_gpus, size_t offset,
                          struct ar_column columns[REPORT_ERROR_COLUMNS]);

/** The records of errors; the arena's, NULL without memory. */
struct report_error *report_errors(const struct ar_compared_errors *errors, struct ar_arena *arena);

/** Writes errors as records to `file`; JSON is an array without a newline behind it. */
enum ar_status report_write_errors(FILE *file, enum ar_format format,
                                   const struct ar_compared_errors *errors, struct ar_arena *arena,
                                   struct ar_error *err);

/** A parameter of a fit. */
struct report_parameter {
    ar_cell_string kind; /**< `parameter` */
    ar_cell_string parameter;
    ar_cell_number value;
    ar_cell_string unit;
    ar_cell_number relative_standard_error;
    ar_cell_flag identified;
    ar_cell_string state; /**< what the rows say of it, in words */
    ar_cell_number prior;
    ar_cell_string prior_source;
    ar_cell_string value_text, prior_text; /**< in tables, with units */
};

/** A fit as it is printed. */
struct report {
    const char *head; /**< of a table, one line */
    ar_cell_string tuning;
    ar_cell_number node_bus_Bps, net_bus_Bps; /**< NAN: not of NCCL */
    ar_cell_count rows;
    ar_cell_number residual_frac;
    const struct report_parameter *parameters;
    size_t parameters_count;
    const struct ar_compared_errors *errors;
    const struct ar_measured *measured;
};

/** Prints a fit to stdout. */
enum ar_status report_print(const struct report *report, enum ar_format format,
                            struct ar_arena *arena, struct ar_error *err);

#endif
