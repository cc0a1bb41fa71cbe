/* Asynchronous runs as events: ends of computations, transfers and latencies, in order of time. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_clock.h"
#include "ar_heap.h"
#include "async_share.h"

/* Times that differ by rounding are one, as in SimGrid. */
#define SAME_S 1e-12

enum event_kind { STARTED, COMPUTED, PUSHED, PULLED, FREED };

/* What a transfer has left to do. Counts are of slices since the run began. */
struct transfer {
    uint32_t begun, left, arrived;
    bool is_active;
    double bytes;   /* that remain, */
    double since_s; /* from then on */
    double begin_s;
    double end_s;
};

struct worker {
    uint32_t round, segment;
    bool is_computing, has_ended;
    double idle_s;      /* since when */
    uint32_t gradients; /* slices whose gradients exist */
    uint32_t freed;     /* slices whose pulled parameters are in use */
};

struct events {
    struct ar_async *run;
    struct async_plan plan;
    struct async_share share;
    struct worker *workers;
    struct transfer *transfers; /* [worker * ASYNC_WAYS + way] */
    double *pushed_s;           /* [worker][slice]: its last push has arrived */
    uint32_t *pushes;           /* [round][slice]: workers whose push has arrived */
    double *all_pushed_s;       /* [round][slice] */
    uint32_t *active;           /* transfers */
    uint32_t active_count;
    bool is_stale;       /* rates are */
    struct ar_heap heap; /* events of workers, at one time as they were made */
    uint64_t made;
    double now_s;
};

static void push_event(struct events *events, double time_s, uint32_t worker, enum event_kind kind)
{
    ar_heap_push(&events->heap, (struct ar_due){time_s, events->made++, worker, kind});
}

/* --- transfers -------------------------------------------------------------------------------- */

static struct transfer *transfer_of(struct events *events, uint32_t worker, uint32_t way)
{
    return &events->transfers[(size_t)worker * ASYNC_WAYS + way];
}

static uint32_t slice_of(const struct events *events, uint32_t way, uint32_t number)
{
    uint32_t place = number % events->run->slices_count;
    return way == ASYNC_PUSH ? place : async_plan_pulled(events->run, place);
}

static void begin_transfer(struct events *events, uint32_t worker, uint32_t way)
{
    uint32_t index = worker * ASYNC_WAYS + way;
    struct transfer *transfer = &events->transfers[index];
    uint32_t slice = slice_of(events, way, transfer->begun++);
    transfer->is_active = true;
    transfer->begin_s = transfer->since_s = events->now_s;
    transfer->bytes = events->share.bytes[(size_t)index * events->run->slices_count + slice];
    events->active[events->active_count++] = index;
    events->is_stale = true;
}

static void try_push(struct events *events, uint32_t worker)
{
    const struct transfer *push = transfer_of(events, worker, ASYNC_PUSH);
    if (!push->is_active && push->begun < events->workers[worker].gradients) {
        begin_transfer(events, worker, ASYNC_PUSH);
    }
}

/* A slice may be pulled when the worker's own push of it has arrived, those of all that it depends
 * on have, and there is a buffer. */
static void try_pull(struct events *events, uint32_t worker)
{
    const struct ar_async *run = events->run;
    const struct transfer *pull = transfer_of(events, worker, ASYNC_PULL);
    uint32_t round = pull->begun / run->slices_count + 1;
    uint32_t slice = slice_of(events, ASYNC_PULL, pull->begun);
    uint32_t needed = async_plan_needs(&events->plan, round);
    if (pull->is_active || round > events->plan.rounds ||
        transfer_of(events, worker, ASYNC_PUSH)->arrived <=
            (round - 1) * run->slices_count + slice) {
        return;
    }
    bool is_allowed = needed == UINT32_MAX ||
                      events->pushes[(size_t)needed * run->slices_count + slice] == run->workers;
    if (is_allowed &&
        (run->pull == AR_PULL_WHOLE || pull->begun <= events->workers[worker].freed)) {
        begin_transfer(events, worker, ASYNC_PULL);
    }
}

/* --- computation ------------------------------------------------------------------------------ */

/* Slices that must have been pulled before the worker goes on. */
static uint32_t gate_of(const struct events *events, const struct worker *worker)
{
    uint32_t pulled = worker->round < events->plan.rounds
                          ? events->plan.segments[worker->segment].pulled
                          : events->plan.end_pulls;
    return worker->round == 0 ? 0 : (worker->round - 1) * events->run->slices_count + pulled;
}

static void account_wait(struct events *events, uint32_t number, uint32_t gate)
{
    const struct ar_async *run = events->run;
    struct worker *worker = &events->workers[number];
    if (events->now_s == worker->idle_s) {
        return;
    }
    uint32_t slice = slice_of(events, ASYNC_PULL, gate - 1);
    uint32_t needed = async_plan_needs(&events->plan, worker->round);
    struct async_cause cause = {.pushed_s =
                                    events->pushed_s[(size_t)number * run->slices_count + slice]};
    if (needed != UINT32_MAX) {
        cause.allowed_s = events->all_pushed_s[(size_t)needed * run->slices_count + slice];
    }
    async_plan_waited(events->run, number, worker->round * run->every, worker->idle_s,
                      events->now_s, cause);
}

/* Latency of asking for the next slice: that of a slice, which is about as long. */
static double request_s(const struct events *events, uint32_t worker)
{
    size_t transfer = (size_t)worker * ASYNC_WAYS + ASYNC_PULL;
    return events->share.latency_s[transfer * events->run->slices_count];
}

static void try_compute(struct events *events, uint32_t number)
{
    struct worker *worker = &events->workers[number];
    if (worker->is_computing || worker->has_ended) {
        return;
    }
    uint32_t gate = gate_of(events, worker);
    if (transfer_of(events, number, ASYNC_PULL)->arrived < gate) {
        return;
    }
    account_wait(events, number, gate);
    if (worker->round == events->plan.rounds) {
        worker->has_ended = true;
        events->run->end_s[number] = events->now_s - async_plan_start_s(events->run, number);
        return;
    }
    const struct async_segment *segment = &events->plan.segments[worker->segment];
    double time_s =
        segment->time_s * async_plan_factor(events->run, &events->plan, worker->round, number);
    worker->is_computing = true;
    events->run->splits[number].compute_s += time_s;
    async_plan_note(events->run, number, worker->round * events->run->every, AR_ASYNC_COMPUTES,
                    events->now_s, events->now_s + time_s);
    if (segment->is_forward && worker->round > 0) {
        push_event(events, events->now_s + request_s(events, number), number, FREED);
    }
    push_event(events, events->now_s + time_s, number, COMPUTED);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void on_computed(struct events *events, uint32_t number)
{
    struct worker *worker = &events->workers[number];
    worker->is_computing = false;
    worker->idle_s = events->now_s;
    if (events->plan.segments[worker->segment].pushes) {
        worker->gradients++;
        try_push(events, number);
    }
    if (++worker->segment == events->plan.segments_count) {
        worker->segment = 0;
        worker->round++;
    }
    try_compute(events, number);
}

static void on_pushed(struct events *events, uint32_t number)
{
    const struct ar_async *run = events->run;
    struct transfer *push = transfer_of(events, number, ASYNC_PUSH);
    uint32_t index = push->arrived++;
    events->pushed_s[(size_t)number * run->slices_count + index % run->slices_count] =
        events->now_s;
    if (++events->pushes[index] < run->workers) {
        try_pull(events, number);
        return;
    }
    events->all_pushed_s[index] = events->now_s;
    for (uint32_t i = 0; i < run->workers; i++) {
        try_pull(events, i);
    }
}

static void handle(struct events *events, const struct ar_due *event)
{
    switch ((enum event_kind)event->kind) {
    case STARTED:
        try_compute(events, event->number);
        break;
    case COMPUTED:
        on_computed(events, event->number);
        break;
    case PUSHED:
        on_pushed(events, event->number);
        break;
    case PULLED:
        transfer_of(events, event->number, ASYNC_PULL)->arrived++;
        try_compute(events, event->number);
        break;
    case FREED:
        events->workers[event->number].freed++;
        try_pull(events, event->number);
        break;
    }
}

/* The last byte has left: the latency runs, and the next slice may begin. */
static void end_transfer(struct events *events, uint32_t index)
{
    uint32_t worker = index / ASYNC_WAYS;
    uint32_t way = index % ASYNC_WAYS;
    struct transfer *transfer = &events->transfers[index];
    uint32_t slice = slice_of(events, way, transfer->left++);
    double latency_s = events->share.latency_s[(size_t)index * events->run->slices_count + slice];
    transfer->is_active = false;
    events->share.rate_Bps[index] = 0;
    events->is_stale = true;
    uint32_t round = (transfer->left - 1) / events->run->slices_count + (way == ASYNC_PULL);
    async_plan_note(events->run, worker, round * events->run->every,
                    way == ASYNC_PUSH ? AR_ASYNC_PUSHES : AR_ASYNC_PULLS, transfer->begin_s,
                    events->now_s);
    push_event(events, events->now_s + latency_s, worker, way == ASYNC_PUSH ? PUSHED : PULLED);
    way == ASYNC_PUSH ? try_push(events, worker) : try_pull(events, worker);
}

static void end_transfers(struct events *events)
{
    uint32_t kept = 0;
    uint32_t count = events->active_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = events->active[i];
        if (events->transfers[index].end_s <= events->now_s + SAME_S) {
            end_transfer(events, index); /* may append others */
        } else {
            events->active[kept++] = index;
        }
    }
    uint32_t begun = events->active_count - count;
    memmove(events->active + kept, events->active + count, begun * sizeof *events->active);
    events->active_count = kept + begun;
}

/* Rates change: what was done at the old ones is done. */
static void share_anew(struct events *events)
{
    for (uint32_t i = 0; i < events->active_count; i++) {
        struct transfer *transfer = &events->transfers[events->active[i]];
        double rate_Bps = events->share.rate_Bps[events->active[i]];
        double done_s = events->now_s - transfer->since_s;
        transfer->bytes -= done_s > 0 ? rate_Bps * done_s : 0;
        transfer->since_s = events->now_s;
    }
    async_share_rates(&events->share, events->active, events->active_count);
    for (uint32_t i = 0; i < events->active_count; i++) {
        struct transfer *transfer = &events->transfers[events->active[i]];
        transfer->end_s =
            events->now_s + fmax(0, transfer->bytes) / events->share.rate_Bps[events->active[i]];
    }
    events->is_stale = false;
}

static void follow(struct events *events)
{
    for (uint32_t i = 0; i < events->run->workers; i++) {
        events->workers[i].idle_s = async_plan_start_s(events->run, i);
        push_event(events, events->workers[i].idle_s, i, STARTED);
    }
    while (events->heap.count > 0 || events->active_count > 0) {
        double next_s = events->heap.count > 0 ? events->heap.list[0].time_s : INFINITY;
        if (events->is_stale) {
            share_anew(events);
        }
        for (uint32_t i = 0; i < events->active_count; i++) {
            next_s = fmin(next_s, events->transfers[events->active[i]].end_s);
        }
        events->now_s = next_s;
        end_transfers(events);
        while (events->heap.count > 0 && events->heap.list[0].time_s <= events->now_s + SAME_S) {
            struct ar_due event = ar_heap_pop(&events->heap);
            handle(events, &event);
        }
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static enum ar_status make_room(struct events *events, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_async *run = events->run;
    size_t workers = run->workers;
    size_t slices = run->slices_count;
    size_t all = (events->plan.rounds + 1) * slices;
    events->workers = ar_arena_alloc(arena, workers, sizeof *events->workers);
    events->transfers = ar_arena_alloc(arena, workers * ASYNC_WAYS, sizeof *events->transfers);
    events->pushed_s = ar_arena_alloc(arena, workers * slices, sizeof(double));
    events->pushes = ar_arena_alloc(arena, all, sizeof(uint32_t));
    events->all_pushed_s = ar_arena_alloc(arena, all, sizeof(double));
    events->active = ar_arena_alloc(arena, 2 * workers * ASYNC_WAYS, sizeof(uint32_t));
    /* a worker computes, and each of its slices may be asked for, or on its way there or back */
    events->heap.list =
        ar_arena_alloc(arena, workers * (3 * slices + 1) + 1, sizeof *events->heap.list);
    bool is_made = events->workers != NULL && events->transfers != NULL &&
                   events->pushed_s != NULL && events->pushes != NULL &&
                   events->all_pushed_s != NULL && events->active != NULL &&
                   events->heap.list != NULL;
    return is_made ? AR_OK : ar_error_no_memory(err, "the workers of a step");
}

static enum ar_status prepare(struct events *events, struct ar_arena *arena, struct ar_error *err)
{
    struct ar_async *run = events->run;
    AR_TRY(async_plan_make(run, arena, &events->plan, err));
    AR_TRY(async_share_make(run, &events->plan, arena, &events->share, err));
    AR_TRY(make_room(events, arena, err));
    async_plan_begin(run);
    run->messages_count = events->share.messages * run->slices_count * events->plan.rounds;
    return AR_OK;
}

enum ar_status ar_async_run_events(struct ar_async *run, struct ar_error *err)
{
    double began_s = ar_clock_s();
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct events events = {.run = run};
    enum ar_status status = prepare(&events, &arena, err);
    if (status == AR_OK) {
        follow(&events);
        for (uint32_t i = 0; i < run->workers; i++) {
            assert(events.workers[i].has_ended);
        }
    }
    run->wall_s = ar_clock_s() - began_s;
    return status;
}
