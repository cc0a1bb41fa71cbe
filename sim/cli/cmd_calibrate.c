/* calibrate: fits a cluster to measured rows. */
#include <string.h>

#include "ar_calibrate.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "log_options.h"

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    enum ar_format format;
    struct ar_scenario scenario;
    struct ar_calibrate_request request;
    char source[RESOURCE_PATH];
    struct ar_inputs *inputs;
    struct ar_cluster *cluster = NULL; /* whose link costs the fit changes */
    AR_TRY(ar_format_parse("--format", options->format, &format, err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(log_options_parse(options, &scenario, &request, err));
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", scenario.cluster_name, source, err));
    request.source_path = source;
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
    return ar_calibrate_run(&request, cluster, format, options->arena, err);
}
