/* When the tasks of a graph start and end: each once, after all that it waits for. */
#include <string.h>

#include "ar_graph.h"
#include "ar_numbers.h"

/* --- moments: when something happens on the ranks of a role ----------------------------------- */

/* On each rank base_s[rank] + factor[rank] * elapsed_s, with one elapsed_s for all. */
struct moment {
    const double *base_s; /* [rank of the role]; NULL: 0 */
    double elapsed_s;
    double offset_s; /* the base of the last rank, since the step began */
    double last_s;   /* it is on the last rank; 0: not known yet */
    double *own_s;   /* the base, if no other moment has it; else NULL */
};

enum { LATEST_MAX = 64 }; /* of 65,536 that differ at random, some 12: 1 + 1/2 + 1/3 ... */

/* The ranks of a role that can be the last ones while all do the same: each other rank begins no
 * later than one of them and is no slower. */
struct latest {
    uint32_t count, ranks[LATEST_MAX]; /* count 0: too many */
};

/* The ranks of a request, and the arena of moments. */
struct moments {
    const struct ar_graph_request *request;
    struct ar_arena *memory;              /* of moments */
    double *last_s;                       /* scratch: [rank of a role] */
    struct latest *latest;                /* [role] */
    double *zeros;                        /* [rank]: in place of times that are not given */
    const double *factor;                 /* [role * `factors_each` + rank]: of what takes time, */
    size_t factors_each;                  /* 1 for all where none are given, with 0 each */
    uint32_t *groups[1 << AR_AXES_COUNT]; /* [axes][rank]: find_group(); NULL: not needed yet */
};

/* When a role begins. */
static struct moment moment_begin(const struct moments *moments, uint32_t role)
{
    const double *start_s = moments->request->start_s;
    return (struct moment){
        .base_s = start_s != NULL ? start_s + (size_t)role * moments->request->ranks_count : NULL};
}

static double moment_at(const struct moments *moments, uint32_t role, const struct moment *moment,
                        uint32_t rank)
{
    const double *base_s = moment->base_s != NULL ? moment->base_s : moments->zeros;
    return base_s[rank] + moments->factor[role * moments->factors_each + rank] * moment->elapsed_s;
}

/* Whether all ranks of the request are at the same time at this moment. */
static bool moment_is_even(const struct moments *moments, const struct moment *moment)
{
    return moment->base_s == NULL && moments->request->factor == NULL;
}

/* Finds the ranks that can be the last ones at moments with the base of a role. */
static void find_latest(const double *base_s, const double *factor, uint32_t ranks_count,
                        struct latest *latest)
{
    uint32_t *ranks = latest->ranks, count = 0;
    for (uint32_t rank = 0; rank < ranks_count && count < LATEST_MAX; rank++) {
        uint32_t i = 0;
        while (i < count && (base_s[ranks[i]] < base_s[rank] || factor[ranks[i]] < factor[rank])) {
            bool is_before = base_s[ranks[i]] <= base_s[rank] && factor[ranks[i]] <= factor[rank];
            ranks[i] = is_before ? ranks[--count] : ranks[i];
            i += is_before ? 0 : 1;
        }
        uint32_t later = i < count ? ranks[i] : rank;
        count += i == count ? 1 : 0;
        ranks[i] = ranks[0]; /* the later one is asked first: the next rank may well be before it */
        ranks[0] = later;
    }
    latest->count = count < LATEST_MAX ? count : 0;
}

/* When the moment is on the last rank. */
static double moment_last(const struct moments *moments, uint32_t role, struct moment *moment)
{
    if (moment_is_even(moments, moment)) {
        return moment->elapsed_s;
    }
    if (moment->last_s == 0) {
        const struct latest *latest = &moments->latest[role];
        bool is_listed = latest->count > 0 && moment->base_s == moment_begin(moments, role).base_s;
        uint32_t count = is_listed ? latest->count : moments->request->ranks_count;
        for (uint32_t i = 0; i < count; i++) {
            moments->last_s[i] = moment_at(moments, role, moment, is_listed ? latest->ranks[i] : i);
        }
        moment->last_s = ar_last_s(moments->last_s, count);
    }
    return moment->last_s;
}

/* Room for a base that takes the place of a moment's. */
static double *make_base(struct moments *moments, const struct moment *moment)
{
    return moment->own_s != NULL ? moment->own_s
                                 : ar_arena_room(moments->memory, moments->request->ranks_count,
                                                 sizeof *moment->own_s);
}

/* Gives a moment a base of its own. */
static void rebase_moment(const struct moments *moments, uint32_t role, double *base_s,
                          struct moment *moment)
{
    *moment = (struct moment){.base_s = base_s, .own_s = base_s};
    moment->offset_s = moment_last(moments, role, moment);
}

/* Puts a moment off until `other`, of the role `from`, has come on the ranks of the same number. */
static void moment_put_off(struct moments *moments, uint32_t role, struct moment *moment,
                           uint32_t from, const struct moment *other)
{
    struct moment begin = moment_begin(moments, role);
    bool is_comparable =
        moment->base_s == other->base_s && (role == from || moments->request->factor == NULL);
    if (is_comparable) {
        bool is_later = other->elapsed_s > moment->elapsed_s;
        moment->elapsed_s = is_later ? other->elapsed_s : moment->elapsed_s;
        moment->last_s = is_later ? other->last_s : moment->last_s;
        return;
    }
    if (role == from && moment->base_s == begin.base_s && moment->elapsed_s == 0) {
        *moment = *other; /* nobody ends before the role begins */
        return;
    }
    double *base_s = make_base(moments, moment);
    for (uint32_t rank = 0; rank < moments->request->ranks_count; rank++) {
        base_s[rank] = ar_later_s(moment_at(moments, role, moment, rank),
                                  moment_at(moments, from, other, rank));
    }
    rebase_moment(moments, role, base_s, moment);
}

/* The first rank of the group of a rank along axes: of all its places but those the same. */
static uint32_t find_group(const uint32_t *sizes, uint32_t axes, uint32_t rank)
{
    uint32_t group = 0, stride = 1;
    for (int axis = AR_AXES_COUNT - 1; axis > AR_AXIS_PP; axis--) {
        uint32_t place = rank / stride % sizes[axis];
        group += (axes >> axis & 1) != 0 ? 0 : place * stride;
        stride *= sizes[axis];
    }
    return group;
}

/* Puts a moment off by a time that is the same on all ranks; with `axes` (else 0) from when the
 * last rank of a group along them is there. */
static void moment_add(struct moments *moments, uint32_t role, struct moment *moment, uint32_t axes,
                       double time_s)
{
    uint32_t count = moments->request->ranks_count;
    if (moment_is_even(moments, moment)) {
        moment->elapsed_s += time_s;
        return;
    }
    double *base_s = make_base(moments, moment), *last_s = moments->last_s;
    uint32_t *groups = moments->groups[axes];
    if (groups == NULL) {
        groups = moments->groups[axes] = ar_arena_alloc(moments->memory, count, sizeof *groups);
        for (uint32_t rank = 0; rank < count; rank++) {
            groups[rank] = find_group(moments->request->sizes, axes, rank);
        }
    }
    memset(last_s, 0, count * sizeof *last_s);
    for (uint32_t rank = 0; rank < count; rank++) {
        double *last = &last_s[groups[rank]];
        *last = ar_later_s(*last, moment_at(moments, role, moment, rank));
    }
    for (uint32_t rank = 0; rank < count; rank++) {
        base_s[rank] = last_s[groups[rank]] + time_s;
    }
    rebase_moment(moments, role, base_s, moment);
}

/* --- what is sent beside other things --------------------------------------------------------- */

/* When something has been sent that begins at `now_s` and takes `time_s` alone, at `speeds` [work]
 * (0, NULL: 1) beside what is on the list and shares with it. Of several the first counts. `first`
 * moves to the first entry that has not ended. */
static double advance_sending(const struct ar_sendings *sendings, const double *speeds,
                              uint32_t from, double now_s, double time_s, uint32_t *first)
{
    const struct ar_sending *list = sendings->list;
    *first = *first < sendings->count ? *first : sendings->count; /* it may be of another list */
    while (*first > 0 && list[*first - 1].last_s > now_s) {
        --*first;
    }
    while (*first < sendings->count && list[*first].last_s <= now_s) {
        ++*first;
    }
    for (uint32_t i = *first; i < sendings->count && speeds != NULL; i++) {
        const struct ar_sending *other = &list[i];
        double begin_s = other->begin_s > now_s ? other->begin_s : now_s;
        double speed_frac = speeds[other->work];
        if (time_s <= begin_s - now_s) {
            break;
        }
        if (!ar_sending_shares(from, other->from) || other->end_s <= now_s || speed_frac == 0 ||
            speed_frac == 1) {
            continue;
        }
        time_s -= begin_s - now_s;
        if (time_s / speed_frac <= other->end_s - begin_s) {
            return begin_s + time_s / speed_frac;
        }
        time_s -= (other->end_s - begin_s) * speed_frac;
        now_s = other->end_s;
    }
    return now_s + time_s;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* A graph that is being scheduled. Each stream runs until a task needs one that has not ended, and
 * goes on when that has: its data stay in the cache. */
struct walk {
    struct ar_graph *graph;
    struct moments moments;
    uint32_t *sleepers; /* [task]: a stream that waits for its end; AR_NO_TASK: none */
    uint32_t *also;     /* [stream]: another one that waits for the same */
    uint32_t *at;       /* [stream]: its first task that has not ended; AR_NO_TASK: all have */
    uint32_t *ended;    /* [stream]: its last task that has ended */
    uint32_t *awake;    /* streams that may go on, the next one last */
    uint32_t awake_count;
    uint32_t *next;     /* [role]: ar_slowdown_advance() */
    uint32_t *sent;     /* [stream][end]: advance_sending() */
    struct moment *end; /* [task]: its end by rank; NULL: end_s for all */
    /* For series; NULL: there are none. */
    bool *is_needed; /* [task]: not only by the one after it */
    uint32_t *held;  /* collectives that may begin one, in the order in which they are ready */
    uint32_t held_count;
    uint32_t *series; /* tasks of the one that is being timed, */
    double *ready_s;  /* and when they are ready */
};

static bool may_be_of_series(const struct walk *walk, uint32_t number)
{
    return walk->held != NULL && ar_task_may_be_of_series(walk->graph, &walk->graph->tasks[number]);
}

/* A task starts no earlier than another one has ended. */
static void wait_for_task(struct walk *walk, struct ar_task *task, uint32_t number,
                          struct moment *start)
{
    const struct ar_task *other = &walk->graph->tasks[number];
    double latency_s = walk->graph->works[task->work].kind == AR_TASK_COMPUTE
                           ? walk->graph->works[other->work].latency_s
                           : 0;
    double there_s = other->end_s + latency_s;
    if (task->waited_for == AR_NO_TASK || there_s > task->start_s) {
        task->start_s = there_s;
        task->waited_for = number;
    }
    if (walk->end == NULL) {
        start->elapsed_s = task->start_s;
        return;
    }
    struct moment there = walk->end[number];
    if (latency_s > 0) {
        moment_add(&walk->moments, other->role, &there, 0, latency_s);
    }
    moment_put_off(&walk->moments, task->role, start, other->role, &there);
}

/* When a task can start (NULL: not asked), after what it needs and the task `before` (AR_NO_TASK:
 * any time). Returns what has not ended yet; AR_NO_TASK: nothing. */
static uint32_t find_start(struct walk *walk, uint32_t number, uint32_t before,
                           struct moment *start)
{
    const struct ar_graph *graph = walk->graph;
    struct ar_task *task = &graph->tasks[number];
    for (uint32_t need = task->need; need != AR_NO_TASK; need = graph->needs[need].next) {
        uint32_t needed = graph->needs[need].task; /* has it ended? */
        if (needed >= walk->at[ar_task_from(&graph->tasks[needed])]) {
            return needed;
        }
    }
    if (start == NULL) {
        return AR_NO_TASK;
    }
    *start = moment_begin(&walk->moments, task->role);
    task->start_s = 0;
    task->waited_for = AR_NO_TASK;
    for (uint32_t need = task->need; need != AR_NO_TASK; need = graph->needs[need].next) {
        wait_for_task(walk, task, graph->needs[need].task, start);
    }
    if (before != AR_NO_TASK) {
        wait_for_task(walk, task, before, start);
    }
    return AR_NO_TASK;
}

/* The streams that waited for a task, and its own, go on. */
static void wake_streams(struct walk *walk, uint32_t number)
{
    uint32_t stream = walk->sleepers[number];
    while (stream != AR_NO_TASK) {
        walk->awake[walk->awake_count++] = stream;
        stream = walk->also[stream];
    }
    const struct ar_task *task = &walk->graph->tasks[number];
    walk->ended[ar_task_from(task)] = number;
    walk->at[ar_task_from(task)] = task->after;
}

/* --- one task --------------------------------------------------------------------------------- */

static bool is_slowed(const struct walk *walk, const struct ar_task *task)
{
    return walk->moments.request->slowdowns != NULL && task->duty != AR_DUTY_OPTIMIZER &&
           task->stream == AR_STREAM_COMPUTE;
}

static void run_task(struct walk *walk, uint32_t number, struct moment end)
{
    struct moments *moments = &walk->moments;
    struct ar_task *task = &walk->graph->tasks[number];
    const struct ar_work *work = &walk->graph->works[task->work];
    const struct ar_graph_request *request = moments->request;
    double time_s = task->count * work->time_s, sent_s = time_s;
    bool is_computed = work->kind == AR_TASK_COMPUTE;
    task->start_s = moment_last(moments, task->role, &end) + task->wait_s;
    if (!is_computed && request->sendings != NULL) {
        /* It shares links with what its role sends and gets; its slower end sets its rate. */
        double now_s = task->start_s + task->copy_s;
        uint32_t from = ar_task_from(task);
        const uint32_t ends[] = {task->role, task->to};
        sent_s = 0;
        for (uint32_t k = 0; k < (task->to != task->role ? 2 : 1); k++) {
            double there_s =
                advance_sending(&request->sendings[ends[k]], request->speeds[task->work], from,
                                now_s, time_s, &walk->sent[2 * from + k]);
            sent_s = ar_later_s(sent_s, there_s - now_s);
        }
    }
    if (!is_computed) {
        bool has_groups = work->kind == AR_TASK_COLLECTIVE && work->every == 0;
        moment_add(moments, task->role, &end, has_groups ? work->axes : 0,
                   task->wait_s + task->copy_s + sent_s);
    } else {
        double now_s = end.offset_s + end.elapsed_s;
        end.last_s = 0;
        end.elapsed_s = is_slowed(walk, task)
                            ? ar_slowdown_advance(&request->slowdowns[task->role], now_s, time_s,
                                                  &walk->next[task->role]) -
                                  end.offset_s
                            : end.elapsed_s + time_s;
    }
    task->end_s = moment_last(moments, task->role, &end);
    bool is_plain = request->factor == NULL && !is_slowed(walk, task);
    task->longer_s = is_computed && !is_plain ? task->end_s - task->start_s - time_s : 0;
    if (walk->end != NULL) {
        walk->end[number] = end;
        walk->end[number].own_s = NULL;
    }
    wake_streams(walk, number);
}

/* --- series ----------------------------------------------------------------------------------- */

/* The collective that goes on with a series after `number`, and when it could start without that;
 * AR_NO_TASK: nobody. It waits for nothing else that has not ended, and what else it waits for
 * has the base of the series. */
static uint32_t find_next_of_series(struct walk *walk, uint32_t number, const double *base_s,
                                    struct moment *start)
{
    const struct ar_graph *graph = walk->graph;
    const struct ar_task *task = &graph->tasks[number];
    uint32_t next = task->after;
    if (next == AR_NO_TASK || walk->is_needed[number] || !may_be_of_series(walk, next)) {
        return AR_NO_TASK;
    }
    const struct ar_task *other = &graph->tasks[next];
    const struct ar_work *one = &graph->works[task->work], *two = &graph->works[other->work];
    bool is_like = one->operation == two->operation && one->axes == two->axes &&
                   one->element_bytes == two->element_bytes;
    return is_like && find_start(walk, next, AR_NO_TASK, start) == AR_NO_TASK &&
                   start->base_s == base_s
               ? next
               : AR_NO_TASK;
}

static enum ar_status run_series(struct walk *walk, uint32_t first, struct ar_error *err)
{
    const struct ar_graph_request *request = walk->moments.request;
    struct ar_graph *graph = walk->graph;
    uint32_t role = graph->tasks[first].role;
    uint32_t count = 0, last = first;
    double ready_s = 0;
    struct moment start;
    (void)find_start(walk, first, walk->ended[ar_task_from(&graph->tasks[first])], &start);
    const double *base_s = start.base_s;
    for (uint32_t task = first; task != AR_NO_TASK;
         task = find_next_of_series(walk, task, base_s, &start)) {
        ready_s = start.elapsed_s > ready_s ? start.elapsed_s : ready_s;
        walk->ready_s[count] = ready_s;
        walk->series[count++] = last = task;
    }
    double *finish_s = ar_arena_room(walk->moments.memory, request->ranks_count, sizeof *finish_s);
    const struct ar_graph_series series = {
        .tasks = walk->series,
        .count = count,
        .start_s = base_s,
        .factor =
            request->factor != NULL ? request->factor + (size_t)role * request->ranks_count : NULL,
        .ready_s = walk->ready_s};
    AR_TRY(request->time_series(request->context, &series, finish_s, err));
    for (uint32_t i = 0; i < count; i++) {
        struct ar_task *task = &graph->tasks[walk->series[i]];
        task->longer_s = 0;
        uint32_t before = i > 0 ? walk->series[i - 1] : AR_NO_TASK;
        if (i > 0 && (task->waited_for == AR_NO_TASK ||
                      graph->tasks[before].end_s > graph->tasks[task->waited_for].end_s)) {
            task->waited_for = before;
        }
    }
    walk->end[last] = (struct moment){.base_s = finish_s, .offset_s = graph->tasks[last].end_s};
    walk->awake[walk->awake_count++] = ar_task_from(&graph->tasks[last]);
    wake_streams(walk, last);
    return AR_OK;
}

/* --- the graph -------------------------------------------------------------------------------- */

static uint32_t *make_numbers(struct walk *walk, size_t count)
{
    uint32_t *numbers = ar_arena_room(walk->moments.memory, count + 1, sizeof *numbers);
    return memset(numbers, 0xff, (count + 1) * sizeof *numbers); /* AR_NO_TASK */
}

static void begin_walk(struct walk *walk)
{
    const struct ar_graph *graph = walk->graph;
    struct ar_arena *memory = walk->moments.memory;
    uint32_t streams = graph->roles_count * AR_STREAMS_COUNT;
    size_t count = (size_t)graph->tasks_count + 1;
    struct moments *moments = &walk->moments;
    uint32_t ranks = moments->request->ranks_count;
    bool has_ranks = ranks > 0;
    if (has_ranks) {
        walk->end = ar_arena_alloc(memory, count, sizeof *walk->end);
        moments->last_s = ar_arena_room(memory, ranks, sizeof *moments->last_s);
        moments->latest = ar_arena_alloc(memory, graph->roles_count, sizeof *moments->latest);
        moments->zeros = ar_arena_alloc(memory, ranks, sizeof *moments->zeros);
        double *ones = ar_arena_room(memory, ranks, sizeof *ones);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            ones[rank] = 1;
        }
        const double *factor = moments->request->factor;
        moments->factor = factor != NULL ? factor : ones;
        moments->factors_each = factor != NULL ? ranks : 0;
    }
    bool is_even = moments->request->start_s == NULL && moments->request->factor == NULL;
    for (uint32_t role = 0; has_ranks && !is_even && role < graph->roles_count; role++) {
        const double *base_s = moment_begin(moments, role).base_s;
        find_latest(base_s != NULL ? base_s : moments->zeros,
                    moments->factor + role * moments->factors_each, ranks, &moments->latest[role]);
    }
    if (has_ranks && walk->moments.request->sendings == NULL) { /* there may be series */
        walk->is_needed = ar_arena_alloc(memory, count, sizeof *walk->is_needed);
        walk->ready_s = ar_arena_alloc(memory, count, sizeof *walk->ready_s);
        walk->held = make_numbers(walk, count);
        walk->series = make_numbers(walk, count);
        for (uint32_t i = 0; i < graph->needs_count; i++) {
            walk->is_needed[graph->needs[i].task] = true;
        }
    }
    walk->sleepers = make_numbers(walk, graph->tasks_count);
    walk->also = make_numbers(walk, streams);
    walk->at = make_numbers(walk, streams);
    walk->ended = make_numbers(walk, streams);
    walk->awake = make_numbers(walk, streams);
    walk->next = ar_arena_alloc(memory, graph->roles_count, sizeof *walk->next);
    walk->sent = ar_arena_alloc(memory, 2 * (size_t)streams, sizeof *walk->sent);
    memcpy(walk->at, graph->first, streams * sizeof *walk->at);
    while (walk->awake_count < streams) {
        walk->awake[walk->awake_count] = streams - 1 - walk->awake_count;
        walk->awake_count++;
    }
}

static void run_stream(struct walk *walk, uint32_t stream)
{
    while (walk->at[stream] != AR_NO_TASK) {
        uint32_t number = walk->at[stream];
        struct moment start;
        bool is_held = may_be_of_series(walk, number);
        uint32_t missing = find_start(walk, number, walk->ended[stream], is_held ? NULL : &start);
        if (missing != AR_NO_TASK) {
            walk->also[stream] = walk->sleepers[missing];
            walk->sleepers[missing] = stream;
            return;
        }
        if (is_held) {
            walk->held[walk->held_count++] = number;
            return;
        }
        run_task(walk, number, start);
    }
}

enum ar_status ar_graph_schedule_with(struct ar_graph *graph,
                                      const struct ar_graph_request *request, struct ar_error *err)
{
    struct ar_arena memory AR_ENDS_HERE = {NULL};
    struct walk walk = {.graph = graph, .moments = {.request = request, .memory = &memory}};
    uint32_t streams = graph->roles_count * AR_STREAMS_COUNT, stuck = AR_NO_TASK, run = 0;
    begin_walk(&walk);
    /* Computations and the like come first, so that series are as long as can be. */
    while (walk.awake_count > 0 || run < walk.held_count) {
        if (walk.awake_count > 0) {
            run_stream(&walk, walk.awake[--walk.awake_count]);
        } else {
            AR_TRY(run_series(&walk, walk.held[run++], err));
        }
    }
    for (uint32_t i = 0; i < streams; i++) {
        stuck = walk.at[i] < stuck ? walk.at[i] : stuck;
    }
    if (stuck != AR_NO_TASK) {
        const struct ar_task *task = &graph->tasks[stuck];
        return ar_error_set(err, AR_BAD_DATA,
                            "task graph: task %u (%s of micro-batch %u, chunk %u, role %u) waits "
                            "for itself; expected tasks without a circle",
                            stuck, ar_duty_names[task->duty], task->batch, task->chunk, task->role);
    }
    for (uint32_t i = 0; request->end_s != NULL && i < streams; i++) {
        uint32_t role = i / AR_STREAMS_COUNT, task = graph->last[i];
        double *end_s = request->end_s + (size_t)role * request->ranks_count;
        if (i % AR_STREAMS_COUNT == 0) {
            memset(end_s, 0, request->ranks_count * sizeof *end_s);
        }
        for (uint32_t rank = 0; task != AR_NO_TASK && rank < request->ranks_count; rank++) {
            end_s[rank] =
                ar_later_s(end_s[rank], moment_at(&walk.moments, role, &walk.end[task], rank));
        }
    }
    return AR_OK;
}

enum ar_status ar_graph_schedule(struct ar_graph *graph, struct ar_error *err)
{
    return ar_graph_schedule_with(graph, &(struct ar_graph_request){.ranks_count = 0}, err);
}
