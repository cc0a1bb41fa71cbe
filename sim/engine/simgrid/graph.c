/* Parent side of a graph: every work that is sent has routes, and tasks get their times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_clock.h"
#include "ar_simgrid_xml.h"
#include "simgrid_child.h"

/* --- routes ----------------------------------------------------------------------------------- */

struct routes {
    struct ar_arena *arena;
    struct ar_flow *pairs;
    size_t count;
};

static enum ar_status add_routes(struct routes *routes, const struct ar_flow *pairs, size_t count,
                                 struct ar_error *err)
{
    struct ar_flow *larger =
        ar_arena_grow(routes->arena, routes->pairs, routes->count, count + 1, sizeof *larger);
    AR_NEED(larger, err, "the routes of the platform");
    routes->pairs = larger;
    memcpy(routes->pairs + routes->count, pairs, count * sizeof *pairs);
    routes->count += count;
    return AR_OK;
}

static enum ar_status add_collective(const struct ar_collective *collective, struct routes *routes,
                                     struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_flow *pairs;
    size_t count;
    AR_TRY(ar_collective_check(collective, err));
    AR_TRY(simgrid_find_pairs(collective, &scratch, &pairs, &count, err));
    return add_routes(routes, pairs, count, err);
}

static enum ar_status add_messages(const struct ar_graph_trial *trial, const struct ar_task *task,
                                   struct routes *routes, struct ar_error *err)
{
    uint32_t places = trial->ranks / trial->graph->roles_count;
    for (uint32_t place = 0; place < places; place++) {
        struct ar_flow pair = {task->role * places + place, task->to * places + place};
        AR_TRY(add_routes(routes, &pair, 1, err));
    }
    return AR_OK;
}

/* Each pair of roles that a work goes between once, and each work that is a collective. */
static enum ar_status find_routes(const struct ar_graph_trial *trial, struct routes *routes,
                                  struct ar_error *err)
{
    const struct ar_graph *graph = trial->graph;
    uint32_t roles = graph->roles_count;
    bool *seen =
        ar_arena_alloc(routes->arena, graph->works_count + (size_t)roles * roles, sizeof *seen);
    AR_NEED(seen, err, "the routes of a step");
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        enum ar_task_kind kind = graph->works[task->work].kind;
        bool *is_known = kind == AR_TASK_MESSAGE
                             ? &seen[graph->works_count + (size_t)task->role * roles + task->to]
                             : &seen[task->work];
        if (kind == AR_TASK_MESSAGE && !*is_known) {
            AR_TRY(add_messages(trial, task, routes, err));
        } else if (kind == AR_TASK_COLLECTIVE && !*is_known) {
            AR_TRY(add_collective(&trial->sendings[task->work].collective, routes, err));
        }
        *is_known = true;
    }
    return AR_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

static void blame(struct ar_graph *graph, struct ar_task *task, uint32_t other)
{
    if (other != AR_NO_TASK && (task->waited_for == AR_NO_TASK ||
                                graph->tasks[other].end_s > graph->tasks[task->waited_for].end_s)) {
        task->waited_for = other;
    }
}

/* What is sent gets the mean time of its tasks. */
static enum ar_status time_works(struct ar_graph *graph, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct {
        double sum_s, count;
    } *means = ar_arena_alloc(&arena, graph->works_count + 1u, sizeof *means);
    AR_NEED(means, err, "the tasks of a step");
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        means[task->work].sum_s += task->end_s - task->start_s - task->copy_s;
        means[task->work].count += task->count;
    }
    for (uint32_t i = 0; i < graph->works_count; i++) {
        struct ar_work *work = &graph->works[i];
        if (work->kind != AR_TASK_COMPUTE && work->every == 0 && means[i].count > 0) {
            work->time_s = means[i].sum_s / means[i].count;
        }
    }
    return AR_OK;
}

static void take_times(struct ar_graph *graph, const struct graph_time *times)
{
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        struct ar_task *task = &graph->tasks[i];
        const struct ar_work *work = &graph->works[task->work];
        task->start_s = times[i].start_s;
        task->end_s = times[i].end_s;
        task->longer_s = 0;
        if (work->kind == AR_TASK_COMPUTE) {
            double longer_s = task->end_s - task->start_s - task->count * work->time_s;
            task->longer_s = fabs(longer_s) > 1e-9 * task->end_s ? longer_s : 0;
        }
        task->waited_for = AR_NO_TASK;
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        if (graph->tasks[i].after != AR_NO_TASK) {
            blame(graph, &graph->tasks[graph->tasks[i].after], i);
        }
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        struct ar_task *task = &graph->tasks[i];
        for (uint32_t need = task->need; need != AR_NO_TASK; need = graph->needs[need].next) {
            blame(graph, task, graph->needs[need].task);
        }
    }
}

static enum ar_status simulate(struct ar_graph_trial *trial, const struct routes *routes,
                               struct graph_task *own, struct ar_error *err)
{
    const struct iovec results[] = {{own->times, trial->graph->tasks_count * sizeof *own->times},
                                    {own->rank_end_s, trial->ranks * sizeof *own->rank_end_s}};
    bool is_nested = ar_cluster_is_nested(trial->cluster);
    uint32_t channels = 1;
    for (uint32_t i = 0; i < trial->graph->works_count; i++) {
        uint32_t more = trial->sendings[i].collective.channels;
        bool wants_sums = more > 0 && trial->sendings[i].collective.algorithm->wants_sums;
        channels = more > channels ? more : channels;
        is_nested = is_nested && !wants_sums;
    }
    own->simulation = (struct simgrid_simulation){
        .task = {.kind = SIMGRID_GRAPH,
                 .actors_count = (uint64_t)trial->ranks * channels * AR_STREAMS_COUNT},
        .cluster = trial->cluster,
        .ranks = trial->ranks,
        .pairs = is_nested ? NULL : routes->pairs,
        .pairs_count = is_nested ? 0 : routes->count,
        .results = results,
        .results_count = sizeof results / sizeof results[0]};
    AR_TRY(simgrid_simulate(&own->simulation, err));
    return simgrid_describe(trial->options, sizeof trial->options, err);
}

static enum ar_status run(struct ar_graph_trial *trial, struct routes *routes,
                          struct graph_task *own, struct ar_error *err)
{
    own->times = ar_arena_alloc(routes->arena, trial->graph->tasks_count, sizeof *own->times);
    own->rank_end_s = ar_arena_alloc(routes->arena, trial->ranks, sizeof *own->rank_end_s);
    AR_NEED(own->times && own->rank_end_s, err, "the tasks of a step");
    AR_TRY(find_routes(trial, routes, err));
    AR_TRY(simulate(trial, routes, own, err));
    take_times(trial->graph, own->times);
    AR_TRY(time_works(trial->graph, err));
    trial->end_s = ar_graph_end_s(trial->graph);
    trial->messages_count = ar_graph_trial_messages(trial);
    trial->memory_bytes = own->simulation.memory_bytes;
    if (trial->rank_end_s != NULL) {
        memcpy(trial->rank_end_s, own->rank_end_s, trial->ranks * sizeof *own->rank_end_s);
    }
    return AR_OK;
}

enum ar_status engine_graph_run(struct ar_graph_trial *trial, struct ar_error *err)
{
    double began_s = ar_clock_s();
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct routes routes = {.arena = &arena};
    struct graph_task own = {.trial = trial};
    enum ar_status status = run(trial, &routes, &own, err);
    trial->wall_s = ar_clock_s() - began_s;
    return status;
}
