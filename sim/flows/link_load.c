#include "ar_link_load.h"

/* Bytes and messages of a hop in a phase, all calls. */
struct hop_load {
    uint64_t elements;
    uint64_t messages_count;
};

/* Flows on a link at the time of one of them; others are of earlier times. */
struct together {
    uint32_t time;
    uint32_t flows;
    uint32_t group;  /* of the last one; those of a group come one after the other */
    uint32_t groups; /* of the flows */
};

/* A phase of one collective, and room to add it up. */
struct phase_load {
    const struct ar_collective *collective;
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    struct ar_order order;
    uint32_t first_step;
    struct hop_load *hops;     /* [hop of the pattern] */
    uint64_t *sums;            /* [2 * ranks + 1] */
    struct together *together; /* [link] */
    uint32_t time;             /* of messages that are under way together */
    struct ar_phase_flows flows;
    struct ar_link_load *loads;
};

static struct ar_move load_move(const struct phase_load *load, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    const struct ar_collective *collective = load->collective;
    return ar_algorithm_move(collective->algorithm, &collective->shape, elements, position,
                             load->first_step + step);
}

/* All hops lie on rings and send in every step. */
static bool is_ring_phase(const struct phase_load *load)
{
    for (uint32_t i = 0; i < load->pattern->walks_count; i++) {
        if (!load->pattern->walks[i].is_ring) {
            return false;
        }
    }
    return load->phase->messages * ar_collective_lanes(load->collective) ==
           (uint64_t)load->phase->steps * load->pattern->hops_count;
}

/* In step s, hop h of a ring of n sends what hop h - s sent in the first step (ar_verify() checks
 * that), so in S steps it sends the whole ring's first messages S / n times, and those of the
 * S % n hops up to itself once more. */
static void ring_add_load(const struct phase_load *load, const struct ar_walk *walk,
                          uint64_t elements)
{
    const struct ar_hop *hops = load->pattern->hops + walk->first;
    uint32_t count = walk->count;
    uint32_t steps = load->phase->steps;
    uint32_t rest = steps % count;
    uint64_t *sums = load->sums; /* of the hops before, twice around */
    sums[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i] + load_move(load, elements, hops[i].from, 0).send_span.count;
    }
    for (uint32_t i = 0; i < count; i++) {
        sums[count + i + 1] = sums[count] + sums[i + 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = count + i + 1;
        load->hops[walk->first + i].elements +=
            steps / count * sums[count] + sums[end] - sums[end - rest];
        load->hops[walk->first + i].messages_count += steps;
    }
}

static void walk_add_load(const struct phase_load *load, const struct ar_walk *walk,
                          uint64_t elements)
{
    for (uint32_t i = walk->first; i < walk->first + walk->count; i++) {
        for (uint32_t step = 0; step < load->phase->steps; step++) {
            struct ar_move move = load_move(load, elements, load->pattern->hops[i].from, step);
            load->hops[i].elements += move.sends ? move.send_span.count : 0;
            load->hops[i].messages_count += move.sends;
        }
    }
}

/* Every hop of a tree carries the whole buffer. */
static void lane_add_tree_load(const struct phase_load *load, uint32_t lane, uint64_t elements)
{
    const uint32_t *lane_hops = load->pattern->lane_hops;
    for (uint32_t i = lane_hops[lane]; i < lane_hops[lane + 1]; i++) {
        load->hops[i].elements += elements;
        load->hops[i].messages_count += load->phase->parts;
    }
}

static void hop_find_path(const struct phase_load *load, uint32_t hop, uint32_t lane,
                          struct ar_path *path)
{
    const struct ar_order *order = &load->order;
    const struct ar_hop *ends = &load->pattern->hops[hop];
    ar_cluster_path(load->collective->cluster, ar_order_rank(order, lane, ends->from),
                    ar_order_rank(order, lane, ends->to), path);
}

/* Adds the bytes of a hop of a lane to the links of its path. */
static void path_add_load(struct phase_load *load, uint32_t lane, const struct ar_path *path,
                          const struct hop_load *hop)
{
    uint32_t group = lane / load->collective->channels;
    for (uint32_t i = 0; i < path->links_count; i++) {
        struct ar_link_load *link = &load->loads[path->links[i]];
        struct together *on = &load->together[path->links[i]];
        bool is_new = on->time != load->time;
        *on = (struct together){.time = load->time,
                                .flows = is_new ? 1 : on->flows + 1,
                                .group = group,
                                .groups = is_new ? 1 : on->groups + (on->group != group)};
        link->flows_max = on->flows > link->flows_max ? on->flows : link->flows_max;
        link->groups_max = on->groups > link->groups_max ? on->groups : link->groups_max;
        link->bytes += hop->elements * load->collective->element_bytes;
        link->messages_count += hop->messages_count;
    }
}

static void hops_add_load(struct phase_load *load)
{
    const struct ar_pattern *pattern = load->pattern;
    struct ar_path path;
    load->time++;
    for (uint32_t i = 0, lane = 0; i < pattern->hops_count; i++) {
        while (i >= pattern->lane_hops[lane + 1]) {
            lane++;
        }
        hop_find_path(load, i, lane, &path);
        path_add_load(load, lane, &path, &load->hops[i]);
    }
}

/* The message that a position sends in a step of an exchange, in all collectives together. */
static void message_add_load(struct phase_load *load, const struct ar_order *order, uint32_t lane,
                             uint32_t position, uint32_t step, const uint64_t *elements,
                             size_t count)
{
    struct hop_load message = {.elements = 0};
    struct ar_move move = {.sends = false};
    struct ar_path path;
    for (size_t i = 0; i < count; i++) {
        move = load_move(load, ar_collective_part(load->collective, elements[i], lane).count,
                         position, step);
        message.elements += move.sends ? move.send_span.count : 0;
        message.messages_count += move.sends;
    }
    if (move.sends) {
        ar_cluster_path(load->collective->cluster, ar_order_rank(order, lane, position),
                        ar_order_rank(order, lane, move.send_to), &path);
        path_add_load(load, lane, &path, &message);
    }
}

/* The steps of a phase that is at once are together, else each is for itself. */
static void exchange_add_load(struct phase_load *load, const uint64_t *elements, size_t count)
{
    const struct ar_order *order = &load->order;
    uint32_t steps = load->phase->steps;
    uint32_t together = load->phase->is_at_once ? steps : 1;
    for (uint32_t first = 0; first < steps; first += together) {
        load->time++;
        for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
            for (uint32_t i = 0; i < together * order->ranks; i++) {
                message_add_load(load, order, lane, i % order->ranks, first + i / order->ranks,
                                 elements, count);
            }
        }
    }
}

/* Bytes over one half of a path, to a switch or from it, in all parts. */
static struct hop_load half_path_load(const struct phase_load *load, uint32_t lane, size_t place,
                                      bool is_sent, const uint64_t *elements, size_t count)
{
    uint32_t positions = ar_shape_ranks(&load->collective->shape);
    uint32_t position = (uint32_t)(place % positions), stage = (uint32_t)(place / positions);
    struct hop_load half = {.elements = 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t part = ar_collective_part(load->collective, elements[i], lane).count;
        for (uint32_t step = stage; step < load->phase->steps; step += load->phase->period) {
            struct ar_move move = load_move(load, part, position, step);
            bool is_there = is_sent ? move.sends : move.receive != AR_RECEIVE_NONE;
            half.messages_count += is_there;
            half.elements += !is_there ? 0
                             : is_sent ? move.send_span.count
                                       : move.receive_span.count;
        }
    }
    return half;
}

/* Sums: all stages are under way together. */
static void sums_add_load(struct phase_load *load, const uint64_t *elements, size_t count)
{
    struct ar_path path;
    size_t each = 2 * (size_t)ar_shape_ranks(&load->collective->shape) * load->phase->period;
    ar_phase_flows_find(load->collective, load->phase, load->first_step, &load->flows);
    load->time++;
    for (size_t i = 0; i < load->flows.flows_count; i++) {
        const struct ar_flow *flow = &load->flows.flows[i];
        uint32_t lane = (uint32_t)(i / each);
        struct hop_load half =
            half_path_load(load, lane, i % each / 2, i % 2 == 0, elements, count);
        ar_cluster_path(load->collective->cluster, flow->source, flow->destination, &path);
        if (half.messages_count > 0) {
            path_add_load(load, lane, &path, &half);
        }
    }
}

/* The phase of one all-reduce. */
static void walks_add_load(const struct phase_load *load, uint64_t elements)
{
    bool are_rings = is_ring_phase(load);
    for (uint32_t i = 0; i < load->pattern->walks_count; i++) {
        const struct ar_walk *walk = &load->pattern->walks[i];
        struct ar_span part = ar_collective_part(load->collective, elements, walk->lane);
        (are_rings ? ring_add_load : walk_add_load)(load, walk, part.count);
    }
    for (uint32_t i = 0;
         load->phase->kind == AR_PHASE_TREE && i < ar_collective_lanes(load->collective); i++) {
        lane_add_tree_load(load, i, ar_collective_part(load->collective, elements, i).count);
    }
}

static void phase_add_load(struct phase_load *load, const uint64_t *elements, size_t count)
{
    if (load->phase->kind == AR_PHASE_EXCHANGE) {
        exchange_add_load(load, elements, count);
        return;
    }
    if (load->phase->kind == AR_PHASE_SUMS) {
        sums_add_load(load, elements, count);
        return;
    }
    for (uint32_t i = 0; i < load->pattern->hops_count; i++) {
        load->hops[i] = (struct hop_load){.elements = 0};
    }
    for (size_t i = 0; i < count; i++) {
        walks_add_load(load, elements[i]);
    }
    hops_add_load(load);
}

void ar_link_load_add_flows(const struct ar_flows *flows, const uint64_t *elements, size_t count,
                            struct ar_link_load *loads)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_collective *collective = &flows->collective;
    size_t positions = ar_shape_ranks(&collective->shape), hops_max = 1;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        uint32_t hops = flows->patterns[i].hops_count;
        hops_max = hops > hops_max ? hops : hops_max;
    }
    struct phase_load load = {
        .collective = collective,
        .loads = loads,
        .order = ar_collective_order(collective),
        .hops = ar_arena_alloc(&arena, hops_max, sizeof *load.hops),
        .sums = ar_arena_alloc(&arena, 2 * positions + 1, sizeof *load.sums),
        .together = ar_arena_alloc(&arena, ar_cluster_links_count(collective->cluster),
                                   sizeof *load.together),
    };
    ar_phase_flows_create(&arena, collective, flows->phases, flows->phases_count, &load.flows);
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        load.phase = &flows->phases[i];
        load.pattern = &flows->patterns[i];
        if (load.phase->steps > 0) {
            phase_add_load(&load, elements, count);
        }
        load.first_step += load.phase->steps;
    }
}

enum ar_status ar_link_load_add(const struct ar_collective *collective, const uint64_t *elements,
                                size_t count, struct ar_link_load *loads, struct ar_error *err)
{
    struct ar_flows *flows;
    AR_TRY(ar_flows_create(collective, &flows, err));
    ar_link_load_add_flows(flows, elements, count, loads);
    ar_flows_destroy(flows);
    return AR_OK;
}
