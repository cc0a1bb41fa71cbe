/** \file calibration.h
 * A fit of a campaign: which rows are fitted, which held out, what came of it.
 */
#ifndef AR_CALIBRATION_H
#define AR_CALIBRATION_H

#include "accuracy.h"
#include "campaign.h"

struct calibration {
    struct ar_library_table table;
    struct judged *judged; /**< every row of the campaign, then every row again by its fold */
    size_t judged_count;
    struct accuracy lines[ACCURACY_MAX];
    size_t lines_count;
};

/** Fits the library of a cluster to a campaign as `--hold-out` and `--folds` say. Errors are
 * AR_USAGE for node counts that nobody measured or that leave nothing to fit, AR_BAD_DATA for rows
 * that cannot be fitted and for a cluster without `library.node_bus` or `library.net_bus`. Freed
 * with calibration_destroy(). */
enum ar_status calibration_run(const struct options *options, const struct ar_cluster *cluster,
                               const struct campaign *campaign, struct calibration *calibration,
                               struct ar_error *err);

/** Which counts of a campaign (campaign_groups()) are fitted and which held out, as `--hold-out`
 * says. AR_USAGE for counts that nobody measured or that leave nothing to fit. */
enum ar_status calibration_split(const struct options *options, const struct campaign *campaign,
                                 struct ar_library_nodes *fitted, struct ar_library_nodes *held_out,
                                 struct ar_error *err);

/** Says on stderr what a reader of the fit should be wary of, unless `--quiet`. */
void calibration_note(const struct calibration *calibration, const struct options *options);

void calibration_destroy(struct calibration *calibration);

/** NCCL's own table, of the release of `--tuning` or of the cluster, with the rates of the cluster;
 * AR_BAD_DATA says which one is missing. */
enum ar_status calibration_tuning(const struct options *options, const struct ar_cluster *cluster,
                                  struct ar_tuning *tuning, struct ar_error *err);

/** Writes `path` (NAME.topo), a copy of `source`, the file of the
 * cluster, whose `library.cost_table` is
 * NAME, and NAME.library.csv beside it: both or none, unless renaming the second one fails. */
enum ar_status calibration_save(const struct calibration *calibration,
                                const struct campaign *campaign, const struct options *options,
                                const struct ar_cluster *cluster, const char *source,
                                const char *path, struct ar_error *err);

#endif
