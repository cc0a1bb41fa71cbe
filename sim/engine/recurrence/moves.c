/* Phases of walks, trees and sums, message by message. */
#include "recurrence.h"

#include <string.h>

/* --- walks ----------------------------------------------------------------------------------- */

/* Sends over a connection that is free from `free_s` on, once the message at `oldest_s` has
 * arrived; it is then free from state->free_s on. Returns the arrival. */
static double message_send(struct recurrence *recurrence, const struct ar_hop *hop, double rate_Bps,
                           double bytes, double free_s, double oldest_s)
{
    struct rank_state *state = &recurrence->states[hop->from];
    double start_s = oldest_s > state->now_s ? oldest_s : state->now_s;
    start_s = free_s > start_s ? free_s : start_s;
    state->now_s = start_s;
    double gap_s = ar_message_gap_s(recurrence->cost, hop->tier);
    state->free_s = start_s + bytes * (1 / rate_Bps) + gap_s;
    state->peer = hop->to;
    double arrival_s = state->free_s + ar_hop_latency_s(hop, recurrence->cost, bytes);
    recurrence->states[hop->to].arrival_s = arrival_s;
    return arrival_s;
}

double recurrence_finish(const struct recurrence *recurrence, uint32_t position)
{
    uint32_t window = recurrence->collective->window;
    double finish_s = recurrence->states[position].now_s;
    for (uint32_t i = 0; i < window; i++) {
        double arrival_s = recurrence->flights_s[(size_t)position * window + i];
        finish_s = arrival_s > finish_s ? arrival_s : finish_s;
    }
    return finish_s;
}

/* Where the arrival of the next message of a rank goes; there is that of the one `window` sends
 * before. */
static double *rank_next_flight(const struct recurrence *recurrence, uint32_t position)
{
    uint32_t window = recurrence->collective->window;
    struct rank_state *state = &recurrence->states[position];
    uint32_t oldest = state->oldest;
    state->oldest = oldest + 1 < window ? oldest + 1 : 0; /* faster than a division */
    return &recurrence->flights_s[(size_t)position * window + oldest];
}

/* When the connection of a hop is free, if it is the one its rank used last. */
static double hop_free_s(const struct recurrence *recurrence, const struct ar_hop *hop)
{
    const struct rank_state *state = &recurrence->states[hop->from];
    return state->peer == hop->to ? state->free_s : 0;
}

static void message_receive(struct recurrence *recurrence, uint32_t position, double bytes,
                            bool reduces)
{
    struct rank_state *state = &recurrence->states[position];
    state->now_s = state->arrival_s > state->now_s ? state->arrival_s : state->now_s;
    state->now_s += reduces ? bytes * recurrence->reduce_s_per_byte : 0;
}

void recurrence_run_moves(struct recurrence *recurrence, const struct ar_phase *phase,
                          const struct ar_pattern *pattern, uint32_t lane, uint64_t elements,
                          uint32_t first_step)
{
    const struct ar_collective *collective = recurrence->collective;
    for (uint32_t step = first_step; step < first_step + phase->steps; step++) {
        for (uint32_t position = 0; position < recurrence->positions; position++) {
            recurrence->moves[position] = ar_algorithm_move(
                collective->algorithm, &collective->shape, elements, position, step);
        }
        for (uint32_t i = pattern->lane_hops[lane]; i < pattern->lane_hops[lane + 1]; i++) {
            const struct ar_hop *hop = &pattern->hops[i];
            const struct ar_move *move = &recurrence->moves[hop->from];
            if (move->sends) {
                double *flight_s = rank_next_flight(recurrence, hop->from);
                *flight_s =
                    message_send(recurrence, hop, hop->rate_Bps,
                                 (double)(move->send_span.count * collective->element_bytes),
                                 hop_free_s(recurrence, hop), *flight_s);
            }
        }
        for (uint32_t position = 0; position < recurrence->positions; position++) {
            const struct ar_move *move = &recurrence->moves[position];
            if (move->receive != AR_RECEIVE_NONE) {
                message_receive(recurrence, position,
                                (double)(move->receive_span.count * collective->element_bytes),
                                move->receive == AR_RECEIVE_REDUCE);
            }
        }
    }
}

/* --- trees ----------------------------------------------------------------------------------- */

/* A tree on one lane: what stays the same from step to step. */
struct tree_run {
    struct recurrence *recurrence;
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    const struct ar_hop *hops;
    const uint32_t *step_hops;
    size_t hops_count;
    const double *rates_Bps; /* [part][hop of the pattern] */
    double *free_s;          /* by hop */
    double *flights_s;       /* [part % window][hop]: arrivals */
    uint64_t elements;
};

static double part_bytes(const struct tree_run *run, uint32_t part)
{
    struct ar_span whole = {.first = 0, .count = run->elements};
    return (double)(ar_span_part(whole, run->phase->parts, part).count *
                    run->recurrence->collective->element_bytes);
}

/* The hops that carry a part in a step: those that began so many periods before. */
static void tree_send_part(const struct tree_run *run, uint32_t part, uint32_t began)
{
    double bytes = part_bytes(run, part);
    size_t slot = part % run->recurrence->collective->window;
    const double *rates_Bps = run->rates_Bps + (size_t)part * run->pattern->hops_count;
    double *flights_s = run->flights_s + slot * run->hops_count;
    for (uint32_t i = run->step_hops[began]; i < run->step_hops[began + 1]; i++) {
        flights_s[i] = message_send(run->recurrence, &run->hops[i], rates_Bps[i], bytes,
                                    run->free_s[i], flights_s[i]);
        run->free_s[i] = run->recurrence->states[run->hops[i].from].free_s;
    }
}

static void tree_receive_part(const struct tree_run *run, uint32_t part, uint32_t began,
                              bool reduces)
{
    double bytes = part_bytes(run, part);
    for (uint32_t i = run->step_hops[began]; i < run->step_hops[began + 1]; i++) {
        message_receive(run->recurrence, run->hops[i].to, bytes, reduces);
    }
}

/* Nobody waits for the flights of a tree in the next phase; a rank is done when the last one of
 * each of its hops has arrived. */
static void tree_keep_flights(const struct tree_run *run)
{
    size_t window = run->recurrence->collective->window;
    const double *flights_s = run->flights_s + (run->phase->parts - 1) % window * run->hops_count;
    for (size_t i = 0; i < run->hops_count; i++) {
        double *last_s = &run->recurrence->flights_s[run->hops[i].from * window];
        *last_s = flights_s[i] > *last_s ? flights_s[i] : *last_s;
    }
}

void recurrence_run_tree(struct recurrence *recurrence, const struct ar_phase *phase,
                         const struct ar_pattern *pattern, const double *part_rates_Bps,
                         uint32_t lane, uint64_t elements)
{
    size_t first_hop = pattern->lane_hops[lane];
    size_t hops_count = pattern->step_hops[phase->steps];
    struct tree_run run = {.recurrence = recurrence,
                           .phase = phase,
                           .pattern = pattern,
                           .hops = pattern->hops + first_hop,
                           .hops_count = hops_count,
                           .step_hops = pattern->step_hops,
                           .rates_Bps = part_rates_Bps + first_hop,
                           .free_s = recurrence->connections_s,
                           .flights_s = recurrence->connections_s + hops_count,
                           .elements = elements};
    memset(run.flights_s, 0, hops_count * recurrence->collective->window * sizeof(double));
    for (size_t i = 0; i < hops_count; i++) {
        run.free_s[i] = hop_free_s(recurrence, &run.hops[i]);
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        uint32_t periods = step / phase->period + 1;
        uint32_t parts = periods < phase->parts ? periods : phase->parts;
        for (uint32_t part = 0; part < parts; part++) {
            tree_send_part(&run, part, step - part * phase->period);
        }
        for (uint32_t part = 0; part < parts; part++) {
            tree_receive_part(&run, part, step - part * phase->period, step < phase->copies_from);
        }
    }
    tree_keep_flights(&run);
}

/* --- sums ------------------------------------------------------------------------------------ */

static double later_s(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

/* A pipeline on one lane: what stays the same from part to part. */
struct sums_run {
    struct recurrence *recurrence;
    const struct ar_line_sums *sums;
    const struct ar_line_sum *lines; /* those of the lane */
    uint32_t lines_count;
    double *at_s;     /* [position]: where the part is */
    double *free_s;   /* [line]: it takes the next part */
    double *finish_s; /* [line][window]: parts have left it */
};

/* A part in a line: it begins when all members have it and the line and its window are free. */
static void line_run_part(const struct sums_run *run, uint32_t index, uint32_t part, double bytes)
{
    const struct ar_line_sum *sum = &run->lines[index];
    const struct ar_message_cost *cost = run->recurrence->cost;
    double busy_bytes = ar_line_busy_bytes(sum, cost, bytes);
    uint32_t window = run->recurrence->collective->window;
    double *finish_s = &run->finish_s[(size_t)index * window + part % window];
    double start_s = later_s(run->free_s[index], *finish_s);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        start_s = later_s(start_s, run->at_s[sum->line.first + i * sum->line.stride]);
    }
    run->free_s[index] = start_s + busy_bytes * sum->pace_s_per_byte;
    *finish_s = start_s + busy_bytes * sum->alone_s_per_byte + ar_line_latency_s(sum, cost, bytes);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        run->at_s[sum->line.first + i * sum->line.stride] = *finish_s;
    }
}

/* Lines of a stage by its first one on the lane. */
static void stage_run_part(const struct sums_run *run, const uint32_t *first, uint32_t part,
                           uint32_t step, uint64_t elements)
{
    const struct ar_collective *collective = run->recurrence->collective;
    for (uint32_t i = first[0]; i < first[1]; i++) {
        uint64_t largest = ar_line_elements(collective, &run->sums->lines[i].line, elements, step);
        line_run_part(run, i - (uint32_t)(run->lines - run->sums->lines), part,
                      (double)(largest * collective->element_bytes));
    }
}

size_t recurrence_sums_room(const struct recurrence *recurrence)
{
    size_t max = 0;
    for (uint32_t i = 0; i < recurrence->phases_count; i++) {
        const struct ar_line_sums *sums = recurrence->patterns[i].line_sums;
        if (sums != NULL) { /* all lanes have as many lines */
            size_t lines = sums->first[sums->stages] - sums->first[0];
            max = lines > max ? lines : max;
        }
    }
    return max * (1 + recurrence->collective->window) + 2 * (size_t)recurrence->positions;
}

void recurrence_run_sums(struct recurrence *recurrence, const struct ar_phase *phase,
                         const struct ar_line_sums *sums, uint32_t lane, uint64_t elements,
                         uint32_t first_step)
{
    const uint32_t *first = &sums->first[lane * sums->stages];
    uint32_t positions = recurrence->positions;
    struct sums_run run = {.recurrence = recurrence,
                           .sums = sums,
                           .lines = sums->lines + first[0],
                           .lines_count = first[sums->stages] - first[0],
                           .at_s = recurrence->sums_s,
                           .free_s = recurrence->sums_s + positions};
    size_t flights = (size_t)run.lines_count * recurrence->collective->window;
    run.finish_s = run.free_s + run.lines_count;
    memset(run.free_s, 0, (run.lines_count + flights) * sizeof *run.free_s);
    double *begin_s = run.finish_s + flights;
    for (uint32_t i = 0; i < positions; i++) { /* what the phase before has sent arrives first */
        begin_s[i] = recurrence_finish(recurrence, i);
    }
    memset(recurrence->flights_s, 0,
           (size_t)positions * recurrence->collective->window * sizeof *recurrence->flights_s);
    for (uint32_t part = 0; part < phase->steps / phase->period; part++) {
        memcpy(run.at_s, begin_s, positions * sizeof *begin_s);
        for (uint32_t stage = 0; stage < sums->stages; stage++) {
            stage_run_part(&run, &first[stage], part, first_step + part * phase->period + stage,
                           elements);
        }
    }
    for (uint32_t i = 0; i < positions; i++) { /* the last part has come last */
        recurrence->states[i] = (struct rank_state){.now_s = run.at_s[i], .peer = UINT32_MAX};
    }
}
