/* The file of a cluster whose links are calibrated. */
#include <math.h>
#include <stdlib.h>

#include "ar_link_calibration.h"
#include "ar_output.h"
#include "ar_units.h"
#include "cluster_copy.h"

static void remark_numbers(struct remarks *remarks, const struct ar_link_fit *fit)
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        const struct ar_link_number *number = &fit->numbers[i];
        if (number->state != AR_LINK_ABSENT && number->state != AR_LINK_IDENTIFIED) {
            remark(remarks, "%s: %s", ar_link_cost_key((enum ar_link_cost)i),
                   link_state_name(number->state));
        }
    }
}

static void remark_fit(const struct ar_link_calibration *calibration,
                       const struct ar_measured *measured,
                       const struct ar_calibrate_request *request, struct remarks *remarks)
{
    char text[AR_COMPARED_TEXT];
    const char *const *what =
        calibration->is_by_gpus ? (const char *const[]){"GPU counts fitted", "GPU counts held out"}
                                : (const char *const[]){"nodes fitted", "nodes held out"};
    remark_program(remarks);
    remark_measured(measured, remarks);
    remark(remarks, "times: %s; cluster: %.200s; model: %s", measured->time, request->cluster,
           calibration->model);
    if (calibration->fitted.count > 0) {
        remark_counts(remarks, what[0], &calibration->fitted);
        remark_counts(remarks, what[1], &calibration->held_out);
    }
    remark(remarks, "residual of the fitted rows: %.1f %%", calibration->fit.residual_frac * 100);
    for (size_t i = 0; i < calibration->errors.count; i++) {
        remark(remarks, "error, %s", ar_compared_text(&calibration->errors, i, text));
    }
    remark_numbers(remarks, &calibration->fit);
}

static void set_numbers(struct cluster_copy *copy, const struct ar_link_fit *fit)
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
        copy_set(copy, ar_link_cost_key(cost), link_number_text(cost, number->value, value),
                 source);
    }
}

static enum ar_status write_copy(const struct ar_link_calibration *calibration,
                                 const struct remarks *remarks,
                                 const struct ar_calibrate_request *request,
                                 const struct ar_cluster *cluster, const char *name, FILE *target,
                                 struct ar_error *err)
{
    char fitted[LINKS_FITTED_TEXT];
    struct cluster_copy *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    copy_settings(copy, request);
    copy_set(copy, "name", name, "name of this file");
    copy_describe(copy, ar_cluster_facts(cluster)->description, "links",
                  calibration->fit.rows_count);
    if (calibration->fitted.count > 0) {
        copy_set(copy, "links.fitted",
                 links_fitted_text(calibration->is_by_gpus, &calibration->fitted, fitted),
                 "'allreckon calibrate', see the head of the file");
    }
    set_numbers(copy, &calibration->fit);
    enum ar_status status = copy_write(copy, remarks, request->source_path, target, err);
    free(copy);
    return status;
}

static enum ar_status save(const struct ar_link_calibration *calibration,
                           const struct remarks *remarks,
                           const struct ar_calibrate_request *request,
                           const struct ar_cluster *cluster, struct ar_error *err)
{
    char name[COPY_NAME_SIZE];
    struct ar_output output;
    enum ar_status status = copy_check_path(request->source_path, request->out, name, err);
    if (status == AR_OK) {
        status = ar_output_open(request->out, &output, err);
    }
    if (status != AR_OK) {
        return status;
    }
    status = write_copy(calibration, remarks, request, cluster, name, output.file, err);
    if (status != AR_OK) {
        ar_output_abort(&output);
        return status;
    }
    return ar_output_commit(&output, err);
}

enum ar_status ar_link_calibration_save(const struct ar_link_calibration *calibration,
                                        const struct ar_measured *measured,
                                        const struct ar_calibrate_request *request,
                                        const struct ar_cluster *cluster, struct ar_error *err)
{
    struct remarks *remarks = calloc(1, sizeof *remarks);
    if (remarks == NULL) {
        return ar_error_no_memory(err, "the comments of a cluster");
    }
    remark_fit(calibration, measured, request, remarks);
    enum ar_status status = remarks->is_short_of_memory
                                ? ar_error_no_memory(err, "the comments of a cluster")
                                : save(calibration, remarks, request, cluster, err);
    remarks_free(remarks);
    return status;
}
