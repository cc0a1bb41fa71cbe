#include "ar_graph.h"

#include <assert.h>
#include <stdlib.h>
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

struct ar_graph *ar_graph_create(uint32_t roles_count)
{
    struct ar_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        return NULL;
    }
    graph->roles_count = roles_count;
    size_t streams = (size_t)roles_count * AR_STREAMS_COUNT;
    graph->first = calloc(2 * streams, sizeof *graph->first);
    if (graph->first == NULL) {
        free(graph);
        return NULL;
    }
    graph->last = graph->first + streams;
    for (size_t i = 0; i < 2 * streams; i++) {
        graph->first[i] = AR_NO_TASK;
    }
    return graph;
}

void ar_graph_destroy(void *made)
{
    struct ar_graph *graph = made;
    if (graph != NULL) {
        free(graph->works);
        free(graph->places);
        free(graph->tasks);
        free(graph->needs);
        free(graph->first);
        free(graph);
    }
}

/* Room for one more of a list; false if there is none. */
static bool grow(struct ar_graph *graph, void **list, size_t size, uint32_t count, uint32_t *room)
{
    if (graph->is_broken || count < *room) {
        return !graph->is_broken;
    }
    uint32_t wanted = *room == 0 ? 256 : *room * 2;
    void *larger = wanted > *room ? realloc(*list, wanted * size) : NULL;
    if (larger == NULL) {
        graph->is_broken = true;
        return false;
    }
    *list = larger;
    *room = wanted;
    return true;
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

/* Room for one more work, and for the places of all; false if there is none. */
static bool grow_works(struct ar_graph *graph)
{
    void *works = graph->works;
    uint32_t room = graph->works_room;
    bool has_grown =
        grow(graph, &works, sizeof *graph->works, graph->works_count, &graph->works_room);
    graph->works = works;
    if (!has_grown || graph->works_room == room) {
        return has_grown;
    }
    size_t bytes = 2 * (size_t)graph->works_room * sizeof *graph->places;
    free(graph->places);
    graph->places = malloc(bytes);
    graph->is_broken = graph->places == NULL;
    if (graph->is_broken) {
        return false;
    }
    memset(graph->places, 0xff, bytes);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        graph->places[find_place(graph, &graph->works[i])] = i;
    }
    return true;
}

uint32_t ar_graph_work(struct ar_graph *graph, const struct ar_work *work)
{
    if (!grow_works(graph)) {
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
    void *tasks = graph->tasks;
    if (!grow(graph, &tasks, sizeof *task, graph->tasks_count, &graph->tasks_room)) {
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
    void *needs = graph->needs;
    if (other == AR_NO_TASK || task == AR_NO_TASK ||
        !grow(graph, &needs, sizeof *graph->needs, graph->needs_count, &graph->needs_room)) {
        return;
    }
    graph->needs = needs;
    graph->needs[graph->needs_count] =
        (struct ar_need){.task = other, .next = graph->tasks[task].need};
    graph->tasks[task].need = graph->needs_count++;
}
