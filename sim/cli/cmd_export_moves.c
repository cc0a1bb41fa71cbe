/* export: what sends what to whom, for other programs. */
#include "ar_note.h"
#include "ar_run.h"
#include "astra_workload.h"
#include "cmd_export.h"
#include "cmd_run.h"
#include "commands.h"
#include "goal.h"
#include "msccl.h"
#include "tuner.h"

/* A collective, or a step, with all that predictions of it say. */
static enum ar_status load(const struct options *options, struct ar_scenario *scenario,
                           struct ar_error *err)
{
    struct ar_inputs *inputs;
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    if (options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE, "export: found --ranks; expected none with --format %s",
                            options->format);
    }
    if (!option_is_laid_out(options)) {
        AR_TRY(option_require_work(options, err));
    }
    AR_TRY(options_load(options, 0, scenario, &inputs, err));
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
    ar_note_before(option_notes(options), scenario, inputs, ar_run_cost_s(scenario));
    return AR_OK;
}

static enum ar_status write_goal(FILE *file, const void *what, const char *mark,
                                 struct ar_error *err)
{
    return goal_write(file, what, mark, err);
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
    struct ar_graph *graph = ar_arena_own(options->arena, ar_graph_create(1), ar_graph_destroy);
    AR_NEED(graph, err, "a task");
    const struct ar_task task = {.work = ar_graph_work(graph, &work), .count = 1};
    ar_graph_add(graph, &task);
    *trial = (struct ar_graph_trial){.graph = graph,
                                     .cluster = scenario->cluster,
                                     .ranks = ar_scenario_ranks(scenario),
                                     .sendings = sending};
    return graph->is_broken ? ar_error_no_memory(err, "a task") : AR_OK;
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
        return export_write(options, write_goal, &trial, err);
    }
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_run_step(&scenario, &step, &row, err));
    enum ar_status status = ar_step_graph_trial(&step, &trial, err);
    status = status == AR_OK ? export_write(options, write_goal, &trial, err) : status;
    ar_step_destroy(&step);
    return status;
}

struct workload {
    const struct ar_step *step;
    double *left_out_s;
};

static enum ar_status write_astra(FILE *file, const void *what, const char *mark,
                                  struct ar_error *err)
{
    const struct workload *workload = what;
    (void)mark;
    return astra_workload_write(file, workload->step, workload->left_out_s, err);
}

enum ar_status export_astra(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_row row;
    if (option_key(options, AR_KEY_PAYLOAD) != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--payload: found with --format astra-sim; expected a step, --trace or "
                            "--workload");
    }
    AR_TRY(load(options, &scenario, err));
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_run_step(&scenario, &step, &row, err));
    double left_out_s = 0;
    const struct workload workload = {&step, &left_out_s};
    enum ar_status status = export_write(options, write_astra, &workload, err);
    ar_step_destroy(&step);
    AR_TRY(status);
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
    struct ar_inputs *inputs;
    char *where = ar_arena_format(options->arena, "--format %s", options->format);
    AR_NEED(where, err, "an option");
    AR_TRY(option_refuse_others(options, allowed | KEY_BIT(AR_KEY_GPUS), where, err));
    if (options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE, "export: found --ranks; expected none with %s", where);
    }
    return options_load(options, 0, scenario, &inputs, err);
}

static enum ar_status write_msccl(FILE *file, const void *what, const char *mark,
                                  struct ar_error *err)
{
    return msccl_write(file, what, mark, err);
}

enum ar_status export_msccl(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    AR_TRY(option_require_key(options, AR_KEY_ALGORITHM, err));
    AR_TRY(load_sizeless(options, key_bits(AR_KEY_OF_COLLECTIVE | AR_KEY_OF_BARE), &scenario, err));
    AR_TRY(option_check_messages(options, &scenario, err));
    const struct ar_collective collective = ar_scenario_collective(&scenario);
    return export_write(options, write_msccl, &collective, err);
}

struct table {
    const struct ar_library *library;
    bool is_fitted;
    struct ar_collective collective;
    struct tuner_gain *gain;
};

static enum ar_status write_tuner(FILE *file, const void *what, const char *mark,
                                  struct ar_error *err)
{
    const struct table *table = what;
    return tuner_write(file, table->library, table->is_fitted, &table->collective, mark,
                       table->gain, err);
}

enum ar_status export_tuner(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct tuner_gain gain = {.factor = 1};
    AR_TRY(load_sizeless(options,
                         key_bits(AR_KEY_OF_CLUSTER) | KEY_BIT(AR_KEY_OPERATION) |
                             KEY_BIT(AR_KEY_ENGINE) | KEY_BIT(AR_KEY_TUNING),
                         &scenario, err));
    const struct ar_library *fitted = ar_scenario_fitted(&scenario);
    bool is_fitted = scenario.engine->needs_library ? scenario.engine->is_fitted : fitted != NULL;
    const struct table table = {
        .library = is_fitted ? fitted : scenario.constants,
        .is_fitted = is_fitted,
        .gain = &gain,
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
    AR_TRY(export_write(options, write_tuner, &table, err));
    if (gain.factor > 1) {
        ar_note(
            option_notes(options), "%s's own choices take up to %.2f times as long (%s of %.4g B)",
            table.library->tuning.release->name, gain.factor, gain.operation->command, gain.bytes);
    }
    return AR_OK;
}
