/** \file collective.h
 * Which collective numbers can be of, and whether printed bandwidths are those of size and time.
 */
#ifndef AR_LOGS_COLLECTIVE_H
#define AR_LOGS_COLLECTIVE_H

#include "ar_log.h"
#include "spans.h"

/** A number as printed, with the distance within which the true one lies. NaN: not printed. */
struct ar_printed {
    double value;
    double half_digit;
};

/** A number in microseconds or GB/s as seconds or bytes per second; NaN stays. */
struct ar_printed ar_printed_times(struct ar_printed printed, double factor);

/** Rounding of one row's numbers; times in seconds, bandwidths in bytes per second. */
struct ar_row_digits {
    struct ar_printed time, algbw, busbw;
};

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
