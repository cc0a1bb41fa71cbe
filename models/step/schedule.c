/* When the tasks of a graph start and end: each once, after all that it waits for. */
#include <stdlib.h>

#include "moment.h"

/* Who waits for a task: lists in one array, and how many each task still waits for. */
struct waiting {
    uint32_t *first;   /* [task + 1]: where its list begins in `tasks`; that of the next one is its
                          end */
    uint32_t *tasks;   /* who waits */
    uint32_t *missing; /* [task]: how many it waits for that have not ended */
    uint32_t *ready;   /* tasks in the order in which they are done */
};

static void end_waiting(struct waiting *waiting)
{
    free(waiting->first);
    free(waiting->tasks);
    free(waiting->missing);
    free(waiting->ready);
}

static void count_waiting(const struct ar_graph *graph, struct waiting *waiting)
{
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        uint32_t before = graph->tasks[i].before;
        if (before != AR_NO_TASK) {
            waiting->first[before + 1]++;
            waiting->missing[i]++;
        }
        for (uint32_t need = graph->tasks[i].need; need != AR_NO_TASK;
             need = graph->needs[need].next) {
            waiting->first[graph->needs[need].task + 1]++;
            waiting->missing[i]++;
        }
    }
    for (uint32_t i = 0; i <= graph->tasks_count; i++) {
        waiting->first[i + 1] += waiting->first[i];
    }
}

/* Fills the lists from the back, and moves their begins to where they belong. */
static void list_waiting(const struct ar_graph *graph, struct waiting *waiting)
{
    for (uint32_t i = graph->tasks_count; i-- > 0;) {
        uint32_t before = graph->tasks[i].before;
        if (before != AR_NO_TASK) {
            waiting->tasks[--waiting->first[before + 1]] = i;
        }
        for (uint32_t need = graph->tasks[i].need; need != AR_NO_TASK;
             need = graph->needs[need].next) {
            waiting->tasks[--waiting->first[graph->needs[need].task + 1]] = i;
        }
    }
}

static enum ar_status begin_waiting(const struct ar_graph *graph, struct waiting *waiting,
                                    struct ar_error *err)
{
    size_t count = (size_t)graph->tasks_count + 2;
    size_t edges = (size_t)graph->tasks_count + graph->needs_count + 1;
    *waiting = (struct waiting){.first = calloc(count, sizeof *waiting->first),
                                .tasks = calloc(edges, sizeof *waiting->tasks),
                                .missing = calloc(count, sizeof *waiting->missing),
                                .ready = calloc(count, sizeof *waiting->ready)};
    if (waiting->first == NULL || waiting->tasks == NULL || waiting->missing == NULL ||
        waiting->ready == NULL) {
        end_waiting(waiting);
        return ar_error_no_memory(err, "the tasks of a step");
    }
    count_waiting(graph, waiting);
    list_waiting(graph, waiting);
    return AR_OK;
}

/* A graph that is being scheduled. */
struct walk {
    struct ar_graph *graph;
    struct moments moments;
    struct waiting waiting;
    uint32_t ready_count;
    uint32_t
        *held; /* collectives that may belong to a series, in the order in which they are ready */
    uint32_t held_count;
    uint32_t *next;             /* [role]: ar_slowdown_advance() */
    struct moment *start, *end; /* [task]: it can start, it has ended */
    uint32_t *series;           /* tasks of the series that is being timed, */
    double *ready_s;            /* and when they are ready */
};

static void end_walk(struct walk *walk)
{
    end_waiting(&walk->waiting);
    ar_arena_end(&walk->moments.memory);
}

static bool may_be_of_series(const struct walk *walk, uint32_t number)
{
    const struct ar_task *task = &walk->graph->tasks[number];
    const struct ar_work *work = &walk->graph->works[task->work];
    return walk->moments.request->ranks_count > 0 && walk->moments.request->sendings == NULL &&
           work->kind == AR_TASK_COLLECTIVE && work->every == 0 &&
           task->stream != AR_STREAM_COMPUTE;
}

static void make_ready(struct walk *walk, uint32_t number)
{
    if (may_be_of_series(walk, number)) {
        walk->held[walk->held_count++] = number;
    } else {
        walk->waiting.ready[walk->ready_count++] = number;
    }
}

/* A task has ended: those that wait for it start no earlier. Ends come in no order of time, but
 * each task is asked only after all that it waits for. */
static void tell(struct walk *walk, uint32_t number, uint32_t other)
{
    struct ar_graph *graph = walk->graph;
    struct ar_task *task = &graph->tasks[other];
    double latency_s = graph->works[graph->tasks[number].work].latency_s;
    bool is_computed = graph->works[task->work].kind == AR_TASK_COMPUTE;
    struct moment there = walk->end[number];
    double there_s = graph->tasks[number].end_s + (is_computed ? latency_s : 0);
    if (is_computed && latency_s > 0) {
        moment_add(&walk->moments, graph->tasks[number].role, &there, 0, latency_s);
    }
    moment_meet(&walk->moments, task->role, &walk->start[other], graph->tasks[number].role, &there);
    if (task->waited_for == AR_NO_TASK || there_s > task->start_s) {
        task->start_s = there_s;
        task->waited_for = number;
    }
    if (--walk->waiting.missing[other] == 0) {
        make_ready(walk, other);
    }
}

static void tell_all(struct walk *walk, uint32_t number)
{
    const struct waiting *waiting = &walk->waiting;
    for (uint32_t i = waiting->first[number + 1]; i < waiting->first[number + 2]; i++) {
        tell(walk, number, waiting->tasks[i]);
    }
}

/* --- one task --------------------------------------------------------------------------------- */

static bool is_slowed(const struct walk *walk, const struct ar_task *task)
{
    return walk->moments.request->slowdowns != NULL && task->duty != AR_DUTY_OPTIMIZER &&
           task->stream == AR_STREAM_COMPUTE;
}

static void compute(struct walk *walk, const struct ar_task *task, double time_s,
                    struct moment *end)
{
    if (!is_slowed(walk, task)) {
        end->elapsed_s += time_s;
        return;
    }
    double now_s = end->offset_s + end->elapsed_s;
    const struct ar_slowdown *slowdown = &walk->moments.request->slowdowns[task->role];
    end->elapsed_s =
        ar_slowdown_advance(slowdown, now_s, time_s, &walk->next[task->role]) - end->offset_s;
}

/* When a task has been sent as far as it shares links with what a role sends and gets. */
static double share(const struct walk *walk, const struct ar_task *task, uint32_t role,
                    double now_s, double time_s)
{
    const struct ar_graph_request *request = walk->moments.request;
    return ar_sendings_advance(&request->sendings[role], request->speeds[task->work],
                               ar_task_from(task), now_s, time_s);
}

/* A message is as slow as the slower one of its ends. */
static void send(struct walk *walk, const struct ar_task *task, double time_s, struct moment *end)
{
    const struct ar_work *work = &walk->graph->works[task->work];
    bool meets = work->kind == AR_TASK_COLLECTIVE && work->every == 0;
    if (walk->moments.request->sendings != NULL) {
        double now_s = task->start_s + task->copy_s;
        double own_s = share(walk, task, task->role, now_s, time_s);
        double other_s = share(walk, task, task->to, now_s, time_s);
        time_s = (own_s > other_s ? own_s : other_s) - now_s;
    }
    moment_add(&walk->moments, task->role, end, meets ? work->axes : 0,
               task->wait_s + task->copy_s + time_s);
}

static void run_task(struct walk *walk, uint32_t number)
{
    struct moments *moments = &walk->moments;
    struct ar_task *task = &walk->graph->tasks[number];
    const struct ar_work *work = &walk->graph->works[task->work];
    struct moment *end = &walk->end[number];
    double time_s = task->count * work->time_s;
    *end = walk->start[number];
    task->start_s = moment_last(moments, task->role, end) + task->wait_s;
    task->longer_s = 0;
    if (work->kind == AR_TASK_COMPUTE) {
        compute(walk, task, time_s, end);
    } else {
        send(walk, task, time_s, end);
    }
    task->end_s = moment_last(moments, task->role, end);
    bool is_plain = moments->request->factor == NULL && !is_slowed(walk, task);
    if (work->kind == AR_TASK_COMPUTE && !is_plain) {
        task->longer_s = task->end_s - task->start_s - time_s;
    }
}

/* --- series ----------------------------------------------------------------------------------- */

/* The collective that goes on with a series after `number`; AR_NO_TASK: nobody. It waits for
 * nothing else that has not ended, and the rest of what it waits for is as much later than the base
 * of the series on all ranks. */
static uint32_t go_on(const struct walk *walk, uint32_t number)
{
    const struct waiting *waiting = &walk->waiting;
    const struct ar_graph *graph = walk->graph;
    const struct ar_task *task = &graph->tasks[number];
    if (waiting->first[number + 2] - waiting->first[number + 1] != 1) {
        return AR_NO_TASK;
    }
    uint32_t next = waiting->tasks[waiting->first[number + 1]];
    const struct ar_task *other = &graph->tasks[next];
    const struct ar_work *one = &graph->works[task->work], *two = &graph->works[other->work];
    bool is_like = other->before == number && may_be_of_series(walk, next) &&
                   waiting->missing[next] == 1 && one->operation == two->operation &&
                   one->axes == two->axes && one->element_bytes == two->element_bytes &&
                   task->count == 1 && other->count == 1 &&
                   walk->start[next].base_s == walk->start[number].base_s;
    return is_like ? next : AR_NO_TASK;
}

static enum ar_status run_series(struct walk *walk, uint32_t first, struct ar_error *err)
{
    const struct ar_graph_request *request = walk->moments.request;
    struct ar_graph *graph = walk->graph;
    uint32_t role = graph->tasks[first].role;
    uint32_t count = 0, last = first;
    double ready_s = 0;
    for (uint32_t task = first; task != AR_NO_TASK; task = go_on(walk, task)) {
        ready_s = walk->start[task].elapsed_s > ready_s ? walk->start[task].elapsed_s : ready_s;
        walk->ready_s[count] = ready_s;
        walk->series[count++] = last = task;
    }
    double *finish_s =
        ar_arena_alloc(&walk->moments.memory, request->ranks_count, sizeof *finish_s);
    if (finish_s == NULL) {
        return ar_error_no_memory(err, "the tasks of a step");
    }
    const struct ar_graph_series series = {
        .tasks = walk->series,
        .count = count,
        .start_s = walk->start[first].base_s,
        .factor =
            request->factor != NULL ? request->factor + (size_t)role * request->ranks_count : NULL,
        .ready_s = walk->ready_s};
    AR_TRY(request->time_series(request->context, &series, finish_s, err));
    for (uint32_t i = 0; i < count; i++) {
        struct ar_task *task = &graph->tasks[walk->series[i]];
        task->longer_s = 0;
        walk->waiting.missing[walk->series[i]] = 0;
        if (i > 0 && (task->waited_for == AR_NO_TASK ||
                      graph->tasks[task->before].end_s > graph->tasks[task->waited_for].end_s)) {
            task->waited_for = task->before;
        }
    }
    walk->end[last] = (struct moment){.base_s = finish_s, .offset_s = graph->tasks[last].end_s};
    tell_all(walk, last);
    return AR_OK;
}

/* --- the graph -------------------------------------------------------------------------------- */

static enum ar_status report_circle(const struct walk *walk, struct ar_error *err)
{
    uint32_t stuck = 0;
    while (walk->waiting.missing[stuck] == 0) {
        stuck++;
    }
    const struct ar_task *task = &walk->graph->tasks[stuck];
    return ar_error_set(err, AR_BAD_DATA,
                        "task graph: task %u (%s of micro-batch %u, chunk %u, role %u) waits for "
                        "itself; expected tasks without a circle",
                        stuck, ar_duty_names[task->duty], task->batch, task->chunk, task->role);
}

static enum ar_status begin_walk(struct walk *walk, struct ar_error *err)
{
    const struct ar_graph *graph = walk->graph;
    struct ar_arena *memory = &walk->moments.memory;
    size_t count = (size_t)graph->tasks_count + 1;
    AR_TRY(begin_waiting(graph, &walk->waiting, err));
    walk->held = ar_arena_alloc(memory, count, sizeof *walk->held);
    walk->series = ar_arena_alloc(memory, count, sizeof *walk->series);
    walk->ready_s = ar_arena_alloc(memory, count, sizeof *walk->ready_s);
    walk->start = ar_arena_alloc(memory, count, sizeof *walk->start);
    walk->end = ar_arena_alloc(memory, count, sizeof *walk->end);
    walk->next = ar_arena_alloc(memory, graph->roles_count, sizeof *walk->next);
    if (walk->held == NULL || walk->series == NULL || walk->ready_s == NULL ||
        walk->start == NULL || walk->end == NULL || walk->next == NULL) {
        return ar_error_no_memory(err, "the tasks of a step");
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        walk->start[i] = moment_begin(&walk->moments, graph->tasks[i].role);
        walk->graph->tasks[i].start_s = 0;
        walk->graph->tasks[i].waited_for = AR_NO_TASK;
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        if (walk->waiting.missing[i] == 0) {
            make_ready(walk, i);
        }
    }
    return AR_OK;
}

/* Computations and the like come first, so that series are as long as can be. */
static enum ar_status walk_tasks(struct walk *walk, struct ar_error *err)
{
    uint32_t done = 0, run = 0;
    while (done < walk->ready_count || run < walk->held_count) {
        if (done < walk->ready_count) {
            uint32_t number = walk->waiting.ready[done++];
            run_task(walk, number);
            tell_all(walk, number);
        } else {
            AR_TRY(run_series(walk, walk->held[run++], err));
        }
        if (walk->moments.is_broken) {
            return ar_error_no_memory(err, "the ranks of a step");
        }
    }
    return AR_OK;
}

/* When each rank has ended the last tasks of its role. */
static void end_ranks(const struct walk *walk)
{
    const struct ar_graph_request *request = walk->moments.request;
    const struct ar_graph *graph = walk->graph;
    for (uint32_t i = 0; i < graph->roles_count * AR_STREAMS_COUNT; i++) {
        uint32_t role = i / AR_STREAMS_COUNT, task = graph->last[i];
        double *end_s = request->end_s + (size_t)role * request->ranks_count;
        for (uint32_t rank = 0; rank < request->ranks_count; rank++) {
            double last_s =
                task != AR_NO_TASK ? moment_at(&walk->moments, role, &walk->end[task], rank) : 0;
            end_s[rank] = i % AR_STREAMS_COUNT > 0 && end_s[rank] > last_s ? end_s[rank] : last_s;
        }
    }
}

enum ar_status ar_graph_schedule_with(struct ar_graph *graph,
                                      const struct ar_graph_request *request, struct ar_error *err)
{
    struct walk walk = {.graph = graph, .moments.request = request};
    if (graph->is_broken) {
        return ar_error_no_memory(err, "the tasks of a step");
    }
    enum ar_status status = begin_walk(&walk, err);
    status = status == AR_OK ? walk_tasks(&walk, err) : status;
    for (uint32_t i = 0; status == AR_OK && i < graph->tasks_count; i++) {
        status = walk.waiting.missing[i] > 0 ? report_circle(&walk, err) : AR_OK;
    }
    if (status == AR_OK && request->end_s != NULL) {
        end_ranks(&walk);
    }
    end_walk(&walk);
    return status;
}

enum ar_status ar_graph_schedule(struct ar_graph *graph, struct ar_error *err)
{
    return ar_graph_schedule_with(graph, &(struct ar_graph_request){.ranks_count = 0}, err);
}
