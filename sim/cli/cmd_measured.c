/* calibrate, compare, expect, accuracy: what is done with measured rows. */
#include <string.h>

#include "ar_accuracy.h"
#include "ar_calibrate.h"
#include "ar_expect.h"
#include "ar_log.h"
#include "ar_row.h"
#include "ar_text.h"
#include "commands.h"
#include "lists.h"
#include "made_by.h"

/* The index of measured sets; the set of the first file, if it is one alone, and how many. */
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
    sets->one = ar_measured_index_find(&sets->index, options->arguments[0], &sets->count);
    return AR_OK;
}

/* The files; those of a set that is named in place of one, unless there is a file of that name. */
static const char *const *list_paths(const struct options *options, const struct sets *sets,
                                     size_t *count)
{
    const char *const *paths = options->arguments;
    *count = options->arguments_count;
    return sets->one == NULL || strcmp(sets->one->name, paths[0]) != 0 || made_by_is_file(paths[0])
               ? paths
               : ar_measured_set_paths(&sets->index, sets->one, paths + 1, *count - 1,
                                       options->arena, count);
}

/* The request that `calibrate` and `compare` have in common. Rows are those of the set that the
 * file is of; of one of several sets, or none, those of the machine that the cluster models. */
static void make_rows_request(const struct options *options, const struct sets *sets,
                              const struct ar_scenario *scenario,
                              struct ar_measured_request *request)
{
    *request = (struct ar_measured_request){
        .command = options->command->name,
        .notes = option_notes(options),
        .scenario = scenario,
        .called = &sets->index.called,
        .system = ar_measured_index_system(&sets->index, scenario->cluster_name)};
    if (sets->one != NULL) {
        ar_set_ask_rows(sets->one, request);
    }
    request->paths = list_paths(options, sets, &request->paths_count);
}

/* A file that holds no measured collectives is refused as such, others for want of a cluster. */
static enum ar_status expect_cluster(const struct options *options, const struct sets *sets,
                                     struct ar_error *err)
{
    const char *path = options->arguments[0];
    struct ar_logs *logs;
    AR_TRY(ar_logs_load(path, options->arena, &logs, err));
    const char *gpu = logs->runs_count > 0 ? logs->runs[0].gpu : "";
    return ar_error_set(err, AR_USAGE,
                        "%s: option --cluster is missing (%.100s is a file of %s measured sets: "
                        "'allreckon list sets'); expected the cluster of the rows%s%s ('allreckon "
                        "list clusters', or a file by 'allreckon discover'), or the name of a set",
                        options->command->name, path,
                        sets->count > 0 ? ar_arena_format(options->arena, "%zu", sets->count)
                                        : "none of the",
                        gpu[0] != '\0' ? ", whose GPUs are " : "", gpu);
}

/* --- calibrate ---------------------------------------------------------------------------- */

enum ar_status command_calibrate(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct sets sets;
    struct ar_scenario scenario;
    struct ar_calibrate_request request = {
        .folds = options->folds, .out = options->out, .made_by = made_by(options)};
    char source[RESOURCE_PATH];
    struct ar_cluster *cluster = NULL; /* whose link costs the fit changes */
    uint64_t *held_out = NULL;
    bool has_cluster = option_key(options, AR_KEY_CLUSTER) != NULL;
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    AR_TRY(read_sets(options, &sets, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    if (!has_cluster) {
        AR_TRY(sets.one != NULL ? ar_set_scenario(sets.one, options->arena, &scenario, err)
                                : expect_cluster(options, &sets, err));
    }
    make_rows_request(options, &sets, &scenario, &request.rows);
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", scenario.cluster_name, source, err));
    request.source_path = source;
    if (options->out != NULL) {
        AR_TRY(ar_calibrate_check_out(&request, options->arena, err));
        AR_TRY(made_by_check_file(options, options->out, err));
        AR_TRY(made_by_check_file(options, request.table_path, err));
    }
    request.is_shipped = sets.one != NULL;
    request.is_all_fitted = options->hold_out != NULL && strcmp(options->hold_out, "none") == 0;
    if (options->hold_out != NULL && !request.is_all_fitted) {
        AR_TRY(list_counts(options->arena, "--hold-out", options->hold_out, UINT32_MAX, &held_out,
                           &request.held_out_count, err));
        request.held_out = held_out;
    }
    AR_TRY(ar_scenario_make_cluster(&scenario, &cluster, err));
    if (options->algorithm != NULL) {
        request.rows.algorithm_name = options->algorithm;
        request.rows.is_messages = true;
    } else if (!has_cluster) {
        ar_set_ask_algorithm(sets.one, &request.rows);
    }
    scenario.cluster = cluster;
    ar_note_assumed(request.rows.notes, &scenario);
    if (ar_cluster_facts(cluster)->library_cost[0] == '\0') {
        AR_TRY(ar_scenario_load_library(&scenario, err));
        AR_TRY(ar_scenario_ask_machines(&scenario, err));
        request.rows.factors = scenario.machines;
    }
    return ar_calibrate_run(&request, cluster, &view, options->arena, err);
}

/* --- compare ------------------------------------------------------------------------------ */

/* Takes what other machines tell of one that nothing is fitted to. */
static void take_factors(const struct options *options, const struct sets *sets,
                         const struct ar_scenario *scenario, struct ar_measured_request *request)
{
    request->factors = scenario->machines;
    if (request->factors != NULL && sets->one != NULL && sets->one->machine[0] != '\0') {
        ar_note(
            option_notes(options),
            "measured set %s: its machine tells what is expected, too ('accuracy' leaves it out)",
            sets->one->name);
    }
}

/* Rows beside predictions by the cluster and the engine that the command line names. */
static enum ar_status compare_cluster(const struct options *options, const struct sets *sets,
                                      struct ar_comparison *comparison, const char **subject,
                                      struct parameters *parameters, struct ar_error *err)
{
    struct ar_scenario *scenario = ar_arena_alloc(options->arena, 1, sizeof *scenario);
    const char *engine = options->engine != NULL ? options->engine : "library";
    struct ar_measured_request request;
    struct ar_measured *measured;
    struct ar_cluster *cluster = NULL;
    AR_TRY(options_scenario(options, 0, scenario, err));
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, NULL, engine, err));
    if (options->algorithm != NULL) {
        AR_TRY(ar_scenario_set(scenario, AR_KEY_ALGORITHM, NULL, options->algorithm, err));
    } else {
        scenario->algorithm = ar_engine_algorithm(scenario->engine, scenario->operation);
    }
    AR_TRY(ar_scenario_make_cluster(scenario, &cluster, err));
    scenario->cluster = cluster;
    AR_TRY(ar_scenario_load_library(scenario, err));
    AR_TRY(ar_scenario_load(scenario, err));
    ar_note_assumed(option_notes(options), scenario);
    if (scenario->algorithm == NULL &&
        !ar_engine_times_calls(scenario->engine)) { /* it refuses `auto` */
        struct ar_collective choice = {
            .cluster = cluster, .operation = scenario->operation, .shape = {.x = 1, .y = 1}};
        AR_TRY(ar_engine_check(scenario->engine, &choice, NULL, err));
    }
    make_rows_request(options, sets, scenario, &request);
    take_factors(options, sets, scenario, &request);
    request.is_messages = !ar_engine_times_calls(scenario->engine);
    request.algorithm_name = ar_algorithm_name(scenario->algorithm);
    AR_TRY(ar_measured_load(&request, cluster, options->arena, &measured, err));
    AR_TRY(ar_comparison_run(measured, options->arena, comparison, err));
    const struct ar_tuning *reference = ar_comparison_reference(scenario);
    ar_measured_note(measured, reference != NULL ? reference->release->release : NULL,
                     request.notes);
    *subject = ar_arena_format(options->arena, "cluster %.60s, predicted by engine %.40s",
                               ar_cluster_facts(cluster)->name, scenario->engine->name);
    parameters_add_scenario(parameters, scenario);
    return AR_OK;
}

/* Further rows of the measured set with a file of this stem, beside a fit to the shipped ones. */
static enum ar_status compare_set(const struct options *options, const struct sets *sets,
                                  struct ar_comparison *comparison, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_set_rows *rows;
    size_t paths_count;
    const char *const *paths = list_paths(options, sets, &paths_count);
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(ar_set_load(&sets->index, sets->one, &scenario, paths, paths_count,
                       option_notes(options), options->arena, &rows, err));
    AR_TRY(ar_comparison_run_set(rows, options->arena, comparison, err));
    AR_REFUSE(comparison->rows_count == 0, err, AR_BAD_DATA,
              "%.200s: found no row of the measured set that is modelled; expected some",
              options->arguments[0]);
    return AR_OK;
}

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct sets sets;
    struct ar_comparison comparison;
    const char *subject = "predicted by a fit to the shipped rows of its set";
    struct parameters parameters = {.arena = options->arena};
    bool has_cluster = option_key(options, AR_KEY_CLUSTER) != NULL;
    const char *other = options->engine != NULL      ? "--engine"
                        : options->algorithm != NULL ? "--algorithm"
                                                     : NULL;
    bool is_taken;
    AR_TRY(command_compare_one(options, &is_taken, err));
    if (is_taken) {
        return AR_OK;
    }
    AR_TRY(option_view(options, ar_comparison_columns, &view, err));
    AR_TRY(made_by_check_directory(options, "compare.csv accuracy.csv", NULL, err));
    AR_TRY(read_sets(options, &sets, err));
    if (!has_cluster && sets.one == NULL) {
        return expect_cluster(options, &sets, err);
    }
    AR_REFUSE(!has_cluster && other != NULL, err, AR_USAGE,
              "compare: found %s without --cluster; expected --cluster, too (%.100s alone is a "
              "measured set, which has its own)",
              other, options->arguments[0]);
    AR_TRY(has_cluster ? compare_cluster(options, &sets, &comparison, &subject, &parameters, err)
                       : compare_set(options, &sets, &comparison, err));
    if (options->out != NULL) {
        AR_TRY(ar_comparison_save(&comparison, options->out, err));
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
        AR_TRY(option_draw(options, AR_PLOT_COMPARE, subject, err));
    }
    ar_note_flush(option_notes(options));
    ar_comparison_write(stdout, &view, &comparison);
    return AR_OK;
}

/* --- expect ------------------------------------------------------------------------------- */

/* The cluster among the arguments, NAME.topo, which is taken off them; NULL: none. */
static const char *take_topo(const char **arguments, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        const char *path = arguments[i];
        size_t length = strlen(path);
        if (length > 5 && strcmp(path + length - 5, ".topo") == 0) {
            memmove(&arguments[i], &arguments[i + 1], (--*count - i) * sizeof *arguments);
            return path;
        }
    }
    return NULL;
}

/* The release that the logs name, `NCCL 2.21.5`, where nothing else does; a fit has its own. */
static void take_release(const struct ar_measured *measured, FILE *notes, struct ar_arena *arena,
                         struct ar_scenario *scenario)
{
    struct ar_tuning ignored;
    const char *named = measured->library;
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    if (scenario->release != NULL || strncmp(named, "NCCL ", 5) != 0 ||
        facts->library_cost[0] != '\0') {
        return;
    }
    const char *release = ar_arena_text(arena, named + 5);
    if (ar_tuning_find("log", release, 0, 0, &ignored, AR_IGNORED) == AR_OK) {
        scenario->release = release;
    } else {
        ar_note(notes, "release %s of the log is not known; constants are those of %s", release,
                facts->library_release[0] != '\0' ? facts->library_release : "2.8.4");
    }
}

/* Finds the next word of letters and two digits or more, such as A100 or MI300X, or of four digits,
 * such as 4090, in a name. */
static bool next_model(const char **name, char word[AR_WORD_SIZE])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digits[] = "0123456789";
    while (**name != '\0') {
        const char *at = *name + strspn(*name, " -_,");
        size_t length = strcspn(at, " -_,"), begin = strspn(at, letters);
        snprintf(word, AR_WORD_SIZE, "%.*s", (int)length, at);
        *name = at + length;
        size_t number = strspn(at + begin, digits);
        if (length < AR_WORD_SIZE && (begin > 0 ? number >= 2 : number == 4 && length == 4)) {
            return true;
        }
    }
    return false;
}

/* Refuses a log that names another GPU than the cluster does, or one in a PCIe slot in place of a
 * socket for NVLink; a name without a model is any. */
static enum ar_status check_gpu(const struct ar_measured *measured,
                                const struct ar_cluster *cluster, struct ar_error *err)
{
    const char *found = measured->gpu, *known = "";
    char model[AR_WORD_SIZE], other[AR_WORD_SIZE];
    bool is_same = true, is_done = !next_model(&found, model);
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        known = strcmp(parameter.key, "gpu.model") == 0 ? parameter.text : known;
    }
    for (const char *rest = known; !is_done && next_model(&rest, other);) {
        is_done = is_same = strcmp(model, other) == 0;
    }
    is_same =
        is_same && !(strcasestr(measured->gpu, "PCIe") != NULL && strstr(known, "SXM") != NULL);
    AR_REFUSE(!is_same, err, AR_BAD_DATA,
              "expect: the log is of GPU \"%.80s\" and cluster %s of \"%.80s\"; expected the same "
              "(--set gpu.model=%s, if they are)",
              measured->gpu, ar_cluster_facts(cluster)->name, known, model);
    return AR_OK;
}

/* The scenario that tells what is expected: its cluster is that of the command line, of an
 * argument or of the measured set. */
static enum ar_status expect_scenario(const struct options *options, const struct sets *sets,
                                      const char *topo, struct ar_scenario *scenario,
                                      struct ar_error *err)
{
    const char *engine = options->engine != NULL ? options->engine
                         : sets->one != NULL     ? sets->one->engine
                                                 : "library";
    AR_TRY(options_scenario(options, 0, scenario, err));
    if (topo != NULL) {
        AR_TRY(ar_scenario_set(scenario, AR_KEY_CLUSTER, NULL, topo, err));
    } else if (option_key(options, AR_KEY_CLUSTER) == NULL) {
        AR_TRY(sets->one != NULL ? ar_set_scenario(sets->one, options->arena, scenario, err)
                                 : expect_cluster(options, sets, err));
    }
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, NULL, engine, err));
    AR_REFUSE(options->engine != NULL && !ar_engine_times_calls(scenario->engine), err, AR_USAGE,
              "--engine: found %.40s; expected library or nccl", options->engine);
    return AR_OK;
}

/* Takes `--nodes`: the hosts of all logs, or a list of as many counts as there are logs. */
static enum ar_status take_nodes(const struct options *options, struct ar_measured_request *request,
                                 struct ar_error *err)
{
    uint64_t *counts;
    size_t count;
    if (options->nodes == NULL) {
        return AR_OK;
    }
    AR_TRY(
        list_counts(options->arena, "--nodes", options->nodes, UINT32_MAX, &counts, &count, err));
    request->nodes = (uint32_t)counts[0];
    request->log_nodes = count > 1 ? counts : NULL;
    AR_REFUSE(count != 1 && count != request->paths_count, err, AR_USAGE,
              "--nodes: found %zu counts and %zu log%s; expected one count, or one for each log",
              count, request->paths_count, request->paths_count == 1 ? "" : "s");
    return AR_OK;
}

/* Reads the rows, and says what is expected of them. */
static enum ar_status expect_rows(const struct options *options, const struct sets *sets,
                                  const char *topo, struct ar_scenario *scenario,
                                  struct ar_expectation *expectation, struct ar_error *err)
{
    struct ar_measured_request request;
    struct ar_measured *measured;
    struct ar_cluster *cluster = NULL;
    AR_TRY(expect_scenario(options, sets, topo, scenario, err));
    AR_TRY(ar_scenario_make_cluster(scenario, &cluster, err));
    scenario->cluster = cluster;
    make_rows_request(options, sets, scenario, &request);
    AR_TRY(take_nodes(options, &request, err));
    if (sets->one != NULL && !ar_engine_times_calls(scenario->engine)) {
        ar_set_ask_algorithm(sets->one, &request);
    }
    AR_TRY(ar_measured_load(&request, cluster, options->arena, &measured, err));
    const struct ar_engine *engine = ar_engine_of_messages(scenario->engine);
    bool is_told = ar_engine_is_fitted(scenario->engine) && measured->calls_count == 0 &&
                   measured->rows[0].run->algorithm[0] == '\0'; /* all-to-alls of NCCL */
    if (measured->calls_count == 0 && engine != scenario->engine) {
        ar_note(option_notes(options),
                "engine %s models none of the rows: engine %s times messages",
                scenario->engine->name, engine->name);
        scenario->engine = engine;
    }
    AR_TRY(check_gpu(measured, cluster, err));
    take_release(measured, option_notes(options), options->arena, scenario);
    AR_TRY(ar_scenario_load_library(scenario, err));
    AR_TRY(ar_scenario_load(scenario, err));
    AR_TRY(is_told ? ar_scenario_ask_machines(scenario, err) : AR_OK);
    take_factors(options, sets, scenario, &request);
    ar_note_assumed(option_notes(options), scenario);
    return ar_expect_run(measured, options->arena, expectation, err);
}

enum ar_status command_expect(const struct options *options, struct ar_error *err)
{
    struct options logs = *options;
    struct ar_view view;
    struct sets sets;
    struct ar_scenario scenario;
    struct ar_expectation expectation;
    struct parameters parameters = {.arena = options->arena};
    double require = 0;
    const char **arguments =
        ar_arena_alloc(options->arena, options->arguments_count + 1, sizeof *arguments);
    memcpy(arguments, options->arguments, options->arguments_count * sizeof *arguments);
    const char *topo = option_key(options, AR_KEY_CLUSTER) == NULL
                           ? take_topo(arguments, &logs.arguments_count)
                           : NULL;
    logs.arguments = arguments;
    AR_REFUSE(logs.arguments_count == 0, err, AR_USAGE,
              "expect: found no log; expected one beside %.200s", topo);
    AR_TRY(option_number("--require", options->require, 1e-3, 10, &require, err));
    AR_TRY(option_view(options, ar_expect_columns, &view, err));
    AR_TRY(made_by_check_directory(
        options, "answer.csv expect.csv suspects.csv compare.csv accuracy.csv", NULL, err));
    AR_TRY(read_sets(&logs, &sets, err));
    AR_TRY(expect_rows(&logs, &sets, topo, &scenario, &expectation, err));
    if (options->out != NULL) {
        AR_TRY(ar_expect_save(&expectation, options->out, err));
        parameters_add_scenario(&parameters, &scenario);
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
        AR_TRY(option_draw(options, AR_PLOT_EXPECT, expectation.basis, err));
    }
    if (view.format == AR_FORMAT_CSV) {
        ar_note(option_notes(options), "%s", expectation.answer);
        ar_note(option_notes(options), "%s", expectation.basis);
    }
    ar_note_flush(option_notes(options));
    ar_expect_write(stdout, &view, &expectation);
    return require > 0 ? ar_expect_require(&expectation, require, err) : AR_OK;
}

/* --- accuracy ----------------------------------------------------------------------------- */

enum ar_status command_accuracy(const struct options *options, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_view view;
    struct ar_measured_index index;
    struct ar_scenario scenario;
    struct ar_accuracies accuracies;
    AR_TRY(option_view(options, ar_accuracy_columns, &view, err));
    AR_TRY(
        made_by_check_directory(options, "sets.csv factors.csv kinds.csv coverage.csv", NULL, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(resource_find(RESOURCE_SETS, "accuracy", "index", path, err));
    AR_TRY(ar_measured_index_read(path, options->arena, &index, err));
    AR_TRY(ar_accuracy_run(&index, options->arguments, options->arguments_count, &scenario,
                           option_notes(options), options->arena, &accuracies, err));
    if (options->out != NULL) {
        AR_TRY(ar_records_save(options->out, "sets.csv", ar_accuracy_columns, accuracies.rows,
                               accuracies.count, err));
        if (accuracies.factors != NULL) {
            AR_TRY(ar_records_save(options->out, "factors.csv", ar_learnt_factor_columns,
                                   accuracies.factors, accuracies.factors_count, err));
            AR_TRY(ar_records_save(options->out, "kinds.csv", ar_learnt_kind_columns,
                                   accuracies.kinds, AR_MACHINE_KINDS, err));
            AR_TRY(ar_records_save(options->out, "coverage.csv", ar_coverage_columns,
                                   accuracies.coverages, AR_COVERAGES, err));
        }
        AR_TRY(made_by_sign(options, NULL, NULL, err));
        AR_TRY(option_draw(options, AR_PLOT_ACCURACY, NULL, err));
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, ar_accuracy_columns, accuracies.rows, accuracies.count);
    if (view.format == AR_FORMAT_TABLE && accuracies.factors != NULL) {
        fputc('\n', stdout);
        ar_records_write(stdout, AR_VIEW(AR_FORMAT_TABLE), ar_coverage_columns,
                         accuracies.coverages, AR_COVERAGES);
    }
    return AR_OK;
}
