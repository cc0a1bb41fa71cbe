/* Computations that go slower beside what is sent, which begins later because of that. What is sent
 * slows down what comes after its begin, so that in each round at least one more time is final, and
 * most are at once. */
#include <math.h>

#include "step_parts.h"

enum { ROUNDS_MAX = 50 };

/* Times that change by less than this part of the computations stay. */
#define SETTLED_FRAC 1e-9

/* When something must not change any more: computations end, negotiations wait. NAN: not asked. */
static double mark_of(const struct ar_graph *graph, const struct ar_task *task)
{
    if (graph->works[task->work].kind != AR_TASK_COMPUTE) {
        return task->wait_s;
    }
    return task->duty == AR_DUTY_OPTIMIZER ? 0 : task->end_s;
}

/* Compares the times of tasks with the ones before, and notes them. */
static bool has_settled(const struct ar_graph *graph, double *marks_s, uint32_t *count)
{
    double last_s = 0;
    bool stays = *count == graph->tasks_count;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        last_s = fmax(last_s, mark_of(graph, &graph->tasks[i]));
    }
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        double mark_s = mark_of(graph, &graph->tasks[i]);
        stays = stays && fabs(marks_s[i] - mark_s) < SETTLED_FRAC * last_s;
        marks_s[i] = mark_s;
    }
    *count = graph->tasks_count;
    return stays;
}

/* When the second streams were busy. */
static void note_busy(const struct ar_graph *graph, struct ar_interval *busy, double speed_frac,
                      struct ar_slowdown *slowdowns)
{
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        slowdowns[role] = (struct ar_slowdown){.speed_frac = speed_frac, .intervals = busy};
        for (uint32_t i = 0; i < graph->tasks_count; i++) {
            const struct ar_task *task = &graph->tasks[i];
            if (task->role == role && task->stream == AR_STREAM_GRADIENTS) {
                *busy++ = (struct ar_interval){task->start_s, task->end_s};
                slowdowns[role].intervals_count++;
            }
        }
    }
}

/* Buckets may be others in each round; as many as there are tensors at most. */
static uint32_t tasks_max(const struct ar_step *step)
{
    return step->graph->tasks_count + (step->trace != NULL ? step->trace->tensors_count : 0);
}

enum ar_status step_contend(struct ar_step *step, struct ar_slowdown **slowdowns,
                            struct ar_error *err)
{
    double speed_frac;
    uint32_t count = 0;
    *slowdowns = NULL;
    AR_TRY(step_find_speed(step, &speed_frac, err));
    if (speed_frac == 1 || step_runs_ranks(step)) {
        return AR_OK;
    }
    struct ar_interval *busy = ar_arena_alloc(&step->memory, tasks_max(step), sizeof *busy);
    double *marks_s = ar_arena_alloc(&step->memory, tasks_max(step), sizeof *marks_s);
    struct ar_slowdown *made =
        ar_arena_alloc(&step->memory, step->graph->roles_count, sizeof *made);
    bool is_settled = false;
    if (busy == NULL || marks_s == NULL || made == NULL) {
        return ar_error_no_memory(err, "the times of a step");
    }
    for (int i = 0; !is_settled && i <= ROUNDS_MAX; i++) {
        AR_TRY(step_schedule(step, &(struct step_clocks){.slowdowns = *slowdowns}, err));
        is_settled = has_settled(step->graph, marks_s, &count);
        if (!is_settled) {
            note_busy(step->graph, busy, speed_frac, made);
            *slowdowns = made;
            if (step->graph->has_series) {
                AR_TRY(step_make_graph(step, made, err));
            }
        }
    }
    return is_settled
               ? AR_OK
               : ar_error_set(err, AR_INTERNAL,
                              "term contention.sms: the times of %s still change after %d rounds; "
                              "expected fewer, or larger buckets",
                              step->trace != NULL ? step->trace->name : "a workload", ROUNDS_MAX);
}
