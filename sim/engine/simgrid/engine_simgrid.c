/* The reference engine, parent side: trials, task graphs and actors become simulations. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_actors.h"
#include "ar_numbers.h"
#include "ar_simgrid_xml.h"
#include "simgrid_task.h"

/* --- routes of a platform --------------------------------------------------------------------- */

/* Pairs of ranks that send to each other, and of ranks and switches: a platform needs no others. */
struct routes {
    struct ar_arena *arena;
    struct ar_flow *pairs;
    size_t count;
};

static void add_routes(struct routes *routes, const struct ar_flow *pairs, size_t count)
{
    routes->pairs =
        ar_arena_grow(routes->arena, routes->pairs, routes->count, count + 1, sizeof *pairs);
    memcpy(routes->pairs + routes->count, pairs, count * sizeof *pairs);
    routes->count += count;
}

static void add_collective_routes(const struct ar_collective *collective, struct routes *routes)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_phase_flows flows;
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    uint32_t first_step = 0;
    ar_phase_flows_create(&scratch, collective, phases, phases_count, &flows);
    for (uint32_t i = 0; i < phases_count; i++) {
        bool is_exchange = phases[i].kind == AR_PHASE_EXCHANGE;
        for (uint32_t step = 0; step < phases[i].steps; step += is_exchange ? 1 : phases[i].steps) {
            ar_phase_flows_find(collective, &phases[i], first_step + step, &flows);
            add_routes(routes, flows.flows, flows.flows_count);
        }
        first_step += phases[i].steps;
    }
}

/* Each pair of roles between which messages go once, and each work that is a collective. */
static enum ar_status find_routes(const struct ar_graph_trial *trial, struct routes *routes,
                                  struct ar_error *err)
{
    const struct ar_graph *graph = trial->graph;
    uint32_t roles = graph->roles_count, places = trial->ranks / roles;
    bool *seen =
        ar_arena_alloc(routes->arena, graph->works_count + (size_t)roles * roles, sizeof *seen);
    AR_EACH(const struct ar_task, task, graph->tasks, graph->tasks_count) {
        enum ar_task_kind kind = graph->works[task->work].kind;
        bool *is_known = kind == AR_TASK_MESSAGE
                             ? &seen[graph->works_count + (size_t)task->role * roles + task->to]
                             : &seen[task->work];
        if (kind == AR_TASK_MESSAGE && !*is_known) {
            for (uint32_t place = 0; place < places; place++) {
                struct ar_flow pair = {task->role * places + place, task->to * places + place};
                add_routes(routes, &pair, 1);
            }
        } else if (kind == AR_TASK_COLLECTIVE && !*is_known) {
            AR_TRY(ar_collective_check(&trial->sendings[task->work].collective, err));
            add_collective_routes(&trial->sendings[task->work].collective, routes);
        }
        *is_known = true;
    }
    return AR_OK;
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* Notes that a task waited for another one, unless it waited for a later one. */
static void note_waited_for(struct ar_graph *graph, struct ar_task *task, uint32_t other)
{
    if (other != AR_NO_TASK && (task->waited_for == AR_NO_TASK ||
                                graph->tasks[other].end_s > graph->tasks[task->waited_for].end_s)) {
        task->waited_for = other;
    }
}

/* Messages and collectives get the mean time of their tasks. */
static void time_works_by_tasks(struct ar_graph *graph)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct {
        double sum_s, count;
    } *means = ar_arena_alloc(&arena, graph->works_count + 1u, sizeof *means);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        double times = ar_task_times(graph, i);
        means[task->work].sum_s += times * (task->end_s - task->start_s - task->copy_s);
        means[task->work].count += times * task->count;
    }
    for (uint32_t i = 0; i < graph->works_count; i++) {
        struct ar_work *work = &graph->works[i];
        if (work->kind != AR_TASK_COMPUTE && work->every == 0 && means[i].count > 0) {
            work->time_s = means[i].sum_s / means[i].count;
        }
    }
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
            note_waited_for(graph, &graph->tasks[graph->tasks[i].after], i);
        }
    }
    AR_EACH(struct ar_task, task, graph->tasks, graph->tasks_count) {
        for (uint32_t need = task->need; need != AR_NO_TASK; need = graph->needs[need].next) {
            note_waited_for(graph, task, graph->needs[need].task);
        }
    }
}

static enum ar_status run_graph(struct ar_graph_trial *trial, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct routes routes = {.arena = &arena};
    struct ar_graph *graph = trial->graph;
    struct graph_task own = {.trial = trial};
    bool is_nested = ar_cluster_is_nested(trial->cluster);
    uint32_t channels = 1;
    own.times = ar_arena_alloc(&arena, graph->tasks_count, sizeof *own.times);
    own.rank_end_s = ar_arena_alloc(&arena, trial->ranks, sizeof *own.rank_end_s);
    AR_TRY(find_routes(trial, &routes, err));
    for (uint32_t i = 0; i < graph->works_count; i++) {
        uint32_t more = trial->sendings[i].collective.channels;
        bool wants_sums = more > 0 && trial->sendings[i].collective.algorithm->wants_sums;
        channels = more > channels ? more : channels;
        is_nested = is_nested && !wants_sums;
    }
    struct simgrid_task task = {.kind = SIMGRID_GRAPH,
                                .data = &own,
                                .actors_count =
                                    (uint64_t)trial->ranks * channels * AR_STREAMS_COUNT,
                                .cluster = trial->cluster,
                                .ranks = trial->ranks,
                                .usage = trial->usage,
                                .pairs = is_nested ? NULL : routes.pairs,
                                .pairs_count = is_nested ? 0 : routes.count,
                                .results = {{own.times, graph->tasks_count * sizeof *own.times},
                                            {own.rank_end_s, trial->ranks * sizeof *own.rank_end_s},
                                            {&own.period_s, sizeof own.period_s}}};
    AR_TRY(simgrid_task_run(&task, err));
    take_times(graph, own.times);
    if (graph->periods != NULL) {
        graph->periods->period_s = own.period_s;
    }
    time_works_by_tasks(graph);
    trial->messages_count = ar_graph_trial_messages(trial, 1);
    if (trial->rank_end_s != NULL) {
        memcpy(trial->rank_end_s, own.rank_end_s, trial->ranks * sizeof *own.rank_end_s);
    }
    return AR_OK;
}

/* --- actors ----------------------------------------------------------------------------------- */

enum ar_status ar_actors_run(struct ar_actors *actors, struct ar_error *err)
{
    double began_s = ar_clock_s();
    struct simgrid_task task = {
        .kind = SIMGRID_ACTORS,
        .data = actors,
        .actors_count = actors->count,
        .cluster = actors->cluster,
        .pairs = actors->pairs,
        .pairs_count = actors->pairs_count,
        .results = {{actors->results, actors->results_size},
                    {&actors->end_s, sizeof actors->end_s},
                    {&actors->messages_count, sizeof actors->messages_count}}};
    for (uint32_t i = 0; i < actors->count; i++) {
        task.ranks = actors->gpus[i] + 1 > task.ranks ? actors->gpus[i] + 1 : task.ranks;
    }
    AR_TRY(simgrid_task_run(&task, err));
    actors->wall_s = ar_clock_s() - began_s;
    return AR_OK;
}

/* --- trials ----------------------------------------------------------------------------------- */

static enum ar_status run_trial(struct ar_trial *trial, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct routes routes = {.arena = &arena};
    const struct ar_collective *collective = &trial->collective;
    const struct ar_timeline *timeline = trial->timeline;
    uint32_t ranks = ar_collective_ranks(collective);
    uint32_t actors_each = collective->algorithm->wants_sums ? 1 + AR_PERIOD_MAX : 1;
    size_t finishes = trial->rank_finish_s != NULL ? ranks : 0;
    size_t marks = timeline != NULL ? ar_timeline_size(trial) : 0;
    struct simgrid_task task = {
        .kind = SIMGRID_TRIAL,
        .data = trial,
        .actors_count = (uint64_t)ranks * (1 + collective->channels * actors_each),
        .cluster = collective->cluster,
        .ranks = ranks,
        .usage = trial->usage,
        .results = {{trial->times, trial->calls_count * sizeof *trial->times},
                    {trial->rank_finish_s, finishes * sizeof *trial->rank_finish_s},
                    {marks > 0 ? timeline->marks_s : NULL, marks * sizeof(double)},
                    {&trial->steps_left_out, sizeof trial->steps_left_out}}};
    if (!ar_cluster_is_nested(collective->cluster) || collective->algorithm->wants_sums) {
        add_collective_routes(collective, &routes);
        task.pairs = routes.pairs;
        task.pairs_count = routes.count;
    }
    AR_TRY(simgrid_task_run(&task, err));
    trial->messages_count = trial->calls_count * ar_collective_messages(&trial->collective);
    trial->exact = true;
    if (trial->steps_left_out > 0) {
        uint64_t steps = (uint64_t)trial->calls_count *
                         ar_algorithm_steps(collective->algorithm, &collective->shape);
        snprintf(trial->options, sizeof trial->options,
                 "simulated %" PRIu64 " of %" PRIu64 " steps; the others repeat a steady period",
                 steps - trial->steps_left_out, steps);
        return AR_OK;
    }
    return simgrid_describe(trial->options, sizeof trial->options, err);
}

const struct ar_engine ar_engine_simgrid = {
    .name = "simgrid",
    .title = "SimGrid: every rank an actor, every message a communication; the reference",
    /* Fitted to layouts on 64 H100 and, weighed by kind (simulated_messages() in kinds.c), to steps
     * of ResNet-50 on 64 to 4,096 V100; heaps and caches grow with the ranks. */
    .cost = {.trial_s = 25e-3, .message_s = 3e-6, .rank_s = 30e-6, .ranks = 160},
    .run = run_trial,
    .run_graph = run_graph,
};
