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
    double *now_s;  /* [position]: it comes to the step */
    double *done_s; /* [position]: what it sends and receives has arrived */
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

/* A message starts when both have come, and both go on when it has arrived. */
static void run_step(const struct exchange_run *run, uint32_t step, double reduce_s_per_byte)
{
    const struct ar_exchange *exchange = run->exchange;
    const struct ar_exchange_step *flows = &exchange->steps[step];
    const double *now_s = run->now_s;
    double *done_s = run->done_s;
    for (uint32_t i = 0; i < exchange->positions; i++) {
        uint32_t to = ar_exchange_peer(exchange, flows, i);
        if (to == AR_NEVER) {
            continue;
        }
        const struct ar_message_kind *kind =
            ar_exchange_kind(exchange, flows, run->first_place + i);
        double bytes = bytes_of(run, kind, step, i);
        double arrival_s = later(now_s[i], now_s[to]) + kind->latency_s + bytes / kind->rate_Bps;
        done_s[i] = later(done_s[i], arrival_s);
        done_s[to] = later(done_s[to], arrival_s);
    }
    for (uint32_t i = 0; i < exchange->positions && reduce_s_per_byte > 0; i++) {
        uint32_t to = ar_exchange_peer(exchange, flows, i);
        if (to != AR_NEVER) {
            const struct ar_message_kind *kind =
                ar_exchange_kind(exchange, flows, run->first_place + i);
            done_s[to] += bytes_of(run, kind, step, i) * reduce_s_per_byte;
        }
    }
}

static void run_steps(const struct exchange_run *run)
{
    size_t size = run->exchange->positions * sizeof *run->now_s;
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        bool reduces = step < run->phase->copies_from;
        memcpy(run->done_s, run->now_s, size);
        run_step(run, step, reduces ? run->recurrence->reduce_s_per_byte : 0);
        memcpy(run->now_s, run->done_s, size);
    }
}

/* All messages start when both have come to the phase; the receiver takes them in the order of the
 * steps. */
static void run_at_once(const struct exchange_run *run)
{
    const struct ar_exchange *exchange = run->exchange;
    const double *now_s = run->now_s;
    double *done_s = run->done_s;
    double *sent_s = run->done_s + exchange->positions;
    memcpy(done_s, now_s, exchange->positions * sizeof *done_s);
    memcpy(sent_s, now_s, exchange->positions * sizeof *sent_s);
    for (uint32_t step = 0; step < run->phase->steps; step++) {
        const struct ar_exchange_step *flows = &exchange->steps[step];
        bool reduces = step < run->phase->copies_from;
        double reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0;
        for (uint32_t i = 0; i < exchange->positions; i++) {
            uint32_t to = ar_exchange_peer(exchange, flows, i);
            if (to == AR_NEVER) {
                continue;
            }
            const struct ar_message_kind *kind =
                ar_exchange_kind(exchange, flows, run->first_place + i);
            double bytes = bytes_of(run, kind, step, i);
            double arrival_s =
                later(now_s[i], now_s[to]) + kind->latency_s + bytes / kind->rate_Bps;
            sent_s[i] = later(sent_s[i], arrival_s);
            done_s[to] = later(done_s[to], arrival_s) + bytes * reduce_s_per_byte;
        }
    }
    for (uint32_t i = 0; i < exchange->positions; i++) {
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
                               .done_s = recurrence->exchange_s + positions};
    for (uint32_t i = 0; i < positions; i++) { /* what the phase before has sent arrives first */
        run.now_s[i] = recurrence_finish(recurrence, i);
    }
    memset(recurrence->flights_s, 0, (size_t)positions * window * sizeof *recurrence->flights_s);
    (phase->is_at_once ? run_at_once : run_steps)(&run);
    for (uint32_t i = 0; i < positions; i++) {
        recurrence->states[i] = (struct rank_state){.now_s = run.now_s[i], .peer = UINT32_MAX};
    }
}
