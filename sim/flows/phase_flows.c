#include "ar_phase_flows.h"

enum ar_status ar_phase_flows_create(struct ar_arena *arena, const struct ar_collective *collective,
                                     const struct ar_phase *phases, uint32_t phases_count,
                                     struct ar_phase_flows *flows, struct ar_error *err)
{
    size_t period = 1;
    bool has_sums = false;
    for (uint32_t i = 0; i < phases_count; i++) {
        has_sums = has_sums || phases[i].kind == AR_PHASE_SUMS;
        period = ar_phase_period(&phases[i]) > period ? ar_phase_period(&phases[i]) : period;
    }
    size_t places = (size_t)ar_collective_ranks(collective) * collective->channels * period;
    size_t flows_max = places * (has_sums ? 2 : 1);
    *flows = (struct ar_phase_flows){
        .places_max = places,
        .flows_max = flows_max,
        .peers = ar_arena_alloc(arena, places, sizeof *flows->peers),
        .first_steps = ar_arena_alloc(arena, places, sizeof *flows->first_steps),
        .sends = ar_arena_alloc(arena, places, sizeof *flows->sends),
        .flow_of = ar_arena_alloc(arena, places, sizeof *flows->flow_of),
        .flows = ar_arena_alloc(arena, flows_max, sizeof *flows->flows)};
    AR_NEED(!arena->is_broken, err, "the flows of a collective");
    return AR_OK;
}

static bool sends_at(const struct ar_collective *collective, uint32_t position, uint32_t step)
{
    return ar_algorithm_move(collective->algorithm, &collective->shape, 0, position, step).sends;
}

/* The steps of a walk in which a position sends that does so in the first or the last one: one run,
 * whose other end is found by bisection. */
static uint32_t count_sends(const struct ar_collective *collective, uint32_t steps,
                            uint32_t first_step, uint32_t position, uint32_t *first)
{
    bool at_first = *first == 0;
    uint32_t low = 0; /* the answer of the first step holds here, that of the last at `high` */
    uint32_t high = steps - 1;
    if (at_first == sends_at(collective, position, first_step + high)) {
        return steps;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (sends_at(collective, position, first_step + middle) == at_first) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *first = at_first ? 0 : high;
    return at_first ? high : steps - high;
}

/* The peers of the first lane: all lanes have the same. */
static void find_peers(const struct ar_collective *collective, const struct ar_phase *phase,
                       uint32_t first_step, struct ar_phase_flows *flows)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    uint64_t senders = 0;
    for (uint32_t step = 0; step < ar_phase_period(phase); step++) {
        for (uint32_t position = 0; position < ranks; position++) {
            size_t place = (size_t)step * ranks + position;
            struct ar_move move;
            flows->first_steps[place] =
                ar_algorithm_find_step(collective->algorithm, &collective->shape, phase, first_step,
                                       position, step, true, &move);
            bool sends = flows->first_steps[place] != AR_NEVER;
            flows->peers[place] = sends ? move.send_to : AR_NEVER;
            flows->sends[place] = phase->kind == AR_PHASE_TREE ? phase->parts : phase->steps;
            senders += sends;
        }
    }
    flows->is_even = phase->kind == AR_PHASE_TREE || senders * phase->steps == phase->messages;
    for (uint32_t place = 0; !flows->is_even && place < ranks; place++) {
        if (flows->peers[place] != AR_NEVER) {
            flows->sends[place] = count_sends(collective, phase->steps, first_step, place,
                                              &flows->first_steps[place]);
        }
    }
}

/* To the switches of all stages of the pipeline, and from them. */
static void find_sums(const struct ar_collective *collective, const struct ar_phase *phase,
                      uint32_t first_step, struct ar_phase_flows *flows)
{
    struct ar_order order = ar_collective_order(collective);
    size_t each = (size_t)order.ranks * phase->period;
    for (size_t i = 0; i < each; i++) {
        uint32_t position = (uint32_t)(i % order.ranks);
        struct ar_line line = ar_algorithm_move(collective->algorithm, &collective->shape, 0,
                                                position, first_step + (uint32_t)(i / order.ranks))
                                  .line;
        uint32_t index = (position - line.first) / line.stride;
        uint32_t next = line.first + (index + 1) % line.count * line.stride;
        uint32_t last = line.first + (index + line.count - 1) % line.count * line.stride;
        for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
            struct ar_flow *flow = &flows->flows[2 * (lane * each + i)];
            uint32_t rank = ar_order_rank(&order, lane, position);
            flow[0] = (struct ar_flow){rank, AR_SWITCH | ar_order_rank(&order, lane, next)};
            flow[1] = (struct ar_flow){AR_SWITCH | ar_order_rank(&order, lane, last), rank};
        }
    }
    flows->flows_count = 2 * each * ar_collective_lanes(collective);
}

void ar_phase_flows_find(const struct ar_collective *collective, const struct ar_phase *phase,
                         uint32_t first_step, struct ar_phase_flows *flows)
{
    struct ar_order order = ar_collective_order(collective);
    size_t each = (size_t)order.ranks * ar_phase_period(phase);
    struct ar_phase one_step = *phase;
    if (phase->kind == AR_PHASE_SUMS) {
        find_sums(collective, phase, first_step, flows);
        return;
    }
    if (phase->kind == AR_PHASE_EXCHANGE) {
        one_step.steps = 1;
        one_step.messages = 0; /* other steps may have other numbers */
        phase = &one_step;
    }
    find_peers(collective, phase, first_step, flows);
    flows->flows_count = 0;
    for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
        for (size_t i = 0; i < each; i++) {
            size_t place = lane * each + i;
            uint32_t to = flows->peers[place] = flows->peers[i];
            flows->first_steps[place] = flows->first_steps[i];
            flows->sends[place] = flows->sends[i];
            if (to != AR_NEVER) {
                flows->flow_of[place] = (uint32_t)flows->flows_count;
                flows->flows[flows->flows_count++] =
                    (struct ar_flow){ar_order_rank(&order, lane, (uint32_t)(i % order.ranks)),
                                     ar_order_rank(&order, lane, to)};
            }
        }
    }
}
