#include "link_calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "plan.h"

#define ERROR_NOTED    0.15 /* median, of rows that were not fitted */
#define FACTOR_NOTED   30   /* of a number and its prior */
#define RESIDUAL_NOTED 0.5

void link_choice(const struct ar_collective *collective, char text[24])
{
    char shape[AR_SHAPE_TEXT];
    snprintf(text, 24, "%.12s %.10s", collective->algorithm->name,
             ar_shape_format(&collective->shape, shape));
}

/* --- what was fitted ---------------------------------------------------------------------- */

const char *links_fitted_text(bool is_by_gpus, const struct ar_library_nodes *counts,
                              char text[LINKS_FITTED_TEXT])
{
    size_t used = (size_t)snprintf(text, LINKS_FITTED_TEXT, "%s", is_by_gpus ? "gpus" : "nodes");
    for (size_t i = 0; i < counts->count && used + 12 < LINKS_FITTED_TEXT; i++) {
        used +=
            (size_t)snprintf(text + used, LINKS_FITTED_TEXT - used, " %" PRIu32, counts->counts[i]);
    }
    return text;
}

bool links_fitted_have(const char *text, const struct ar_library_run *run)
{
    uint32_t count = strncmp(text, "gpus ", 5) == 0 ? run->ranks : run->nodes;
    const char *at = strchr(text, ' ');
    while (at != NULL) {
        if (strtoul(at, NULL, 10) == count) {
            return true;
        }
        at = strchr(at + 1, ' ');
    }
    return false;
}

/* --- the fit ------------------------------------------------------------------------------ */

static bool is_fitted(const struct link_calibration *calibration, const struct campaign *campaign,
                      size_t row)
{
    return ar_library_nodes_have(&calibration->fitted,
                                 campaign_group(campaign, &campaign->rows[row].run));
}

static enum ar_status fit_rows(const struct campaign *campaign, struct ar_cluster *cluster,
                               struct link_calibration *calibration, struct ar_error *err)
{
    struct ar_link_row *rows = calloc(campaign->rows_count + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < campaign->rows_count; i++) {
        if (is_fitted(calibration, campaign, i)) {
            rows[count++] = campaign->own[i];
        }
    }
    enum ar_status status = ar_link_fit(cluster, rows, count, &calibration->fit, err);
    free(rows);
    return status;
}

static void judge(const struct campaign *campaign, const double *times_s,
                  struct link_calibration *calibration)
{
    for (size_t i = 0; i < campaign->rows_count; i++) {
        struct judged *judged = &calibration->judged[calibration->judged_count++];
        *judged = (struct judged){.row = campaign->rows[i],
                                  .set = is_fitted(calibration, campaign, i) ? JUDGED_FITTED
                                                                             : JUDGED_HELD_OUT,
                                  .predicted_s = times_s[i],
                                  .low_s = NAN,
                                  .high_s = NAN,
                                  .tuning_s = NAN};
        link_choice(&campaign->own[i].collective, judged->choice);
    }
}

static enum ar_status judge_all(const struct campaign *campaign, const struct ar_cluster *cluster,
                                struct link_calibration *calibration, struct ar_error *err)
{
    double *times_s = calloc(campaign->rows_count + 1, sizeof *times_s);
    calibration->judged = calloc(campaign->rows_count + 1, sizeof *calibration->judged);
    enum ar_status status =
        times_s == NULL || calibration->judged == NULL
            ? ar_error_no_memory(err, "the judged rows")
            : ar_link_predict(cluster, campaign->own, campaign->rows_count, times_s, err);
    if (status == AR_OK) {
        judge(campaign, times_s, calibration);
        status = accuracy_sum(calibration->judged, calibration->judged_count,
                              campaign_groups(campaign), calibration->is_by_gpus,
                              calibration->lines, &calibration->lines_count, err);
    }
    free(times_s);
    return status;
}

enum ar_status link_calibration_run(const struct options *options, struct ar_cluster *cluster,
                                    const struct campaign *campaign,
                                    struct link_calibration *calibration, struct ar_error *err)
{
    *calibration = (struct link_calibration){.model = "closed form of our own algorithms",
                                             .is_by_gpus = campaign_is_by_gpus(campaign)};
    if (options->folds) {
        return ar_error_set(err, AR_USAGE,
                            "--folds: found rows of our own algorithms; expected all-reduces of "
                            "NCCL (--hold-out judges here)");
    }
    if (options->tuning != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--tuning: found rows of our own algorithms; expected all-reduces of "
                            "NCCL");
    }
    enum ar_status status =
        calibration_split(options, campaign, &calibration->fitted, &calibration->held_out, err);
    if (status == AR_OK) {
        status = fit_rows(campaign, cluster, calibration, err);
    }
    if (status == AR_OK) {
        status = judge_all(campaign, cluster, calibration, err);
    }
    if (status != AR_OK) {
        link_calibration_destroy(calibration);
    }
    return status;
}

void link_calibration_destroy(struct link_calibration *calibration)
{
    free(calibration->judged);
    calibration->judged = NULL;
}

void link_calibration_note(const struct link_calibration *calibration,
                           const struct options *options)
{
    const char *unit = calibration->is_by_gpus ? "GPU" : "node";
    if (calibration->fit.residual_frac > RESIDUAL_NOTED) {
        plan_note(options,
                  "the fitted rows scatter by %.0f %% around the model: they do not resemble it on "
                  "this cluster",
                  calibration->fit.residual_frac * 100);
    }
    for (size_t i = 0; i < calibration->lines_count; i++) {
        const struct accuracy *line = &calibration->lines[i];
        if (line->set == JUDGED_HELD_OUT && line->nodes == 0 &&
            line->model.median_frac > ERROR_NOTED) {
            plan_note(options,
                      "rows that were held out are predicted with a median error of %.0f %%: do "
                      "not rely on %s counts that were not fitted",
                      line->model.median_frac * 100, unit);
        }
    }
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        const struct ar_link_number *number = &calibration->fit.numbers[i];
        double factor = number->prior > 0 ? number->value / number->prior : 1;
        if (factor > FACTOR_NOTED || factor < 1.0 / FACTOR_NOTED) {
            plan_note(options, "%s is %.3g times that of the cluster file: is it this machine?",
                      ar_link_cost_key((enum ar_link_cost)i), factor);
        }
    }
}
