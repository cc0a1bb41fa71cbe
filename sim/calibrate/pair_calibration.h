/** \file pair_calibration.h
 * A fit of one link to messages between two processes: osu_latency and osu_bw.
 *
 * A message of b bytes takes latency + b / bandwidth; one of many in flight a constant of its own
 * + b / bandwidth. The fit is that of ar_fit.h with the numbers of the cluster file as priors,
 * within a factor of three; rows where the MPI library changes its protocol count less.
 */
#ifndef AR_PAIR_CALIBRATION_H
#define AR_PAIR_CALIBRATION_H

#include "link_calibration.h"

/** Whether the first log is of a pair, or `--pair` says so; other errors are those of reading it.
 */
enum ar_status pair_calibration_is_meant(const struct options *options, bool *is_meant,
                                         struct ar_error *err);

/** Fits latency and bandwidth of the link that `--pair` names. `campaign` gets the runs, for what
 * is said of them, and no rows; freed with campaign_destroy(), on failure, too. AR_USAGE without
 * `--pair` and with options of all-reduces; AR_BAD_DATA for other runs, for a cluster that does not
 * have the link, and for rows that cannot be fitted. */
enum ar_status pair_calibration_run(const struct options *options, const struct ar_cluster *cluster,
                                    struct campaign *campaign, struct link_calibration *calibration,
                                    struct ar_error *err);

#endif
