/* Asynchronous runs as actors that SimGrid simulates, the reference of those as events: every
 * message is sent, and each server answers on its own.
 *
 * For each shard stands on each GPU of a worker a pusher, and one that gets its pulls; at the place
 * of the shard that the GPU reaches, a receiver of its pushes, which counts them and wakes senders,
 * and a sender of its pulls. Actors share memory, and are told by messages that it changed. */
#include <string.h>

#include "ar_actors.h"
#include "async_plan.h"

/* A GPU of a worker and a shard. */
struct pair {
    uint32_t worker, shard;
    uint32_t gpu;
    uint32_t place;  /* GPU at which they meet */
    uint32_t pushed; /* slices that have come there, since the run began */
    uint32_t pulled; /* that have come back */
};

struct state {
    struct ar_async *run;
    const struct async_plan *plan;
    struct pair *pairs;   /* [GPU][shard] */
    uint32_t *gpus;       /* [actor] */
    uint32_t *pushes;     /* [shard][round][slice]: GPUs whose push has come */
    uint32_t *freed;      /* [worker]: slices whose pulled parameters are in use */
    double *pushed_s;     /* [worker][slice]: the last shard has it */
    double *all_pushed_s; /* [round][slice]: the last shard has it of all */
};

static uint32_t gpus_count(const struct state *state)
{
    return state->run->workers * state->run->gpus_each;
}

static uint32_t pairs_count(const struct state *state)
{
    return gpus_count(state) * state->plan->shards_count;
}

/* State of a worker. */
static uint32_t pairs_each(const struct state *state)
{
    return state->run->gpus_each * state->plan->shards_count;
}

/* Numbers of actors: workers, pushers, senders, receivers, getters. */

static uint32_t pusher_of(const struct state *state, uint32_t pair)
{
    return state->run->workers + pair;
}

static uint32_t sender_of(const struct state *state, uint32_t pair)
{
    return state->run->workers + pairs_count(state) + pair;
}

static uint32_t receiver_of(const struct state *state, uint32_t pair)
{
    return state->run->workers + 2 * pairs_count(state) + pair;
}

static uint32_t getter_of(const struct state *state, uint32_t pair)
{
    return state->run->workers + 3 * pairs_count(state) + pair;
}

static uint32_t slices_all(const struct state *state)
{
    return state->plan->rounds * state->run->slices_count;
}

static uint64_t bytes_of(const struct state *state, const struct pair *pair, uint32_t slice)
{
    double bytes = state->plan->shards[pair->shard].frac * (double)state->run->slices[slice].bytes /
                   state->run->gpus_each;
    return (uint64_t)(bytes + 0.5);
}

/* In a timeline the first shard stands for all. */
static void note(const struct ar_actor_calls *calls, const struct state *state, uint32_t pair,
                 uint32_t number, enum ar_async_doing doing, double begin_s)
{
    struct ar_async *run = state->run;
    if (pair % pairs_each(state) == 0) {
        async_plan_note(run, state->pairs[pair].worker, number / run->slices_count * run->every,
                        doing, begin_s, calls->now_s());
    }
}

/* --- pushes ----------------------------------------------------------------------------------- */

static void push(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    struct pair *pair = &state->pairs[index];
    for (uint32_t i = 0; i < slices_all(state); i++) {
        uint32_t slice = i % state->run->slices_count;
        (void)calls->receive(0);
        calls->sleep_for(state->run->slices[slice].sum_s);
        double begin_s = calls->now_s();
        calls->send_and_wait(receiver_of(state, index), 0, bytes_of(state, pair, slice), NULL);
        note(calls, state, index, i, AR_ASYNC_PUSHES, begin_s);
    }
}

static void receive_pushes(const struct ar_actor_calls *calls, struct state *state, uint32_t number)
{
    const struct ar_async *run = state->run;
    struct pair *pair = &state->pairs[number];
    for (uint32_t index = 0; index < slices_all(state); index++) {
        (void)calls->receive(0);
        pair->pushed++;
        uint32_t first = pair->gpu;
        uint32_t last = first;
        state->pushed_s[(size_t)pair->worker * run->slices_count + index % run->slices_count] =
            calls->now_s();
        if (++state->pushes[(size_t)pair->shard * slices_all(state) + index] == gpus_count(state)) {
            state->all_pushed_s[index] = calls->now_s();
            first = 0;
            last = gpus_count(state) - 1;
        }
        for (uint32_t gpu = first; gpu <= last; gpu++) {
            uint32_t sender = gpu * state->plan->shards_count + pair->shard;
            calls->send(sender_of(state, sender), 0, 0, NULL);
        }
    }
}

/* --- pulls ------------------------------------------------------------------------------------ */

static bool may_send(const struct state *state, const struct pair *pair, uint32_t index)
{
    const struct ar_async *run = state->run;
    uint32_t round = index / run->slices_count + 1;
    uint32_t slice = async_plan_pulled(run, index % run->slices_count);
    uint32_t needed = async_plan_needs(state->plan, round);
    bool is_pushed = pair->pushed > (round - 1) * run->slices_count + slice;
    bool is_free = run->pull == AR_PULL_WHOLE || index <= state->freed[pair->worker];
    const uint32_t *pushes = &state->pushes[(size_t)pair->shard * slices_all(state)];
    return is_pushed && is_free &&
           (needed == UINT32_MAX ||
            pushes[needed * run->slices_count + slice] == gpus_count(state));
}

static uint32_t pulls_count(const struct state *state)
{
    return (state->plan->rounds - 1) * state->run->slices_count + state->plan->end_pulls;
}

static void get_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    for (uint32_t i = 0; i < pulls_count(state); i++) {
        (void)calls->receive(0);
        calls->send(state->pairs[index].worker, index % pairs_each(state), 0, NULL);
    }
}

static void send_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    const struct pair *pair = &state->pairs[index];
    uint32_t slices = state->run->slices_count;
    for (uint32_t i = 0; i < pulls_count(state); i++) {
        while (!may_send(state, pair, i)) {
            (void)calls->receive(0);
        }
        uint32_t slice = async_plan_pulled(state->run, i % slices);
        double begin_s = calls->now_s();
        calls->send_and_wait(getter_of(state, index), 0, bytes_of(state, pair, slice), NULL);
        note(calls, state, index, i + slices, AR_ASYNC_PULLS, begin_s);
    }
}

/* --- workers ---------------------------------------------------------------------------------- */

/* Waits until so many slices have been pulled in all, and says what it waited for. */
static void await_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t number,
                        uint32_t round, uint32_t gate)
{
    struct ar_async *run = state->run;
    double from_s = calls->now_s();
    for (uint32_t i = 0; i < pairs_each(state); i++) {
        struct pair *pair = &state->pairs[number * pairs_each(state) + i];
        for (; pair->pulled < gate; pair->pulled++) {
            (void)calls->receive(i);
        }
    }
    if (calls->now_s() == from_s || gate == 0) {
        return;
    }
    uint32_t slice = async_plan_pulled(run, (gate - 1) % run->slices_count);
    calls->sleep_for(run->slices[slice].hand_s);
    uint32_t needed = async_plan_needs(state->plan, round);
    struct async_cause cause = {state->pushed_s[(size_t)number * run->slices_count + slice], 0};
    if (needed != UINT32_MAX) {
        cause.allowed_s = state->all_pushed_s[(size_t)needed * run->slices_count + slice];
    }
    async_plan_waited(run, number, round * run->every, from_s, calls->now_s(), cause);
}

static void tell_all(const struct ar_actor_calls *calls, const struct state *state, uint32_t worker,
                     uint32_t (*actor_of)(const struct state *state, uint32_t pair))
{
    for (uint32_t i = 0; i < pairs_each(state); i++) {
        calls->send(actor_of(state, worker * pairs_each(state) + i), 0, 0, NULL);
    }
}

static void compute(const struct ar_actor_calls *calls, struct state *state, uint32_t number,
                    uint32_t round, const struct async_segment *segment)
{
    double time_s = segment->time_s * async_plan_factor(state->run, state->plan, round, number);
    if (segment->is_forward && round > 0) {
        state->freed[number]++;
        tell_all(calls, state, number, sender_of);
    }
    async_plan_note(state->run, number, round * state->run->every, AR_ASYNC_COMPUTES,
                    calls->now_s(), calls->now_s() + time_s);
    state->run->splits[number].compute_s += time_s;
    calls->sleep_for(time_s);
    if (segment->pushes) {
        tell_all(calls, state, number, pusher_of);
    }
}

static void work(const struct ar_actor_calls *calls, struct state *state, uint32_t number)
{
    const struct async_plan *plan = state->plan;
    uint32_t slices = state->run->slices_count;
    double start_s = async_plan_start_s(state->run, number);
    calls->sleep_for(start_s);
    for (uint32_t round = 0; round < plan->rounds; round++) {
        for (uint32_t i = 0; i < plan->segments_count; i++) {
            uint32_t gate = round == 0 ? 0 : (round - 1) * slices + plan->segments[i].pulled;
            await_pulls(calls, state, number, round, gate);
            compute(calls, state, number, round, &plan->segments[i]);
        }
    }
    await_pulls(calls, state, number, plan->rounds, (plan->rounds - 1) * slices + plan->end_pulls);
    state->run->end_s[number] = calls->now_s() - start_s;
}

static void act(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    struct state *state = data;
    if (actor < state->run->workers) {
        work(calls, state, actor);
    } else if (actor < sender_of(state, 0)) {
        push(calls, state, actor - pusher_of(state, 0));
    } else if (actor < receiver_of(state, 0)) {
        send_pulls(calls, state, actor - sender_of(state, 0));
    } else if (actor < getter_of(state, 0)) {
        receive_pushes(calls, state, actor - receiver_of(state, 0));
    } else {
        get_pulls(calls, state, actor - getter_of(state, 0));
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static void place_actors(struct state *state)
{
    struct ar_async *run = state->run;
    for (uint32_t i = 0; i < pairs_count(state); i++) {
        struct pair *pair = &state->pairs[i];
        *pair = (struct pair){.worker = i / pairs_each(state),
                              .shard = i % state->plan->shards_count,
                              .gpu = i / state->plan->shards_count};
        pair->place = async_plan_place(run, &state->plan->shards[pair->shard], pair->gpu);
        state->gpus[pair->worker] = pair->worker * run->gpus_each;
        state->gpus[pusher_of(state, i)] = state->gpus[getter_of(state, i)] = pair->gpu;
        state->gpus[sender_of(state, i)] = state->gpus[receiver_of(state, i)] = pair->place;
        run->messages_count += pair->place != pair->gpu ? 2 * slices_all(state) : 0;
    }
}

enum ar_status ar_async_run_actors(struct ar_async *run, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {.last = NULL};
    struct async_plan plan;
    async_plan_make(run, &arena, &plan);
    struct state state = {.run = run, .plan = &plan};
    size_t pairs = pairs_count(&state), all = slices_all(&state);
    state.pairs = ar_arena_alloc(&arena, pairs, sizeof *state.pairs);
    state.gpus = ar_arena_alloc(&arena, 4 * pairs + run->workers, sizeof(uint32_t));
    state.pushes = ar_arena_alloc(&arena, plan.shards_count * all, sizeof(uint32_t));
    state.freed = ar_arena_alloc(&arena, run->workers, sizeof(uint32_t));
    state.pushed_s =
        ar_arena_alloc(&arena, (size_t)run->workers * run->slices_count, sizeof(double));
    state.all_pushed_s = ar_arena_alloc(&arena, all, sizeof(double));
    async_plan_begin(run);
    place_actors(&state);
    struct ar_actors actors = {.cluster = run->cluster,
                               .count = getter_of(&state, pairs_count(&state)),
                               .gpus = state.gpus,
                               .tags_count = pairs_each(&state),
                               .run = act,
                               .data = &state,
                               .results = run->results,
                               .results_size = run->results_size};
    AR_TRY(ar_actors_run(&actors, err));
    while (run->spans_count < run->spans_room && run->spans[run->spans_count].end_s > 0) {
        run->spans_count++;
    }
    run->wall_s = actors.wall_s;
    return AR_OK;
}
