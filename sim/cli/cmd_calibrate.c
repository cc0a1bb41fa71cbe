/* calibrate: fits a cluster to measured rows. */
#include <stdlib.h>
#include <string.h>

#include "ar_calibrate.h"
#include "commands.h"
#include "lists.h"
#include "log_options.h"
#include "plan.h"
#include "resource.h"

static enum ar_status load_and_run(const struct options *options,
                                   const struct ar_calibrate_request *request,
                                   enum ar_format format, struct ar_error *err)
{
    struct ar_cluster *cluster;
    AR_TRY(plan_load_cluster(options, &cluster, err));
    enum ar_status status = ar_calibrate_run(request, cluster, format, err);
    ar_cluster_destroy(cluster);
    return status;
}

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    enum ar_format format;
    struct ar_calibrate_request request;
    char source[RESOURCE_PATH];
    uint64_t *held_out = NULL;
    AR_TRY(ar_format_parse("--format", options->format, &format, err));
    AR_TRY(log_options_parse(options, &request, err));
    AR_TRY(option_required(options, "cluster", options->cluster, err));
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, source, err));
    request.folds = options->folds;
    request.pair = options->pair;
    request.source_path = source;
    request.settings = options->settings.texts;
    request.settings_count = options->settings.count;
    request.out = options->out;
    if (options->hold_out != NULL && strcmp(options->hold_out, "none") == 0) {
        request.hold_out = AR_HOLD_OUT_NONE;
    } else if (options->hold_out != NULL) {
        request.hold_out = AR_HOLD_OUT_COUNTS;
        AR_TRY(list_counts("--hold-out", options->hold_out, UINT32_MAX, &held_out,
                           &request.held_out_count, err));
        request.held_out = held_out;
    }
    enum ar_status status = load_and_run(options, &request, format, err);
    free(held_out);
    return status;
}
