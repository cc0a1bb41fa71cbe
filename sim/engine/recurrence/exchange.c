/* Phases whose peers change from step to step. */
#include "recurrence.h"

#include <string.h>

/* An exchange on one lane: what stays the same from step to step. */
struct exchange_run {
    struct recurrence *recurrence;
    const struct ar_phase *phase;
    const struct ar_exchange *exchange;
    uint32_t first_step;
    uint32_t lane;
    uint64_t elements;
    bool is_even;       /* pieces have equal sizes */
    double *now_s;      /* [position]: it comes to the step */
    double *arrivals_s; /* [position]: of what it sends in the step */
    double *adding_s;   /* [position]: its receiver adds it up */
    double *done_s;     /* [2][position] */
    double *times_s;    /* [kind of the step]: a message, */
    double *sums_s;     /* and adding it up; or what a byte takes */
};

static double later_s(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

static double step_reduce_cost(const struct exchange_run *run, uint32_t step)
{
    const struct recurrence *recurrence = run->recurrence;
    return step < run->phase->copies_from ? recurrence->reduce_s_per_byte
                                          : run->phase->moves * recurrence->copy_s_per_byte;
}

/* The time of a message of each kind of a step, from when both have come, and of adding it up;
 * where pieces have different sizes the time without its bytes, and that of each of them. */
static void step_find_kind_times(const struct exchange_run *run, uint32_t step)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    uint64_t bytes_of_piece =
        run->elements / run->phase->pieces * run->recurrence->collective->element_bytes;
    const struct ar_message_cost *cost = run->recurrence->cost;
    double gamma = step_reduce_cost(run, step);
    for (uint32_t i = 0; i < flows->kinds_count; i++) {
        double bytes = run->is_even ? (double)(bytes_of_piece * kinds[i].pieces) : 0;
        run->times_s[i] = ar_message_latency_s(&kinds[i], cost, bytes) +
                          ar_message_busy_s(&kinds[i], cost, bytes);
        run->sums_s[i] = run->is_even ? bytes * gamma : 1 / kinds[i].rate_Bps;
    }
}

/* Which kind a message of a step is, counted from the step's first sender. */
static inline uint32_t message_kind(const struct exchange_run *run,
                                    const struct ar_exchange_step *flows, uint32_t index)
{
    size_t place = (size_t)run->lane * flows->count + index;
    return flows->narrow != NULL ? flows->narrow[place]
           : flows->wide != NULL ? flows->wide[place]
                                 : 0;
}

/* The times of the messages of a step, by sender, and of adding them up. */
static void step_find_even_times(const struct exchange_run *run,
                                 const struct ar_exchange_step *flows)
{
    double *restrict times_s = run->arrivals_s + flows->first;
    double *restrict adding_s = run->adding_s + flows->first;
    const double *kind_s = run->times_s, *sums_s = run->sums_s;
    for (uint32_t i = 0; i < flows->count && flows->kinds_count == 1; i++) {
        times_s[i] = kind_s[0];
        adding_s[i] = sums_s[0];
    }
    for (uint32_t i = 0; i < flows->count && flows->kinds_count > 1; i++) {
        uint32_t kind = message_kind(run, flows, i);
        times_s[i] = kind_s[kind];
        adding_s[i] = sums_s[kind];
    }
}

/* As step_find_even_times(), where each message has a size of its own. */
static void step_find_uneven_times(const struct exchange_run *run, uint32_t step,
                                   const struct ar_exchange_step *flows)
{
    const struct ar_collective *collective = run->recurrence->collective;
    const struct ar_message_kind *kinds = &run->exchange->kinds[flows->first_kind];
    const struct ar_message_cost *cost = run->recurrence->cost;
    double gamma = step_reduce_cost(run, step);
    struct ar_sends sends = run->recurrence->sends;
    sends.first = flows->first;
    sends.end = flows->first + flows->count;
    ar_algorithm_sends(collective->algorithm, &collective->shape, run->elements,
                       run->first_step + step, &sends);
    for (uint32_t i = 0; i < flows->count; i++) {
        uint32_t kind = message_kind(run, flows, i);
        uint32_t position = flows->first + i;
        double bytes = (double)(int64_t)(sends.counts[position] * collective->element_bytes);
        run->arrivals_s[position] = run->times_s[kind] + bytes * run->sums_s[kind];
        run->adding_s[position] = bytes * gamma;
    }
    for (uint32_t i = 0; i < flows->count && cost->is_any; i++) {
        uint32_t position = flows->first + i;
        double bytes = (double)(int64_t)(sends.counts[position] * collective->element_bytes);
        run->arrivals_s[position] +=
            ar_message_extra_s(cost, kinds[message_kind(run, flows, i)].tier, bytes);
    }
}

/* Positions from `first` to `end` wait for those `ahead`: a loop for vector code. */
static void positions_wait_ahead(const struct exchange_run *run, uint32_t first, uint32_t end,
                                 int64_t ahead)
{
    const double *now_s = run->now_s, *to_s = run->now_s + ahead;
    double *restrict arrivals_s = run->arrivals_s;
    for (uint32_t i = first; i < end; i++) {
        arrivals_s[i] += later_s(now_s[i], to_s[i]);
    }
}

/* When what each position sends in a step arrives, by sender, and how long its receiver adds it
 * up. A message starts when both have come. */
static void step_find_arrivals(const struct exchange_run *run, uint32_t step)
{
    const struct ar_exchange_step *flows = &run->exchange->steps[step];
    step_find_kind_times(run, step);
    if (run->is_even) {
        step_find_even_times(run, flows);
    } else {
        step_find_uneven_times(run, step, flows);
    }
    if (flows->ahead > 0) { /* in two stretches round the end */
        uint32_t positions = run->exchange->positions;
        uint32_t middle = positions - flows->ahead;
        positions_wait_ahead(run, 0, middle, flows->ahead);
        positions_wait_ahead(run, middle, positions, -(int64_t)middle);
        return;
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        uint32_t from = flows->first + i, to = flows->peers[i];
        if (to != AR_NEVER) {
            run->arrivals_s[from] += later_s(run->now_s[from], run->now_s[to]);
        }
    }
}

/* Both ends go on when a message has arrived, the receiver when it has added it up. */
static void step_finish(const struct exchange_run *run, const struct ar_exchange_step *flows)
{
    const struct ar_exchange *exchange = run->exchange;
    const double *arrivals_s = run->arrivals_s + flows->first;
    const double *adding_s = run->adding_s + flows->first;
    double *now_s = run->now_s;
    uint32_t positions = exchange->positions;
    if (flows->ahead > 0) {
        uint32_t from = positions - flows->ahead;
        for (uint32_t i = 0; i < flows->ahead; i++, from++) {
            now_s[i] = later_s(arrivals_s[i], arrivals_s[from]) + adding_s[from];
        }
        from = 0;
        for (uint32_t i = flows->ahead; i < positions; i++, from++) {
            now_s[i] = later_s(arrivals_s[i], arrivals_s[from]) + adding_s[from];
        }
        return;
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        uint32_t from = flows->first + i, to = flows->peers[i];
        if (to != AR_NEVER) {
            now_s[from] = later_s(now_s[from], arrivals_s[i]);
            now_s[to] = later_s(now_s[to], arrivals_s[i]);
        }
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        if (flows->peers[i] != AR_NEVER) {
            now_s[flows->peers[i]] += adding_s[i];
        }
    }
}

static bool are_ranks_level(const double *now_s, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (now_s[i] != now_s[0]) {
            return false;
        }
    }
    return true;
}

/* The first steps, in which all ranks do the same at the same time; returns how many. */
static uint32_t exchange_run_level_steps(const struct exchange_run *run)
{
    const struct ar_exchange *exchange = run->exchange;
    double now_s = run->now_s[0];
    uint32_t step = 0;
    if (!run->is_even || !exchange->is_full || !are_ranks_level(run->now_s, exchange->positions)) {
        return 0;
    }
    for (; step < run->phase->steps && exchange->steps[step].kinds_count == 1; step++) {
        step_find_kind_times(run, step);
        now_s += run->times_s[0] + run->sums_s[0];
    }
    for (uint32_t i = 0; i < exchange->positions; i++) {
        run->now_s[i] = now_s;
    }
    return step;
}

static void exchange_run_steps(const struct exchange_run *run)
{
    for (uint32_t step = exchange_run_level_steps(run); step < run->phase->steps; step++) {
        step_find_arrivals(run, step);
        step_finish(run, &run->exchange->steps[step]);
    }
}

/* All messages start when both have come to the phase; the receiver takes them in the order of the
 * steps. */
static void step_finish_at_once(const struct exchange_run *run,
                                const struct ar_exchange_step *flows, double *restrict done_s,
                                double *restrict sent_s)
{
    uint32_t positions = run->exchange->positions;
    const double *arrivals_s = run->arrivals_s + flows->first;
    const double *adding_s = run->adding_s + flows->first;
    for (uint32_t i = 0; i < flows->count; i++) {
        double *sent = &sent_s[flows->first + i];
        bool does = flows->ahead > 0 || flows->peers[i] != AR_NEVER;
        *sent = does ? later_s(*sent, arrivals_s[i]) : *sent;
    }
    if (flows->ahead > 0) {
        uint32_t from = positions - flows->ahead;
        for (uint32_t i = 0; i < flows->ahead; i++, from++) {
            done_s[i] = later_s(done_s[i], arrivals_s[from]) + adding_s[from];
        }
        from = 0;
        for (uint32_t i = flows->ahead; i < positions; i++, from++) {
            done_s[i] = later_s(done_s[i], arrivals_s[from]) + adding_s[from];
        }
        return;
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        uint32_t to = flows->peers[i];
        if (to != AR_NEVER) {
            done_s[to] = later_s(done_s[to], arrivals_s[i]) + adding_s[i];
        }
    }
}

static void exchange_run_at_once(const struct exchange_run *run)
{
    uint32_t positions = run->exchange->positions;
    double *done_s = run->done_s;
    double *sent_s = run->done_s + positions;
    memcpy(done_s, run->now_s, positions * sizeof *done_s);
    memcpy(sent_s, run->now_s, positions * sizeof *sent_s);
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        step_find_arrivals(run, step);
        step_finish_at_once(run, &run->exchange->steps[step], done_s, sent_s);
    }
    for (uint32_t i = 0; i < positions; i++) {
        run->now_s[i] = later_s(done_s[i], sent_s[i]);
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
                               .lane = lane,
                               .elements = elements,
                               .is_even = elements % phase->pieces == 0,
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
    (phase->is_at_once ? exchange_run_at_once : exchange_run_steps)(&run);
    for (uint32_t i = 0; i < positions; i++) {
        recurrence->states[i] = (struct rank_state){.now_s = run.now_s[i], .peer = UINT32_MAX};
    }
}
