/* What goes slower beside what is sent, which begins later because of that. What is sent slows down
 * what comes after its begin, so that in each round at least one more time is final, and most are
 * at once. */
#include <math.h>
#include <stdlib.h>

#include "timer.h"

enum { ROUNDS_MAX = 50, SHARING_ROUNDS_MAX = 12 };

/* Times that change by less than this part of the step stay. Shared links slow down both sides, of
 * which each moves what the other one finds beside it: small changes go on for long, and after some
 * rounds they are left. */
#define SETTLED_FRAC         1e-9
#define SHARING_SETTLED_FRAC 1e-4

/* --- shared links ------------------------------------------------------------------------------
 *
 * What roles send and get on several streams at once shares links. Alone a work keeps a link busy
 * for a part of its time; if the parts of two works on one link are above 1 in sum, both go slower
 * by that: a link that serves both in turn is never idle, and each needs it as long as before. */

/* Speeds of works beside each other. */
struct sharing {
    uint32_t *works;              /* [sent]: those that are sent, */
    uint32_t *numbers;            /* [work]: and which of them it is */
    size_t count;                 /* of them */
    double **speeds;              /* [work][other sent]; 0, NULL: not known */
    struct ar_link_load **loads;  /* [sent]; NULL: not asked for yet */
    struct ar_sendings *sendings; /* [role] */
    struct ar_interval *windows;  /* [role]: its second stream is busy */
    struct ar_sending *list;      /* of all roles */
    bool is_needed;               /* some speeds are below 1 */
};

static bool can_share_links(const struct timer *timer)
{
    bool has[AR_STREAMS_COUNT] = {false};
    bool has_both = false;
    for (uint32_t i = 0; i < timer->timing->graph->tasks_count && !has_both; i++) {
        const struct ar_task *task = &timer->timing->graph->tasks[i];
        bool is_sent = timer->timing->graph->works[task->work].kind != AR_TASK_COMPUTE;
        has[task->stream] = has[task->stream] || is_sent;
        has_both = has[AR_STREAM_COMPUTE] && has[AR_STREAM_GRADIENTS];
    }
    return !ar_engine_times_calls(timer->job->engine) && !timer->timing->graph->has_series &&
           has_both;
}

/* Numbers the works that are sent, which alone share links. */
static void begin_sharing(const struct timer *timer, struct sharing *sharing)
{
    const struct ar_graph *graph = timer->timing->graph;
    struct ar_arena *arena = timer->timing->arena;
    sharing->works = ar_arena_alloc(arena, graph->works_count, sizeof *sharing->works);
    sharing->numbers = ar_arena_alloc(arena, graph->works_count, sizeof *sharing->numbers);
    sharing->speeds = ar_arena_alloc(arena, graph->works_count, sizeof *sharing->speeds);
    for (uint32_t i = 0; i < graph->works_count; i++) {
        if (graph->works[i].kind != AR_TASK_COMPUTE) {
            sharing->numbers[i] = (uint32_t)sharing->count;
            sharing->works[sharing->count++] = i;
        }
    }
    sharing->loads = ar_arena_alloc(arena, sharing->count, sizeof *sharing->loads);
    sharing->sendings = ar_arena_alloc(arena, graph->roles_count, sizeof *sharing->sendings);
    sharing->windows = ar_arena_alloc(arena, graph->roles_count, sizeof *sharing->windows);
    sharing->list = ar_arena_alloc(arena, 2 * (size_t)graph->tasks_count,
                                   sizeof *sharing->list); /* a message is of two roles */
}

static enum ar_status find_link_loads(struct timer *timer, uint32_t number, struct sharing *sharing,
                                      struct ar_error *err)
{
    const struct ar_work *work = &timer->timing->graph->works[sharing->works[number]];
    struct ar_collective collective = work_collective(timer->job, &timer->timing->layout, work);
    uint64_t elements = work_elements(work, &collective);
    if (sharing->loads[number] != NULL) {
        return AR_OK;
    }
    struct ar_link_load *loads = ar_arena_alloc(
        timer->timing->arena, ar_cluster_links_count(collective.cluster), sizeof *loads);
    sharing->loads[number] = loads;
    const struct ar_flows *flows;
    AR_TRY(timer_find_flows(timer, sharing->works[number], &flows, err));
    if (flows == NULL) {
        return ar_link_load_add(&collective, &elements, 1, loads, err);
    }
    ar_link_load_add_flows(flows, &elements, 1, loads);
    return AR_OK;
}

/* Works that are never beside others have no list. */
static void note_speed(const struct timer *timer, struct sharing *sharing, uint32_t one,
                       uint32_t other, double speed_frac)
{
    double **speeds = &sharing->speeds[sharing->works[one]];
    if (*speeds == NULL) {
        *speeds = ar_arena_alloc(timer->timing->arena, sharing->count, sizeof **speeds);
    }
    (*speeds)[other] = speed_frac;
}

/* A work does not slow itself down. */
static bool speed_is_known(const struct sharing *sharing, uint32_t one, uint32_t other)
{
    const double *speeds = sharing->speeds[sharing->works[one]];
    return one == other || (speeds != NULL && speeds[other] > 0);
}

/* The speed of two works beside each other. */
static enum ar_status find_pair_speed(struct timer *timer, uint32_t one, uint32_t other,
                                      struct sharing *sharing, struct ar_error *err)
{
    const struct ar_cluster *cluster = timer->job->collective.cluster;
    const struct ar_work *works = timer->timing->graph->works;
    double one_s = works[sharing->works[one]].time_s, other_s = works[sharing->works[other]].time_s;
    double busiest = 1;
    AR_TRY(find_link_loads(timer, one, sharing, err));
    AR_TRY(find_link_loads(timer, other, sharing, err));
    for (uint32_t link = 0; link < ar_cluster_links_count(cluster); link++) {
        double a = (double)sharing->loads[one][link].bytes / one_s;
        double b = (double)sharing->loads[other][link].bytes / other_s;
        if (a > 0 && b > 0) {
            busiest = fmax(busiest, (a + b) / ar_cluster_link_bandwidth(cluster, link));
        }
    }
    note_speed(timer, sharing, one, other, 1 / busiest);
    note_speed(timer, sharing, other, one, 1 / busiest);
    sharing->is_needed = sharing->is_needed || busiest > 1;
    return AR_OK;
}

static int compare_begins(const void *a, const void *b)
{
    const struct ar_sending *first = a;
    const struct ar_sending *second = b;
    if (first->role != second->role) {
        return first->role < second->role ? -1 : 1;
    }
    if (first->begin_s != second->begin_s) {
        return first->begin_s < second->begin_s ? -1 : 1;
    }
    return (first->task > second->task) - (first->task < second->task);
}

/* When the second streams of roles are busy, or messages to them on such. */
static void find_windows(const struct ar_graph *graph, struct ar_interval *windows)
{
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        windows[role] = (struct ar_interval){.begin_s = INFINITY, .end_s = 0};
    }
    for (uint32_t i = 0; i < graph->roles_count * AR_STREAMS_COUNT; i++) {
        uint32_t first = i % AR_STREAMS_COUNT == AR_STREAM_COMPUTE ? AR_NO_TASK : graph->first[i];
        for (uint32_t number = first; number != AR_NO_TASK; number = graph->tasks[number].after) {
            const struct ar_task *task = &graph->tasks[number];
            const uint32_t ends[] = {task->role, task->to};
            for (int end = 0; end < 2; end++) {
                struct ar_interval *window = &windows[ends[end]];
                window->begin_s = fmin(window->begin_s, task->start_s);
                window->end_s = fmax(window->end_s, task->end_s);
            }
        }
    }
}

/* Adds a task to what a role sends and gets while its second stream is busy. */
static void add_sending(const struct ar_graph *graph, const struct sharing *sharing,
                        uint32_t number, uint32_t role, uint32_t *count)
{
    const struct ar_task *task = &graph->tasks[number];
    const struct ar_interval *window = &sharing->windows[role];
    if (task->start_s < window->end_s && task->end_s > window->begin_s) {
        sharing->list[(*count)++] = (struct ar_sending){.begin_s = task->start_s,
                                                        .end_s = task->end_s,
                                                        .work = sharing->numbers[task->work],
                                                        .task = number,
                                                        .role = role,
                                                        .from = ar_task_from(task)};
    }
}

static void list_sendings(const struct ar_graph *graph, const struct sharing *sharing)
{
    uint32_t count = 0;
    find_windows(graph, sharing->windows);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
        if (is_sent) {
            add_sending(graph, sharing, i, task->role, &count);
        }
        if (is_sent && task->to != task->role) {
            add_sending(graph, sharing, i, task->to, &count);
        }
    }
    qsort(sharing->list, count, sizeof *sharing->list, compare_begins);
    for (uint32_t role = 0, i = 0; role < graph->roles_count; role++) {
        struct ar_sendings *sendings = &sharing->sendings[role];
        double last_s = 0;
        *sendings = (struct ar_sendings){.list = sharing->list + i};
        for (; i < count && sharing->list[i].role == role; i++) {
            last_s = fmax(last_s, sharing->list[i].end_s);
            sharing->list[i].last_s = last_s;
            sendings->count++;
        }
    }
}

/* Finds the speeds of those that are under way at once. */
static enum ar_status find_speeds_beside(struct timer *timer, const struct ar_sendings *sendings,
                                         struct sharing *sharing, struct ar_error *err)
{
    for (uint32_t i = 0; i < sendings->count; i++) {
        const struct ar_sending *one = &sendings->list[i];
        for (uint32_t j = i + 1; j < sendings->count; j++) {
            const struct ar_sending *other = &sendings->list[j];
            if (other->begin_s >= one->end_s) {
                break;
            }
            if (ar_sending_shares(one->from, other->from) &&
                !speed_is_known(sharing, one->work, other->work)) {
                AR_TRY(find_pair_speed(timer, one->work, other->work, sharing, err));
            }
        }
    }
    return AR_OK;
}

static enum ar_status find_sharing(struct timer *timer, struct sharing *sharing,
                                   struct ar_error *err)
{
    list_sendings(timer->timing->graph, sharing);
    for (uint32_t role = 0; role < timer->timing->graph->roles_count; role++) {
        AR_TRY(find_speeds_beside(timer, &sharing->sendings[role], sharing, err));
    }
    return AR_OK;
}
/* --- rounds ----------------------------------------------------------------------------------- */

/* What must not change any more: when tasks end; of a series, which follows from that of the
 * computations, how long negotiations wait. */
static double settling_mark(const struct ar_graph *graph, const struct ar_task *task)
{
    bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
    if (graph->has_series && is_sent) {
        return task->wait_s;
    }
    return graph->has_series && task->duty == AR_DUTY_OPTIMIZER ? 0 : task->end_s;
}

/* Compares the times of tasks with the ones before, and notes them. */
static bool times_have_settled(const struct ar_graph *graph, double settled_frac, double *marks_s,
                               uint32_t *count)
{
    double last_s = 0, change_s = 0;
    bool is_like = *count == graph->tasks_count;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        double mark_s = settling_mark(graph, &graph->tasks[i]);
        last_s = fmax(last_s, mark_s);
        change_s = fmax(change_s, fabs(marks_s[i] - mark_s));
        marks_s[i] = mark_s;
    }
    *count = graph->tasks_count;
    return is_like && change_s < settled_frac * last_s;
}

/* When the second streams were busy. */
static void note_busy_streams(const struct ar_graph *graph, double speed_frac,
                              struct ar_interval *busy, struct ar_slowdown *slowdowns)
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
    struct sharing sharing;
    struct ar_interval *busy;
    double *marks_s;
    uint32_t count;
    struct ar_slowdown *slowdowns;
};

/* Buckets may be others in each round; as many as there are tensors at most. */
static void begin_rounds(const struct timer *timer, struct rounds *rounds)
{
    uint32_t tasks = timer->timing->graph->tasks_count +
                     (timer->job->trace != NULL ? timer->job->trace->tensors_count : 0);
    rounds->busy = ar_arena_alloc(timer->timing->arena, tasks, sizeof *rounds->busy);
    rounds->marks_s = ar_arena_alloc(timer->timing->arena, tasks, sizeof *rounds->marks_s);
    rounds->slowdowns = ar_arena_alloc(timer->timing->arena, timer->timing->graph->roles_count,
                                       sizeof *rounds->slowdowns);
    if (rounds->can_share) {
        begin_sharing(timer, &rounds->sharing);
    }
}

/* Schedules the graph, and sees what was under way at once. */
static enum ar_status run_overlap_round(struct timer *timer, struct rounds *rounds,
                                        struct overlap *overlap, bool *is_settled,
                                        struct ar_error *err)
{
    AR_TRY(timer_schedule(timer, overlap, false, NULL, err));
    if (rounds->can_share) {
        AR_TRY(find_sharing(timer, &rounds->sharing, err));
    }
    double settled_frac = rounds->can_share ? SHARING_SETTLED_FRAC : SETTLED_FRAC;
    *is_settled =
        times_have_settled(timer->timing->graph, settled_frac, rounds->marks_s, &rounds->count) ||
        (rounds->speed_frac == 1 && !rounds->sharing.is_needed);
    if (*is_settled) {
        return AR_OK;
    }
    if (rounds->speed_frac < 1) {
        note_busy_streams(timer->timing->graph, rounds->speed_frac, rounds->busy,
                          rounds->slowdowns);
        overlap->slowdowns = rounds->slowdowns;
    }
    if (rounds->sharing.is_needed) {
        overlap->sendings = rounds->sharing.sendings;
        overlap->speeds = (const double *const *)rounds->sharing.speeds;
    }
    return timer->timing->graph->has_series ? timer_make_graph(timer, rounds->slowdowns, err)
                                            : AR_OK;
}

enum ar_status timer_find_overlap(struct timer *timer, struct overlap *overlap,
                                  struct ar_error *err)
{
    struct rounds rounds = {.can_share = can_share_links(timer)};
    bool is_settled = false;
    *overlap = (struct overlap){.slowdowns = NULL};
    AR_TRY(job_find_speed(timer->job, &rounds.speed_frac, err));
    if ((rounds.speed_frac == 1 && !rounds.can_share) || timer_runs_ranks(timer)) {
        return AR_OK;
    }
    begin_rounds(timer, &rounds);
    for (int i = 0; !is_settled && i <= (rounds.can_share ? SHARING_ROUNDS_MAX : ROUNDS_MAX); i++) {
        AR_TRY(run_overlap_round(timer, &rounds, overlap, &is_settled, err));
    }
    overlap->is_scheduled = true;
    timer->timing->exact = timer->timing->exact && overlap->sendings == NULL;
    return is_settled || rounds.can_share
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "term contention.sms: the times of %s still change after %d rounds; "
                              "expected fewer, or larger buckets",
                              timer->job->trace != NULL ? timer->job->trace->name : "a workload",
                              ROUNDS_MAX);
}
