/* Phases whose peers change from step to step. */
#include <string.h>

#include "ar_exchange.h"
#include "recurrence.h"

/* An exchange on one lane: what stays the same from step to step. */
struct exchange_run {
    struct recurrence *recurrence;
    const struct ar_phase *phase;
    const struct ar_exchange *exchange;
    uint32_t first_step;
    size_t first_place;
    uint64_t elements;
    double *now_s;      /* [position]: it comes to the step */
    double *arrivals_s; /* [position]: of what it sends in the step */
    double *adding_s;   /* [position]: its receiver adds it up */
    double *done_s;     /* [2][position] */
    double *times_s;    /* [kind of the step]: a message, */
    double *sums_s;     /* and adding it up */
};

/* Bytes of a message. Pieces have equal sizes, or the move says which they are. */
static double bytes_of(const struct exchange_run *run, const struct ar_message_kind *kind,
                       uint32_t step, uint32_t position)
{
    const struct ar_collective *collective = run->recurrence->collective;
    uint32_t pieces = run->phase->pieces;
    uint64_t elements = run->elements;
    if (elements % pieces == 0) {
        elements = elements / pieces * kind->pieces;
    } else if (kind->pieces < pieces) {
        elements = ar_algorithm_move(collective->algorithm, &collective->shape, run->elements,
                                     position, run->first_step + step)
                       .send_span.count;
    }
    return (double)(elements * collective->element_bytes);
}

static double later(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

/* The time of a message of each kind of a step, from when both have come, and of adding it up.
 * Nothing where messages of a kind have different sizes. */
static bool find_times(const struct exchange_run *run, uint32_t step, double reduce_s_per_byte)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    for (uint32_t i = 0; i < flows->kinds_count; i++) {
        if (run->elements % run->phase->pieces != 0 && kinds[i].pieces < run->phase->pieces) {
            return false;
        }
        double bytes = bytes_of(run, &kinds[i], step, 0);
        run->times_s[i] = kinds[i].latency_s + bytes / kinds[i].rate_Bps;
        run->sums_s[i] = bytes * reduce_s_per_byte;
    }
    return true;
}

/* When what each position sends in a step arrives, by sender, and how long its receiver adds it
 * up. A message starts when both have come. */
static void find_arrivals(const struct exchange_run *run, uint32_t step, double reduce_s_per_byte)
{
    const struct ar_exchange *exchange = run->exchange;
    const struct ar_exchange_step *flows = &exchange->steps[step];
    bool has_times = find_times(run, step, reduce_s_per_byte);
    for (uint32_t i = 0; i < exchange->positions; i++) {
        uint32_t to = ar_exchange_peer(exchange, flows, i);
        if (to == AR_NEVER) {
            continue;
        }
        const struct ar_message_kind *kind =
            ar_exchange_kind(exchange, flows, run->first_place + i);
        size_t index = (size_t)(kind - exchange->kinds) - flows->first_kind;
        double bytes = has_times ? 0 : bytes_of(run, kind, step, i);
        double time_s = has_times ? run->times_s[index] : kind->latency_s + bytes / kind->rate_Bps;
        run->arrivals_s[i] = later(run->now_s[i], run->now_s[to]) + time_s;
        run->adding_s[i] = has_times ? run->sums_s[index] : bytes * reduce_s_per_byte;
    }
}

/* The same of positions from `first` to `end`, whose peers are `ahead`: loops for vector code. */
static void find_arrivals_ahead(const struct exchange_run *run, const uint16_t *kinds,
                                uint32_t first, uint32_t end, int64_t ahead)
{
    const double *now_s = run->now_s, *to_s = run->now_s + ahead;
    const double *times_s = run->times_s, *sums_s = run->sums_s;
    double *restrict arrivals_s = run->arrivals_s;
    double *restrict adding_s = run->adding_s;
    for (uint32_t i = first; i < end && kinds == NULL; i++) {
        arrivals_s[i] = later(now_s[i], to_s[i]) + times_s[0];
        adding_s[i] = sums_s[0];
    }
    for (uint32_t i = first; i < end && kinds != NULL; i++) {
        arrivals_s[i] = later(now_s[i], to_s[i]) + times_s[kinds[i]];
        adding_s[i] = sums_s[kinds[i]];
    }
}

/* The arrivals of a step; of one in which all send as far ahead, in two stretches round the end. */
static void find_step(const struct exchange_run *run, uint32_t step)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    bool reduces = step < run->phase->copies_from;
    double reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0;
    if (flows->ahead == 0 || flows->wide != NULL || !find_times(run, step, reduce_s_per_byte)) {
        find_arrivals(run, step, reduce_s_per_byte);
        return;
    }
    uint32_t positions = run->exchange->positions;
    const uint16_t *kinds = flows->narrow != NULL ? flows->narrow + run->first_place : NULL;
    uint32_t middle = positions - flows->ahead;
    find_arrivals_ahead(run, kinds, 0, middle, flows->ahead);
    find_arrivals_ahead(run, kinds, middle, positions, -(int64_t)middle);
}

/* Both ends go on when a message has arrived, the receiver when it has added it up. */
static void finish_step(const struct exchange_run *run, const struct ar_exchange_step *flows)
{
    const struct ar_exchange *exchange = run->exchange;
    const double *arrivals_s = run->arrivals_s;
    double *now_s = run->now_s;
    uint32_t positions = exchange->positions;
    if (flows->ahead > 0) {
        uint32_t from = positions - flows->ahead;
        for (uint32_t i = 0; i < flows->ahead; i++, from++) {
            now_s[i] = later(arrivals_s[i], arrivals_s[from]) + run->adding_s[from];
        }
        from = 0;
        for (uint32_t i = flows->ahead; i < positions; i++, from++) {
            now_s[i] = later(arrivals_s[i], arrivals_s[from]) + run->adding_s[from];
        }
        return;
    }
    for (uint32_t i = 0; i < positions; i++) {
        uint32_t to = flows->peers[i];
        if (to != AR_NEVER) {
            now_s[i] = later(now_s[i], arrivals_s[i]);
            now_s[to] = later(now_s[to], arrivals_s[i]);
        }
    }
    for (uint32_t i = 0; i < positions; i++) {
        if (flows->peers[i] != AR_NEVER) {
            now_s[flows->peers[i]] += run->adding_s[i];
        }
    }
}

static bool are_level(const double *now_s, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (now_s[i] != now_s[0]) {
            return false;
        }
    }
    return true;
}

/* The first steps, in which all ranks do the same at the same time; returns how many. */
static uint32_t run_level_steps(const struct exchange_run *run)
{
    uint32_t positions = run->exchange->positions;
    double now_s = run->now_s[0];
    uint32_t step = 0;
    for (; step < run->phase->steps && are_level(run->now_s, step == 0 ? positions : 1); step++) {
        const struct ar_exchange_step *flows = &run->exchange->steps[step];
        bool reduces = step < run->phase->copies_from;
        if (flows->ahead == 0 || flows->kinds_count > 1 ||
            !find_times(run, step, reduces ? run->recurrence->reduce_s_per_byte : 0)) {
            break;
        }
        now_s += run->times_s[0] + run->sums_s[0];
    }
    for (uint32_t i = 0; step > 0 && i < positions; i++) {
        run->now_s[i] = now_s;
    }
    return step;
}

static void run_steps(const struct exchange_run *run)
{
    for (uint32_t step = run_level_steps(run); step < run->phase->steps; step++) {
        find_step(run, step);
        finish_step(run, &run->exchange->steps[step]);
    }
}

/* All messages start when both have come to the phase; the receiver takes them in the order of the
 * steps. */
static void run_at_once(const struct exchange_run *run)
{
    const struct ar_exchange *exchange = run->exchange;
    const double *arrivals_s = run->arrivals_s;
    uint32_t positions = exchange->positions;
    double *restrict done_s = run->done_s;
    double *restrict sent_s = run->done_s + positions;
    memcpy(done_s, run->now_s, positions * sizeof *done_s);
    memcpy(sent_s, run->now_s, positions * sizeof *sent_s);
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        const struct ar_exchange_step *flows = &exchange->steps[step];
        find_step(run, step);
        for (uint32_t i = 0; i < positions; i++) {
            uint32_t to = ar_exchange_peer(exchange, flows, i);
            if (to != AR_NEVER) {
                sent_s[i] = later(sent_s[i], arrivals_s[i]);
                done_s[to] = later(done_s[to], arrivals_s[i]) + run->adding_s[i];
            }
        }
    }
    for (uint32_t i = 0; i < positions; i++) {
        run->now_s[i] = later(done_s[i], sent_s[i]);
    }
}

void recurrence_run_exchange(struct recurrence *recurrence, const struct ar_phase *phase,
                             const struct ar_exchange *exchange, uint32_t lane, uint64_t elements,
                             uint32_t first_step)
{
    uint32_t positions = recurrence->positions;
    uint32_t window = recurrence->collective->window;
    struct exchange_run run = {.recurrence = recurrence,
                               .phase = phase,
                               .exchange = exchange,
                               .first_step = first_step,
                               .first_place = (size_t)lane * positions,
                               .elements = elements,
                               .now_s = recurrence->exchange_s,
                               .arrivals_s = recurrence->exchange_s + positions,
                               .adding_s = recurrence->exchange_s + 2 * (size_t)positions,
                               .done_s = recurrence->exchange_s + 3 * (size_t)positions,
                               .times_s = recurrence->exchange_s + 5 * (size_t)positions};
    run.sums_s = run.times_s + (size_t)positions * ar_collective_lanes(recurrence->collective);
    for (uint32_t i = 0; i < positions; i++) { /* what the phase before has sent arrives first */
        run.now_s[i] = recurrence_finish(recurrence, i);
    }
    memset(recurrence->flights_s, 0, (size_t)positions * window * sizeof *recurrence->flights_s);
    (phase->is_at_once ? run_at_once : run_steps)(&run);
    for (uint32_t i = 0; i < positions; i++) {
        recurrence->states[i] = (struct rank_state){.now_s = run.now_s[i], .peer = UINT32_MAX};
    }
}
