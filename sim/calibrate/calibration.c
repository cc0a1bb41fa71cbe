#include "calibration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "plan.h"

#define RESIDUAL_MAX 0.5
#define ERROR_NOTED  0.15 /* median, of rows that were not fitted */
#define FACTOR_NOTED 10   /* of a parameter and its prior */

enum ar_status calibration_tuning(const struct options *options, const struct ar_cluster *cluster,
                                  struct ar_tuning *tuning, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    bool has_node = facts->library_node_bus_Bps > 0;
    if (!has_node || (facts->nodes_count > 1 && facts->library_net_bus_Bps == 0)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "cluster %s: key \"%s\": found nowhere; expected the bandwidth of the "
                            "rings that NCCL finds %s (channels x speed in its log with "
                            "NCCL_DEBUG_SUBSYS=GRAPH), such as --set %s=%s",
                            facts->name, has_node ? "library.net_bus" : "library.node_bus",
                            has_node ? "across the network" : "in a node",
                            has_node ? "library.net_bus" : "library.node_bus",
                            has_node ? "24GB/s" : "132GB/s");
    }
    return plan_tuning(cluster, options->tuning, NULL, tuning, err);
}

/* --- what is fitted ----------------------------------------------------------------------- */

static enum ar_status parse_held_out(const struct options *options, const struct campaign *campaign,
                                     struct ar_library_nodes *held_out, struct ar_error *err)
{
    uint64_t *counts;
    size_t count;
    const char *unit = campaign_is_by_gpus(campaign) ? "GPU" : "node";
    enum ar_status status =
        list_counts("--hold-out", options->hold_out, UINT32_MAX, &counts, &count, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        if (!ar_library_nodes_have(campaign_groups(campaign), (uint32_t)counts[i])) {
            status = ar_error_set(err, AR_USAGE,
                                  "--hold-out: found %" PRIu64 " %ss, which no log has; expected "
                                  "%s counts of the logs, or none",
                                  counts[i], unit, unit);
        } else {
            status = ar_library_nodes_add(held_out, (uint32_t)counts[i], err);
        }
    }
    free(counts);
    return status;
}

/* By default the largest count is held out; with one count there is nothing to hold. */
enum ar_status calibration_split(const struct options *options, const struct campaign *campaign,
                                 struct ar_library_nodes *fitted, struct ar_library_nodes *held_out,
                                 struct ar_error *err)
{
    const struct ar_library_nodes *groups = campaign_groups(campaign);
    const char *unit = campaign_is_by_gpus(campaign) ? "GPU" : "node";
    enum ar_status status = AR_OK;
    if (options->hold_out == NULL && groups->count > 1) {
        status = ar_library_nodes_add(held_out, groups->counts[groups->count - 1], err);
    } else if (options->hold_out == NULL) {
        plan_note(options,
                  "all rows are of one %s count: none is held out, and how well other "
                  "counts are predicted cannot be said",
                  unit);
    } else if (strcmp(options->hold_out, "none") != 0) {
        status = parse_held_out(options, campaign, held_out, err);
    }
    for (size_t i = 0; status == AR_OK && i < groups->count; i++) {
        if (!ar_library_nodes_have(held_out, groups->counts[i])) {
            status = ar_library_nodes_add(fitted, groups->counts[i], err);
        }
    }
    if (status == AR_OK && fitted->count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "--hold-out: found all %s counts of the logs; expected some left to "
                            "fit",
                            unit);
    }
    return status;
}

/* Fits all rows but those on the node counts of `left_out`. */
static enum ar_status fit_rows(const struct ar_tuning *tuning, const struct campaign *campaign,
                               const struct ar_library_nodes *left_out, struct ar_library *library,
                               struct ar_error *err)
{
    struct ar_library_row *rows = calloc(campaign->rows_count + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < campaign->rows_count; i++) {
        if (!ar_library_nodes_have(left_out, campaign->rows[i].run.nodes)) {
            rows[count++] = campaign->rows[i];
        }
    }
    enum ar_status status = ar_library_fit(tuning, rows, count, library, err);
    free(rows);
    return status;
}

/* Rows that are nothing like the model still have a best fit. */
static enum ar_status check_residual(const struct ar_library *library, struct ar_error *err)
{
    if (library->residual_frac < RESIDUAL_MAX) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "fit: found a residual of %.0f %% over %" PRIu32 " rows; expected less "
                        "than %.0f %%, all-reduces that resemble those of %s with such rings",
                        library->residual_frac * 100, library->rows_count, RESIDUAL_MAX * 100,
                        library->tuning.name);
}

/* --- judging ------------------------------------------------------------------------------ */

static void judge_all(const struct campaign *campaign, struct calibration *calibration)
{
    for (size_t i = 0; i < campaign->rows_count; i++) {
        const struct ar_library_row *row = &campaign->rows[i];
        bool is_fitted = ar_library_nodes_have(&calibration->table.fitted, row->run.nodes);
        calibration->judged[calibration->judged_count++] = judged_by_library(
            &calibration->table.library, row, is_fitted ? JUDGED_FITTED : JUDGED_HELD_OUT);
    }
}

static enum ar_status judge_fold(const struct ar_tuning *tuning, const struct campaign *campaign,
                                 uint32_t nodes, struct calibration *calibration,
                                 struct ar_error *err)
{
    struct ar_library library;
    struct ar_error why;
    struct ar_library_nodes left_out = {.counts = {nodes}, .count = 1};
    enum ar_status status = fit_rows(tuning, campaign, &left_out, &library, &why);
    if (status != AR_OK) {
        return ar_error_set(err, status, "--folds: without %" PRIu32 " nodes: %.400s", nodes,
                            why.text);
    }
    for (size_t i = 0; i < campaign->rows_count; i++) {
        if (campaign->rows[i].run.nodes == nodes) {
            calibration->judged[calibration->judged_count++] =
                judged_by_library(&library, &campaign->rows[i], JUDGED_FOLD);
        }
    }
    return AR_OK;
}

static enum ar_status judge_folds(const struct ar_tuning *tuning, const struct campaign *campaign,
                                  struct calibration *calibration, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    if (campaign->nodes.count < 2) {
        return ar_error_set(err, AR_USAGE,
                            "--folds: found logs of one node count; expected several, since each "
                            "is left out in turn");
    }
    for (size_t i = 0; status == AR_OK && i < campaign->nodes.count; i++) {
        status = judge_fold(tuning, campaign, campaign->nodes.counts[i], calibration, err);
    }
    return status;
}

enum ar_status calibration_run(const struct options *options, const struct ar_cluster *cluster,
                               const struct campaign *campaign, struct calibration *calibration,
                               struct ar_error *err)
{
    struct ar_tuning tuning;
    *calibration = (struct calibration){.judged_count = 0};
    enum ar_status status = calibration_tuning(options, cluster, &tuning, err);
    if (status == AR_OK) {
        status = calibration_split(options, campaign, &calibration->table.fitted,
                                   &calibration->table.held_out, err);
    }
    if (status == AR_OK) {
        status = fit_rows(&tuning, campaign, &calibration->table.held_out,
                          &calibration->table.library, err);
    }
    if (status == AR_OK) {
        status = check_residual(&calibration->table.library, err);
    }
    if (status != AR_OK) {
        return status;
    }
    calibration->judged = calloc(2 * campaign->rows_count, sizeof *calibration->judged);
    if (calibration->judged == NULL) {
        return ar_error_no_memory(err, "the judged rows");
    }
    judge_all(campaign, calibration);
    if (options->folds) {
        status = judge_folds(&tuning, campaign, calibration, err);
    }
    if (status == AR_OK) {
        status = accuracy_sum(calibration->judged, calibration->judged_count, &campaign->nodes,
                              false, calibration->lines, &calibration->lines_count, err);
    }
    if (status != AR_OK) {
        calibration_destroy(calibration);
    }
    return status;
}

void calibration_note(const struct calibration *calibration, const struct options *options)
{
    const struct ar_library *library = &calibration->table.library;
    for (size_t i = 0; i < calibration->lines_count; i++) {
        const struct accuracy *line = &calibration->lines[i];
        if (line->set == JUDGED_HELD_OUT && line->nodes == 0 &&
            line->model.median_frac > ERROR_NOTED) {
            plan_note(options,
                      "rows that were held out are predicted with a median error of %.0f "
                      "%%: do not rely on node counts that were not fitted",
                      line->model.median_frac * 100);
        }
    }
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        enum ar_library_parameter parameter = (enum ar_library_parameter)i;
        double factor =
            library->values[i] / ar_library_parameter_prior(&library->tuning, parameter);
        if (factor > FACTOR_NOTED || factor < 1.0 / FACTOR_NOTED) {
            plan_note(options,
                      "%s is %.3g times its prior: are the times and rates in the units "
                      "that they are read in?",
                      ar_library_parameter_name(parameter), factor);
            return;
        }
    }
}

void calibration_destroy(struct calibration *calibration)
{
    free(calibration->judged);
    calibration->judged = NULL;
}
