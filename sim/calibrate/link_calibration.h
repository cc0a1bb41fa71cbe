/** \file link_calibration.h
 * A fit of a campaign of our own algorithms: the latencies and bandwidths of a cluster.
 */
#ifndef AR_LINK_CALIBRATION_H
#define AR_LINK_CALIBRATION_H

#include "accuracy.h"
#include "ar_units.h"
#include "campaign.h"

struct link_calibration {
    const char *model; /**< what the rows are compared with */
    struct ar_link_fit fit;
    bool is_by_gpus;                /**< what the counts below are of, else nodes */
    struct ar_library_nodes fitted; /**< empty: rows of pairs */
    struct ar_library_nodes held_out;
    struct judged *judged; /**< every row of the campaign */
    size_t judged_count;
    struct accuracy lines[ACCURACY_MAX];
    size_t lines_count;
};

/** Fits the cluster, which is left with the fitted numbers, as `--hold-out` says. Errors are those
 * of calibration_split() and ar_link_fit(). Freed with link_calibration_destroy(). */
enum ar_status link_calibration_run(const struct options *options, struct ar_cluster *cluster,
                                    const struct campaign *campaign,
                                    struct link_calibration *calibration, struct ar_error *err);

void link_calibration_destroy(struct link_calibration *calibration);

/** Says on stderr what a reader of the fit should be wary of, unless `--quiet`. */
void link_calibration_note(const struct link_calibration *calibration,
                           const struct options *options);

/** Prints the report to stdout. */
void link_calibration_print(const struct link_calibration *calibration,
                            const struct campaign *campaign, enum ar_row_format format);

/** Writes `path` (NAME.topo), a copy of `source`, the file of the cluster, with the fitted numbers.
 */
enum ar_status link_calibration_save(const struct link_calibration *calibration,
                                     const struct campaign *campaign, const struct options *options,
                                     const struct ar_cluster *cluster, const char *source,
                                     const char *path, struct ar_error *err);

/** What was fitted, for the key `links.fitted` (`gpus 2 3`). */
enum { LINKS_FITTED_TEXT = 200 };
const char *links_fitted_text(bool is_by_gpus, const struct ar_library_nodes *counts,
                              char text[LINKS_FITTED_TEXT]);

/** Whether a key `links.fitted` counts a row as fitted; an empty text counts none. */
bool links_fitted_have(const char *text, const struct ar_library_run *run);

/** What a row ran, for people: `torus2d 4x2`. */
void link_choice(const struct ar_collective *collective, char text[24]);

/** `identified`, `not identified`, `not used by the rows`, ... */
const char *link_state_name(enum ar_link_state state);

/** A number with its unit, as a cluster file takes it, with six digits. */
const char *link_number_text(enum ar_link_cost cost, double value, char text[AR_UNIT_TEXT]);

#endif
