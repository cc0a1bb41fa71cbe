/* Pipelines that have become steady, without most of their micro-batches. Gains 3 to 20 times where
 * micro-batches are many times the stages: GPT-3 175B, pp=32, dp=2 with 768 micro-batches
 * takes 1/10. The results are the same without this file: ar_periods_graph() may always return
 * NULL. They differ by roundings of sums (1e-14); where a collective begins just when another one
 * ends, rounding decides whether they share links, with this file and without (1e-8 of a step, once
 * in 300 layouts).
 *
 * With times of works that are known, a schedule is a linear map of the max-plus algebra: if what
 * all stages have done lately lies a constant later than a period before, the next period lies as
 * much later again, and so on until the schedule ends. Then a step of m micro-batches is one of
 * fewer, whose drain comes later by the periods between.
 *
 * Stages alternate one forward and one backward: a slot. Stage r has its own number of slots before
 * the drain. In slot k + r it waits for nothing that another stage r' does after slot k + r', by
 * any schedule (ar_schedule.h), so that a cut before slot k + r of each stage r has the past on one
 * side: between two such cuts lie periods. */
#include <math.h>

#include "ar_strategy.h"

/* Slots that warm up, with the first edge; slots that are compared, of which one decides the next;
 * and the last slot of a stage, in which gradients may be sent. */
enum { SLOTS_WARM = 6, SLOTS_COMPARED = 4, SLOTS_LAST = 1 };

/* Chunks of micro-batches, of all stages, from which on it pays. */
enum { ACTIONS_MIN = 512 };

/* Ends are equal if they differ by less than this part of the step, some roundings of its sums. */
#define EQUAL_FRAC 1e-12

/* Slots of a stage, and the step in which the first one begins. */
static uint32_t count_slots(const struct ar_schedule *schedule, const struct ar_pipeline *pipeline,
                            uint32_t stage, uint32_t *first)
{
    uint32_t end = 2 * pipeline->batches * pipeline->chunks;
    *first = ar_schedule_kept(schedule, pipeline, stage) - 1;
    while (schedule->action(pipeline, stage, end - 1).is_backward) {
        end--;
    }
    return end > *first ? (end + 1 - *first) / 2 : 0;
}

struct ar_graph *ar_periods_graph(const struct ar_layout *layout, const struct ar_part_times *times,
                                  bool is_simulated, struct ar_arena *arena)
{
    if (layout->model == NULL) {
        return NULL;
    }
    struct ar_layout fewer = *layout;
    struct ar_pipeline pipeline = ar_layout_pipeline(layout);
    /* With chunks a stage takes as many micro-batches as there are stages through one after the
     * other; else one, but what is sent beside computations may differ in turn. */
    const uint32_t batches = pipeline.batches, period = pipeline.chunks > 1 ? pipeline.stages : 2;
    const uint32_t slots = period * pipeline.chunks;
    uint32_t first, left_out = 0;
    for (uint32_t kept = batches % period; kept < batches; kept += period) {
        pipeline.batches = kept;
        if (kept > 0 && count_slots(layout->schedule, &pipeline, 0, &first) >=
                            SLOTS_WARM + SLOTS_COMPARED + slots + SLOTS_LAST) {
            left_out = (batches - kept) / period;
            break;
        }
    }
    bool is_small =
        !is_simulated && (uint64_t)batches * pipeline.stages * pipeline.chunks < ACTIONS_MIN;
    if (is_small || 4 * left_out * period <= batches) {
        return NULL;
    }
    fewer.global_batch -= left_out * period * (layout->global_batch / batches);
    struct ar_graph *graph = ar_strategy_graph(&fewer, times, arena);
    uint32_t *tasks = ar_arena_alloc(arena, 3 * (size_t)pipeline.stages, sizeof *tasks);
    struct ar_periods *periods = ar_arena_alloc(arena, 1, sizeof *periods);
    *periods = (struct ar_periods){.left_out = left_out,
                                   .batches = left_out * period,
                                   .warm = tasks,
                                   .begin = tasks + pipeline.stages,
                                   .end = tasks + 2 * (size_t)pipeline.stages};
    uint32_t cut = count_slots(layout->schedule, &pipeline, 0, &first) - SLOTS_LAST - slots;
    for (uint32_t stage = 0; stage < pipeline.stages; stage++) {
        (void)count_slots(layout->schedule, &pipeline, stage, &first);
        const uint32_t *steps = graph->steps + stage * graph->steps_count + first;
        tasks[stage] = steps[2 * (size_t)(cut - SLOTS_COMPARED)];
        tasks[pipeline.stages + stage] = steps[2 * (size_t)(cut + stage)];
        tasks[2 * (size_t)pipeline.stages + stage] = steps[2 * (size_t)(cut + stage + slots)];
    }
    graph->periods = periods;
    return graph;
}

/* Whether a task did a period later what another one did. `is_late`: it had to wait for what it
 * needs, and not for the task before it alone. */
static bool is_repeated(const struct ar_graph *graph, uint32_t number, bool is_late, double equal_s)
{
    const struct ar_periods *periods = graph->periods;
    const struct ar_task *task = &graph->tasks[number];
    uint32_t count = periods->end[task->role] - periods->begin[task->role];
    const struct ar_task *later = &graph->tasks[number + count];
    bool is_same = task->work == later->work && task->count == later->count &&
                   task->stream == later->stream && task->role == later->role;
    bool has_cause = task->waited_for != AR_NO_TASK && later->waited_for != AR_NO_TASK;
    if (!is_same || !has_cause) {
        return false;
    }
    uint32_t role = graph->tasks[task->waited_for].role;
    uint32_t between = periods->end[role] - periods->begin[role];
    return (!is_late || later->waited_for - task->waited_for == between) &&
           fabs(later->start_s - task->start_s - periods->period_s) < equal_s &&
           fabs(later->end_s - task->end_s - periods->period_s) < equal_s;
}

bool ar_periods_find(struct ar_graph *graph)
{
    struct ar_periods *periods = graph->periods;
    double equal_s = EQUAL_FRAC * ar_graph_end_s(graph);
    bool is_steady = true;
    periods->period_s = graph->tasks[periods->end[0]].end_s - graph->tasks[periods->begin[0]].end_s;
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        double before_s = 0; /* end of the task before on the compute stream */
        for (uint32_t i = periods->warm[role]; is_steady && i < periods->begin[role]; i++) {
            const struct ar_task *task = &graph->tasks[i];
            bool is_beside = task->stream != AR_STREAM_COMPUTE;
            is_steady =
                is_repeated(graph, i, is_beside || task->start_s > before_s + equal_s, equal_s);
            before_s = is_beside ? before_s : task->end_s;
        }
    }
    return is_steady;
}
