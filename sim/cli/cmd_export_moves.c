/* export: what sends what to whom, for other programs. */
#include <string.h>

#include "ar_note.h"
#include "ar_run.h"
#include "cmd_export.h"
#include "cmd_run.h"
#include "commands.h"
#include "goal.h"
#include "made_by.h"

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

static enum ar_status write_goal(FILE *file, const struct export *export, struct ar_error *err)
{
    return goal_write(file, export->trial, export->mark, export->arena, err);
}

static void destroy_graph(void *graph)
{
    ar_graph_destroy(graph);
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
    struct ar_graph *graph = ar_arena_own(options->arena, ar_graph_create(1), destroy_graph);
    if (graph == NULL) {
        return ar_error_no_memory(err, "a task");
    }
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
    const struct export export = {
        .write = write_goal, .trial = &trial, .arena = options->arena, .mark = made_by(options)};
    if (ar_scenario_is_bare(&scenario)) {
        AR_TRY(make_trial(options, &scenario, &sending, &trial, err));
        return export_write(options, &export, err);
    }
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_run_step(&scenario, &step, &row, err));
    enum ar_status status = ar_step_graph_trial(&step, &trial, err);
    status = status == AR_OK ? export_write(options, &export, err) : status;
    ar_step_destroy(&step);
    return status;
}
