/** \file ar_calibrate.h
 * Fits a cluster to measured rows: NCCL's cost model to calls of NCCL, latencies and bandwidths to
 * messages of our own algorithms. What the logs hold decides.
 */
#pragma once

#include "ar_measured.h"
#include "ar_record.h"

/** All texts and lists are the caller's. */
struct ar_calibrate_request {
    struct ar_measured_request rows;
    bool is_shipped;          /**< the rows are of a measured set, by which machines are told */
    bool is_all_fitted;       /**< nothing is held out */
    const uint64_t *held_out; /**< these node or GPU counts are; none: see ar_measured_request */
    size_t held_out_count;
    bool folds;              /**< also fit without each node count in turn */
    const char *source_path; /**< the file of the cluster, which is copied */
    const char *out;         /**< file of the calibrated cluster (NAME.topo); NULL: none */
    const char *name;        /**< of that cluster, and */
    const char *table_path; /**< file of its library (NAME.library.csv): ar_calibrate_check_out() */
    const char *made_by;    /**< the command, for a comment of the files */
};

/** Makes the names of the files from `request->out`. AR_USAGE if it is not NAME.topo, or the file
 * that is calibrated. */
enum ar_status ar_calibrate_check_out(struct ar_calibrate_request *request, struct ar_arena *arena,
                                      struct ar_error *err);

/** Fits, writes the files of `request->out`, notes doubts about the fit, and prints the
 * report to stdout. The cluster keeps the fitted numbers of its links. Errors are the fits'. */
enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, const struct ar_view *view,
                                struct ar_arena *arena, struct ar_error *err);
