/* When the tasks of a graph start and end: each once, after all that it waits for. */
#include <stdlib.h>

#include "ar_graph.h"

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

static void run_task(const struct ar_graph *graph, struct ar_task *task)
{
    const struct ar_work *work = &graph->works[task->work];
    task->end_s = task->start_s + task->count * work->time_s;
}

/* A task has ended: those that wait for it start no earlier. Ends come in no order of time, but
 * each task is asked only after all that it waits for. */
static void tell(struct ar_graph *graph, uint32_t number, uint32_t other, struct waiting *waiting,
                 uint32_t *ready_count)
{
    const struct ar_task *ended = &graph->tasks[number];
    struct ar_task *task = &graph->tasks[other];
    bool is_computed = graph->works[task->work].kind == AR_TASK_COMPUTE;
    double there_s = ended->end_s + (is_computed ? graph->works[ended->work].latency_s : 0);
    if (task->waited_for == AR_NO_TASK || there_s > task->start_s) {
        task->start_s = there_s;
        task->waited_for = number;
    }
    if (--waiting->missing[other] == 0) {
        waiting->ready[(*ready_count)++] = other;
    }
}

static enum ar_status report_circle(const struct ar_graph *graph, const struct waiting *waiting,
                                    struct ar_error *err)
{
    uint32_t stuck = 0;
    while (waiting->missing[stuck] == 0) {
        stuck++;
    }
    const struct ar_task *task = &graph->tasks[stuck];
    return ar_error_set(err, AR_BAD_DATA,
                        "task graph: task %u (%s of micro-batch %u, chunk %u, role %u) waits for "
                        "itself; expected tasks without a circle",
                        stuck, ar_duty_names[task->duty], task->batch, task->chunk, task->role);
}

enum ar_status ar_graph_schedule(struct ar_graph *graph, struct ar_error *err)
{
    struct waiting waiting;
    uint32_t ready_count = 0;
    enum ar_status status = AR_OK;
    if (graph->is_broken) {
        return ar_error_no_memory(err, "the tasks of a step");
    }
    AR_TRY(begin_waiting(graph, &waiting, err));
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        graph->tasks[i].start_s = 0;
        graph->tasks[i].waited_for = AR_NO_TASK;
        if (waiting.missing[i] == 0) {
            waiting.ready[ready_count++] = i;
        }
    }
    uint32_t done = 0;
    for (; done < ready_count; done++) {
        uint32_t number = waiting.ready[done];
        run_task(graph, &graph->tasks[number]);
        for (uint32_t i = waiting.first[number + 1]; i < waiting.first[number + 2]; i++) {
            tell(graph, number, waiting.tasks[i], &waiting, &ready_count);
        }
    }
    if (done < graph->tasks_count) {
        status = report_circle(graph, &waiting, err);
    }
    end_waiting(&waiting);
    return status;
}
