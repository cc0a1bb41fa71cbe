/* calibrate: fits a cluster to measured rows. */
#include <string.h>

#include "ar_calibrate.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "log_options.h"
#include "made_by.h"

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct ar_scenario scenario;
    struct ar_calibrate_request request;
    char source[RESOURCE_PATH];
    struct ar_inputs *inputs;
    struct ar_cluster *cluster = NULL; /* whose link costs the fit changes */
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(log_options_parse(options, &scenario, &request, err));
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", scenario.cluster_name, source, err));
    request.source_path = source;
    if (options->out != NULL) {
        AR_TRY(ar_calibrate_check_out(&request, options->arena, err));
        AR_TRY(made_by_check_file(options, options->out, err));
        AR_TRY(made_by_check_file(options, request.table_path, err));
        request.made_by = made_by(options);
    }
    request.is_all_fitted = options->hold_out != NULL && strcmp(options->hold_out, "none") == 0;
    if (options->hold_out != NULL && !request.is_all_fitted) {
        uint64_t *held_out;
        AR_TRY(list_counts(options->arena, "--hold-out", options->hold_out, UINT32_MAX, &held_out,
                           &request.held_out_count, err));
        request.held_out = held_out;
    }
    AR_TRY(options_inputs(options, &inputs, err));
    AR_TRY(ar_scenario_make_cluster(&scenario, inputs, &cluster, err));
    scenario.cluster = cluster;
    ar_note_platform(request.notes, &scenario);
    return ar_calibrate_run(&request, cluster, &view, options->arena, err);
}
