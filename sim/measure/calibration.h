/** \file calibration.h
 * Private to this folder: a fit to measured rows, whatever was fitted, as it is printed and saved.
 */
#ifndef AR_CALIBRATION_H
#define AR_CALIBRATION_H

#include "ar_comparison.h"
#include "ar_estimate.h"

/** A number that was fitted. */
struct parameter {
    ar_cell_string kind; /**< `parameter` */
    ar_cell_string parameter;
    ar_cell_number value;
    ar_cell_string unit;
    ar_cell_number relative_standard_error; /**< NAN: it was not fitted */
    ar_cell_flag identified;
    ar_cell_string state; /**< what the rows say of it, in words */
    ar_cell_number prior;
    ar_cell_string prior_source;
    ar_cell_string value_text, prior_text; /**< with units */
};

struct calibration {
    const struct ar_measured *measured;
    const char *what;                         /**< was fitted: `NCCL`, `links`, `NCCL and links` */
    const char *model;                        /**< what the rows are compared with, one line */
    const struct ar_library_table *table;     /**< of calls; NULL: none */
    ar_cell_string tuning;                    /**< NCCL's release; NULL: no calls */
    ar_cell_number node_bus_Bps, net_bus_Bps; /**< of its rings; NAN: no calls */
    ar_cell_count rows_count;                 /**< that were fitted */
    ar_cell_number residual_frac;
    struct parameter *parameters;
    size_t parameters_count;
    struct ar_library_nodes fitted; /**< counts of nodes or GPUs; empty: rows of pairs */
    struct ar_library_nodes held_out;
    struct ar_comparison compared; /**< every measured row, then every row again by its fold */
};

/** Takes what was fitted: a cost model of NCCL, numbers of links, whose priors settings have, or
 * are from `sources` (those of an estimate; NULL: none), or the file has. There is room for their
 * parameters. AR_BAD_DATA for rows that are nothing like the model.
 */
enum ar_status calibration_take_library(struct calibration *calibration,
                                        const struct ar_library *library, struct ar_arena *arena,
                                        struct ar_error *err);
enum ar_status calibration_take_links(struct calibration *calibration, const char *model,
                                      const struct ar_link_fit *fit, const char *const *sources,
                                      const struct ar_settings *settings, struct ar_arena *arena,
                                      struct ar_error *err);

/** Fits latency and bandwidth of the link that `--pair` names to logs of messages between two
 * processes (ar_link_fit.h). `measured` gets the runs, for what is said of them, and no rows.
 * AR_USAGE without `--pair` and with options of all-reduces; AR_BAD_DATA for other runs, for a
 * cluster that does not have the link, and for rows that cannot be fitted. */
enum ar_status calibrate_pair(const struct ar_calibrate_request *request,
                              const struct ar_cluster *cluster, struct ar_arena *arena,
                              struct ar_measured *measured, struct calibration *calibration,
                              struct ar_error *err);

/** Prints the report to stdout. */
void calibration_print(const struct calibration *calibration, const struct ar_view *view);

/** Writes `request->out` (NAME.topo), a copy of the file of the cluster with what was fitted, and
 * of a library NAME.library.csv beside it, the `library.cost_table` of the copy: both or none,
 * unless renaming the second one fails. */
enum ar_status calibration_save(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_error *err);

#endif
