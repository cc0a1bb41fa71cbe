/* The file of a cluster whose links are calibrated. */
#include <math.h>
#include <stdio.h>

#include "ar_link_calibration.h"
#include "ar_output.h"
#include "ar_units.h"
#include "cluster_copy.h"

static void comment_numbers(struct comments *comments, const struct ar_link_fit *fit)
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        const struct ar_link_number *number = &fit->numbers[i];
        if (number->state != AR_LINK_ABSENT && number->state != AR_LINK_IDENTIFIED) {
            comment_add(comments, "%s: %s", ar_link_cost_key((enum ar_link_cost)i),
                        link_state_name(number->state));
        }
    }
}

static void comment_fit(const struct ar_link_calibration *calibration,
                        const struct ar_measured *measured,
                        const struct ar_calibrate_request *request, struct comments *comments)
{
    char text[AR_COMPARED_TEXT];
    const char *const *what =
        calibration->is_by_gpus ? (const char *const[]){"GPU counts fitted", "GPU counts held out"}
                                : (const char *const[]){"nodes fitted", "nodes held out"};
    comment_measured(comments, measured);
    comment_add(comments, "times: %s; cluster: %.200s; model: %s", measured->time, request->cluster,
                calibration->model);
    if (calibration->fitted.count > 0) {
        comment_counts(comments, what[0], &calibration->fitted);
        comment_counts(comments, what[1], &calibration->held_out);
    }
    comment_add(comments, "residual of the fitted rows: %.1f %%",
                calibration->fit.residual_frac * 100);
    for (size_t i = 0; i < calibration->errors.count; i++) {
        comment_add(comments, "error, %s", ar_compared_text(&calibration->errors, i, text));
    }
    comment_numbers(comments, &calibration->fit);
}

static enum ar_status set_numbers(const struct ar_link_fit *fit, struct ar_topo *topo,
                                  struct ar_error *err)
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        const struct ar_link_number *number = &fit->numbers[i];
        char value[AR_UNIT_TEXT];
        char prior[AR_UNIT_TEXT];
        char source[200];
        if (!isfinite(number->error_frac)) {
            continue;
        }
        snprintf(source, sizeof source, "fitted, +-%.1f %%%s, 'allreckon calibrate'; before: %s",
                 number->error_frac * 100,
                 number->state == AR_LINK_IDENTIFIED ? "" : ", not identified by the rows",
                 link_number_text(cost, number->prior, prior));
        AR_TRY(ar_topo_set(topo, ar_link_cost_key(cost),
                           link_number_text(cost, number->value, value), source, err));
    }
    return AR_OK;
}

enum ar_status ar_link_calibration_save(const struct ar_link_calibration *calibration,
                                        const struct ar_measured *measured,
                                        const struct ar_calibrate_request *request,
                                        const struct ar_cluster *cluster, struct ar_arena *arena,
                                        struct ar_error *err)
{
    char fitted[LINKS_FITTED_TEXT];
    char name[COPY_NAME_SIZE];
    struct comments comments = {.arena = arena};
    struct ar_topo *topo;
    struct ar_output output;
    comment_fit(calibration, measured, request, &comments);
    const struct cluster_copy copy = {.request = request,
                                      .description = ar_cluster_facts(cluster)->description,
                                      .what = "links",
                                      .rows_count = calibration->fit.rows_count};
    AR_TRY(cluster_copy_make(&copy, &comments, arena, &topo, name, err));
    if (calibration->fitted.count > 0) {
        links_fitted_text(calibration->is_by_gpus, &calibration->fitted, fitted);
        AR_TRY(ar_topo_set(topo, "links.fitted", fitted,
                           "'allreckon calibrate', see the head of the file", err));
    }
    AR_TRY(set_numbers(&calibration->fit, topo, err));
    AR_TRY(ar_output_open(request->out, &output, err));
    ar_topo_write(topo, output.file);
    return ar_output_commit(&output, err);
}
