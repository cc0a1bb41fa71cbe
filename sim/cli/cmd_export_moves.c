/* export: what sends what to whom, for other programs. */
#include <inttypes.h>
#include <math.h>

#include "ar_kind.h"
#include "ar_note.h"
#include "ar_run.h"
#include "astra_workload.h"
#include "cmd_run.h"
#include "commands.h"
#include "goal.h"
#include "made_by.h"
#include "tuner.h"

/* A collective, or a step, with all that predictions of it say. */
static enum ar_status load(const struct options *options, struct ar_scenario *scenario,
                           struct ar_error *err)
{
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    if (options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE, "export: found --ranks; expected none with --format %s",
                            options->format);
    }
    if (!option_is_laid_out(options)) {
        AR_TRY(option_require_work(options, err));
    }
    AR_TRY(options_load(options, scenario, err));
    AR_TRY(option_check_messages(options, scenario, err));
    if (ar_scenario_is_bare(scenario)) {
        AR_TRY(ar_scenario_check_payload(scenario, err));
    }
    if (ar_scenario_is_placed(scenario) || scenario->layout.strategy->is_asynchronous) {
        return ar_error_set(err, AR_USAGE,
                            "--strategy: found %s; expected one whose ranks follow a task graph "
                            "with --format %s",
                            scenario->layout.strategy->name, options->format);
    }
    scenario->iterations_count = 1;
    ar_note_before(option_notes(options), scenario, options->inputs, ar_run_cost_s(scenario));
    return AR_OK;
}

/* In place of the mark there is one with the command. */
static enum ar_status write_schedule(const struct options *options,
                                     const struct ar_graph_trial *trial, struct ar_error *err)
{
    const char *command = made_by_with_command(options, "// "), *mark;
    struct ar_path path;
    struct ar_output *output;
    if (trial->ranks < 2) {
        return ar_error_set(err, AR_USAGE,
                            "--gpus: found 1, which sends nothing; expected several GPUs with "
                            "--format goal");
    }
    AR_TRY(made_by_begin(options, &output, &mark, err));
    AR_TRY(goal_write(output->file, trial, command, err));
    AR_TRY(made_by_end(output, err));
    ar_cluster_path(trial->cluster, 0, trial->ranks - 1, &path);
    double byte_ns = 1e9 / path.bandwidth_Bps;
    if (fabs(round(byte_ns) - byte_ns) > 0.1 * byte_ns) {
        ar_note(option_notes(options),
                "LogGOPSim takes G in whole numbers: %.4g ns a byte become %.0f, unless you count "
                "in a smaller unit (G, L, g and calcs alike; the first lines of the schedule)",
                byte_ns, round(byte_ns));
    }
    return AR_OK;
}

/* A bare collective as a graph of one task. */
static enum ar_status make_trial(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_graph_sending *sending, struct ar_graph_trial *trial,
                                 struct ar_error *err)
{
    *sending = (struct ar_graph_sending){.collective = ar_scenario_collective(scenario)};
    sending->elements = scenario->payload_bytes / sending->collective.element_bytes;
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = scenario->operation,
                                 .bytes = scenario->payload_bytes};
    struct ar_graph *graph;
    AR_TRY(ar_graph_create(options->arena, 1, &graph, err));
    const struct ar_task task = {.work = ar_graph_work(graph, &work), .count = 1};
    ar_graph_add(graph, &task);
    *trial = (struct ar_graph_trial){.graph = graph,
                                     .cluster = scenario->cluster,
                                     .ranks = ar_scenario_ranks(scenario),
                                     .sendings = sending};
    return graph->arena->is_broken ? ar_error_no_memory(err, "a task") : AR_OK;
}

enum ar_status export_goal(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_graph_sending sending;
    struct ar_graph_trial trial;
    struct ar_row row;
    AR_TRY(load(options, &scenario, err));
    if (ar_scenario_is_bare(&scenario)) {
        AR_TRY(make_trial(options, &scenario, &sending, &trial, err));
        return write_schedule(options, &trial, err);
    }
    struct ar_job job = ar_scenario_job(&scenario);
    struct ar_timing timing;
    AR_TRY(ar_run_job(&scenario, &job, options->arena, &timing, &row, err));
    ar_timing_graph_trial(&timing, &trial);
    return write_schedule(options, &trial, err);
}

enum ar_status export_astra(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_row row;
    struct ar_output *output;
    const char *mark;
    if (option_key(options, AR_KEY_PAYLOAD) != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--payload: found with --format astra-sim; expected a step, --trace or "
                            "--workload");
    }
    AR_TRY(load(options, &scenario, err));
    struct ar_job job = ar_scenario_job(&scenario);
    struct ar_timing timing;
    AR_TRY(ar_run_job(&scenario, &job, options->arena, &timing, &row, err));
    double left_out_s = 0;
    AR_TRY(made_by_begin(options, &output, &mark, err));
    AR_TRY(astra_workload_write(output->file, &timing, &left_out_s, err));
    AR_TRY(made_by_end(output, err));
    if (left_out_s > 0) {
        ar_note(option_notes(options),
                "%.4g ms of waits, copies and input have no place in a workload of ASTRA-sim",
                left_out_s * 1e3);
    }
    return AR_OK;
}

/* A collective without a size: keys of other things are refused. */
static enum ar_status load_sizeless(const struct options *options, key_set allowed,
                                    struct ar_scenario *scenario, struct ar_error *err)
{
    char *where = ar_arena_format(options->arena, "--format %s", options->format);
    AR_NEED(where, err, "an option");
    AR_TRY(option_refuse_others(options, allowed | KEY_BIT(AR_KEY_GPUS), where, err));
    if (options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE, "export: found --ranks; expected none with %s", where);
    }
    return options_load(options, scenario, err);
}

struct table {
    const struct ar_library *library;
    bool is_fitted;
    struct ar_collective collective;
};

/* What a table rests on. */
static void note_basis(const struct options *options, const struct table *table)
{
    const struct ar_library *library = table->library;
    const char *name = library->tuning.release->name;
    FILE *notes = option_notes(options);
    if (!library->tuning.release->has_tuner) {
        ar_note(notes, "%s loads no tuner plug-in, NCCL does from 2.19.1 on", name);
    }
    if (!table->is_fitted) {
        ar_note(notes,
                "constants of %s, nothing is fitted: without a table it chooses by them, too; "
                "'allreckon calibrate' fits a cluster",
                name);
    }
    const char *missing = NULL;
    for (int i = 0; table->is_fitted && library->calls != 0 && i < AR_LIBRARY_CALLS_COUNT; i++) {
        const struct ar_operation *operation = ar_library_call_facts[i].operation;
        bool is_written =
            table->collective.operation == NULL || table->collective.operation == operation;
        if (is_written && (library->calls >> i & 1) == 0) {
            missing = missing == NULL
                          ? operation->command
                          : ar_arena_format(options->arena, "%s, %s", missing, operation->command);
        }
    }
    if (missing != NULL) {
        ar_note(notes, "not measured: %s: their lines follow from what was, by %s's model", missing,
                name);
    }
}

enum ar_status export_tuner(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct tuner_gain gain = {.factor = 1};
    struct ar_output *output;
    const char *mark;
    AR_TRY(load_sizeless(options,
                         key_bits(AR_KEY_OF_CLUSTER) | KEY_BIT(AR_KEY_OPERATION) |
                             KEY_BIT(AR_KEY_ENGINE) | KEY_BIT(AR_KEY_TUNING),
                         &scenario, err));
    const struct ar_library *fitted = ar_scenario_fitted(&scenario);
    bool is_fitted = scenario.engine->needs_library ? scenario.engine->is_fitted : fitted != NULL;
    const struct table table = {
        .library = is_fitted ? fitted : scenario.constants,
        .is_fitted = is_fitted,
        .collective = {.cluster = scenario.cluster,
                       .operation =
                           ar_scenario_has(&scenario, AR_KEY_OPERATION) ? scenario.operation : NULL,
                       .shape = {.x = scenario.gpus, .y = 1},
                       .element_bytes = 1}};
    if (table.library == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--cluster: found %s without a cost table and library.node_bus; "
                            "expected one from 'allreckon calibrate LOG... --out NAME.topo', or "
                            "--set library.node_bus=...",
                            scenario.cluster_name);
    }
    AR_TRY(made_by_begin(options, &output, &mark, err));
    AR_TRY(tuner_write(output->file, table.library, table.is_fitted, &table.collective, mark, &gain,
                       err));
    AR_TRY(made_by_end(output, err));
    note_basis(options, &table);
    if (gain.factor > 1) {
        ar_note(
            option_notes(options), "%s's own choices take up to %.2f times as long (%s of %.4g B)",
            table.library->tuning.release->name, gain.factor, gain.operation->command, gain.bytes);
    }
    return AR_OK;
}
