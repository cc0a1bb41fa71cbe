#include "ar_phase_flows.h"

enum ar_status ar_phase_flows_create(struct ar_arena *arena, const struct ar_collective *collective,
                                     const struct ar_phase *phases, uint32_t phases_count,
                                     struct ar_phase_flows *flows, struct ar_error *err)
{
    size_t period = 1;
    for (uint32_t i = 0; i < phases_count; i++) {
        period = ar_phase_period(&phases[i]) > period ? ar_phase_period(&phases[i]) : period;
    }
    size_t places = (size_t)ar_shape_ranks(&collective->shape) * collective->channels * period;
    *flows = (struct ar_phase_flows){
        .places_max = places,
        .peers = ar_arena_alloc(arena, places, sizeof *flows->peers),
        .first_steps = ar_arena_alloc(arena, places, sizeof *flows->first_steps),
        .flow_of = ar_arena_alloc(arena, places, sizeof *flows->flow_of),
        .flows = ar_arena_alloc(arena, places, sizeof *flows->flows)};
    bool is_made = flows->peers != NULL && flows->first_steps != NULL && flows->flow_of != NULL &&
                   flows->flows != NULL;
    return is_made ? AR_OK : ar_error_no_memory(err, "the flows of a collective");
}

/* The peers of the first channel: all channels have the same. */
static void find_peers(const struct ar_collective *collective, const struct ar_phase *phase,
                       uint32_t first_step, struct ar_phase_flows *flows)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    for (uint32_t step = 0; step < ar_phase_period(phase); step++) {
        for (uint32_t position = 0; position < ranks; position++) {
            size_t place = (size_t)step * ranks + position;
            struct ar_move move;
            flows->first_steps[place] =
                ar_algorithm_find_step(collective->algorithm, &collective->shape, phase, first_step,
                                       position, step, true, &move);
            flows->peers[place] = flows->first_steps[place] == AR_NEVER ? AR_NEVER : move.send_to;
        }
    }
}

void ar_phase_flows_find(const struct ar_collective *collective, const struct ar_phase *phase,
                         uint32_t first_step, struct ar_phase_flows *flows)
{
    struct ar_order order = ar_collective_order(collective);
    size_t each = (size_t)order.ranks * ar_phase_period(phase);
    find_peers(collective, phase, first_step, flows);
    flows->flows_count = 0;
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        for (size_t i = 0; i < each; i++) {
            size_t place = channel * each + i;
            uint32_t to = flows->peers[place] = flows->peers[i];
            flows->first_steps[place] = flows->first_steps[i];
            if (to != AR_NEVER) {
                flows->flow_of[place] = (uint32_t)flows->flows_count;
                flows->flows[flows->flows_count++] =
                    (struct ar_flow){ar_order_rank(&order, channel, (uint32_t)(i % order.ranks)),
                                     ar_order_rank(&order, channel, to)};
            }
        }
    }
}
