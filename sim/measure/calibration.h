/** \file calibration.h
 * A fit to measured rows, as it is printed and saved. Between calibrate.c and calibrate_write.c.
 */
#ifndef AR_CALIBRATION_H
#define AR_CALIBRATION_H

#include "ar_calibrate.h"
#include "ar_comparison.h"

/** A number that was fitted. */
struct fitted_parameter {
    ar_cell_string kind; /**< `parameter` */
    ar_cell_string parameter;
    ar_cell_number value;
    ar_cell_string unit;
    ar_cell_number relative_standard_error; /**< NAN: it was not fitted */
    ar_cell_flag identified;
    ar_cell_string state; /**< `identified`, ... */
    ar_cell_number prior;
    ar_cell_string prior_source;
    ar_cell_string value_text, prior_text; /**< with units */
};

struct calibration {
    struct ar_measured *measured;
    const char *what;                         /**< was fitted: `NCCL`, `links`, `NCCL and links` */
    const char *model;                        /**< that predicts the rows, one line */
    const struct ar_library_table *table;     /**< of calls; NULL: none */
    ar_cell_string tuning;                    /**< NCCL's release; NULL: no calls */
    ar_cell_number node_bus_Bps, net_bus_Bps; /**< of its rings; NAN: no calls */
    ar_cell_count rows_count;                 /**< that were fitted */
    ar_cell_number residual_frac;
    struct fitted_parameter parameters[AR_LIBRARY_PARAMETERS_COUNT + AR_LINK_COSTS_COUNT];
    size_t parameters_count;
    struct ar_library_nodes fitted; /**< counts of nodes or GPUs; empty: rows of pairs */
    struct ar_library_nodes held_out;
    struct ar_comparison compared; /**< every measured row, then every row again by its fold */
};

/** Prints the report to stdout. */
void calibration_print(const struct calibration *calibration, const struct ar_view *view);

/** Writes `request->out` (NAME.topo), a copy of the file of the cluster with the fitted numbers,
 * and of a library NAME.library.csv beside it, the `library.cost_table` of the copy: both or none,
 * unless renaming the second one fails. */
enum ar_status calibration_save(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_error *err);

#endif
