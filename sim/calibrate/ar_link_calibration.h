/** \file ar_link_calibration.h
 * A fit to measured rows of our own algorithms: the latencies and bandwidths of a cluster.
 */
#ifndef AR_LINK_CALIBRATION_H
#define AR_LINK_CALIBRATION_H

#include "ar_compared.h"
#include "ar_measured.h"
#include "ar_record.h"
#include "ar_units.h"

struct ar_link_calibration {
    const char *model; /**< what the rows are compared with */
    struct ar_link_fit fit;
    bool is_by_gpus;                /**< what the counts below are of, else nodes */
    struct ar_library_nodes fitted; /**< empty: rows of pairs */
    struct ar_library_nodes held_out;
    struct ar_compared *compared; /**< every measured row */
    size_t compared_count;
    struct ar_compared_errors errors;
};

/** Fits the cluster, which is left with the fitted numbers, as the request says; what is made is
 * the arena's. Errors are those of hold_out_split() and ar_link_fit(). */
enum ar_status ar_link_calibration_run(const struct ar_calibrate_request *request,
                                       struct ar_cluster *cluster,
                                       const struct ar_measured *measured, struct ar_arena *arena,
                                       struct ar_link_calibration *calibration,
                                       struct ar_error *err);

/** Notes what a reader of the fit should be wary of. */
void ar_link_calibration_note(const struct ar_link_calibration *calibration, FILE *notes);

/** Prints the report to stdout. */
enum ar_status ar_link_calibration_print(const struct ar_link_calibration *calibration,
                                         const struct ar_measured *measured, enum ar_format format,
                                         struct ar_arena *arena, struct ar_error *err);

/** Writes `request->out` (NAME.topo), a copy of the file of the cluster, with the fitted numbers.
 */
enum ar_status ar_link_calibration_save(const struct ar_link_calibration *calibration,
                                        const struct ar_measured *measured,
                                        const struct ar_calibrate_request *request,
                                        const struct ar_cluster *cluster, struct ar_arena *arena,
                                        struct ar_error *err);

/** What was fitted, for the key `links.fitted` (`gpus 2 3`). */
enum { LINKS_FITTED_TEXT = 200 };
const char *links_fitted_text(bool is_by_gpus, const struct ar_library_nodes *counts,
                              char text[LINKS_FITTED_TEXT]);

/** Whether a key `links.fitted` counts a row as fitted; an empty text counts none. */
bool links_fitted_have(const char *text, const struct ar_library_run *run);

/** What a row ran, for people: `torus2d 4x2`. */
void link_choice(const struct ar_collective *collective, char text[AR_COMPARED_CHOICE]);

/** `identified`, `not identified`, `not used by the rows`, ... */
const char *link_state_name(enum ar_link_state state);

/** A number with its unit, as a cluster file takes it, with six digits. */
const char *link_number_text(enum ar_link_cost cost, double value, char text[AR_UNIT_TEXT]);

#endif
