/* Phases that follow the moves one by one. */
#include "recurrence.h"

static void send_one(struct recurrence *recurrence, const struct ar_hop *hop, double bytes)
{
    uint32_t window = recurrence->collective->window;
    struct rank_state *state = &recurrence->states[hop->from];
    double *flight_s = &recurrence->flights_s[(size_t)hop->from * window + state->sent % window];
    double start_s = *flight_s > state->now_s ? *flight_s : state->now_s;
    if (state->peer == hop->to && state->free_s > start_s) {
        start_s = state->free_s;
    }
    state->now_s = start_s;
    state->free_s = start_s + bytes * (1 / hop->rate_Bps);
    state->peer = hop->to;
    state->sent++;
    *flight_s = state->free_s + hop->latency_s;
    recurrence->states[hop->to].arrival_s = *flight_s;
}

static void receive_one(struct recurrence *recurrence, uint32_t position,
                        const struct ar_move *move)
{
    struct rank_state *state = &recurrence->states[position];
    double bytes = (double)(move->receive_span.count * recurrence->collective->element_bytes);
    state->now_s = state->arrival_s > state->now_s ? state->arrival_s : state->now_s;
    state->now_s += move->receive == AR_RECEIVE_REDUCE ? bytes * recurrence->reduce_s_per_byte : 0;
}

void recurrence_run_moves(struct recurrence *recurrence, const struct ar_phase *phase,
                          const struct ar_pattern *pattern, uint32_t channel, uint64_t elements,
                          uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    for (uint32_t step = first_step; step < first_step + phase->steps; step++) {
        for (uint32_t position = 0; position < recurrence->ranks; position++) {
            recurrence->moves[position] =
                collective->algorithm->move(&collective->shape, elements, position, step);
        }
        for (uint32_t i = pattern->channel_hops[channel]; i < pattern->channel_hops[channel + 1];
             i++) {
            const struct ar_hop *hop = &pattern->hops[i];
            const struct ar_move *move = &recurrence->moves[hop->from];
            if (move->sends) {
                send_one(recurrence, hop,
                         (double)(move->send_span.count * collective->element_bytes));
            }
        }
        for (uint32_t position = 0; position < recurrence->ranks; position++) {
            if (recurrence->moves[position].receive != AR_RECEIVE_NONE) {
                receive_one(recurrence, position, &recurrence->moves[position]);
            }
        }
    }
}
