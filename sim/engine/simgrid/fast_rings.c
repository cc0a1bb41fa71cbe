/* Rings in a simulation that have become steady, without most of their steps. Gains 12 times on a
 * step of ResNet-50 by ring on 256 GPUs, more than 45 times on 1,024. The results are the same
 * without this file: rings_create() may watch no phase.
 *
 * A message travels along a ring by a place per step. Where the hops repeat after `period` places,
 * and nothing else is on the links, each message of a steady ring needs the same time for every
 * `period` hops: its gain, which depends on its size alone. If that holds for all messages of all
 * rings of a phase, a round of `period` steps leaves the state of the network as it was, but for a
 * rotation by `period` places. So all ranks leave out the same number of rounds: from then on their
 * clocks are late by the time of these rounds, up to the end of the call, when each waits for it.
 * They go on with the messages that they had, whose sizes are those of the steps before.
 *
 * Ranks take over the state of those `period` places behind them with each round, so all must begin
 * together. Gains of messages differ by the one element by which sizes differ. The clocks are late
 * by the time of the fastest messages; a rank with a slower one sleeps for the difference. */
#include <math.h>
#include <string.h>

#include <simgrid/engine.h>

#include "collective_run.h"

enum { PHASES_AT_ONCE = 4, STEPS_KEPT = 16, PERIOD_MAX = 8 };

/* Messages of a phase, on all lanes, from which on it is watched. */
enum { WATCHED_FROM = 100000 };

/* Gains closer than this part of them are equal: SimGrid tells apart 1e-12 s of some 1e-5 s. */
#define EQUAL_FRAC 1e-7

/* Gains of the messages of a phase differ by this part of them at most. */
#define UNLIKE_FRAC 1e-3

/* When a rank ended a step. */
struct ring_time {
    uint64_t steps_done;
    double end_s;
    double gain_s; /* since its message was `period` places before */
};

/* A phase of a call, while ranks are in it. */
struct ring_watch {
    uint64_t number;          /* of the phase, counted over all calls */
    uint32_t inside;          /* actors */
    uint32_t *ended, *steady; /* [step]: actors that have ended it, and had equal gains */
    uint32_t jump_at;         /* the step in place of which all go on `jump_steps` later */
    uint32_t jump_steps;
    double jump_s;
};

struct rings {
    size_t actors_count;
    uint32_t periods[AR_PHASES_MAX]; /* 0: the phase is not watched */
    size_t members[AR_PHASES_MAX];   /* actors of its rings */
    double *left_out_s;              /* [call] */
    struct ring_watch watches[PHASES_AT_ONCE];
    struct ring_time *times; /* [actor][STEPS_KEPT] */
};

/* The position that another one receives from; AR_NEVER: it receives nothing. */
static uint32_t position_before(const struct collective_run *run, uint32_t position, uint32_t step)
{
    const struct ar_collective *collective = run->collective;
    struct ar_move move =
        ar_algorithm_move(collective->algorithm, &collective->shape, 0, position, step);
    return move.receive != AR_RECEIVE_NONE ? move.receive_from : AR_NEVER;
}

/* Places after which the hops into all positions of a ring repeat; 0: not soon, or it is none. */
static uint32_t find_ring_period(const struct collective_run *run, uint32_t first_step)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_path *hops = ar_arena_alloc(&arena, run->positions, sizeof *hops);
    uint32_t *far = ar_arena_alloc(&arena, run->positions, sizeof *far);
    for (uint32_t i = 0; i < run->positions; i++) {
        uint32_t before = position_before(run, i, first_step);
        far[i] = before != AR_NEVER ? i : AR_NEVER;
        if (before != AR_NEVER) {
            ar_cluster_path(run->collective->cluster, actor_at(run, 0, before)->rank,
                            actor_at(run, 0, i)->rank, &hops[i]);
        }
    }
    for (uint32_t period = 1; period <= PERIOD_MAX; period++) {
        bool repeats = true;
        for (uint32_t i = 0; i < run->positions; i++) {
            if (far[i] != AR_NEVER) {
                far[i] = position_before(run, far[i], first_step);
                repeats = repeats && far[i] != AR_NEVER &&
                          hops[i].latency_s == hops[far[i]].latency_s &&
                          hops[i].bandwidth_Bps == hops[far[i]].bandwidth_Bps;
            }
        }
        if (repeats) {
            return period;
        }
    }
    return 0;
}

void rings_create(struct collective_run *run)
{
    uint32_t first_step = 0, steps_max = 0;
    uint32_t lanes = ar_collective_lanes(run->collective);
    const struct ar_trial *trial = run->trial;
    bool is_even = trial->rank_start_s == NULL && trial->rank_factor == NULL;
    struct rings *rings = child_alloc(1, sizeof *rings, "its rings");
    for (uint32_t i = 0; i < run->phases_count; i++) {
        const struct ar_phase *phase = &run->phases[i];
        if (phase->kind == AR_PHASE_WALK && is_even && trial->usage == NULL &&
            trial->timeline == NULL && phase->messages * lanes >= WATCHED_FROM) {
            rings->periods[i] = find_ring_period(run, first_step);
            rings->members[i] = phase->messages / phase->steps * lanes;
            steps_max = phase->steps > steps_max ? phase->steps : steps_max;
        }
        first_step += phase->steps;
    }
    if (steps_max == 0) {
        return;
    }
    run->rings = rings;
    rings->actors_count = (size_t)lanes * run->positions;
    rings->left_out_s = child_alloc(trial->calls_count, sizeof(double), "its rings");
    rings->times = child_alloc(rings->actors_count * STEPS_KEPT, sizeof *rings->times, "its rings");
    AR_EACH(struct ring_watch, watch, rings->watches, PHASES_AT_ONCE) {
        watch->ended = child_alloc(2 * (size_t)steps_max, sizeof *watch->ended, "its rings");
        watch->steady = watch->ended + steps_max;
    }
}

void rings_enter(struct actor *actor, uint32_t first_step)
{
    struct rings *rings = actor->run->rings;
    uint64_t number = actor->phases_begun++;
    actor->watch = NULL;
    if (rings == NULL || rings->periods[actor->phase] == 0) {
        return;
    }
    uint32_t far = actor->position;
    for (uint32_t i = 0; i < rings->periods[actor->phase] && far != AR_NEVER; i++) {
        far = position_before(actor->run, far, first_step);
    }
    if (far == AR_NEVER) {
        return;
    }
    struct ring_watch *watch = &rings->watches[number % PHASES_AT_ONCE];
    if (watch->inside == 0) {
        uint32_t *ended = watch->ended, *steady = watch->steady;
        memset(ended, 0, (size_t)(2 * (steady - ended)) * sizeof *ended);
        *watch = (struct ring_watch){.number = number, .ended = ended, .steady = steady};
    }
    if (watch->number == number) {
        watch->inside++;
        actor->watch = watch;
        actor->far = actor_at(actor->run, actor->lane, far);
    }
}

static struct ring_time *ring_time_of(const struct actor *actor, uint64_t steps_done)
{
    size_t index = (size_t)(actor - actor->run->actors);
    return &actor->run->rings->times[index * STEPS_KEPT + steps_done % STEPS_KEPT];
}

/* All ranks have ended a step, and it was steady: decides how many rounds they leave out before the
 * end of the steps that do the same. No rank has come to the step from which on they do so. */
static void leave_out_rounds(const struct actor *last, uint32_t end)
{
    const struct rings *rings = last->run->rings;
    uint32_t period = rings->periods[last->phase], furthest = last->step;
    size_t members = 0;
    double gain_max_s = 0, gain_min_s = HUGE_VAL;
    AR_EACH(const struct actor, actor, last->run->actors, rings->actors_count) {
        const struct ring_time *time = ring_time_of(actor, last->steps_done);
        if (actor->watch != last->watch || time->steps_done != last->steps_done) {
            continue;
        }
        members++;
        furthest = actor->step > furthest ? actor->step : furthest;
        gain_max_s = fmax(gain_max_s, time->gain_s);
        gain_min_s = fmin(gain_min_s, time->gain_s);
    }
    uint32_t used =
        furthest + 1 + (furthest + 1 - last->step); /* ranks drift apart by the latter */
    uint32_t rounds = used < end ? (end - used) / period : 0;
    if (rounds == 0 || members < rings->members[last->phase] ||
        gain_max_s - gain_min_s > UNLIKE_FRAC * gain_max_s) {
        return;
    }
    last->watch->jump_at = furthest + 1;
    last->watch->jump_steps = rounds * period;
    last->watch->jump_s = rounds * gain_min_s;
    rings->left_out_s[last->call] += rounds * gain_min_s;
    last->run->trial->steps_left_out += rounds * period;
}

uint32_t rings_next(struct actor *actor, const struct ar_phase *phase)
{
    struct ring_watch *watch = actor->watch;
    uint32_t step = actor->step;
    if (watch == NULL) {
        return step + 1;
    }
    const struct rings *rings = actor->run->rings;
    uint32_t period = rings->periods[actor->phase];
    uint32_t begin = step < phase->copies_from ? 0 : phase->copies_from;
    size_t members = rings->members[actor->phase];
    const struct ring_time *far = ring_time_of(actor->far, actor->steps_done - period);
    struct ring_time *own = ring_time_of(actor, actor->steps_done);
    *own = (struct ring_time){.steps_done = actor->steps_done, .end_s = simgrid_get_clock()};
    own->gain_s = own->end_s - far->end_s;
    watch->ended[step]++;
    watch->steady[step] += step > begin + 2 * period &&
                           far->steps_done == actor->steps_done - period &&
                           fabs(own->gain_s - far->gain_s) <= EQUAL_FRAC * own->gain_s;
    if (watch->ended[step] == members && step > 0 && step >= watch->jump_at &&
        watch->steady[step] == members && watch->steady[step - 1] == members) {
        leave_out_rounds(actor,
                         begin == 0 && phase->copies_from > 0 ? phase->copies_from : phase->steps);
    }
    if (step + 1 != watch->jump_at) {
        return step + 1;
    }
    actor->steps_left_out += watch->jump_steps;
    actor->steps_done += watch->jump_steps;
    child_sleep_for(watch->jump_steps / period * own->gain_s - watch->jump_s);
    return step + 1 + watch->jump_steps;
}

double rings_left_out_s(const struct collective_run *run, uint32_t call)
{
    return run->rings != NULL ? run->rings->left_out_s[call] : 0;
}

void rings_leave(struct actor *actor)
{
    if (actor->watch != NULL) {
        actor->watch->inside--;
    }
}
