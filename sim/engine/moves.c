/* Phases of walks, trees and sums, message by message. */
#include "recurrence.h"

#include <string.h>

/* --- walks ----------------------------------------------------------------------------------- */

/* The position that a hop leads to, or the one that stands for it. */
static inline uint32_t hop_receiver(const struct recurrence *recurrence, const struct ar_hop *hop)
{
    uint32_t positions = recurrence->positions;
    return hop->to < positions ? hop->to : hop->to % positions;
}

/* Sends from a rank, which is at `*now_s`, over a connection that is free from `*free_s` on, once
 * the message at `oldest_s` has arrived; writes when it has begun and when the connection is free
 * again. Returns the arrival. */
static inline double message_send(const struct recurrence *recurrence, const struct ar_hop *hop,
                                  double rate_Bps, double bytes, double *now_s, double *free_s,
                                  double oldest_s)
{
    double start_s = oldest_s > *now_s ? oldest_s : *now_s;
    start_s = *free_s > start_s ? *free_s : start_s;
    *now_s = start_s;
    double gap_s = hop->kind->turns * ar_message_gap_s(recurrence->cost, hop->kind->tier);
    *free_s = start_s + bytes * (1 / rate_Bps) + gap_s;
    return *free_s + ar_message_latency_s(hop->kind, recurrence->cost, bytes);
}

void recurrence_run_moves(struct recurrence *recurrence)
{
    const struct ar_collective *collective = recurrence->collective;
    const uint32_t *lane_hops = &recurrence->pattern->lane_hops[recurrence->resolved_lane];
    const struct ar_hop *hops = recurrence->pattern->hops + lane_hops[0];
    uint32_t hops_count = lane_hops[1] - lane_hops[0];
    double *sent_bytes = recurrence->room_s; /* [hop]: in the step; below 0: nothing is sent */
    const struct ar_sends *sends = &recurrence->sends;
    for (uint32_t step = 0; step < recurrence->phase->steps; step++) {
        ar_algorithm_sends(collective->algorithm, &collective->shape, recurrence->elements,
                           recurrence->first_step + step, &recurrence->sends);
        for (uint32_t i = 0; i < hops_count; i++) {
            const struct ar_hop *hop = &hops[i];
            sent_bytes[i] = -1;
            if (sends->peers[hop->from] != AR_NEVER) {
                /* Its arrival takes the place of that of the message `window` sends before. */
                struct rank_state *state = &recurrence->states[hop->from];
                size_t place = (size_t)state->oldest * recurrence->positions + hop->from;
                double *flight_s = &recurrence->flights_s[place];
                bool is_last = state->oldest + 1 == collective->window;
                state->oldest = is_last ? 0 : state->oldest + 1; /* faster than a division */
                sent_bytes[i] = (double)(sends->counts[hop->from] * collective->element_bytes);
                state->free_s = state->peer == hop->to + 1 ? state->free_s : 0;
                state->peer = hop->to + 1; /* any of all positions */
                *flight_s = message_send(recurrence, hop, hop->kind->rate_Bps, sent_bytes[i],
                                         &recurrence->now_s[hop->from], &state->free_s, *flight_s);
                recurrence->states[hop_receiver(recurrence, hop)].arrival_s = *flight_s;
            }
        }
        for (uint32_t i = 0; i < hops_count; i++) {
            if (sent_bytes[i] >= 0) {
                uint32_t to = hop_receiver(recurrence, &hops[i]);
                bool reduces = step < recurrence->phase->copies_from;
                recurrence->now_s[to] =
                    ar_later_s(recurrence->now_s[to], recurrence->states[to].arrival_s) +
                    (reduces ? sent_bytes[i] * recurrence->reduce_s_per_byte : 0);
            }
        }
    }
    size_t stride = recurrence->positions;
    for (size_t i = 0; i < stride; i++) { /* the oldest flights come first */
        uint32_t *oldest = &recurrence->states[i].oldest;
        double *flights_s = recurrence->flights_s + i;
        for (; *oldest > 0; --*oldest) {
            double first_s = flights_s[0];
            for (size_t k = 1; k < collective->window; k++) {
                flights_s[(k - 1) * stride] = flights_s[k * stride];
            }
            flights_s[(collective->window - 1) * stride] = first_s;
        }
    }
}

/* --- trees ----------------------------------------------------------------------------------- */

/* A tree on one lane: what stays the same from step to step. */
struct tree_run {
    struct recurrence *all;
    const struct ar_hop *hops; /* of the lane */
    uint32_t first, hops_count;
    const struct ar_tree_shares *shares;
    double *free_s;    /* by hop */
    double *flights_s; /* [part % slots][hop]: arrivals */
    size_t slots;      /* the window if parts wait for one; else 1 */
};

/* The hops that carry a part in a step: those that began so many periods before. */
static void tree_run_part(const struct tree_run *run, uint32_t step, uint32_t part)
{
    const struct recurrence *all = run->all;
    const uint32_t *began = &all->pattern->step_hops[step - part * all->phase->period];
    double *flights_s = run->flights_s + part % run->slots * run->hops_count;
    struct ar_span whole = {.first = 0, .count = all->elements};
    uint64_t elements = ar_span_part(whole, all->phase->parts, part).count;
    double bytes = (double)(elements * all->collective->element_bytes);
    double reduce_s = step < all->phase->copies_from ? bytes * all->reduce_s_per_byte : 0;
    bool waits = part >= all->collective->window;
    for (uint32_t i = began[0]; i < began[1]; i++) {
        const struct ar_hop *hop = &run->hops[i];
        double rate_Bps = ar_tree_rate_Bps(run->shares, part, run->first + i);
        double *to_s = &all->now_s[hop->to];
        flights_s[i] = message_send(all, hop, rate_Bps, bytes, &all->now_s[hop->from],
                                    &run->free_s[i], waits ? flights_s[i] : 0);
        *to_s = ar_later_s(*to_s, flights_s[i]) + reduce_s;
    }
}

/* The rates of parts are those of the largest of the call: they differ by an element at most. */
void recurrence_run_tree(struct recurrence *recurrence)
{
    const struct ar_phase *phase = recurrence->phase;
    const struct ar_flows *flows = recurrence->flows;
    uint32_t index = (uint32_t)(phase - flows->phases);
    const uint32_t *lane_hops = &recurrence->pattern->lane_hops[recurrence->resolved_lane];
    uint32_t first = lane_hops[0], hops_count = lane_hops[1] - first;
    size_t window = recurrence->collective->window;
    uint64_t bytes =
        ar_flows_message_bytes(flows, index, recurrence->trial->calls[recurrence->call].elements);
    struct tree_run run = {.all = recurrence,
                           .hops = recurrence->pattern->hops + first,
                           .first = first,
                           .hops_count = hops_count,
                           .shares = ar_flows_tree_shares(flows, index, (double)bytes),
                           .free_s = recurrence->room_s,
                           .flights_s = recurrence->room_s + hops_count,
                           .slots = phase->parts > window ? window : 1};
    memset(run.free_s, 0, hops_count * sizeof *run.free_s); /* no phase uses hops of another */
    for (uint32_t step = 0; step < phase->steps; step++) {
        uint32_t periods = step / phase->period + 1;
        uint32_t parts = periods < phase->parts ? periods : phase->parts;
        /* A rank sends in a step before it hears: an earlier part than the one that it gets. */
        for (uint32_t part = 0; part < parts; part++) {
            tree_run_part(&run, step, part);
        }
    }
    /* Nobody waits for the flights of a tree in the next phase; a rank is done when the last one of
     * each of its hops has arrived. */
    const double *last_s = run.flights_s + (phase->parts - 1) % run.slots * hops_count;
    for (size_t i = 0; i < hops_count; i++) {
        double *flight_s = &recurrence->flights_s[run.hops[i].from];
        *flight_s = ar_later_s(*flight_s, last_s[i]);
    }
}

/* --- sums ------------------------------------------------------------------------------------ */

/* A part in a line of a stage: it begins when all members have it at `at_s` and the line, which is
 * free at `free_s`, has let go the one a window before, at `finish_s`. */
static void line_run_part(const struct recurrence *all, const struct ar_line_sum *sum,
                          uint32_t step, double *at_s, double *free_s, double *finish_s)
{
    uint64_t largest = ar_line_elements(all->collective, &sum->line, all->elements, step);
    double bytes = (double)(largest * all->collective->element_bytes);
    double busy_bytes = ar_line_busy_bytes(sum, all->cost, bytes);
    double start_s = ar_later_s(*free_s, *finish_s);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        start_s = ar_later_s(start_s, at_s[sum->line.first + i * sum->line.stride]);
    }
    *free_s = start_s + busy_bytes * sum->pace_s_per_byte;
    *finish_s =
        start_s + busy_bytes * sum->alone_s_per_byte + ar_line_latency_s(sum, all->cost, bytes);
    for (uint32_t i = 0; i < sum->line.count; i++) {
        at_s[sum->line.first + i * sum->line.stride] = *finish_s;
    }
}

void recurrence_run_sums(struct recurrence *recurrence)
{
    const struct ar_phase *phase = recurrence->phase;
    const struct ar_line_sums *sums = recurrence->pattern->line_sums;
    const uint32_t *first = &sums->first[recurrence->resolved_lane * sums->stages];
    const struct ar_line_sum *lines = sums->lines + first[0];
    uint32_t lines_count = first[sums->stages] - first[0], window = recurrence->collective->window;
    double *at_s = recurrence->room_s;             /* [position]: where the part is */
    double *free_s = at_s + recurrence->positions; /* [line]: it takes the next part */
    double *finish_s = free_s + lines_count;       /* [line][window]: parts have left it */
    memset(free_s, 0, lines_count * (1 + window) * sizeof *free_s);
    for (uint32_t part = 0; part < phase->steps / phase->period; part++) {
        memcpy(at_s, recurrence->now_s, recurrence->positions * sizeof *at_s);
        for (uint32_t stage = 0; stage < sums->stages; stage++) {
            uint32_t step = recurrence->first_step + part * phase->period + stage;
            for (uint32_t i = first[stage] - first[0]; i < first[stage + 1] - first[0]; i++) {
                line_run_part(recurrence, &lines[i], step, at_s, &free_s[i],
                              &finish_s[i * window + part % window]);
            }
        }
    }
    memcpy(recurrence->now_s, at_s, recurrence->positions * sizeof *at_s); /* of the last part */
}
