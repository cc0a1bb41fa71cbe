/* Computations and messages slow down those beside them, which moves them: a fixed point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_numbers.h"
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
    double **speeds;              /* [work][other work]; 0, NULL: not known */
    struct ar_link_load **loads;  /* [work]; NULL: not asked for yet */
    struct ar_sendings *sendings; /* [role] */
    struct ar_sending *list;      /* of all roles */
    bool is_needed;               /* some speeds are below 1 */
};

/* Bytes on each link that a work sends, alone. */
static enum ar_status find_link_loads(struct timer *timer, uint32_t number, struct sharing *sharing,
                                      struct ar_error *err)
{
    const struct ar_work *work = &timer->timing->graph->works[number];
    struct ar_collective collective = work_collective(timer->job, &timer->timing->layout, work);
    uint64_t elements = work_elements(work, &collective);
    const struct ar_flows *flows;
    struct work_known *known = timer_find_known(timer, work);
    sharing->loads[number] = known->loads;
    if (known->loads != NULL) {
        return AR_OK;
    }
    uint32_t links = ar_cluster_links_among(collective.cluster, ar_job_ranks(timer->job));
    known->loads = ar_arena_alloc(timer->known->arena, links, sizeof *known->loads);
    sharing->loads[number] = known->loads;
    AR_TRY(timer_find_flows(timer, number, &flows, err));
    if (flows == NULL) {
        return ar_link_load_add(&collective, elements, sharing->loads[number], err);
    }
    ar_link_load_add_flows(flows, elements, sharing->loads[number]);
    return AR_OK;
}

/* The speed of two works beside each other. */
static enum ar_status find_pair_speed(struct timer *timer, uint32_t one, uint32_t other,
                                      struct sharing *sharing, struct ar_error *err)
{
    const struct ar_cluster *cluster = timer->job->collective.cluster;
    const struct ar_work *works = timer->timing->graph->works;
    double one_s = works[one].time_s, other_s = works[other].time_s, busiest = 1;
    uint32_t links = ar_cluster_links_among(cluster, ar_job_ranks(timer->job));
    AR_TRY(find_link_loads(timer, one, sharing, err));
    AR_TRY(find_link_loads(timer, other, sharing, err));
    for (uint32_t link = 0; link < links; link++) {
        uint64_t of_one = sharing->loads[one][link].bytes;
        uint64_t of_other = sharing->loads[other][link].bytes;
        if (of_one > 0 && of_other > 0) {
            double a = (double)of_one / one_s, b = (double)of_other / other_s;
            busiest = fmax(busiest, (a + b) / ar_cluster_link_bandwidth(cluster, link));
        }
    }
    const uint32_t pair[] = {one, other};
    for (int i = 0; i < 2; i++) {
        double **speeds = &sharing->speeds[pair[i]];
        if (*speeds == NULL) {
            *speeds = ar_arena_alloc(timer->timing->arena, timer->timing->graph->works_count,
                                     sizeof **speeds);
        }
        (*speeds)[pair[1 - i]] = 1 / busiest;
    }
    sharing->is_needed = sharing->is_needed || busiest > 1;
    return AR_OK;
}

/* By role and begin; those that begin at once stay in their order, that of tasks. */
AR_ORDER(compare_sendings, struct ar_sending, AR_RISES(role), AR_RISES(begin_s), AR_RISES(place))

/* Lists what each role sends and gets while its second stream, or one that sends to it, is busy. */
static void list_sendings(const struct ar_graph *graph, const struct sharing *sharing)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_interval *busy = ar_arena_alloc(&arena, graph->roles_count, sizeof *busy);
    uint32_t count = 0;
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        busy[role] = (struct ar_interval){.begin_s = INFINITY, .end_s = 0};
    }
    AR_EACH(const struct ar_task, task, graph->tasks, graph->tasks_count) {
        const uint32_t ends[] = {task->role, task->to};
        bool is_beside = task->stream != AR_STREAM_COMPUTE && task->stream != AR_STREAM_HOST;
        for (int end = 0; is_beside && end < 2; end++) {
            struct ar_interval *window = &busy[ends[end]];
            window->begin_s = fmin(window->begin_s, task->start_s);
            window->end_s = fmax(window->end_s, task->end_s);
        }
    }
    AR_EACH(const struct ar_task, task, graph->tasks, graph->tasks_count) {
        bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
        const uint32_t ends[] = {task->role, task->to};
        for (int end = 0; is_sent && end < (task->to != task->role ? 2 : 1); end++) {
            const struct ar_interval *window = &busy[ends[end]];
            if (task->start_s < window->end_s && task->end_s > window->begin_s) {
                sharing->list[count] = (struct ar_sending){.begin_s = task->start_s,
                                                           .end_s = task->end_s,
                                                           .work = task->work,
                                                           .role = ends[end],
                                                           .from = ar_task_from(task),
                                                           .place = count};
                count++;
            }
        }
    }
    qsort(sharing->list, count, sizeof *sharing->list, compare_sendings);
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

/* Finds the speeds of all that is under way at once. */
static enum ar_status find_sharing(struct timer *timer, struct sharing *sharing,
                                   struct ar_error *err)
{
    list_sendings(timer->timing->graph, sharing);
    AR_EACH(const struct ar_sendings, sendings, sharing->sendings,
            timer->timing->graph->roles_count) {
        AR_EACH(const struct ar_sending, one, sendings->list, sendings->count) {
            const struct ar_sending *other = one + 1;
            for (; other < sendings->list + sendings->count && other->begin_s < one->end_s;
                 other++) {
                const double *speeds = sharing->speeds[one->work];
                bool is_known =
                    one->work == other->work || (speeds != NULL && speeds[other->work] > 0);
                if (ar_sending_shares(one->from, other->from) && !is_known) {
                    AR_TRY(find_pair_speed(timer, one->work, other->work, sharing, err));
                }
            }
        }
    }
    return AR_OK;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Compares the times of tasks that must not change any more with those of the round before, and
 * notes them: when tasks end; of a series, which follows from that of the computations, how long
 * negotiations wait. */
static bool times_have_settled(const struct ar_graph *graph, double settled_frac, double *marks_s,
                               uint32_t *count)
{
    double last_s = 0, change_s = 0;
    bool is_like = *count == graph->tasks_count;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        bool is_sent = graph->works[task->work].kind != AR_TASK_COMPUTE;
        bool is_last = task->duty == AR_DUTY_OPTIMIZER;
        double end_s = task->end_s + ar_task_late_s(graph, i);
        double mark_s = !graph->has_series ? end_s : is_sent ? task->wait_s : is_last ? 0 : end_s;
        last_s = fmax(last_s, mark_s);
        change_s = fmax(change_s, fabs(marks_s[i] - mark_s));
        marks_s[i] = mark_s;
    }
    *count = graph->tasks_count;
    return is_like && change_s < settled_frac * last_s;
}

AR_ORDER(compare_intervals, struct ar_interval, AR_RISES(begin_s))

/* When does each role send beside its computations? `intervals` has room for all tasks. */
static void list_busy(const struct ar_graph *graph, double speed_frac,
                      struct ar_interval *intervals, struct ar_slowdown *slowdowns)
{
    for (uint32_t role = 0; role < graph->roles_count; role++) {
        struct ar_interval *busy = intervals;
        for (uint32_t stream = AR_STREAM_COMPUTE + 1; stream < AR_STREAM_HOST; stream++) {
            uint32_t task = graph->first[role * AR_STREAMS_COUNT + stream];
            for (; task != AR_NO_TASK; task = graph->tasks[task].after) {
                const struct ar_task *sent = &graph->tasks[task];
                *busy++ = (struct ar_interval){sent->start_s, sent->end_s};
            }
        }
        uint32_t count = (uint32_t)(busy - intervals);
        qsort(intervals, count, sizeof *intervals, compare_intervals);
        slowdowns[role] = (struct ar_slowdown){
            .speed_frac = speed_frac, .intervals = intervals, .intervals_count = count};
        intervals = busy;
    }
}

enum ar_status timer_find_overlap(struct timer *timer, struct ar_error *err)
{
    struct ar_timing *timing = timer->timing;
    struct overlap *overlap = &timer->overlap;
    bool has[AR_STREAMS_COUNT] = {false}; /* streams on which something is sent */
    uint32_t streams = 0;                 /* and how many there are */
    struct sharing sharing = {.speeds = NULL};
    double speed_frac;
    AR_TRY(job_find_speed(timer->job, &speed_frac, err));
    AR_EACH(const struct ar_task, task, timing->graph->tasks, timing->graph->tasks_count) {
        bool is_sent = timing->graph->works[task->work].kind != AR_TASK_COMPUTE;
        streams += is_sent && !has[task->stream] ? 1 : 0;
        has[task->stream] = has[task->stream] || is_sent;
    }
    bool can_share = timer->job->library == NULL && !timing->graph->has_series && streams > 1;
    if ((speed_frac == 1 && !can_share) || timer->runs_ranks) {
        return AR_OK;
    }
    if (can_share) {
        const struct ar_graph *graph = timing->graph;
        struct ar_arena *arena = timing->arena;
        sharing.speeds = ar_arena_alloc(arena, graph->works_count, sizeof *sharing.speeds);
        sharing.loads = ar_arena_alloc(arena, graph->works_count, sizeof *sharing.loads);
        sharing.sendings = ar_arena_alloc(arena, graph->roles_count, sizeof *sharing.sendings);
        sharing.list = ar_arena_room(arena, 2 * (size_t)graph->tasks_count,
                                     sizeof *sharing.list); /* a message is of two roles */
    }
    /* Buckets may be others in each round; as many as there are tensors at most. */
    uint32_t roles = timing->graph->roles_count, count = 0;
    const struct ar_trace *trace = timer->job->trace;
    uint32_t tasks = timing->graph->tasks_count + (trace != NULL ? trace->tensors_count : 0);
    struct ar_interval *intervals = ar_arena_room(timing->arena, tasks, sizeof *intervals);
    double *marks_s = ar_arena_alloc(timing->arena, tasks, sizeof *marks_s);
    struct ar_slowdown *slowdowns = ar_arena_alloc(timing->arena, roles, sizeof *slowdowns);
    int rounds_max = can_share ? SHARING_ROUNDS_MAX : ROUNDS_MAX;
    bool is_settled = false;
    for (int round = 0; !is_settled && !timer->is_unsteady && round <= rounds_max; round++) {
        AR_TRY(timer_schedule(timer, false, err));
        AR_TRY(can_share ? find_sharing(timer, &sharing, err) : AR_OK);
        double settled_frac = can_share ? SHARING_SETTLED_FRAC : SETTLED_FRAC;
        is_settled = times_have_settled(timing->graph, settled_frac, marks_s, &count) ||
                     (speed_frac == 1 && !sharing.is_needed);
        if (!is_settled && speed_frac < 1) {
            overlap->slowdowns = slowdowns;
            list_busy(timing->graph, speed_frac, intervals, slowdowns);
        }
        if (!is_settled && sharing.is_needed) {
            overlap->sendings = sharing.sendings;
            overlap->speeds = (const double *const *)sharing.speeds;
        }
        if (!is_settled && timing->graph->has_series) {
            AR_TRY(timer_make_graph(timer, slowdowns, err));
        }
    }
    overlap->is_scheduled = true;
    timing->exact = timing->exact && overlap->sendings == NULL;
    AR_REFUSE(!is_settled && !can_share && !timer->is_unsteady, err, AR_BAD_DATA,
              "term contention.sms: the times of the step still change after %d rounds; expected "
              "fewer, or larger buckets",
              ROUNDS_MAX);
    return AR_OK;
}
