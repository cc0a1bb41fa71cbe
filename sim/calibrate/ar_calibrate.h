/** \file ar_calibrate.h
 * Fits a cluster to measured rows: NCCL's cost model to all-reduces of NCCL, latencies and
 * bandwidths to those of our own algorithms, one link to messages between two processes. What the
 * logs hold decides.
 */
#ifndef AR_CALIBRATE_H
#define AR_CALIBRATE_H

#include "ar_calibrate_request.h"
#include "ar_cluster.h"
#include "ar_record.h"

/** Fits, writes the files of `request->out`, notes what a reader should be wary of, and prints the
 * report to stdout. The cluster is left with the fitted numbers of its links. Errors are those of
 * the fits; AR_USAGE for a cluster that is a platform file, which cannot be copied. */
enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, enum ar_format format,
                                struct ar_error *err);

#endif
