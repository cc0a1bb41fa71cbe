/** \file build.h
 * How readers make runs and rows, and what holds for those of any format.
 */
#ifndef AR_LOGS_BUILD_H
#define AR_LOGS_BUILD_H

#include "ar_log.h"
#include "spans.h"

/** A number as printed, with the distance within which the true one lies. NaN: not printed. */
struct ar_printed {
    double value;
    double half_digit;
};

/** Rounding of one row's numbers; times in seconds, bandwidths in bytes per second. */
struct ar_row_digits {
    struct ar_printed time, algbw, busbw;
};

/** Reads a text into `logs`, which has its path and no runs yet. */
typedef enum ar_status ar_reader(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err);

ar_reader ar_read_text; /**< nccl-tests and OSU, also both in one file */
ar_reader ar_read_nccl_json;
ar_reader ar_read_csv; /**< harness and published measurements */

/** Adds a run with nothing known. The address holds until the next one is added. */
enum ar_status ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                               struct ar_log **run, struct ar_error *err);

enum ar_status ar_logs_add_fact(struct ar_logs *logs, struct ar_span key, struct ar_span value,
                                uint64_t line, struct ar_error *err);

/** A row with nothing known. */
struct ar_log_row ar_log_empty_row(uint64_t line);

/** Adds a row; what is wrong with any row whatever the format is an error: no time or one that is
 * not above zero. */
enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err);

/** Bytes of one element of a datatype by its name in nccl-tests; 0 if unknown. */
uint32_t ar_datatype_bytes(const char *name);

/** The collective that a program's name speaks of (`all_reduce_perf`, `AllReduce`); AR_LOG_OTHER
 * for another. */
enum ar_log_collective ar_collective_of_name(struct ar_span name);

/** Whether `row` (`root` as printed; INT64_MIN when there is no such column) can be of
 * `collective`: elements against bytes, operation, root, and unless `is_busbw_ignored` the ratio of
 * bandwidths. */
bool ar_collective_explains(enum ar_log_collective collective, uint32_t ranks,
                            const struct ar_log_row *row, int64_t root,
                            const struct ar_row_digits digits[2], bool is_busbw_ignored);

/** Checks the printed bandwidths of a row of `run`, [0] out of place, [1] in place. Those of
 * AR_LOG_OTHER are not checked. */
enum ar_status ar_log_check_digits(const struct ar_log *run, const struct ar_log_row *row,
                                   const struct ar_row_digits digits[2], struct ar_error *err);

#endif
