/** \file ar_calibrate_request.h
 * What a fit or a comparison is asked for: the logs and how to read them, the file of the cluster,
 * what is held out.
 */
#ifndef AR_CALIBRATE_REQUEST_H
#define AR_CALIBRATE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_setting.h"

/** Which of the times of a measured row is taken. */
enum ar_measured_time { AR_TIME_OUT_OF_PLACE, AR_TIME_IN_PLACE, AR_TIME_MEAN, AR_TIMES_COUNT };

/** `out-of-place`, `in-place` or `mean`. */
const char *ar_measured_time_name(enum ar_measured_time time);

/** Which node counts, or GPU counts, are not fitted. */
enum ar_hold_out { AR_HOLD_OUT_LARGEST, AR_HOLD_OUT_NONE, AR_HOLD_OUT_COUNTS };

/** All texts and lists are the caller's. */
struct ar_calibrate_request {
    const char *command;      /**< begins error lines: `calibrate` or `compare` */
    const char *const *paths; /**< of the logs */
    size_t paths_count;
    enum ar_measured_time time;
    uint32_t window; /**< of our own algorithms; 0: what the log says, else the standard one */
    FILE *notes;     /**< ar_note.h */

    /* Of a fit: */
    enum ar_hold_out hold_out;
    const uint64_t *held_out; /**< with AR_HOLD_OUT_COUNTS */
    size_t held_out_count;
    bool folds;              /**< also fit without each node count in turn */
    const char *release;     /**< NCCL's, whose constants are the priors; NULL: the cluster's */
    const char *pair;        /**< what joins two processes: nvlink, pcie, network; NULL: not said */
    const char *cluster;     /**< as it was named */
    const char *source_path; /**< the file of the cluster, which is copied */
    struct ar_settings settings; /**< `key=value`, what differs from it */
    const char *out;             /**< file of the calibrated cluster (NAME.topo); NULL: none */
};

#endif
