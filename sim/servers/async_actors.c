/* Asynchronous runs as actors that SimGrid simulates, the reference of those as events: every
 * message is sent, and each server answers on its own.
 *
 * For each shard stands on each GPU of a worker a pusher, and one that gets its pulls; at the place
 * of the shard that the GPU reaches, a receiver of its pushes, which counts them and wakes senders,
 * and a sender of its pulls. Actors share memory, and are told by messages that it changed. */

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
    uint32_t gpus_count;  /* of all workers */
    uint32_t pairs_count; /* GPUs times shards, */
    uint32_t pairs_each;  /* and those of a worker */
    uint32_t slices_all;  /* pushed in all exchanges by one GPU to one shard, */
    uint32_t pulls_count; /* and pulled */
    struct pair *pairs;   /* [GPU][shard] */
    uint32_t *gpus;       /* [actor] */
    uint32_t *pushes;     /* [shard][round][slice]: GPUs whose push has come */
    uint32_t *freed;      /* [worker]: slices whose pulled parameters are in use */
    double *pushed_s;     /* [worker][slice]: the last shard has it */
    double *all_pushed_s; /* [round][slice]: the last shard has it of all */
};

/* The actor of a pair of a GPU and a shard. Workers come first, then those of each role. */
enum actor_role { PUSHER, SENDER, RECEIVER, GETTER, ROLES_COUNT };
static uint32_t actor_of(const struct state *state, enum actor_role role, uint32_t pair)
{
    return state->run->workers + (uint32_t)role * state->pairs_count + pair;
}

static uint64_t bytes_of(const struct state *state, const struct pair *pair, uint32_t slice)
{
    double bytes = state->plan->shards[pair->shard].frac * (double)state->run->slices[slice].bytes /
                   state->run->gpus_each;
    return (uint64_t)(bytes + 0.5);
}

/* --- pushes ----------------------------------------------------------------------------------- */

static void push_slices(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    struct pair *pair = &state->pairs[index];
    for (uint32_t i = 0; i < state->slices_all; i++) {
        uint32_t slice = i % state->run->slices_count;
        (void)calls->receive(0);
        calls->sleep_for(state->run->slices[slice].sum_s);
        calls->send_and_wait(actor_of(state, RECEIVER, index), 0, bytes_of(state, pair, slice),
                             NULL);
    }
}

static void receive_pushes(const struct ar_actor_calls *calls, struct state *state, uint32_t number)
{
    const struct ar_async *run = state->run;
    struct pair *pair = &state->pairs[number];
    for (uint32_t index = 0; index < state->slices_all; index++) {
        (void)calls->receive(0);
        pair->pushed++;
        uint32_t first = pair->gpu;
        uint32_t last = first;
        state->pushed_s[(size_t)pair->worker * run->slices_count + index % run->slices_count] =
            calls->now_s();
        if (++state->pushes[(size_t)pair->shard * state->slices_all + index] == state->gpus_count) {
            state->all_pushed_s[index] = calls->now_s();
            first = 0;
            last = state->gpus_count - 1;
        }
        for (uint32_t gpu = first; gpu <= last; gpu++) {
            uint32_t sender = gpu * state->plan->shards_count + pair->shard;
            calls->send(actor_of(state, SENDER, sender), 0, 0, NULL);
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
    const uint32_t *pushes = &state->pushes[(size_t)pair->shard * state->slices_all];
    return is_pushed && is_free &&
           (needed == UINT32_MAX ||
            pushes[needed * run->slices_count + slice] == state->gpus_count);
}

static void get_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    for (uint32_t i = 0; i < state->pulls_count; i++) {
        (void)calls->receive(0);
        calls->send(state->pairs[index].worker, index % state->pairs_each, 0, NULL);
    }
}

static void send_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t index)
{
    const struct pair *pair = &state->pairs[index];
    uint32_t slices = state->run->slices_count;
    for (uint32_t i = 0; i < state->pulls_count; i++) {
        while (!may_send(state, pair, i)) {
            (void)calls->receive(0);
        }
        uint32_t slice = async_plan_pulled(state->run, i % slices);
        calls->send_and_wait(actor_of(state, GETTER, index), 0, bytes_of(state, pair, slice), NULL);
    }
}

/* --- workers ---------------------------------------------------------------------------------- */

/* Waits until so many slices have been pulled in all, and says what it waited for. */
static void await_pulls(const struct ar_actor_calls *calls, struct state *state, uint32_t number,
                        uint32_t round, uint32_t gate)
{
    struct ar_async *run = state->run;
    double from_s = calls->now_s();
    for (uint32_t i = 0; i < state->pairs_each; i++) {
        struct pair *pair = &state->pairs[number * state->pairs_each + i];
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
    async_plan_waited(run, number, from_s, calls->now_s(), cause);
}

static void tell_all(const struct ar_actor_calls *calls, const struct state *state, uint32_t worker,
                     enum actor_role role)
{
    for (uint32_t i = 0; i < state->pairs_each; i++) {
        calls->send(actor_of(state, role, worker * state->pairs_each + i), 0, 0, NULL);
    }
}

static void act_by_role(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    static void (*const acts[ROLES_COUNT])(const struct ar_actor_calls *, struct state *,
                                           uint32_t) = {[PUSHER] = push_slices,
                                                        [SENDER] = send_pulls,
                                                        [RECEIVER] = receive_pushes,
                                                        [GETTER] = get_pulls};
    struct state *state = data;
    uint32_t number = actor - state->run->workers;
    if (actor < state->run->workers) {
        const struct async_plan *plan = state->plan;
        uint32_t slices = state->run->slices_count;
        double start_s = async_plan_start_s(state->run, actor);
        calls->sleep_for(start_s);
        for (uint32_t round = 0; round < plan->rounds; round++) {
            for (uint32_t i = 0; i < plan->segments_count; i++) {
                uint32_t gate = round == 0 ? 0 : (round - 1) * slices + plan->segments[i].pulled;
                await_pulls(calls, state, actor, round, gate);
                double time_s = plan->segments[i].time_s *
                                async_plan_factor(state->run, state->plan, round, actor);
                if (plan->segments[i].is_forward && round > 0) {
                    state->freed[actor]++;
                    tell_all(calls, state, actor, SENDER);
                }
                state->run->splits[actor].compute_s += time_s;
                calls->sleep_for(time_s);
                if (plan->segments[i].pushes) {
                    tell_all(calls, state, actor, PUSHER);
                }
            }
        }
        await_pulls(calls, state, actor, plan->rounds,
                    (plan->rounds - 1) * slices + plan->end_pulls);
        state->run->end_s[actor] = calls->now_s() - start_s;
    } else {
        acts[number / state->pairs_count](calls, state, number % state->pairs_count);
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static void place_actors(struct state *state)
{
    struct ar_async *run = state->run;
    for (uint32_t i = 0; i < state->pairs_count; i++) {
        struct pair *pair = &state->pairs[i];
        *pair = (struct pair){.worker = i / state->pairs_each,
                              .shard = i % state->plan->shards_count,
                              .gpu = i / state->plan->shards_count};
        pair->place = async_plan_place(run, &state->plan->shards[pair->shard], pair->gpu);
        state->gpus[pair->worker] = pair->worker * run->gpus_each;
        state->gpus[actor_of(state, PUSHER, i)] = state->gpus[actor_of(state, GETTER, i)] =
            pair->gpu;
        state->gpus[actor_of(state, SENDER, i)] = state->gpus[actor_of(state, RECEIVER, i)] =
            pair->place;
        run->messages_count += pair->place != pair->gpu ? 2 * state->slices_all : 0;
    }
}

enum ar_status ar_async_run_actors(struct ar_async *run, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {.last = NULL};
    struct async_plan plan;
    async_plan_make(run, &arena, &plan);
    uint32_t gpus = run->workers * run->gpus_each, slices = run->slices_count;
    struct state state = {.run = run,
                          .plan = &plan,
                          .gpus_count = gpus,
                          .pairs_count = gpus * plan.shards_count,
                          .pairs_each = run->gpus_each * plan.shards_count,
                          .slices_all = plan.rounds * slices,
                          .pulls_count = (plan.rounds - 1) * slices + plan.end_pulls};
    size_t pairs = state.pairs_count, all = state.slices_all;
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
                               .count = run->workers + ROLES_COUNT * state.pairs_count,
                               .gpus = state.gpus,
                               .tags_count = state.pairs_each,
                               .run = act_by_role,
                               .data = &state,
                               .results = run->results,
                               .results_size = run->results_size};
    AR_TRY(ar_actors_run(&actors, err));
    run->wall_s = actors.wall_s;
    return AR_OK;
}
