/* export: what other programs read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_cluster.h"
#include "ar_kind.h"
#include "ar_simgrid_xml.h"
#include "ar_text.h"
#include "chrome_trace.h"
#include "cmd_run.h"
#include "commands.h"
#include "lists.h"
#include "made_by.h"
#include "pipeline.h"

static enum ar_status export_platform(const struct options *options, struct ar_error *err)
{
    key_set allowed = key_bits(AR_KEY_OF_CLUSTER) | KEY_BIT(AR_KEY_GPUS);
    struct ar_scenario scenario;
    struct ar_output *output;
    const char *mark;
    AR_TRY(option_refuse_others(options, allowed, "--format simgrid-xml", err));
    if (options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "export: found --ranks; expected none with --format simgrid-xml, see "
                            "'allreckon export --help'");
    }
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_require_key(options, AR_KEY_GPUS, err));
    AR_TRY(options_scenario(options, 0, &scenario, err));
    AR_TRY(ar_scenario_load_cluster(&scenario, options->inputs, err));
    AR_TRY(ar_scenario_check_gpus(&scenario, err));
    uint32_t per_node = ar_cluster_facts(scenario.cluster)->gpus_per_node;
    uint32_t nodes = (scenario.gpus + per_node - 1) / per_node;
    AR_TRY(ar_cluster_check_reach(scenario.cluster, nodes * per_node, err));
    AR_TRY(made_by_begin(options, &output, &mark, err));
    AR_TRY(ar_cluster_write_simgrid(scenario.cluster, nodes, NULL, 0, output->file, err));
    fprintf(output->file, "<!-- %s -->\n", mark);
    return made_by_end(output, err);
}

static int compare_ranks(const void *a, const void *b)
{
    const uint32_t *first = a;
    const uint32_t *second = b;
    return (*first > *second) - (*first < *second);
}

/* The ranks to show in ascending order, in the arena. */
static enum ar_status read_ranks(const struct options *options, const struct ar_scenario *scenario,
                                 uint32_t **ranks, uint32_t *count, struct ar_error *err)
{
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    uint32_t ranks_count = ar_shape_ranks(&scenario->shape);
    uint64_t *listed;
    size_t listed_count = 0;
    if (options->ranks != NULL) {
        AR_TRY(list_ranks(options->arena, "--ranks", options->ranks, ranks_count, &listed,
                          &listed_count, err));
    }
    size_t capacity = listed_count > CHROME_TRACE_RANKS ? listed_count : CHROME_TRACE_RANKS;
    uint32_t *made = ar_arena_alloc(options->arena, capacity, sizeof *made);
    for (size_t i = 0; made != NULL && i < listed_count; i++) {
        made[i] = (uint32_t)listed[i];
    }
    AR_NEED(made, err, "the ranks");
    *count = options->ranks != NULL ? (uint32_t)listed_count
                                    : chrome_trace_choose(ranks_count, per_node, made);
    qsort(made, *count, sizeof *made, compare_ranks);
    *ranks = made;
    return AR_OK;
}

/* Room for the marks of a step. Contention may make other buckets than the scenario knows of; no
 * more than there are tensors. */
static enum ar_status make_marks(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_timeline *timeline, struct ar_error *err)
{
    struct ar_trial sizes = {.collective = ar_scenario_collective(scenario),
                             .jobs_count = scenario->trace->tensors_count,
                             .timeline = timeline};
    timeline->marks_s =
        ar_arena_alloc(options->arena, ar_timeline_size(&sizes), sizeof *timeline->marks_s);
    return timeline->marks_s != NULL ? AR_OK : ar_error_no_memory(err, "the timeline");
}

/* Runs one step and writes it: with a timeline its ranks, with workers these, else its roles. */
static enum ar_status run_step(const struct options *options, const struct ar_scenario *scenario,
                               struct ar_timeline *timeline, const uint32_t *workers,
                               uint32_t workers_count, struct ar_error *err)
{
    struct ar_row row;
    struct ar_output *output;
    const char *mark;
    struct ar_job job = ar_scenario_job(scenario);
    struct ar_timing timing;
    job.timeline = timeline;
    job.async.spans_room = workers != NULL ? (uint32_t)pipeline_spans(scenario) : 0;
    AR_TRY(ar_run_job(scenario, &job, options->arena, &timing, &row, err));
    row.wall_s = NAN; /* the same step gives the same file */
    if (timeline != NULL) {
        ar_note_estimates(option_notes(options), ar_rows_estimates(&row, 1), 1);
    }
    AR_TRY(made_by_begin(options, &output, &mark, err));
    if (workers != NULL) {
        chrome_trace_write_servers(output->file, &timing.async, workers, workers_count, &row, mark);
    } else {
        chrome_trace_write(output->file, &timing, &row, mark);
    }
    return made_by_end(output, err);
}

static enum ar_status refuse_closed(const struct ar_scenario *scenario, struct ar_error *err)
{
    if (scenario->engine->has_timeline) {
        return AR_OK;
    }
    return ar_error_set(err, AR_USAGE,
                        "--engine: found %s, which does not say when ranks do what; expected "
                        "simgrid or recurrence with --format chrome-trace",
                        scenario->engine->name);
}

/* All steps of some workers. */
static enum ar_status export_servers(const struct options *options,
                                     const struct ar_scenario *scenario, struct ar_error *err)
{
    uint32_t *workers = NULL, workers_count;
    if (pipeline_spans(scenario) > PIPELINE_SPANS_MAX) {
        return ar_scenario_refuse(scenario, AR_KEY_GPUS, err,
                                  "found %" PRIu32 " workers, too many for a timeline of %" PRIu32
                                  " steps; expected fewer",
                                  scenario->gpus, scenario->iterations_count);
    }
    AR_TRY(read_ranks(options, scenario, &workers, &workers_count, err));
    ar_note_before(option_notes(options), scenario, NULL, 0);
    return run_step(options, scenario, NULL, workers, workers_count, err);
}

/* Strategies that send no buckets, and workloads, are shown by their roles. */
static bool shows_ranks(const struct ar_scenario *scenario)
{
    return scenario->trace != NULL && scenario->layout.strategy->sends_buckets;
}

static enum ar_status export_trace(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    uint32_t *ranks = NULL;
    struct ar_timeline timeline = {.ranks_count = 0};
    key_set allowed =
        key_bits(AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED);
    AR_TRY(option_refuse_others(options, allowed, "--format chrome-trace", err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    if (!option_is_laid_out(options)) {
        AR_TRY(option_require_key(options, AR_KEY_TRACE, err));
    }
    AR_TRY(options_load(options, &scenario, err));
    if (scenario.layout.strategy->is_asynchronous) {
        return export_servers(options, &scenario, err);
    }
    scenario.iterations_count = 1;
    if (!shows_ranks(&scenario) && options->ranks != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "export: found --ranks; expected none with --workload, or a strategy "
                            "other than data, of which all stages are shown");
    }
    if (shows_ranks(&scenario)) {
        AR_TRY(option_check_messages(options, &scenario, err));
        AR_TRY(read_ranks(options, &scenario, &ranks, &timeline.ranks_count, err));
        AR_TRY(refuse_closed(&scenario, err));
        timeline.ranks = ranks;
        AR_TRY(make_marks(options, &scenario, &timeline, err));
    }
    ar_note_before(option_notes(options), &scenario, options->inputs, ar_run_cost_s(&scenario));
    return run_step(options, &scenario, shows_ranks(&scenario) ? &timeline : NULL, NULL, 0, err);
}

enum ar_status command_export(const struct options *options, struct ar_error *err)
{
    static const struct {
        const char *name;
        enum ar_status (*run)(const struct options *options, struct ar_error *err);
    } formats[] = {{"simgrid-xml", export_platform},
                   {"chrome-trace", export_trace},
                   {"goal", export_goal},
                   {"astra-sim", export_astra},
                   {"tuner", export_tuner}};
    enum { FORMATS = sizeof formats / sizeof formats[0] };
    const char *names[FORMATS];
    AR_TRY(option_required(options, "format", options->format, err));
    AR_TRY(made_by_check_file(options, options->out, err));
    for (size_t i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        if (strcmp(options->format, names[i]) == 0) {
            return formats[i].run(options, err);
        }
    }
    return ar_error_unknown(err, AR_USAGE, "--format", "format", options->format, names, FORMATS);
}
