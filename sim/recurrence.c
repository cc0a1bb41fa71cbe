#include "recurrence.h"

/* The arrays of a ring of `count` hops, one value per hop. */
struct lanes {
    uint32_t count;
    double *now_s;
    double *free_s;
    double *start_s;
    double *latency_s;
    double *s_per_byte; /* 1 / rate */
    double *arrival_s;  /* [hop + 1]; [0] is that of the last hop, it closes the ring */
    double *bytes;      /* twice around, so that a shifted ring is one piece */
    double *flights_s;  /* [message % window][hop] */
};

static struct lanes lay_out(double *room, uint32_t count)
{
    size_t pitch = count;
    return (struct lanes){.count = count,
                          .now_s = room,
                          .free_s = room + pitch,
                          .start_s = room + 2 * pitch,
                          .latency_s = room + 3 * pitch,
                          .s_per_byte = room + 4 * pitch,
                          .bytes = room + 5 * pitch,
                          .flights_s = room + 7 * pitch,
                          .arrival_s = NULL};
}

/* All hops send: the compiler turns this loop and the next into vector code. */
static void send_all(uint32_t count, const double *restrict now_s, const double *restrict bytes,
                     const double *restrict latency_s, const double *restrict s_per_byte,
                     double *restrict free_s, double *restrict flight_s, double *restrict start_s,
                     double *restrict arrival_s)
{
    for (uint32_t hop = 0; hop < count; hop++) {
        double start = now_s[hop] > free_s[hop] ? now_s[hop] : free_s[hop];
        start = flight_s[hop] > start ? flight_s[hop] : start;
        double left = start + bytes[hop] * s_per_byte[hop];
        double arrival = left + latency_s[hop];
        start_s[hop] = start;
        free_s[hop] = left;
        flight_s[hop] = arrival;
        arrival_s[hop] = arrival;
    }
}

static void receive_all(uint32_t count, const double *restrict start_s,
                        const double *restrict arrival_s, const double *restrict bytes,
                        double reduce_s_per_byte, double *restrict now_s)
{
    for (uint32_t hop = 0; hop < count; hop++) {
        double latest = arrival_s[hop] > start_s[hop] ? arrival_s[hop] : start_s[hop];
        now_s[hop] = latest + bytes[hop] * reduce_s_per_byte;
    }
}

static double message_bytes(const struct ar_collective *collective, const struct ar_move *move)
{
    return (double)(move->send_span.count * collective->element_bytes);
}

/* From the states of the ranks into the arrays of their ring. */
static void load_ring(const struct recurrence *recurrence, const struct ar_hop *hops,
                      uint64_t elements, uint32_t first_step, const struct lanes *lanes)
{
    const struct ar_collective *collective = recurrence->collective;
    uint32_t window = collective->window;
    for (uint32_t hop = 0; hop < lanes->count; hop++) {
        uint32_t position = hops[hop].from;
        const struct rank_state *state = &recurrence->states[position];
        struct ar_move move =
            collective->algorithm->move(&collective->shape, elements, position, first_step);
        lanes->now_s[hop] = state->now_s;
        lanes->free_s[hop] = state->peer == hops[hop].to ? state->free_s : 0;
        lanes->latency_s[hop] = hops[hop].latency_s;
        lanes->s_per_byte[hop] = 1 / hops[hop].rate_Bps;
        lanes->bytes[hop] = lanes->bytes[hop + lanes->count] = message_bytes(collective, &move);
        const double *flights_s = recurrence->flights_s + (size_t)position * window;
        for (uint32_t i = 0; i < window; i++) {
            lanes->flights_s[(size_t)i * lanes->count + hop] =
                flights_s[(state->sent + i) % window];
        }
    }
}

static void store_ring(struct recurrence *recurrence, const struct ar_hop *hops, uint32_t steps,
                       const struct lanes *lanes)
{
    uint32_t window = recurrence->collective->window;
    for (uint32_t hop = 0; hop < lanes->count; hop++) {
        uint32_t position = hops[hop].from;
        struct rank_state *state = &recurrence->states[position];
        double *flights_s = recurrence->flights_s + (size_t)position * window;
        for (uint32_t i = 0; i < window; i++) {
            flights_s[(state->sent + i) % window] =
                lanes->flights_s[(size_t)i * lanes->count + hop];
        }
        state->now_s = lanes->now_s[hop];
        state->free_s = lanes->free_s[hop];
        state->peer = hops[hop].to;
        state->sent += steps;
    }
}

static void run_ring(struct recurrence *recurrence, const struct ar_phase *phase,
                     const struct ar_hop *hops, uint32_t count, uint64_t elements,
                     uint32_t first_step)
{
    uint32_t window = recurrence->collective->window;
    struct lanes lanes = lay_out(recurrence->lanes, count);
    lanes.arrival_s = lanes.flights_s + (size_t)window * count;
    load_ring(recurrence, hops, elements, first_step, &lanes);
    for (uint32_t step = 0; step < phase->steps; step++) {
        /* The message of hop h in step s is the one that hop h - s sent first. */
        const double *bytes = lanes.bytes + count - step % count;
        const double *bytes_next = lanes.bytes + count - (step + 1) % count;
        double reduce_s_per_byte = step < phase->copies_from ? recurrence->reduce_s_per_byte : 0;
        send_all(count, lanes.now_s, bytes, lanes.latency_s, lanes.s_per_byte, lanes.free_s,
                 lanes.flights_s + (size_t)(step % window) * count, lanes.start_s,
                 lanes.arrival_s + 1);
        lanes.arrival_s[0] = lanes.arrival_s[count];
        receive_all(count, lanes.start_s, lanes.arrival_s, bytes_next, reduce_s_per_byte,
                    lanes.now_s);
    }
    store_ring(recurrence, hops, phase->steps, &lanes);
}

/* One send of a phase that goes move by move. */
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
    state->free_s = start_s + bytes / hop->rate_Bps;
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

static void run_moves(struct recurrence *recurrence, const struct ar_phase *phase,
                      const struct ar_hop *hops, uint32_t hops_count, uint64_t elements,
                      uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    for (uint32_t step = first_step; step < first_step + phase->steps; step++) {
        for (uint32_t position = 0; position < recurrence->ranks; position++) {
            recurrence->moves[position] =
                collective->algorithm->move(&collective->shape, elements, position, step);
        }
        for (uint32_t i = 0; i < hops_count; i++) {
            const struct ar_move *move = &recurrence->moves[hops[i].from];
            if (move->sends) {
                send_one(recurrence, &hops[i], message_bytes(collective, move));
            }
        }
        for (uint32_t position = 0; position < recurrence->ranks; position++) {
            if (recurrence->moves[position].receive != AR_RECEIVE_NONE) {
                receive_one(recurrence, position, &recurrence->moves[position]);
            }
        }
    }
}

/* All hops of the channel lie on rings and send in every step. */
static bool is_steady(const struct ar_phase *phase, const struct ar_pattern *pattern,
                      uint32_t channel, uint32_t hops_count)
{
    for (uint32_t i = 0; i < pattern->walks_count; i++) {
        if (pattern->walks[i].channel == channel && !pattern->walks[i].is_ring) {
            return false;
        }
    }
    return phase->messages == (uint64_t)phase->steps * hops_count;
}

void recurrence_mark(const struct recurrence *recurrence, uint32_t channel, uint32_t mark)
{
    const struct ar_timeline *timeline = recurrence->trial->timeline;
    for (uint32_t i = 0; timeline != NULL && i < timeline->ranks_count; i++) {
        uint32_t position = ar_order_position(&recurrence->order, channel, timeline->ranks[i]);
        ar_timeline_marks(recurrence->trial, recurrence->job, i, channel)[mark] =
            recurrence->states[position].now_s;
    }
}

void recurrence_run_channel(struct recurrence *recurrence, uint32_t channel, uint64_t elements)
{
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_phase *phase = &recurrence->phases[i];
        const struct ar_pattern *pattern = &recurrence->patterns[i];
        recurrence_mark(recurrence, channel, AR_MARK_PHASES + i);
        if (phase->steps == 0) {
            continue;
        }
        uint32_t hops_first = pattern->channel_hops[channel];
        uint32_t hops_count = pattern->channel_hops[channel + 1] - hops_first;
        if (!is_steady(phase, pattern, channel, hops_count)) {
            run_moves(recurrence, phase, pattern->hops + hops_first, hops_count, elements,
                      first_step);
        } else {
            for (uint32_t walk = 0; walk < pattern->walks_count; walk++) {
                if (pattern->walks[walk].channel == channel) {
                    run_ring(recurrence, phase, pattern->hops + pattern->walks[walk].first,
                             pattern->walks[walk].count, elements, first_step);
                }
            }
        }
        first_step += phase->steps;
    }
    recurrence_mark(recurrence, channel, AR_MARK_PHASES + recurrence->phases_count);
}
