/* Phases whose peers change from step to step. */
#include "recurrence.h"
#include "ring_kernel.h"

/* An exchange on one lane: what stays the same from step to step. */
struct exchange_run {
    const struct recurrence *all;
    const struct ar_exchange *exchange;
    bool is_even;       /* pieces have equal sizes */
    double *arrivals_s; /* [place of the step]: time that its message takes; then its arrival */
    double *adding_s;   /* [place of the step]: time that its receiver takes to add it up */
    double *times_s;    /* [kind of the step]: time that a message takes, or one without bytes */
    double *sums_s;     /* [kind of the step]: time to add it up, or that a byte of it takes */
    size_t each;        /* 0: all messages of the step are alike, [0] holds for all; else 1 */
};

/* Finds how long the message of each sender takes from when both ends have come, and how long it
 * takes to add it up. Messages of a kind take as long where pieces have equal sizes; else a kind
 * has the time of a message without bytes and that of one byte. */
static void step_find_times(struct exchange_run *run, uint32_t step)
{
    const struct recurrence *all = run->all;
    const struct ar_collective *collective = all->collective;
    const struct ar_message_cost *cost = all->cost;
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    const uint32_t *kind_of = /* of the lane */
        flows->kind_of != NULL ? flows->kind_of + (size_t)all->resolved_lane * flows->period : NULL;
    uint64_t bytes_of_piece = all->elements / all->phase->pieces * collective->element_bytes;
    struct ar_sends sends = all->sends;
    double *kind_s = run->times_s, *sums_s = run->sums_s;
    double *restrict times_s = run->arrivals_s;
    double *restrict adding_s = run->adding_s;
    double gamma = step < all->phase->copies_from ? all->reduce_s_per_byte
                                                  : all->phase->moves * all->copy_s_per_byte;
    for (uint32_t i = 0; i < flows->kinds_count; i++) {
        double bytes = run->is_even ? (double)(bytes_of_piece * kinds[i].pieces) : 0;
        kind_s[i] = ar_message_latency_s(&kinds[i], cost, bytes) +
                    ar_message_busy_s(&kinds[i], cost, bytes);
        sums_s[i] = run->is_even ? bytes * gamma : 1 / kinds[i].rate_Bps;
    }
    if (run->is_even) {
        uint32_t count = flows->count < all->positions ? flows->count : all->positions;
        bool is_one = all->phase->is_at_once && flows->ahead == 0 && !all->flows->is_plain;
        run->each = is_one && kind_of == NULL ? 0 : 1;
        count = run->each == 0 ? 1 : count;
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
    ar_algorithm_sends(collective->algorithm, &collective->shape, all->elements,
                       all->first_step + step, &sends);
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
    const double *now_s = run->all->now_s, *adding_s = run->adding_s;
    double *arrivals_s = run->arrivals_s;
    size_t count = run->all->positions, wraps = count - ahead;
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
    const double *now_s = run->all->now_s, *now_here_s = now_s + flows->first;
    const double *adding_s = run->adding_s;
    double *arrivals_s = run->arrivals_s, *sent_here_s = sent_s + flows->first;
    size_t stride = flows->stride;
    if (flows->ahead > 0) {
        shift_run(run, flows->ahead % run->all->positions, done_s, sent_s);
        return;
    }
    for (uint32_t i = 0; i < count && done_s != now_s; i++) { /* at once */
        if (peers[i] != AR_NEVER) {
            double there_s = ar_later_s(now_here_s[i * stride], now_s[peers[i]]);
            there_s += arrivals_s[i * run->each];
            sent_here_s[i * stride] = ar_later_s(sent_here_s[i * stride], there_s);
            done_s[peers[i]] = ar_later_s(done_s[peers[i]], there_s) + adding_s[i * run->each];
        }
    }
    for (uint32_t i = 0; i < count && done_s == now_s; i++) {
        if (peers[i] != AR_NEVER) {
            arrivals_s[i] += ar_later_s(now_here_s[i * stride], now_s[peers[i]]);
        }
    }
    for (uint32_t i = 0; i < count && done_s == now_s; i++) {
        if (peers[i] != AR_NEVER) {
            sent_here_s[i * stride] = ar_later_s(sent_here_s[i * stride], arrivals_s[i]);
        }
    }
    for (uint32_t i = 0; i < count && done_s == now_s; i++) {
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
    struct exchange_run run = {.all = recurrence,
                               .exchange = recurrence->pattern->exchange,
                               .is_even = recurrence->elements % phase->pieces == 0,
                               .arrivals_s = room_s,
                               .adding_s = room_s + positions,
                               .times_s = room_s + 4 * positions,
                               .each = 1};
    run.sums_s = run.times_s + positions * ar_collective_lanes(&recurrence->flows->resolved);
    /* At once, messages start when both have come to the phase, not to its step. */
    bool is_at_once = phase->is_at_once;
    double *done_s = room_s + 2 * positions, *sent_s = done_s + positions;
    struct pairs *pairs = pairs_find(recurrence);
    for (uint32_t i = 0; i < positions && is_at_once; i++) {
        done_s[i] = sent_s[i] = recurrence->now_s[i];
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        if (!pairs_run(pairs, step, recurrence->now_s)) {
            step_find_times(&run, step);
            pairs_remember(recurrence, step, run.arrivals_s, run.adding_s, pairs);
            step_run(&run, step, is_at_once ? done_s : recurrence->now_s,
                     is_at_once ? sent_s : recurrence->now_s);
        }
    }
    for (uint32_t i = 0; i < positions && is_at_once; i++) {
        recurrence->now_s[i] = ar_later_s(done_s[i], sent_s[i]);
    }
}
