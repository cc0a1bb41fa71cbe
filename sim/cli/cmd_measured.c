/* calibrate, compare: what is done with measured rows. */
#include <string.h>

#include "ar_comparison.h"
#include "ar_measured_set.h"
#include "ar_note.h"
#include "ar_text.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "made_by.h"

/* What both commands take; texts and lists are those of the options and of the scenario. */
static enum ar_status make_request(const struct options *options,
                                   const struct ar_scenario *scenario,
                                   struct ar_calibrate_request *request, struct ar_error *err)
{
    unsigned time;
    AR_TRY(ar_error_as_usage(
        ar_parse_choice("--time", options->time, ar_measured_time_names, &time, err), err));
    *request = (struct ar_calibrate_request){.command = options->command->name,
                                             .paths = options->arguments,
                                             .paths_count = options->arguments_count,
                                             .notes = option_notes(options),
                                             .time = (enum ar_measured_time)time,
                                             .scenario = scenario,
                                             .folds = options->folds,
                                             .pair = options->pair,
                                             .out = options->out};
    return AR_OK;
}

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
    AR_TRY(make_request(options, &scenario, &request, err));
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

/* --- compare ------------------------------------------------------------------------------ */

static enum ar_status write_out(const struct options *options, const struct ar_scenario *scenario,
                                const struct ar_comparison *comparison, struct ar_error *err)
{
    char subject[160];
    AR_TRY(ar_comparison_save(comparison, options->out, options->arena, err));
    snprintf(subject, sizeof subject, "cluster %.60s, predicted by engine %.40s",
             ar_cluster_facts(scenario->cluster)->name, scenario->engine->name);
    AR_TRY(option_draw(options, AR_PLOT_COMPARE, subject, err));
    return made_by_sign(options, NULL, err);
}

/* The cluster of the measured set that the first file is; else it must be named. */
static enum ar_status find_cluster(const struct options *options, struct ar_scenario *scenario,
                                   struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "--cluster", .status = AR_USAGE};
    struct ar_measured_set *sets;
    size_t count;
    char path[RESOURCE_PATH];
    if (option_key(options, AR_KEY_CLUSTER) != NULL || options->arguments_count == 0) {
        return option_require_key(options, AR_KEY_CLUSTER, err);
    }
    AR_TRY(resource_find(RESOURCE_SETS, "compare", "index", path, err));
    AR_TRY(ar_measured_sets_read(path, options->arena, &sets, &count, err));
    const struct ar_measured_set *set = ar_measured_set_of(sets, count, options->arguments[0]);
    if (set == NULL) {
        return option_require_key(options, AR_KEY_CLUSTER, err);
    }
    ar_note(option_notes(options), "measured set %s: --cluster %s", set->name, set->cluster);
    return ar_scenario_set(scenario, AR_KEY_CLUSTER, &origin, set->cluster, err);
}

static enum ar_status load(const struct options *options, struct ar_scenario *scenario,
                           struct ar_error *err)
{
    static const struct ar_origin engine = {.where = "--engine", .status = AR_USAGE};
    static const struct ar_origin algorithm = {.where = "--algorithm", .status = AR_USAGE};
    struct ar_inputs *inputs;
    AR_TRY(options_scenario(options, 0, scenario, err));
    AR_TRY(find_cluster(options, scenario, err));
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, &engine, options->engine, err));
    if (options->algorithm != NULL) {
        AR_TRY(ar_scenario_set(scenario, AR_KEY_ALGORITHM, &algorithm, options->algorithm, err));
    } else if (!scenario->engine->needs_library) { /* a library chooses */
        AR_TRY(ar_algorithm_find("--algorithm", scenario->operation, "ring", &scenario->algorithm,
                                 err));
    }
    AR_TRY(options_inputs(options, &inputs, err));
    AR_TRY(ar_scenario_load(scenario, inputs, err));
    ar_note_platform(option_notes(options), scenario);
    return AR_OK;
}

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct ar_scenario scenario;
    struct ar_calibrate_request request;
    struct ar_measured *measured;
    struct ar_comparison comparison;
    struct ar_arena *arena = options->arena;
    if (command_layers_takes(options)) {
        return command_layers(options, err);
    }
    AR_TRY(option_view(options, ar_comparison_columns, &view, err));
    if (options->out != NULL) {
        AR_TRY(made_by_check_directory(
            options, (const char *const[]){"compare.csv", "accuracy.csv", NULL}, NULL, err));
    }
    AR_TRY(load(options, &scenario, err));
    AR_TRY(make_request(options, &scenario, &request, err));
    AR_TRY(ar_measured_load(&request, arena, &measured, err));
    AR_TRY(ar_measured_take(&request, scenario.cluster, measured, err));
    AR_TRY(ar_comparison_run(&request, measured, arena, &comparison, err));
    if (options->out != NULL) {
        AR_TRY(write_out(options, &scenario, &comparison, err));
    }
    const struct ar_tuning *reference = ar_comparison_reference(&scenario);
    ar_measured_note(measured, reference != NULL ? reference->release->release : NULL,
                     request.notes);
    ar_note_flush(option_notes(options));
    return ar_comparison_write(stdout, &view, &comparison, err);
}
