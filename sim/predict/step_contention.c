/* What goes slower beside what is sent, which begins later because of that. What is sent slows down
 * what comes after its begin, so that in each round at least one more time is final, and most are
 * at once. */
#include <math.h>

#include "step_parts.h"

enum { ROUNDS_MAX = 50, SHARING_ROUNDS_MAX = 12 };

/* Times that change by less than this part of the step stay. Shared links slow down both sides, of
 * which each moves what the other one finds beside it: small changes go on for long, and after some
 * rounds they are left. */
#define SETTLED_FRAC         1e-9
#define SHARING_SETTLED_FRAC 1e-4

/* What must not change any more: when tasks end; of a series, which follows from that of the
 * computations, how long negotiations wait. */
static double mark_of(const struct ar_graph *graph, const struct ar_task *task)
{
    bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
    if (graph->has_series && is_sent) {
        return task->wait_s;
    }
    return graph->has_series && task->duty == AR_DUTY_OPTIMIZER ? 0 : task->end_s;
}

/* Compares the times of tasks with the ones before, and notes them. */
static bool has_settled(const struct ar_graph *graph, double settled_frac, double *marks_s,
                        uint32_t *count)
{
    double last_s = 0, change_s = 0;
    bool is_like = *count == graph->tasks_count;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        double mark_s = mark_of(graph, &graph->tasks[i]);
        last_s = fmax(last_s, mark_s);
        change_s = fmax(change_s, fabs(marks_s[i] - mark_s));
        marks_s[i] = mark_s;
    }
    *count = graph->tasks_count;
    return is_like && change_s < settled_frac * last_s;
}

/* When the second streams were busy. */
static void note_busy(const struct ar_graph *graph, double speed_frac, struct ar_interval *busy,
                      struct ar_slowdown *slowdowns)
{
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        slowdowns[role] = (struct ar_slowdown){.speed_frac = speed_frac, .intervals = busy};
        uint32_t task = graph->first[role * AR_STREAMS_COUNT + AR_STREAM_GRADIENTS];
        for (; task != AR_NO_TASK; task = graph->tasks[task].after) {
            *busy++ = (struct ar_interval){graph->tasks[task].start_s, graph->tasks[task].end_s};
            slowdowns[role].intervals_count++;
        }
    }
}

/* What is found out round by round. */
struct rounds {
    double speed_frac; /* of computations */
    bool can_share;
    struct step_sharing sharing;
    struct ar_interval *busy;
    double *marks_s;
    uint32_t count;
    struct ar_slowdown *slowdowns;
};

/* Buckets may be others in each round; as many as there are tensors at most. */
static enum ar_status begin_rounds(struct ar_step *step, struct rounds *rounds,
                                   struct ar_error *err)
{
    uint32_t tasks =
        step->graph->tasks_count + (step->trace != NULL ? step->trace->tensors_count : 0);
    rounds->busy = ar_arena_alloc(&step->memory, tasks, sizeof *rounds->busy);
    rounds->marks_s = ar_arena_alloc(&step->memory, tasks, sizeof *rounds->marks_s);
    rounds->slowdowns =
        ar_arena_alloc(&step->memory, step->graph->roles_count, sizeof *rounds->slowdowns);
    AR_NEED(rounds->busy && rounds->marks_s && rounds->slowdowns, err, "the times of a step");
    return rounds->can_share ? step_sharing_begin(step, &rounds->sharing, err) : AR_OK;
}

/* Schedules the graph, and sees what was under way at once. */
static enum ar_status run_round(struct ar_step *step, struct rounds *rounds,
                                struct step_overlap *overlap, bool *is_settled,
                                struct ar_error *err)
{
    AR_TRY(step_schedule(step, &(struct step_clocks){.overlap = *overlap}, err));
    if (rounds->can_share) {
        AR_TRY(step_sharing_find(step, &rounds->sharing, err));
    }
    double settled_frac = rounds->can_share ? SHARING_SETTLED_FRAC : SETTLED_FRAC;
    *is_settled = has_settled(step->graph, settled_frac, rounds->marks_s, &rounds->count) ||
                  (rounds->speed_frac == 1 && !rounds->sharing.is_needed);
    if (*is_settled) {
        return AR_OK;
    }
    if (rounds->speed_frac < 1) {
        note_busy(step->graph, rounds->speed_frac, rounds->busy, rounds->slowdowns);
        overlap->slowdowns = rounds->slowdowns;
    }
    if (rounds->sharing.is_needed) {
        overlap->sendings = rounds->sharing.sendings;
        overlap->speeds = (const double *const *)rounds->sharing.speeds;
    }
    return step->graph->has_series ? step_make_graph(step, rounds->slowdowns, err) : AR_OK;
}

enum ar_status step_find_overlap(struct ar_step *step, struct step_overlap *overlap,
                                 struct ar_error *err)
{
    struct rounds rounds = {.can_share = step_can_share(step)};
    bool is_settled = false;
    *overlap = (struct step_overlap){.slowdowns = NULL};
    AR_TRY(step_find_speed(step, &rounds.speed_frac, err));
    if ((rounds.speed_frac == 1 && !rounds.can_share) || step_runs_ranks(step)) {
        return AR_OK;
    }
    AR_TRY(begin_rounds(step, &rounds, err));
    for (int i = 0; !is_settled && i <= (rounds.can_share ? SHARING_ROUNDS_MAX : ROUNDS_MAX); i++) {
        AR_TRY(run_round(step, &rounds, overlap, &is_settled, err));
    }
    overlap->is_scheduled = true;
    step->exact = step->exact && overlap->sendings == NULL;
    return is_settled || rounds.can_share
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "term contention.sms: the times of %s still change after %d rounds; "
                              "expected fewer, or larger buckets",
                              step->trace != NULL ? step->trace->name : "a workload", ROUNDS_MAX);
}
