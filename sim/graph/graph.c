#include "ar_graph.h"

#include <assert.h>
#include <string.h>

const char *const ar_axis_names[] = {AR_AXIS_LIST(AR_LIST_SECOND) NULL};

const char *const ar_duty_names[] = {AR_DUTY_LIST(AR_LIST_SECOND) NULL};

struct ar_graph *ar_graph_create(struct ar_arena *arena, uint32_t roles_count)
{
    struct ar_graph *graph = ar_arena_alloc(arena, 1, sizeof *graph);
    size_t streams = (size_t)roles_count * AR_STREAMS_COUNT;
    uint32_t *ends = ar_arena_alloc(arena, 2 * streams, sizeof *ends);
    memset(ends, 0xff, 2 * streams * sizeof *ends); /* AR_NO_TASK */
    *graph = (struct ar_graph){
        .arena = arena, .roles_count = roles_count, .first = ends, .last = ends + streams};
    return graph;
}

#define NO_WORK UINT32_MAX /* in a place of the table */

/* The place of an equal work, or the free one in which it belongs. The search begins by what does
 * not change when the work is timed, or given to pairs of roles. */
static uint32_t work_place(const struct ar_graph *graph, const struct ar_work *work)
{
    double time_s = work->kind == AR_TASK_COMPUTE ? work->time_s + 0.0 : 0; /* -0 is 0 */
    uint64_t hash;
    memcpy(&hash, &time_s, sizeof hash);
    hash = (hash ^ work->bytes ^ (uint64_t)work->axes << 56) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)((hash >> 32) * (2 * (uint64_t)graph->works_room) >> 32);
    while (graph->places[at] != NO_WORK) {
        const struct ar_work *other = &graph->works[graph->places[at]];
        if (other->kind == work->kind && other->operation == work->operation &&
            other->axes == work->axes && other->bytes == work->bytes &&
            other->element_bytes == work->element_bytes && other->share == work->share &&
            other->every == work->every && other->from == work->from && other->to == work->to &&
            other->time_s == work->time_s && other->latency_s == work->latency_s) {
            break;
        }
        at = at + 1 < 2 * graph->works_room ? at + 1 : 0;
    }
    return at;
}

/* A list with room for one more, whose number must fit. */
static void *extend_list(struct ar_graph *graph, void *list, uint32_t count, size_t size)
{
    enum { COUNT_MAX = 1 << 30 };
    if (count >= COUNT_MAX) {
        ar_memory_fail("the tasks of a step");
    }
    return ar_arena_grow(graph->arena, list, count, 1, size);
}

uint32_t ar_graph_work(struct ar_graph *graph, const struct ar_work *work)
{
    if (graph->works_count == graph->works_room) { /* double the places, and fill them again */
        uint32_t room = graph->works_room == 0 ? 256 : 2 * graph->works_room;
        size_t bytes = 2 * (size_t)room * sizeof *graph->places;
        graph->places = ar_arena_alloc(graph->arena, bytes, 1);
        graph->works_room = room;
        memset(graph->places, 0xff, bytes);
        for (uint32_t i = 0; i < graph->works_count; i++) {
            graph->places[work_place(graph, &graph->works[i])] = i;
        }
    }
    uint32_t *place = &graph->places[work_place(graph, work)];
    if (*place == NO_WORK) {
        graph->works = extend_list(graph, graph->works, graph->works_count, sizeof *graph->works);
        *place = graph->works_count;
        graph->works[graph->works_count++] = *work;
    }
    return *place;
}

uint32_t ar_graph_add(struct ar_graph *graph, const struct ar_task *task)
{
    assert(task->role < graph->roles_count && task->to < graph->roles_count);
    graph->tasks = extend_list(graph, graph->tasks, graph->tasks_count, sizeof *graph->tasks);
    uint32_t number = graph->tasks_count++;
    uint32_t stream = ar_task_from(task), last = graph->last[stream];
    graph->tasks[number] = *task;
    graph->tasks[number].need = AR_NO_TASK;
    graph->tasks[number].after = AR_NO_TASK;
    graph->tasks[number].waited_for = AR_NO_TASK;
    *(last == AR_NO_TASK ? &graph->first[stream] : &graph->tasks[last].after) = number;
    graph->last[stream] = number;
    return number;
}

void ar_graph_need(struct ar_graph *graph, uint32_t task, uint32_t other)
{
    if (other == AR_NO_TASK || task == AR_NO_TASK) {
        return;
    }
    graph->needs = extend_list(graph, graph->needs, graph->needs_count, sizeof *graph->needs);
    graph->needs[graph->needs_count] =
        (struct ar_need){.task = other, .next = graph->tasks[task].need};
    graph->tasks[task].need = graph->needs_count++;
}

/* --- where the time goes ---------------------------------------------------------------------- */

double ar_task_times(const struct ar_graph *graph, uint32_t task)
{
    const struct ar_periods *periods = graph->periods;
    uint32_t role = graph->tasks[task].role;
    bool is_there = periods != NULL && task >= periods->begin[role] && task < periods->end[role];
    return is_there ? 1.0 + periods->left_out : 1;
}

double ar_graph_end_s(const struct ar_graph *graph)
{
    double end_s = 0;
    for (uint32_t i = 0; i < graph->roles_count * AR_STREAMS_COUNT; i++) {
        bool is_later = graph->last[i] != AR_NO_TASK && graph->tasks[graph->last[i]].end_s > end_s;
        end_s = is_later ? graph->tasks[graph->last[i]].end_s : end_s;
    }
    return end_s;
}

/* Adds a split to a sum, `times` times and divided by `count`. */
static void split_add(struct ar_graph_split *sum, const struct ar_graph_split *split, double times,
                      double count)
{
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        sum->duty_s[i] += times * split->duty_s[i] / count;
    }
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        sum->axis_s[i] += times * split->axis_s[i] / count;
    }
    sum->longer_s += times * split->longer_s / count;
    sum->bubble_s += times * split->bubble_s / count;
    sum->compute_end_s += times * split->compute_end_s / count;
}

bool ar_task_may_be_of_series(const struct ar_graph *graph, const struct ar_task *task)
{
    const struct ar_work *work = &graph->works[task->work];
    return work->kind == AR_TASK_COLLECTIVE && work->every == 0 && work->share == 0 &&
           task->count == 1 && task->stream != AR_STREAM_COMPUTE;
}

enum ar_axis ar_work_axis(const struct ar_work *work)
{
    uint32_t others = work->axes & ~(1u << AR_AXIS_CP);
    uint32_t axes = others != 0 ? others : work->axes;
    int axis = AR_AXES_COUNT - 1;
    while (axis > 0 && (axes >> axis & 1) == 0) {
        axis--;
    }
    return (enum ar_axis)axis;
}

static void add_task_time(const struct ar_graph *graph, const struct ar_task *task, double time_s,
                          struct ar_graph_split *split)
{
    const struct ar_work *work = &graph->works[task->work];
    if (work->kind == AR_TASK_COMPUTE) {
        split->duty_s[task->duty] += time_s - task->longer_s;
        split->longer_s += task->longer_s;
    } else {
        split->axis_s[ar_work_axis(work)] += time_s;
    }
}

/* Puts the wait of a role from `begin_s` to `end_s`, when `cause` ended, down to what it waited
 * for: back from task to task as long as they are what the role itself sent or was sent. */
static void add_wait_time(const struct ar_graph *graph, uint32_t role, double begin_s, double end_s,
                          uint32_t cause, struct ar_graph_split *split)
{
    while (end_s > begin_s && cause != AR_NO_TASK) {
        const struct ar_task *task = &graph->tasks[cause];
        bool is_own = task->role == role || task->to == role;
        bool is_host = is_own && task->stream == AR_STREAM_HOST;
        if (!is_own || (graph->works[task->work].kind == AR_TASK_COMPUTE && !is_host)) {
            break;
        }
        bool has_waited = task->wait_s > 0 && task->waited_for != AR_NO_TASK;
        double asked_s = has_waited ? graph->tasks[task->waited_for].end_s : task->start_s;
        double from_s = asked_s > begin_s ? asked_s : begin_s;
        add_task_time(graph, task, end_s - from_s, split);
        end_s = from_s;
        cause = task->waited_for;
    }
    split->bubble_s += end_s > begin_s ? end_s - begin_s : 0;
}

void ar_graph_split(const struct ar_graph *graph, struct ar_graph_split *splits)
{
    double left_out_s =
        graph->periods != NULL ? graph->periods->left_out * graph->periods->period_s : 0;
    double end_s = ar_graph_end_s(graph);
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        splits[role] = (struct ar_graph_split){.bubble_s = 0};
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        struct ar_graph_split *split = &splits[task->role];
        if (task->stream == AR_STREAM_COMPUTE) {
            double times = ar_task_times(graph, i);
            struct ar_graph_split one = {.bubble_s = 0}, *part = times > 1 ? &one : split;
            add_wait_time(graph, task->role, split->compute_end_s, task->start_s, task->waited_for,
                          part);
            add_task_time(graph, task, task->end_s - task->start_s, part);
            if (part == &one) {
                split_add(split, &one, times, 1);
            }
            split->compute_end_s = task->end_s;
        }
    }
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        /* When its compute stream has ended, a role waits for its own messages, and then, as a
         * bubble, for the last role. */
        double now_s = splits[role].compute_end_s, last_s = now_s;
        uint32_t last = AR_NO_TASK;
        for (int stream = 0; stream < AR_STREAMS_COUNT; stream++) {
            uint32_t task = graph->last[role * AR_STREAMS_COUNT + (uint32_t)stream];
            if (task != AR_NO_TASK && graph->tasks[task].end_s > last_s) {
                last = task;
                last_s = graph->tasks[task].end_s;
            }
        }
        if (last != AR_NO_TASK) {
            add_wait_time(graph, role, now_s, last_s, last, &splits[role]);
        }
        splits[role].bubble_s += end_s - last_s;
        splits[role].compute_end_s += left_out_s;
    }
}

struct ar_graph_split ar_graph_split_mean(const struct ar_graph_split *splits, uint32_t count)
{
    struct ar_graph_split mean = {.bubble_s = 0};
    for (uint32_t role = 0; role < count; role++) {
        split_add(&mean, &splits[role], 1, count);
    }
    return mean;
}
