/* calibrate, compare, accuracy: what is done with measured rows. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_accuracy.h"
#include "ar_note.h"
#include "ar_text.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "made_by.h"

/* The index of measured sets; the set that the first file is of, if it is one alone, and how many
 * there are. */
struct sets {
    struct ar_measured_index index;
    const struct ar_measured_set *one;
    size_t count;
};

static enum ar_status read_sets(const struct options *options, struct sets *sets,
                                struct ar_error *err)
{
    char path[RESOURCE_PATH];
    *sets = (struct sets){.count = 0};
    AR_TRY(resource_find(RESOURCE_SETS, options->command->name, "index", path, err));
    AR_TRY(ar_measured_index_read(path, options->arena, &sets->index, err));
    if (options->arguments_count > 0) {
        sets->one = ar_measured_index_find(&sets->index, options->arguments[0], &sets->count);
    }
    return AR_OK;
}

/* The files; those of a set that is named in place of one, unless there is a file of that name. */
static enum ar_status list_paths(const struct options *options, const struct sets *sets,
                                 const char *const **paths, size_t *count, struct ar_error *err)
{
    const char **of_set;
    *paths = options->arguments;
    *count = options->arguments_count;
    if (sets->one == NULL || strcmp(sets->one->name, *paths[0]) != 0 ||
        made_by_is_file(*paths[0])) {
        return AR_OK;
    }
    AR_TRY(ar_measured_set_paths(&sets->index, sets->one, *paths + 1, *count - 1, options->arena,
                                 &of_set, count, err));
    *paths = of_set;
    return AR_OK;
}

/* What both commands take; texts and lists are those of the options and of the scenario. Rows are
 * those of the set that the file is of; of one of several sets, or none, those of the machine that
 * the cluster is a model of. */
static enum ar_status make_request(const struct options *options, const struct sets *sets,
                                   const struct ar_scenario *scenario,
                                   struct ar_calibrate_request *request, struct ar_error *err)
{
    unsigned time;
    AR_TRY(ar_error_as_usage(
        ar_parse_choice("--time", options->time, ar_measured_time_names, &time, err), err));
    *request = (struct ar_calibrate_request){
        .command = options->command->name,
        .notes = option_notes(options),
        .time = (enum ar_measured_time)time,
        .scenario = scenario,
        .inputs = options->inputs,
        .called = &sets->index.called,
        .system = ar_measured_index_system(&sets->index, scenario->cluster_name),
        .folds = options->folds,
        .pair = options->pair,
        .out = options->out};
    if (sets->one != NULL) {
        ar_set_ask_rows(sets->one, request);
    }
    return list_paths(options, sets, &request->paths, &request->paths_count, err);
}

static enum ar_status expect_cluster(const struct options *options, const struct sets *sets,
                                     struct ar_error *err)
{
    if (options->arguments_count == 0) {
        return option_require_key(options, AR_KEY_CLUSTER, err);
    }
    const char *path = options->arguments[0];
    if (sets->count > 1) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found %.100s, of %zu measured sets; expected one of them by name "
                            "('allreckon list sets'), or --cluster, too",
                            options->command->name, path, sets->count);
    }
    if (access(path, R_OK) != 0) {
        return ar_error_set(err, AR_NO_INPUT, "%.200s: %s", path, strerror(errno));
    }
    return ar_error_set(err, AR_USAGE,
                        "%s: option --cluster is missing (%.100s is no measured set: 'allreckon "
                        "list sets'); expected the cluster that the rows were measured on",
                        options->command->name, path);
}

/* --- calibrate ---------------------------------------------------------------------------- */

static enum ar_status prepare_out(const struct options *options,
                                  struct ar_calibrate_request *request, struct ar_error *err)
{
    AR_TRY(ar_calibrate_check_out(request, options->arena, err));
    AR_TRY(made_by_check_file(options, options->out, err));
    AR_TRY(made_by_check_file(options, request->table_path, err));
    request->made_by = made_by(options);
    return AR_OK;
}

static enum ar_status take_hold_out(const struct options *options,
                                    struct ar_calibrate_request *request, struct ar_error *err)
{
    uint64_t *held_out;
    request->is_all_fitted = options->hold_out != NULL && strcmp(options->hold_out, "none") == 0;
    if (options->hold_out != NULL && !request->is_all_fitted) {
        AR_TRY(list_counts(options->arena, "--hold-out", options->hold_out, UINT32_MAX, &held_out,
                           &request->held_out_count, err));
        request->held_out = held_out;
    }
    return AR_OK;
}

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct sets sets;
    struct ar_scenario scenario;
    struct ar_calibrate_request request;
    char source[RESOURCE_PATH];
    struct ar_cluster *cluster = NULL; /* whose link costs the fit changes */
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    AR_TRY(read_sets(options, &sets, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    if (option_key(options, AR_KEY_CLUSTER) == NULL) {
        AR_TRY(sets.one != NULL ? ar_set_scenario(sets.one, options->arena, &scenario, err)
                                : expect_cluster(options, &sets, err));
    }
    AR_TRY(make_request(options, &sets, &scenario, &request, err));
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", scenario.cluster_name, source, err));
    request.source_path = source;
    if (options->out != NULL) {
        AR_TRY(prepare_out(options, &request, err));
    }
    AR_TRY(take_hold_out(options, &request, err));
    AR_TRY(ar_scenario_make_cluster(&scenario, options->inputs, &cluster, err));
    if (options->algorithm != NULL) {
        request.algorithm_name = options->algorithm;
        request.is_messages = true;
    } else if (option_key(options, AR_KEY_CLUSTER) == NULL) {
        ar_set_ask_algorithm(sets.one, &request);
    }
    scenario.cluster = cluster;
    ar_note_platform(request.notes, &scenario);
    return ar_calibrate_run(&request, cluster, &view, options->arena, err);
}

/* --- compare ------------------------------------------------------------------------------ */

static enum ar_status load(const struct options *options, struct ar_scenario *scenario,
                           struct ar_cluster **cluster, struct ar_error *err)
{
    const char *asked = options->engine != NULL ? options->engine : "library";
    AR_TRY(options_scenario(options, 0, scenario, err));
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, NULL, asked, err));
    if (options->algorithm != NULL) {
        AR_TRY(ar_scenario_set(scenario, AR_KEY_ALGORITHM, NULL, options->algorithm, err));
    } else if (!scenario->engine->needs_library) { /* a library chooses */
        AR_TRY(ar_algorithm_find("--algorithm", scenario->operation, "ring", &scenario->algorithm,
                                 err));
    }
    AR_TRY(ar_scenario_make_cluster(scenario, options->inputs, cluster, err));
    scenario->cluster = *cluster;
    AR_TRY(ar_scenario_load_library(scenario, options->inputs, err));
    AR_TRY(ar_scenario_load(scenario, options->inputs, err));
    ar_note_platform(option_notes(options), scenario);
    return AR_OK;
}

/* By the cluster and the engine that the command line names. */
static enum ar_status compare_cluster(const struct options *options, const struct sets *sets,
                                      struct ar_comparison *comparison, const char **subject,
                                      struct parameters *parameters, struct ar_error *err)
{
    struct ar_scenario *scenario = ar_arena_alloc(options->arena, 1, sizeof *scenario);
    struct ar_calibrate_request request;
    struct ar_measured *measured;
    struct ar_cluster *cluster = NULL;
    AR_NEED(scenario, err, "a scenario");
    AR_TRY(load(options, scenario, &cluster, err));
    if (scenario->algorithm == NULL && !scenario->engine->needs_library) { /* it has to say so */
        struct ar_collective choice = {
            .cluster = cluster, .operation = scenario->operation, .shape = {.x = 1, .y = 1}};
        AR_TRY(ar_engine_check(scenario->engine, &choice, NULL, err));
    }
    AR_TRY(make_request(options, sets, scenario, &request, err));
    request.is_messages = !scenario->engine->needs_library;
    request.algorithm_name = ar_algorithm_name(scenario->algorithm);
    AR_TRY(ar_measured_load(&request, options->arena, &measured, err));
    AR_TRY(ar_measured_take(&request, cluster, options->arena, measured, err));
    AR_TRY(ar_comparison_run(&request, measured, options->arena, comparison, err));
    const struct ar_tuning *reference = ar_comparison_reference(scenario);
    ar_measured_note(measured, reference != NULL ? reference->release->release : NULL,
                     request.notes);
    *subject = ar_arena_format(options->arena, "cluster %.60s, predicted by engine %.40s",
                               ar_cluster_facts(cluster)->name, scenario->engine->name);
    parameters_add_scenario(parameters, scenario, options->arena);
    return AR_OK;
}

/* Loads the sets that the first file is of, with further rows of these files. */
static enum ar_status load_sets(const struct options *options, const struct sets *sets,
                                struct ar_set_rows **rows, size_t *count, struct ar_error *err)
{
    struct ar_scenario scenario;
    const char *const *paths;
    size_t paths_count;
    *count = 0;
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(list_paths(options, sets, &paths, &paths_count, err));
    for (size_t i = 0; i < sets->index.sets_count; i++) {
        const struct ar_measured_set *set = &sets->index.sets[i];
        if (ar_measured_set_has(set, options->arguments[0])) {
            AR_TRY(ar_set_load(&sets->index, set, &scenario, options->inputs, paths, paths_count,
                               option_notes(options), options->arena, &rows[(*count)++], err));
        }
    }
    return ar_sets_check(options->command->name, rows, *count, options->arena, err);
}

/* Further rows of measured sets, which the stem of the file names, by a fit to those that are
 * shipped. */
static enum ar_status compare_sets(const struct options *options, const struct sets *sets,
                                   struct ar_comparison *comparison, struct ar_error *err)
{
    struct ar_library_nodes nodes = {.count = 0};
    struct ar_set_rows **rows =
        ar_arena_alloc(options->arena, sets->count + 1, sizeof(struct ar_set_rows *));
    size_t count = 0;
    size_t capacity = 0;
    AR_NEED(rows, err, "measured sets");
    AR_TRY(load_sets(options, sets, rows, &count, err));
    for (size_t i = 0; i < count; i++) {
        capacity += rows[i]->measured->rows_count;
    }
    AR_TRY(ar_comparison_begin(capacity, options->arena, comparison, err));
    for (size_t i = 0; i < count; i++) {
        const struct ar_library_nodes *of_set = &rows[i]->measured->nodes;
        const struct ar_measured_set *set = rows[i]->set;
        AR_TRY(ar_set_compare(rows[i], count > 1 ? set->cluster : NULL, options->arena, comparison,
                              err));
        for (size_t k = 0; k < of_set->count; k++) {
            AR_TRY(ar_library_nodes_add(&nodes, of_set->counts[k], err));
        }
    }
    if (comparison->rows_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: found no row that is modelled; expected some",
                            options->arguments[0]);
    }
    ar_comparison_sort(comparison);
    return ar_comparison_sum(&nodes, false, options->arena, comparison, err);
}

/* Whether the file is of measured sets, and the command line says nothing that asks for another
 * cluster, engine or algorithm. Else a cluster must be named. */
static enum ar_status check_sets(const struct options *options, const struct sets *sets,
                                 bool *is_of_set, struct ar_error *err)
{
    const char *other = options->engine != NULL      ? "--engine"
                        : options->algorithm != NULL ? "--algorithm"
                                                     : NULL;
    *is_of_set = false;
    if (option_key(options, AR_KEY_CLUSTER) != NULL) {
        return AR_OK;
    }
    if (sets->count == 0) {
        return expect_cluster(options, sets, err);
    }
    *is_of_set = true;
    return other == NULL ? AR_OK
                         : ar_error_set(err, AR_USAGE,
                                        "compare: found %s without --cluster; expected --cluster, "
                                        "too (%.100s alone is a measured set, which has its own)",
                                        other, options->arguments[0]);
}

static enum ar_status write_out(const struct options *options, const char *subject,
                                const struct ar_comparison *comparison,
                                const struct parameters *parameters, struct ar_error *err)
{
    AR_TRY(ar_comparison_save(comparison, options->out, options->arena, err));
    AR_TRY(made_by_sign(options, NULL, parameters, err));
    return option_draw(options, AR_PLOT_COMPARE, subject, err);
}

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct sets sets;
    struct ar_comparison comparison;
    const char *subject = "predicted by a fit to the shipped rows of its set";
    struct parameters parameters = {0};
    bool is_of_set = false;
    if (command_layers_takes(options)) {
        return command_layers(options, err);
    }
    AR_TRY(option_view(options, ar_comparison_columns, &view, err));
    AR_TRY(made_by_check_directory(
        options, (const char *const[]){"compare.csv", "accuracy.csv", NULL}, NULL, err));
    AR_TRY(read_sets(options, &sets, err));
    AR_TRY(check_sets(options, &sets, &is_of_set, err));
    AR_TRY(is_of_set ? compare_sets(options, &sets, &comparison, err)
                     : compare_cluster(options, &sets, &comparison, &subject, &parameters, err));
    if (options->out != NULL) {
        AR_TRY(write_out(options, subject, &comparison, &parameters, err));
    }
    ar_note_flush(option_notes(options));
    ar_comparison_write(stdout, &view, &comparison);
    return AR_OK;
}

/* --- accuracy ----------------------------------------------------------------------------- */

static enum ar_status write_accuracy(const struct options *options,
                                     const struct ar_accuracies *accuracies, struct ar_error *err)
{
    AR_TRY(ar_records_save(options->out, "sets.csv", ar_accuracy_columns, accuracies->rows,
                           accuracies->count, sizeof *accuracies->rows, err));
    AR_TRY(made_by_sign(options, NULL, NULL, err));
    return option_draw(options, AR_PLOT_ACCURACY, NULL, err);
}

enum ar_status command_accuracy(const struct options *options, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_view view;
    struct ar_measured_index index;
    struct ar_scenario scenario;
    struct ar_accuracies accuracies;
    AR_TRY(option_view(options, ar_accuracy_columns, &view, err));
    AR_TRY(made_by_check_directory(options, (const char *const[]){"sets.csv", NULL}, NULL, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(resource_find(RESOURCE_SETS, "accuracy", "index", path, err));
    AR_TRY(ar_measured_index_read(path, options->arena, &index, err));
    AR_TRY(ar_accuracy_run(&index, options->arguments, options->arguments_count, &scenario,
                           options->inputs, option_notes(options), options->arena, &accuracies,
                           err));
    if (options->out != NULL) {
        AR_TRY(write_accuracy(options, &accuracies, err));
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, ar_accuracy_columns, accuracies.rows, accuracies.count,
                     sizeof *accuracies.rows);
    return AR_OK;
}
