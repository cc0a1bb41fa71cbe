/* export: what other programs read. A format is a row: how its scenario is loaded, its writer. */
#include <math.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_kind.h"
#include "ar_row.h"
#include "ar_simgrid_xml.h"
#include "ar_text.h"
#include "commands.h"
#include "exports.h"
#include "made_by.h"

/* --- platforms of SimGrid --------------------------------------------------------------------- */

static enum ar_status load_platform(const struct options *options, struct ar_scenario *scenario,
                                    struct ar_error *err)
{
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_require_key(options, AR_KEY_GPUS, err));
    AR_TRY(options_scenario(options, 0, scenario, err));
    AR_TRY(ar_scenario_load_cluster(scenario, err));
    return ar_scenario_check_gpus(scenario, err);
}

static enum ar_status write_platform(const struct options *options, struct ar_scenario *scenario,
                                     FILE *file, const char *mark, struct ar_error *err)
{
    (void)options, (void)err;
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    uint32_t nodes = (scenario->gpus + per_node - 1) / per_node;
    ar_cluster_write_simgrid(scenario->cluster, nodes, NULL, 0, file);
    fprintf(file, "<!-- %s -->\n", mark);
    return AR_OK;
}

/* --- timelines -------------------------------------------------------------------------------- */

/* Refuses a strategy with servers, or operators where only collectives are written. */
static enum ar_status check_graph(const struct options *options, const struct ar_scenario *scenario,
                                  bool takes_operators, struct ar_error *err)
{
    bool has_graph = ar_scenario_kind(scenario)->graph != NULL;
    AR_REFUSE(!has_graph || (!takes_operators && scenario->layout.placed != NULL), err, AR_USAGE,
              "--strategy: found %s; expected one whose ranks follow a task graph with --format %s",
              scenario->layout.strategy->name, options->format);
    return AR_OK;
}

/* Strategies that send no buckets, and workloads, are shown by their roles. */
static bool shows_ranks(const struct ar_scenario *scenario)
{
    return scenario->trace != NULL && scenario->layout.strategy->sends_buckets;
}

static enum ar_status load_timeline(const struct options *options, struct ar_scenario *scenario,
                                    struct ar_error *err)
{
    AR_TRY(option_require_step(options, err));
    AR_TRY(options_load(options, scenario, err));
    AR_TRY(check_graph(options, scenario, true, err));
    scenario->iterations_count = 1;
    if (!shows_ranks(scenario)) {
        return AR_OK;
    }
    AR_TRY(option_check_messages(options, scenario, err));
    AR_REFUSE(!ar_engine_has_timeline(scenario->engine), err, AR_USAGE,
              "--engine: found %s, which has no timeline; expected simgrid or recurrence",
              scenario->engine->name);
    return AR_OK;
}

enum ar_status options_run_timeline(const struct options *options,
                                    const struct ar_scenario *scenario, struct ar_job *job,
                                    struct ar_timing *timing, struct ar_row *row,
                                    struct ar_error *err)
{
    if (shows_ranks(scenario)) {
        struct ar_timeline *shown = ar_arena_alloc(options->arena, 1, sizeof *shown);
        uint32_t *ranks = ar_arena_alloc(options->arena, TIMELINE_RANKS, sizeof *ranks);
        shown->ranks = ranks;
        shown->ranks_count =
            timeline_choose_ranks(ar_shape_ranks(&scenario->shape),
                                  ar_cluster_facts(scenario->cluster)->gpus_per_node, ranks);
        /* Contention may make other buckets than the scenario has, up to one for each tensor. */
        struct ar_trial sizes = {.collective = ar_scenario_collective(scenario),
                                 .calls_count = scenario->trace->tensors_count,
                                 .timeline = shown};
        shown->marks_s =
            ar_arena_alloc(options->arena, ar_timeline_size(&sizes), sizeof *shown->marks_s);
        job->timeline = shown;
    }
    AR_TRY(ar_run_job(scenario, job, options->arena, timing, row, err));
    if (timing->slowest_s > 0) {
        ar_note(option_notes(options),
                "in the timeline all GPUs are alike, so it ends before the step does, of which %s "
                "are waits for the slowest one (--jitter 0 leaves them out)",
                AR_SHOW_SECONDS(timing->slowest_s));
    }
    return AR_OK;
}

static enum ar_status write_timeline(const struct options *options, struct ar_scenario *scenario,
                                     FILE *file, const char *mark, struct ar_error *err)
{
    struct ar_row row;
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    ar_note_before(option_notes(options), scenario, ar_run_cost_s(scenario));
    AR_TRY(options_run_timeline(options, scenario, &job, &timing, &row, err));
    row.wall_s = NAN; /* the same step gives the same file */
    timeline_write_trace(file, &timing, &row, mark);
    return AR_OK;
}

/* --- messages: GOAL, ASTRA-sim ---------------------------------------------------------------- */

/* A collective, or a step whose ranks follow a task graph. */
static enum ar_status load_messages(const struct options *options, struct ar_scenario *scenario,
                                    struct ar_error *err)
{
    AR_TRY(option_require_work(options, err));
    AR_TRY(options_load(options, scenario, err));
    AR_TRY(option_check_messages(options, scenario, err));
    AR_TRY(check_graph(options, scenario, false, err));
    scenario->iterations_count = 1;
    ar_note_before(option_notes(options), scenario, ar_run_cost_s(scenario));
    return AR_OK;
}

static enum ar_status write_goal(const struct options *options, struct ar_scenario *scenario,
                                 FILE *file, const char *mark, struct ar_error *err)
{
    struct ar_row row;
    struct ar_graph_trial trial;
    struct ar_timing timing;
    const struct ar_job job = ar_scenario_job(scenario);
    AR_TRY(ar_run_job(scenario, &job, options->arena, &timing, &row, err));
    ar_timing_graph_trial(&timing, &trial);
    return trial.ranks > 1 ? goal_write(file, &trial, mark, err)
                           : ar_error_set(err, AR_USAGE,
                                          "--gpus: found 1; expected several with --format goal");
}

static enum ar_status write_workload(const struct options *options, struct ar_scenario *scenario,
                                     FILE *file, const char *mark, struct ar_error *err)
{
    struct ar_row row;
    double left_out_s = 0;
    (void)mark; /* the grammar has no comments */
    struct ar_job job = ar_scenario_job(scenario);
    struct ar_timing timing;
    AR_TRY(ar_run_job(scenario, &job, options->arena, &timing, &row, err));
    AR_TRY(astra_workload_write(file, &timing, &left_out_s, err));
    if (left_out_s > 0) {
        ar_note(option_notes(options),
                "%.4g ms of waits, copies and input are left out: the format cannot hold them",
                left_out_s * 1e3);
    }
    return AR_OK;
}

/* --- NCCL's tuner plug-in --------------------------------------------------------------------- */

/* Notes the measurements and constants behind a table of one operation (NULL: of all). */
static void note_basis(const struct options *options, const struct ar_library *library,
                       bool is_fitted, const struct ar_operation *operation)
{
    const char *name = library->tuning.release->name, *missing = NULL;
    FILE *notes = option_notes(options);
    if (!library->tuning.release->has_tuner) {
        ar_note(notes, "%s loads no tuner plug-in, NCCL does from 2.19.1 on", name);
    }
    for (int i = 0; is_fitted && library->calls != 0 && i < AR_PRICED_CALLS; i++) {
        const struct ar_operation *of_call = ar_library_operations[i];
        if ((operation == NULL || operation == of_call) && (library->calls >> i & 1) == 0) {
            missing = missing == NULL
                          ? of_call->command
                          : ar_arena_format(options->arena, "%s, %s", missing, of_call->command);
        }
    }
    if (!is_fitted) {
        ar_note(notes, "nothing is fitted: these are the choices that %s makes of itself", name);
    }
    if (missing != NULL) {
        ar_note(
            notes,
            "%s were not measured: their lines follow from the measured operations by %s's model",
            missing, name);
    }
}

static enum ar_status write_tuner(const struct options *options, struct ar_scenario *scenario,
                                  FILE *file, const char *mark, struct ar_error *err)
{
    AR_TRY(ar_scenario_load_library(scenario, err)); /* whatever the engine */
    const struct ar_library *fitted = ar_scenario_fitted(scenario);
    bool is_fitted = ar_engine_times_calls(scenario->engine) ? ar_engine_is_fitted(scenario->engine)
                                                             : fitted != NULL;
    const struct ar_library *library = is_fitted ? fitted : scenario->constants;
    const struct ar_collective collective = {
        .cluster = scenario->cluster,
        .operation = ar_scenario_has(scenario, AR_KEY_OPERATION) ? scenario->operation : NULL,
        .shape = {.x = scenario->gpus, .y = 1},
        .element_bytes = 1};
    AR_REFUSE(library == NULL, err, AR_USAGE,
              "--cluster: found %s without a cost table and library.node_bus; expected one from "
              "'allreckon calibrate LOG... --out NAME.topo', or --set library.node_bus=...",
              scenario->cluster_name);
    AR_TRY(tuner_write(file, library, is_fitted, &collective, mark, err));
    note_basis(options, library, is_fitted, collective.operation);
    return AR_OK;
}

/* --- the formats ------------------------------------------------------------------------------ */

/* Keys with one of the `uses`, or of the bits `more`, may be given; uses 0: all of the command. */
static const struct export_format {
    const char *name;
    unsigned uses;
    key_set more;
    enum ar_status (*load)(const struct options *options, struct ar_scenario *scenario,
                           struct ar_error *err);
    enum ar_status (*write)(const struct options *options, struct ar_scenario *scenario, FILE *file,
                            const char *mark, struct ar_error *err);
} formats[] = {
    {"simgrid-xml", AR_KEY_OF_CLUSTER, KEY_BIT(AR_KEY_GPUS), load_platform, write_platform},
    {"chrome-trace", AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED, 0,
     load_timeline, write_timeline},
    {"goal", 0, 0, load_messages, write_goal},
    {"astra-sim", AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED, 0,
     load_messages, write_workload},
    {"tuner", AR_KEY_OF_CLUSTER,
     KEY_BIT(AR_KEY_GPUS) | KEY_BIT(AR_KEY_OPERATION) | KEY_BIT(AR_KEY_ENGINE) |
         KEY_BIT(AR_KEY_TUNING),
     options_load, write_tuner},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

enum ar_status command_export(const struct options *options, struct ar_error *err)
{
    const struct export_format *format = NULL;
    struct ar_scenario scenario;
    struct ar_output *output;
    const char *mark;
    const char *names[FORMATS];
    AR_TRY(option_required(options, "format", options->format, err));
    for (size_t i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        format = strcmp(options->format, names[i]) == 0 ? &formats[i] : format;
    }
    AR_REFUSE_BY(format == NULL, ar_error_unknown(err, AR_USAGE, "--format", "format",
                                                  options->format, names, FORMATS));
    AR_TRY(made_by_check_file(options, options->out, err));
    if (format->uses != 0) {
        AR_TRY(option_refuse_others(options, key_bits(format->uses) | format->more,
                                    ar_arena_format(options->arena, "--format %s", format->name),
                                    err));
    }
    AR_TRY(format->load(options, &scenario, err));
    AR_TRY(made_by_begin(options, &output, &mark, err));
    AR_TRY(format->write(options, &scenario, output->file, mark, err));
    return made_by_end(output, err);
}
