/** \file collective.h
 * Which collective numbers can be of, and whether printed bandwidths are those of size and time.
 */
#ifndef AR_LOGS_COLLECTIVE_H
#define AR_LOGS_COLLECTIVE_H

#include "ar_log.h"

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
