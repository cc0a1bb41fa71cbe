/** \file log.h
 * How the readers make runs and rows, and what they are.
 */
#ifndef AR_LOGS_LOG_READ_H
#define AR_LOGS_LOG_READ_H

#include "ar_log.h"

/** The readers of whole files: each reads a text into `logs`, which has its path and no runs yet.
 */
enum ar_status ar_read_nccl_json(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err);
enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err);

/** Adds a run with nothing known. The address holds until the next one is added. */
enum ar_status ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                               struct ar_log **run, struct ar_error *err);

/** The latest run. */
struct ar_log *ar_logs_last(const struct ar_logs *logs);

/** A row with nothing known. */
struct ar_log_row ar_log_empty_row(uint64_t line);

/** Adds a row; what is wrong with any row whatever the format is an error: no time or one that is
 * not above zero. */
enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err);

/** The collective that the name of a program speaks of, which may go on (`all_reduce_perf -b 8`,
 * `Allreduce Latency`); AR_LOG_OTHER for another. */
enum ar_log_collective ar_collective_of_name(const char *name);

/** The collective that all rows of a run of nccl-tests can be of by elements against bytes,
 * operation, root and the ratio of bandwidths: `hint` if it can be that, else the first of enum
 * ar_log_collective, if none then one by all but the ratio, so that ar_log_check_bandwidths() can
 * say what is wrong; else AR_LOG_OTHER. */
enum ar_log_collective ar_collective_infer(const struct ar_log *run, enum ar_log_collective hint);

/** Checks that the printed bandwidths of a run are those of size, time and ranks, within the
 * rounding of the digits. Those of AR_LOG_OTHER are not checked. */
enum ar_status ar_log_check_bandwidths(const struct ar_log *run, struct ar_error *err);

#endif
