/** \file build.h
 * How readers make runs and rows, and what holds for those of any format.
 */
#ifndef AR_LOGS_BUILD_H
#define AR_LOGS_BUILD_H

#include "ar_log.h"

/** Makes room in an array for `count` elements; new ones are zero. False without memory. */
bool ar_array_reserve(void **array, size_t *capacity, size_t count, size_t element_bytes);

/** Adds a run with nothing known. The address holds until the next one is added. */
enum ar_status ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                               struct ar_log **run, struct ar_error *err);

/** A row with nothing known. */
struct ar_log_row ar_log_empty_row(uint64_t line);

/** Adds a row; what is wrong with any row whatever the format is an error: no time or one that is
 * not above zero. */
enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err);

#endif
