/* Phases whose peers change from step to step. */
#include "recurrence.h"
#include "ring_kernel.h"

/* An exchange on one lane: what stays the same from step to step. */
struct exchange_run {
    const struct recurrence *all;
    const struct ar_exchange *exchange;
    uint32_t positions; /* those that are run, which stand for all */
    bool is_even;       /* pieces have equal sizes */
    double *now_s;      /* [position]: it comes to the step */
    double *arrivals_s; /* [place of the step]: of what it sends */
    double *adding_s;   /* [place of the step]: its receiver adds it up */
    double *times_s;    /* [kind of the step]: a message, */
    double *sums_s;     /* and adding it up; or what a byte takes */
};

static double step_reduce_cost(const struct exchange_run *run, uint32_t step)
{
    const struct ar_phase *phase = run->all->phase;
    return step < phase->copies_from ? run->all->reduce_s_per_byte
                                     : phase->moves * run->all->copy_s_per_byte;
}

/* The time of a message of each kind of a step, from when both have come, and of adding it up;
 * where pieces have different sizes the time without its bytes, and that of each of them. */
static void step_find_kind_times(const struct exchange_run *run, uint32_t step)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    uint64_t bytes_of_piece =
        run->all->elements / run->all->phase->pieces * run->all->collective->element_bytes;
    const struct ar_message_cost *cost = run->all->cost;
    double gamma = step_reduce_cost(run, step);
    for (uint32_t i = 0; i < flows->kinds_count; i++) {
        double bytes = run->is_even ? (double)(bytes_of_piece * kinds[i].pieces) : 0;
        run->times_s[i] = ar_message_latency_s(&kinds[i], cost, bytes) +
                          ar_message_busy_s(&kinds[i], cost, bytes);
        run->sums_s[i] = run->is_even ? bytes * gamma : 1 / kinds[i].rate_Bps;
    }
}

/* The times of the messages of a step, by sender, and of adding them up. */
static void step_find_times(const struct exchange_run *run, uint32_t step)
{
    const struct ar_collective *collective = run->all->collective;
    const struct ar_message_cost *cost = run->all->cost;
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    const uint32_t *kind_of = /* of the lane */
        flows->kind_of != NULL ? flows->kind_of + (size_t)run->all->resolved_lane * flows->period
                               : NULL;
    const double *kind_s = run->times_s, *sums_s = run->sums_s;
    struct ar_sends sends = run->all->sends;
    double *restrict times_s = run->arrivals_s;
    double *restrict adding_s = run->adding_s;
    double gamma = step_reduce_cost(run, step);
    step_find_kind_times(run, step);
    if (run->is_even) {
        uint32_t count = flows->count < run->positions ? flows->count : run->positions;
        uint32_t stretch = kind_of != NULL ? flows->period : count;
        for (uint32_t i = 0; i < count; i += stretch) {
            for (uint32_t k = 0; k < stretch; k++) {
                uint32_t kind = kind_of != NULL ? kind_of[k] : 0;
                times_s[i + k] = kind_s[kind];
                adding_s[i + k] = sums_s[kind];
            }
        }
        return;
    }
    sends.first = flows->first;
    sends.end = flows->first + (flows->count - 1) * flows->stride + 1;
    ar_algorithm_sends(collective->algorithm, &collective->shape, run->all->elements,
                       run->all->first_step + step, &sends);
    for (uint32_t i = 0, k = 0; i < flows->count; i++, k = k + 1 < flows->period ? k + 1 : 0) {
        uint32_t kind = kind_of != NULL ? kind_of[k] : 0; /* a division would take half the time */
        uint64_t elements = sends.counts[flows->first + i * flows->stride];
        double bytes = (double)(int64_t)(elements * collective->element_bytes);
        times_s[i] = kind_s[kind] + bytes * sums_s[kind];
        times_s[i] += cost->is_any ? ar_message_extra_s(cost, kinds[kind].tier, bytes) : 0;
        adding_s[i] = bytes * gamma;
    }
}

/* A step that is a shift, as in step_run(): two stretches of positions send to two others. */
VECTOR_CODE
static void shift_run(const struct exchange_run *run, uint32_t ahead, double *done_s,
                      double *sent_s)
{
    const double *now_s = run->now_s, *adding_s = run->adding_s;
    double *arrivals_s = run->arrivals_s;
    size_t count = run->positions, wraps = count - ahead;
    for (size_t first = 0, end = wraps, to = ahead; first < count;
         first = end, end = count, to = 0) {
        for (size_t i = 0; i < end - first; i++) {
            arrivals_s[first + i] += ar_later_s(now_s[first + i], now_s[to + i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        sent_s[i] = ar_later_s(sent_s[i], arrivals_s[i]);
    }
    for (size_t first = 0, end = wraps, to = ahead; first < count;
         first = end, end = count, to = 0) {
        for (size_t i = 0; i < end - first; i++) {
            double there_s = ar_later_s(done_s[to + i], arrivals_s[first + i]);
            done_s[to + i] = there_s + adding_s[first + i];
        }
    }
}

/* A step: a message starts when both ends have come; they go on when it has arrived, the sender at
 * `sent_s`, the receiver, when it has added it up, at `done_s`. */
static void step_run(const struct exchange_run *run, uint32_t step, double *done_s, double *sent_s)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const uint32_t *peers = flows->peers, count = flows->count;
    const double *now_s = run->now_s + flows->first, *adding_s = run->adding_s;
    double *arrivals_s = run->arrivals_s, *sent_here_s = sent_s + flows->first;
    size_t stride = flows->stride;
    step_find_times(run, step);
    if (flows->ahead > 0) {
        shift_run(run, flows->ahead % run->positions, done_s, sent_s);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (peers[i] != AR_NEVER) {
            arrivals_s[i] += ar_later_s(now_s[i * stride], run->now_s[peers[i]]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (peers[i] != AR_NEVER) {
            sent_here_s[i * stride] = ar_later_s(sent_here_s[i * stride], arrivals_s[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (peers[i] != AR_NEVER) {
            done_s[peers[i]] = ar_later_s(done_s[peers[i]], arrivals_s[i]) + adding_s[i];
        }
    }
}

void recurrence_run_exchange(struct recurrence *recurrence)
{
    const struct ar_phase *phase = recurrence->phase;
    size_t positions = recurrence->positions;
    double *room_s = recurrence->room_s;
    double *now_s = room_s, *done_s = room_s, *sent_s = room_s;
    struct exchange_run run = {.all = recurrence,
                               .exchange = recurrence->pattern->exchange,
                               .positions = recurrence->positions,
                               .is_even = recurrence->elements % phase->pieces == 0,
                               .now_s = now_s,
                               .arrivals_s = room_s + positions,
                               .adding_s = room_s + 2 * positions,
                               .times_s = room_s + 5 * positions};
    run.sums_s = run.times_s + positions * ar_collective_lanes(&recurrence->flows->resolved);
    if (phase
            ->is_at_once) { /* a message starts when both have come to the phase, not to its step */
        done_s = room_s + 3 * positions;
        sent_s = room_s + 4 * positions;
    }
    for (uint32_t i = 0; i < positions; i++) {
        now_s[i] = done_s[i] = sent_s[i] = recurrence->states[i].now_s;
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        step_run(&run, step, done_s, sent_s);
    }
    for (uint32_t i = 0; i < positions; i++) {
        recurrence->states[i].now_s = ar_later_s(done_s[i], sent_s[i]);
    }
}
