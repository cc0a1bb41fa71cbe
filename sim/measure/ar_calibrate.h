/** \file ar_calibrate.h
 * Fits a cluster to measured rows: NCCL's cost model to all-reduces of NCCL, latencies and
 * bandwidths to those of our own algorithms, one link to messages between two processes. What the
 * logs hold decides.
 */
#ifndef AR_CALIBRATE_H
#define AR_CALIBRATE_H

#include "ar_inputs.h"
#include "ar_measured_set.h"
#include "ar_record.h"
#include "ar_scenario.h"

/** Which of the times of a measured row is taken. */
enum ar_measured_time { AR_TIME_OUT_OF_PLACE, AR_TIME_IN_PLACE, AR_TIME_MEAN };

/** `out-of-place`, `in-place` and `mean`; NULL ends them. */
extern const char *const ar_measured_time_names[];

/** What a fit or a comparison is asked for. All texts and lists are the caller's. */
struct ar_calibrate_request {
    const char *command;      /**< begins error lines: `calibrate` or `compare` */
    const char *const *paths; /**< of the logs */
    size_t paths_count;
    size_t known_count; /**< the first of them are those of a set, which a fit is made of */
    enum ar_measured_time time;
    FILE *notes;                         /**< ar_note.h */
    struct ar_inputs *inputs;            /**< for clusters of fewer GPUs or other lengths; NULL: the
                                              cluster alone */
    const struct ar_called_list *called; /**< what libraries call our algorithms; NULL: as here */
    const char *algorithm_name; /**< that rows were forced to which do not say one; NULL: none */
    bool is_messages;           /**< they are messages of that algorithm, not calls of a library */
    const char *system;         /**< rows of tables that have others are left out; NULL: none */
    uint32_t ranks_per_node;    /**< the same of others; 0: none */
    const struct ar_scenario *scenario; /**< its cluster, settings and release; its window where it
                                             is asked for or the log says none; engine, algorithm
                                             and channels of a comparison */

    /* Of a fit: */
    bool is_all_fitted;        /**< nothing is held out */
    uint32_t fitted_nodes_max; /**< above it nodes are held out by default; 0: the largest count */
    const uint64_t *held_out;  /**< these node or GPU counts are */
    size_t held_out_count;
    bool folds;              /**< also fit without each node count in turn */
    const char *pair;        /**< what joins two processes: nvlink, pcie, network; NULL: not said */
    const char *source_path; /**< the file of the cluster, which is copied */
    const char *out;         /**< file of the calibrated cluster (NAME.topo); NULL: none */
    const char *name;        /**< of that cluster, and */
    const char *table_path; /**< file of its library (NAME.library.csv): ar_calibrate_check_out() */
    const char *made_by;    /**< the command, for a comment of the files */
};

/** Works out what `request->out` means. AR_USAGE if it is not NAME.topo, or the file that is
 * calibrated. */
enum ar_status ar_calibrate_check_out(struct ar_calibrate_request *request, struct ar_arena *arena,
                                      struct ar_error *err);

/** Fits, writes the files of `request->out`, notes what a reader should be wary of, and prints the
 * report to stdout. The cluster is left with the fitted numbers of its links. Errors are those of
 * the fits. */
enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, const struct ar_view *view,
                                struct ar_arena *arena, struct ar_error *err);

#endif
