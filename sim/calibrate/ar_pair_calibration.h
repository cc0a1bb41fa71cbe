/** \file ar_pair_calibration.h
 * A fit of one link to logs of messages between two processes (ar_pair_fit.h).
 */
#ifndef AR_PAIR_CALIBRATION_H
#define AR_PAIR_CALIBRATION_H

#include "ar_link_calibration.h"

/** Whether the first log is of a pair, or `--pair` says so; other errors are those of reading it.
 */
enum ar_status ar_pair_calibration_is_meant(const struct ar_calibrate_request *request,
                                            bool *is_meant, struct ar_error *err);

/** Fits latency and bandwidth of the link that `--pair` names. `measured` gets the runs, for what
 * is said of them, and no rows; it is the arena's. AR_USAGE without `--pair` and with options of
 * all-reduces; AR_BAD_DATA for other runs, for a cluster that does not have the link, and for rows
 * that cannot be fitted. */
enum ar_status ar_pair_calibration_run(const struct ar_calibrate_request *request,
                                       const struct ar_cluster *cluster, struct ar_arena *arena,
                                       struct ar_measured **measured,
                                       struct ar_link_calibration *calibration,
                                       struct ar_error *err);

#endif
