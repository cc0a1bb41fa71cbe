/* The kinds of questions, and their graphs. */
#include "ar_kind.h"

#include <math.h>

#include "ar_run.h"
#include "ar_text.h"
#include "resource.h"
#include "timer.h"

const struct ar_kind *ar_scenario_kind(const struct ar_scenario *scenario)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    if (scenario->operators_name != NULL || strategy->operators != NULL) {
        return &ar_kind_operators;
    }
    if (scenario->workload_name == NULL &&
        (scenario->trace == NULL || scenario->payload_bytes > 0)) {
        return &ar_kind_collective;
    }
    if (strategy->is_asynchronous) {
        return &ar_kind_servers;
    }
    if (scenario->workload_name == NULL) {
        return &ar_kind_trace;
    }
    return resource_is_path(RESOURCE_RECORDED, scenario->workload_name) ? &ar_kind_recorded
                                                                        : &ar_kind_transformer;
}

struct ar_job ar_scenario_job(const struct ar_scenario *scenario)
{
    struct ar_job job = {.kind = ar_scenario_kind(scenario),
                         .collective = ar_scenario_collective(scenario),
                         .layout = scenario->layout,
                         .framework = scenario->framework,
                         .fusion = scenario->fusion,
                         .engine = scenario->engine,
                         .library =
                             scenario->engine->needs_library ? ar_scenario_library(scenario) : NULL,
                         .baseline = scenario->baseline,
                         .jitter_frac = scenario->jitter_frac,
                         .seed = scenario->seed,
                         .iterations_count = scenario->iterations_count,
                         .stragglers = scenario->stragglers,
                         .stragglers_count = scenario->stragglers_count};
    if (job.kind->job != NULL) {
        job.kind->job(scenario, &job);
    }
    return job;
}

/* --- collectives ------------------------------------------------------------------------------ */

static void complete_collective(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->elements = scenario->payload_bytes / ar_precision_bytes(scenario->precision);
    job->framework = NULL; /* nothing is computed beside it */
    job->jitter_frac = 0;
    job->iterations_count = 1;
    job->stragglers_count = 0;
}

static enum ar_status graph_of_collective(const struct ar_job *job,
                                          const struct ar_slowdown *slowdown,
                                          struct ar_timing *timing, struct ar_error *err)
{
    (void)slowdown;
    const struct ar_work work = {.kind = AR_TASK_COLLECTIVE,
                                 .time_s = AR_GRAPH_UNTIMED,
                                 .operation = job->collective.operation,
                                 .bytes = job->elements * job->collective.element_bytes};
    AR_TRY(ar_graph_create(timing->arena, 1, &timing->graph, err));
    const struct ar_task task = {
        .work = ar_graph_work(timing->graph, &work), .stream = AR_STREAM_GRADIENTS, .count = 1};
    ar_graph_add(timing->graph, &task);
    return AR_OK;
}

const struct ar_kind ar_kind_collective = {.name = "collective",
                                           .is_collective = true,
                                           .job = complete_collective,
                                           .graph = graph_of_collective,
                                           .fill = ar_run_fill_collective};

/* --- steps of traces -------------------------------------------------------------------------- */

static void complete_trace(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->trace = scenario->trace;
    job->fused_bytes = ar_scenario_fused_bytes(scenario);
}

static enum ar_status graph_of_trace(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                     struct ar_timing *timing, struct ar_error *err)
{
    AR_TRY(trace_lay_out(job, slowdown, timing, err));
    return ar_strategy_graph(&timing->layout, &job->times, timing->arena, &timing->graph, err);
}

const struct ar_kind ar_kind_trace = {
    .name = "trace", .job = complete_trace, .graph = graph_of_trace, .fill = ar_run_fill_traced};

/* --- steps of layouts ------------------------------------------------------------------------- */

static enum ar_status graph_of_layout(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                      struct ar_timing *timing, struct ar_error *err)
{
    (void)slowdown; /* which the schedule applies */
    return ar_strategy_graph(&timing->layout, &job->times, timing->arena, &timing->graph, err);
}

static void complete_transformer(const struct ar_scenario *scenario, struct ar_job *job)
{
    ar_part_times_make(&scenario->layout, scenario->cost, &job->times);
    ar_part_times_scale(&job->times, scenario->compute_factor);
}

const struct ar_kind ar_kind_transformer = {.name = "transformer",
                                            .has_layout = true,
                                            .job = complete_transformer,
                                            .graph = graph_of_layout,
                                            .fill = ar_run_fill_layout};

const struct ar_kind ar_kind_recorded = {
    .name = "recorded", .has_layout = true, .graph = graph_of_layout, .fill = ar_run_fill_layout};

const struct ar_kind ar_kind_operators = {
    .name = "operators", .has_layout = true, .graph = graph_of_layout, .fill = ar_run_fill_placed};

/* --- steps with servers ----------------------------------------------------------------------- */

static void complete_servers(const struct ar_scenario *scenario, struct ar_job *job)
{
    job->async = ar_scenario_async(scenario);
    job->units = ar_scenario_units(scenario);
    if (scenario->trace == NULL) {
        complete_transformer(scenario, job);
        return;
    }
    complete_trace(scenario, job);
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        job->layout.sizes[axis] = axis == AR_AXIS_DP ? scenario->gpus : 1;
    }
}

static void fill_servers(const struct ar_scenario *scenario, const struct ar_timing *timing,
                         struct ar_row *row)
{
    (scenario->trace != NULL ? ar_run_fill_traced : ar_run_fill_layout)(scenario, timing, row);
}

const struct ar_kind ar_kind_servers = {
    .fill = fill_servers, .name = "servers", .has_layout = true, .job = complete_servers};
