/* Asynchronous runs as events: ends of computations, transfers and latencies, in order of time. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_heap.h"
#include "ar_numbers.h"
#include "async_plan.h"

/* Times that differ by rounding are one, as in SimGrid. */
#define SAME_S 1e-12

/* --- max-min fair rates of transfers that have many messages each --------------------------------
 *
 * A transfer is what a worker exchanges with all shards at once; its messages advance together, so
 * that it takes of each link the part of its bytes that cross it. With rates x and parts c,
 * sum(c x) <= bandwidth on every link, and no transfer can have more without taking from one that
 * has less or as much. Links that can never be full before others are left out. */

/* Transfers of a worker. */
enum { ASYNC_PUSH, ASYNC_PULL, ASYNC_WAYS };

/* The part of a link that a transfer takes. */
struct async_use {
    uint32_t other;    /* link of a transfer, transfer of a link */
    double s_per_byte; /* seconds of the whole link for each byte of the transfer */
};

/* Numbers of the links that a transfer uses, or of the transfers that use a link, in order. */
struct async_uses {
    struct async_use *list;
    uint32_t count;
    uint32_t link; /* of the cluster */
    /* Set only in a link, while rates are found: */
    uint32_t waiting;  /* transfers without a rate */
    double left, load; /* part not given away; s_per_byte of those that wait */
};

struct async_share {
    struct async_uses *links, *transfers; /* a transfer is worker * ASYNC_WAYS + way */
    uint32_t links_count, transfers_count;
    double *latency_s; /* [transfer][slice] */
    double *bytes;     /* [transfer][slice]: with what the gaps of messages stand for */
    uint32_t *busy;    /* links in use, while rates are found */
    double *rate_Bps;  /* [transfer]: result; 0 of one that is not active */
    uint64_t messages; /* of an exchange of one slice, all workers */
};

static struct async_use *use_append(struct ar_arena *arena, struct async_uses *uses, uint32_t other)
{
    struct async_use *use = AR_ARENA_ADD(arena, uses->list, uses->count);
    *use = (struct async_use){.other = other};
    return use;
}

/* Finds what each transfer takes of links, and its latencies and bytes: of its messages between the
 * GPUs of the worker and the places of the shards the last one counts, and the gaps of all. */
static void link_uses(const struct ar_async *run, const struct async_plan *plan,
                      struct ar_arena *arena, struct async_share *share)
{
    const struct ar_message_cost *cost = &ar_cluster_facts(run->cluster)->message;
    for (uint32_t transfer = 0; transfer < share->transfers_count; transfer++) {
        bool is_push = transfer % ASYNC_WAYS == ASYNC_PUSH;
        uint32_t first = transfer / ASYNC_WAYS * run->gpus_each;
        double *latency_s = share->latency_s + (size_t)transfer * run->slices_count;
        double *bytes = share->bytes + (size_t)transfer * run->slices_count;
        for (uint32_t i = 0; i < run->slices_count; i++) {
            bytes[i] = (double)run->slices[i].bytes;
        }
        for (uint32_t i = 0; i < run->gpus_each * plan->shards_count; i++) {
            const struct async_shard *shard = &plan->shards[i % plan->shards_count];
            uint32_t gpu = first + i / plan->shards_count;
            uint32_t place = async_plan_place(run, shard, gpu);
            double frac = shard->frac / run->gpus_each;
            struct ar_path path;
            if (place == gpu) {
                continue; /* no message */
            }
            share->messages++;
            ar_cluster_path(run->cluster, is_push ? gpu : place, is_push ? place : gpu, &path);
            for (uint32_t j = 0; j < path.links_count; j++) {
                struct async_uses *link = &share->links[path.links[j]];
                bool is_new = link->count == 0 || link->list[link->count - 1].other != transfer;
                struct async_use *use =
                    is_new ? use_append(arena, link, transfer) : &link->list[link->count - 1];
                use->s_per_byte += frac; /* of the bytes, until the bandwidth divides it */
            }
            for (uint32_t j = 0; j < run->slices_count; j++) {
                double own = frac * (double)run->slices[j].bytes;
                latency_s[j] =
                    fmax(latency_s[j], path.latency_s + ar_message_extra_s(cost, path.tier, own));
                bytes[j] += ar_message_gap_bytes(cost, path.tier, path.bandwidth_Bps);
            }
        }
        for (uint32_t i = 0; i < run->slices_count; i++) {
            latency_s[i] += is_push ? run->slices[i].sum_s : run->slices[i].hand_s;
        }
    }
    for (uint32_t i = 0; i < share->links_count; i++) {
        share->links[i].link = i;
        double bandwidth_Bps = ar_cluster_link_bandwidth(run->cluster, i);
        for (uint32_t j = 0; j < share->links[i].count; j++) {
            share->links[i].list[j].s_per_byte /= bandwidth_Bps;
        }
    }
}

/* Links with most uses first. */
AR_ORDER(compare_uses, struct async_uses, AR_FALLS(count), AR_RISES(link))

/* Is a link never full before another one, with as many uses or more? */
static bool is_covered(const struct async_uses *link, const struct async_uses *by)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < link->count; i++) {
        while (j < by->count && by->list[j].other < link->list[i].other) {
            j++;
        }
        if (j == by->count || by->list[j].other != link->list[i].other ||
            link->list[i].s_per_byte > by->list[j].s_per_byte * (1 + 1e-9)) {
            return false;
        }
    }
    return true;
}

static void async_share_make(const struct ar_async *run, const struct async_plan *plan,
                             struct ar_arena *arena, struct async_share *share)
{
    size_t count = (size_t)run->workers * ASYNC_WAYS;
    uint32_t links = ar_cluster_links_count(run->cluster), kept = 0;
    *share = (struct async_share){
        .links = ar_arena_alloc(arena, links, sizeof *share->links),
        .links_count = links,
        .transfers = ar_arena_alloc(arena, count, sizeof *share->transfers),
        .transfers_count = (uint32_t)count,
        .latency_s = ar_arena_alloc(arena, count * run->slices_count, sizeof(double)),
        .bytes = ar_arena_alloc(arena, count * run->slices_count, sizeof(double)),
        .busy = ar_arena_alloc(arena, links, sizeof *share->busy),
        .rate_Bps = ar_arena_alloc(arena, count, sizeof(double))};
    link_uses(run, plan, arena, share);
    qsort(share->links, links, sizeof *share->links, compare_uses);
    for (uint32_t i = 0; i < links; i++) {
        bool is_needed = share->links[i].count > 0;
        for (uint32_t j = 0; j < kept && is_needed; j++) {
            is_needed = !is_covered(&share->links[i], &share->links[j]);
        }
        if (is_needed) {
            share->links[kept++] = share->links[i];
        }
    }
    share->links_count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        AR_EACH(const struct async_use, use, share->links[i].list, share->links[i].count) {
            use_append(arena, &share->transfers[use->other], i)->s_per_byte = use->s_per_byte;
        }
    }
}

/* Writes rate_Bps of the transfers that are listed; infinite for one that crosses no link. */
static void async_share_rates(struct async_share *share, const uint32_t *active,
                              uint32_t active_count)
{
    uint32_t busy_count = 0; /* links that the transfers use */
    for (uint32_t i = 0; i < active_count; i++) {
        const struct async_uses *transfer = &share->transfers[active[i]];
        share->rate_Bps[active[i]] = transfer->count == 0 ? INFINITY : -1;
        for (uint32_t j = 0; j < transfer->count; j++) {
            struct async_uses *link = &share->links[transfer->list[j].other];
            if (link->waiting == 0) {
                share->busy[busy_count++] = transfer->list[j].other;
                link->left = 1;
                link->load = 0;
            }
            link->waiting++;
            link->load += transfer->list[j].s_per_byte;
        }
    }
    while (busy_count > 0) {
        double level_Bps = INFINITY;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < busy_count; i++) {
            const struct async_uses *link = &share->links[share->busy[i]];
            if (link->waiting > 0) {
                level_Bps = fmin(level_Bps, link->left / link->load);
                share->busy[kept++] = share->busy[i];
            }
        }
        busy_count = kept;
        level_Bps = fmax(level_Bps, 1);             /* rounding leaves nobody without a rate */
        for (uint32_t i = 0; i < busy_count; i++) { /* the transfers of the links that are full */
            const struct async_uses *link = &share->links[share->busy[i]];
            bool is_full = link->waiting > 0 && link->left <= link->load * level_Bps * (1 + 1e-12);
            for (uint32_t j = 0; is_full && j < link->count; j++) {
                uint32_t transfer = link->list[j].other;
                const struct async_uses *uses = &share->transfers[transfer];
                if (share->rate_Bps[transfer] >= 0) {
                    continue;
                }
                share->rate_Bps[transfer] = level_Bps;
                for (uint32_t k = 0; k < uses->count; k++) {
                    struct async_uses *other = &share->links[uses->list[k].other];
                    other->waiting--;
                    other->left -= level_Bps * uses->list[k].s_per_byte;
                    other->load -= uses->list[k].s_per_byte;
                }
            }
        }
    }
}

/* --- events ----------------------------------------------------------------------------------- */

enum event_kind { STARTED, COMPUTED, PUSHED, PULLED, FREED };

/* The state of a transfer. Counts are of slices since the run began. */
struct transfer {
    uint32_t begun, left, arrived;
    bool is_active;
    double bytes;   /* that remain, */
    double since_s; /* from then on */
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

static struct transfer *find_transfer(struct events *events, uint32_t worker, uint32_t way)
{
    return &events->transfers[(size_t)worker * ASYNC_WAYS + way];
}

static uint32_t find_slice(const struct events *events, uint32_t way, uint32_t number)
{
    uint32_t place = number % events->run->slices_count;
    return way == ASYNC_PUSH ? place : async_plan_pulled(events->run, place);
}

static void begin_transfer(struct events *events, uint32_t worker, uint32_t way)
{
    uint32_t index = worker * ASYNC_WAYS + way;
    struct transfer *transfer = &events->transfers[index];
    uint32_t slice = find_slice(events, way, transfer->begun++);
    transfer->is_active = true;
    transfer->since_s = events->now_s;
    transfer->bytes = events->share.bytes[(size_t)index * events->run->slices_count + slice];
    events->active[events->active_count++] = index;
    events->is_stale = true;
}

static void try_push(struct events *events, uint32_t worker)
{
    const struct transfer *push = find_transfer(events, worker, ASYNC_PUSH);
    if (!push->is_active && push->begun < events->workers[worker].gradients) {
        begin_transfer(events, worker, ASYNC_PUSH);
    }
}

/* A slice may be pulled when the worker's own push of it has arrived, those of all that it depends
 * on have, and there is a buffer. */
static void try_pull(struct events *events, uint32_t worker)
{
    const struct ar_async *run = events->run;
    const struct transfer *pull = find_transfer(events, worker, ASYNC_PULL);
    uint32_t round = pull->begun / run->slices_count + 1;
    uint32_t slice = find_slice(events, ASYNC_PULL, pull->begun);
    uint32_t needed = async_plan_needs(&events->plan, round);
    if (pull->is_active || round > events->plan.rounds ||
        find_transfer(events, worker, ASYNC_PUSH)->arrived <=
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

static void try_compute(struct events *events, uint32_t number)
{
    struct worker *worker = &events->workers[number];
    if (worker->is_computing || worker->has_ended) {
        return;
    }
    uint32_t pulled = worker->round < events->plan.rounds
                          ? events->plan.segments[worker->segment].pulled
                          : events->plan.end_pulls;
    /* Slices that must have been pulled before the worker goes on. */
    uint32_t gate =
        worker->round == 0 ? 0 : (worker->round - 1) * events->run->slices_count + pulled;
    if (find_transfer(events, number, ASYNC_PULL)->arrived < gate) {
        return;
    }
    if (events->now_s != worker->idle_s) { /* what did it wait for? */
        const struct ar_async *run = events->run;
        uint32_t slice = find_slice(events, ASYNC_PULL, gate - 1);
        uint32_t needed = async_plan_needs(&events->plan, worker->round);
        const struct async_cause cause = {
            .pushed_s = events->pushed_s[(size_t)number * run->slices_count + slice],
            .allowed_s = needed == UINT32_MAX
                             ? 0
                             : events->all_pushed_s[(size_t)needed * run->slices_count + slice]};
        async_plan_waited(events->run, number, worker->idle_s, events->now_s, cause);
    }
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
    if (segment->is_forward && worker->round > 0) {
        /* To ask for the next slice takes a latency: that of a slice, which is about as long. */
        size_t pull = (size_t)number * ASYNC_WAYS + ASYNC_PULL;
        double request_s = events->share.latency_s[pull * events->run->slices_count];
        push_event(events, events->now_s + request_s, number, FREED);
    }
    push_event(events, events->now_s + time_s, number, COMPUTED);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void handle_event(struct events *events, const struct ar_due *event)
{
    const struct ar_async *run = events->run;
    uint32_t number = event->number, index;
    struct worker *worker = &events->workers[number];
    switch ((enum event_kind)event->kind) {
    case STARTED:
        try_compute(events, number);
        break;
    case COMPUTED:
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
        break;
    case PUSHED:
        index = find_transfer(events, number, ASYNC_PUSH)->arrived++;
        events->pushed_s[(size_t)number * run->slices_count + index % run->slices_count] =
            events->now_s;
        if (++events->pushes[index] < run->workers) {
            try_pull(events, number);
            break;
        }
        events->all_pushed_s[index] = events->now_s; /* that of the last worker */
        for (uint32_t i = 0; i < run->workers; i++) {
            try_pull(events, i);
        }
        break;
    case PULLED:
        find_transfer(events, number, ASYNC_PULL)->arrived++;
        try_compute(events, number);
        break;
    case FREED:
        worker->freed++;
        try_pull(events, number);
        break;
    }
}

static void end_transfers(struct events *events)
{
    uint32_t kept = 0, count = events->active_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = events->active[i];
        if (events->transfers[index].end_s <= events->now_s + SAME_S) {
            uint32_t worker = index / ASYNC_WAYS;
            uint32_t way = index % ASYNC_WAYS;
            struct transfer *transfer = &events->transfers[index];
            uint32_t slice = find_slice(events, way, transfer->left++);
            double latency_s =
                events->share.latency_s[(size_t)index * events->run->slices_count + slice];
            transfer->is_active = false;
            events->share.rate_Bps[index] = 0;
            events->is_stale = true;
            push_event(events, events->now_s + latency_s, worker,
                       way == ASYNC_PUSH ? PUSHED : PULLED);
            way == ASYNC_PUSH ? try_push(events, worker)
                              : try_pull(events, worker); /* may append others */
        } else {
            events->active[kept++] = index;
        }
    }
    uint32_t begun = events->active_count - count;
    memmove(events->active + kept, events->active + count, begun * sizeof *events->active);
    events->active_count = kept + begun;
}

/* --- the run ---------------------------------------------------------------------------------- */

void ar_async_run_events(struct ar_async *run)
{
    double began_s = ar_clock_s();
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct events events = {.run = run};
    async_plan_make(run, &arena, &events.plan);
    async_share_make(run, &events.plan, &arena, &events.share);
    size_t workers = run->workers, slices = run->slices_count;
    size_t all = (events.plan.rounds + 1) * slices;
    events.workers = ar_arena_alloc(&arena, workers, sizeof *events.workers);
    events.transfers = ar_arena_alloc(&arena, workers * ASYNC_WAYS, sizeof *events.transfers);
    events.pushed_s = ar_arena_alloc(&arena, workers * slices, sizeof(double));
    events.pushes = ar_arena_alloc(&arena, all, sizeof(uint32_t));
    events.all_pushed_s = ar_arena_alloc(&arena, all, sizeof(double));
    events.active = ar_arena_alloc(&arena, 2 * workers * ASYNC_WAYS, sizeof(uint32_t));
    /* a worker computes, and each of its slices may be asked for, or on its way there or back */
    events.heap.list =
        ar_arena_alloc(&arena, workers * (3 * slices + 1) + 1, sizeof *events.heap.list);
    async_plan_begin(run);
    run->messages_count = events.share.messages * slices * events.plan.rounds;
    for (uint32_t i = 0; i < run->workers; i++) {
        events.workers[i].idle_s = async_plan_start_s(run, i);
        push_event(&events, events.workers[i].idle_s, i, STARTED);
    }
    while (events.heap.count > 0 || events.active_count > 0) {
        double next_s = events.heap.count > 0 ? events.heap.list[0].time_s : INFINITY;
        if (events.is_stale) {
            /* Rates change: what was done at the old ones is done. */
            for (uint32_t i = 0; i < events.active_count; i++) {
                struct transfer *transfer = &events.transfers[events.active[i]];
                double rate_Bps = events.share.rate_Bps[events.active[i]];
                double done_s = events.now_s - transfer->since_s;
                transfer->bytes -= done_s > 0 ? rate_Bps * done_s : 0;
                transfer->since_s = events.now_s;
            }
            async_share_rates(&events.share, events.active, events.active_count);
            for (uint32_t i = 0; i < events.active_count; i++) {
                struct transfer *transfer = &events.transfers[events.active[i]];
                transfer->end_s = events.now_s + fmax(0, transfer->bytes) /
                                                     events.share.rate_Bps[events.active[i]];
            }
            events.is_stale = false;
        }
        for (uint32_t i = 0; i < events.active_count; i++) {
            next_s = fmin(next_s, events.transfers[events.active[i]].end_s);
        }
        events.now_s = next_s;
        end_transfers(&events);
        while (events.heap.count > 0 && events.heap.list[0].time_s <= events.now_s + SAME_S) {
            struct ar_due event = ar_heap_pop(&events.heap);
            handle_event(&events, &event);
        }
    }
    for (uint32_t i = 0; i < run->workers; i++) {
        assert(events.workers[i].has_ended);
    }
    run->wall_s = ar_clock_s() - began_s;
}
