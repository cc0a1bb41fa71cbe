#include "ar_graph.h"

#include <assert.h>
#include <string.h>

const char *const ar_axis_names[] = {
#define X(symbol, name) name,
    AR_AXIS_LIST(X)
#undef X
        NULL};

const char *const ar_duty_names[] = {
#define X(symbol, name) name,
    AR_DUTY_LIST(X)
#undef X
        NULL};

enum ar_status ar_graph_create(struct ar_arena *arena, uint32_t roles_count,
                               struct ar_graph **graph, struct ar_error *err)
{
    struct ar_graph *made = ar_arena_alloc(arena, 1, sizeof *made);
    size_t streams = (size_t)roles_count * AR_STREAMS_COUNT;
    uint32_t *ends = ar_arena_alloc(arena, 2 * streams, sizeof *ends);
    AR_NEED(made && ends, err, "the tasks of a step");
    memset(ends, 0xff, 2 * streams * sizeof *ends); /* AR_NO_TASK */
    *made = (struct ar_graph){
        .arena = arena, .roles_count = roles_count, .first = ends, .last = ends + streams};
    *graph = made;
    return AR_OK;
}

#define NO_WORK UINT32_MAX /* in a place of the table */

static bool is_same(const struct ar_work *one, const struct ar_work *other)
{
    bool is_alike = one->kind == other->kind && one->operation == other->operation &&
                    one->axes == other->axes && one->bytes == other->bytes &&
                    one->element_bytes == other->element_bytes && one->every == other->every &&
                    one->from == other->from && one->to == other->to;
    return is_alike && one->time_s == other->time_s && one->latency_s == other->latency_s;
}

/* Where the search for a work begins, of what does not change when it is timed or parted by pairs
 * of roles. */
static uint32_t begin_search(const struct ar_graph *graph, const struct ar_work *work)
{
    double time_s = work->kind == AR_TASK_COMPUTE ? work->time_s + 0.0 : 0; /* -0 is 0 */
    uint64_t hash;
    memcpy(&hash, &time_s, sizeof hash);
    hash = (hash ^ work->bytes ^ (uint64_t)work->axes << 56) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((hash >> 32) * (2 * (uint64_t)graph->works_room) >> 32);
}

/* The place of an equal work, or the free one in which it belongs. */
static uint32_t find_place(const struct ar_graph *graph, const struct ar_work *work)
{
    uint32_t at = begin_search(graph, work);
    while (graph->places[at] != NO_WORK && !is_same(&graph->works[graph->places[at]], work)) {
        at = at + 1 < 2 * graph->works_room ? at + 1 : 0;
    }
    return at;
}

/* Twice the places, of all works. */
static bool grow_places(struct ar_graph *graph)
{
    uint32_t room = graph->works_room == 0 ? 256 : 2 * graph->works_room;
    size_t bytes = 2 * (size_t)room * sizeof *graph->places;
    graph->places = ar_arena_alloc(graph->arena, bytes, 1);
    if (graph->places == NULL) {
        return false;
    }
    graph->works_room = room;
    memset(graph->places, 0xff, bytes);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        graph->places[find_place(graph, &graph->works[i])] = i;
    }
    return true;
}

/* A list with room for one more; NULL from the first time on that there is none, or no number. */
static void *extend(struct ar_graph *graph, void *list, uint32_t count, size_t size)
{
    enum { COUNT_MAX = 1 << 30 };
    struct ar_arena *arena = graph->arena;
    arena->is_broken = arena->is_broken || count >= COUNT_MAX;
    return arena->is_broken ? NULL : ar_arena_extend(arena, list, count, 1, size);
}

uint32_t ar_graph_work(struct ar_graph *graph, const struct ar_work *work)
{
    struct ar_work *works = extend(graph, graph->works, graph->works_count, sizeof *works);
    if (works == NULL) {
        return 0;
    }
    graph->works = works;
    if (graph->works_count == graph->works_room && !grow_places(graph)) {
        return 0;
    }
    uint32_t *place = &graph->places[find_place(graph, work)];
    if (*place == NO_WORK) {
        *place = graph->works_count;
        graph->works[graph->works_count++] = *work;
    }
    return *place;
}

uint32_t ar_graph_add(struct ar_graph *graph, const struct ar_task *task)
{
    struct ar_task *tasks = extend(graph, graph->tasks, graph->tasks_count, sizeof *tasks);
    if (tasks == NULL) {
        return AR_NO_TASK;
    }
    assert(task->role < graph->roles_count && task->to < graph->roles_count);
    graph->tasks = tasks;
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
    struct ar_need *needs = extend(graph, graph->needs, graph->needs_count, sizeof *needs);
    if (needs == NULL) {
        return;
    }
    graph->needs = needs;
    graph->needs[graph->needs_count] =
        (struct ar_need){.task = other, .next = graph->tasks[task].need};
    graph->tasks[task].need = graph->needs_count++;
}
