/** \file ar_library_calibration.h
 * A fit of NCCL to measured rows: which are fitted, which held out, what came of it.
 */
#ifndef AR_LIBRARY_CALIBRATION_H
#define AR_LIBRARY_CALIBRATION_H

#include "ar_compared.h"
#include "ar_measured.h"
#include "ar_record.h"

struct ar_library_calibration {
    struct ar_library_table table;
    struct ar_compared *compared; /**< every measured row, then every row again by its fold */
    size_t compared_count;
    struct ar_compared_errors errors;
};

/** Fits the library of a cluster to measured rows as the request says; what is made is the arena's.
 * Errors are AR_USAGE for node counts that nobody measured or that leave nothing to fit,
 * AR_BAD_DATA for rows that cannot be fitted and for a cluster without `library.node_bus` or
 * `library.net_bus`. */
enum ar_status ar_library_calibration_run(const struct ar_calibrate_request *request,
                                          const struct ar_cluster *cluster,
                                          const struct ar_measured *measured,
                                          struct ar_arena *arena,
                                          struct ar_library_calibration **calibration,
                                          struct ar_error *err);

/** Notes what a reader of the fit should be wary of. */
void ar_library_calibration_note(const struct ar_library_calibration *calibration, FILE *notes);

/** Prints the report to stdout. */
enum ar_status ar_library_calibration_print(const struct ar_library_calibration *calibration,
                                            const struct ar_measured *measured,
                                            enum ar_format format, struct ar_arena *arena,
                                            struct ar_error *err);

/** Writes `request->out` (NAME.topo), a copy of the file of the cluster whose `library.cost_table`
 * is NAME, and NAME.library.csv beside it: both or none, unless renaming the second one fails. */
enum ar_status ar_library_calibration_save(const struct ar_library_calibration *calibration,
                                           const struct ar_measured *measured,
                                           const struct ar_calibrate_request *request,
                                           const struct ar_cluster *cluster, struct ar_arena *arena,
                                           struct ar_error *err);

#endif
