#include "ar_link_load.h"

#include "ar_pattern.h"
#include "ar_phase_flows.h"

/* What a hop carries in a phase, all all-reduces. */
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

static struct ar_move move_at(const struct phase_load *load, uint64_t elements, uint32_t position,
                              uint32_t step)
{
    const struct ar_collective *collective = load->collective;
    return ar_algorithm_move(collective->algorithm, &collective->shape, elements, position,
                             load->first_step + step);
}

/* All hops lie on rings and send in every step. */
static bool is_steady(const struct phase_load *load)
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
static void add_ring(const struct phase_load *load, const struct ar_walk *walk, uint64_t elements)
{
    const struct ar_hop *hops = load->pattern->hops + walk->first;
    uint32_t count = walk->count;
    uint32_t steps = load->phase->steps;
    uint32_t rest = steps % count;
    uint64_t *sums = load->sums; /* of the hops before, twice around */
    sums[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i] + move_at(load, elements, hops[i].from, 0).send_span.count;
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

static void add_moves(const struct phase_load *load, const struct ar_walk *walk, uint64_t elements)
{
    for (uint32_t i = walk->first; i < walk->first + walk->count; i++) {
        for (uint32_t step = 0; step < load->phase->steps; step++) {
            struct ar_move move = move_at(load, elements, load->pattern->hops[i].from, step);
            load->hops[i].elements += move.sends ? move.send_span.count : 0;
            load->hops[i].messages_count += move.sends;
        }
    }
}

/* Every hop of a tree carries the whole buffer. */
static void add_tree(const struct phase_load *load, uint32_t lane, uint64_t elements)
{
    const uint32_t *lane_hops = load->pattern->lane_hops;
    for (uint32_t i = lane_hops[lane]; i < lane_hops[lane + 1]; i++) {
        load->hops[i].elements += elements;
        load->hops[i].messages_count += load->phase->parts;
    }
}

static void path_of(const struct phase_load *load, uint32_t hop, uint32_t lane,
                    struct ar_path *path)
{
    const struct ar_order *order = &load->order;
    const struct ar_hop *ends = &load->pattern->hops[hop];
    ar_cluster_path(load->collective->cluster, ar_order_rank(order, lane, ends->from),
                    ar_order_rank(order, lane, ends->to), path);
}

/* What a hop of a lane carries, on the links of its path. */
static void add_to_links(struct phase_load *load, uint32_t lane, const struct ar_path *path,
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

static void add_hops(struct phase_load *load)
{
    const struct ar_pattern *pattern = load->pattern;
    struct ar_path path;
    load->time++;
    for (uint32_t i = 0, lane = 0; i < pattern->hops_count; i++) {
        while (i >= pattern->lane_hops[lane + 1]) {
            lane++;
        }
        path_of(load, i, lane, &path);
        add_to_links(load, lane, &path, &load->hops[i]);
    }
}

/* The message that a position sends in a step of an exchange, in all collectives together. */
static void add_message(struct phase_load *load, const struct ar_order *order, uint32_t lane,
                        uint32_t position, uint32_t step, const uint64_t *elements, size_t count)
{
    struct hop_load message = {.elements = 0};
    struct ar_move move = {.sends = false};
    struct ar_path path;
    for (size_t i = 0; i < count; i++) {
        move = move_at(load, ar_collective_part(load->collective, elements[i], lane).count,
                       position, step);
        message.elements += move.sends ? move.send_span.count : 0;
        message.messages_count += move.sends;
    }
    if (move.sends) {
        ar_cluster_path(load->collective->cluster, ar_order_rank(order, lane, position),
                        ar_order_rank(order, lane, move.send_to), &path);
        add_to_links(load, lane, &path, &message);
    }
}

/* The steps of a phase that is at once are together, else each is for itself. */
static void add_exchange(struct phase_load *load, const uint64_t *elements, size_t count)
{
    const struct ar_order *order = &load->order;
    uint32_t steps = load->phase->steps;
    uint32_t together = load->phase->is_at_once ? steps : 1;
    for (uint32_t first = 0; first < steps; first += together) {
        load->time++;
        for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
            for (uint32_t i = 0; i < together * order->ranks; i++) {
                add_message(load, order, lane, i % order->ranks, first + i / order->ranks, elements,
                            count);
            }
        }
    }
}

/* What goes over one half of a path, to a switch or from it, in all parts. */
static struct hop_load half_load(const struct phase_load *load, uint32_t lane, size_t place,
                                 bool is_sent, const uint64_t *elements, size_t count)
{
    uint32_t positions = ar_shape_ranks(&load->collective->shape);
    uint32_t position = (uint32_t)(place % positions), stage = (uint32_t)(place / positions);
    struct hop_load half = {.elements = 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t part = ar_collective_part(load->collective, elements[i], lane).count;
        for (uint32_t step = stage; step < load->phase->steps; step += load->phase->period) {
            struct ar_move move = move_at(load, part, position, step);
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
static void add_sums(struct phase_load *load, const uint64_t *elements, size_t count)
{
    struct ar_path path;
    size_t each = 2 * (size_t)ar_shape_ranks(&load->collective->shape) * load->phase->period;
    ar_phase_flows_find(load->collective, load->phase, load->first_step, &load->flows);
    load->time++;
    for (size_t i = 0; i < load->flows.flows_count; i++) {
        const struct ar_flow *flow = &load->flows.flows[i];
        uint32_t lane = (uint32_t)(i / each);
        struct hop_load half = half_load(load, lane, i % each / 2, i % 2 == 0, elements, count);
        ar_cluster_path(load->collective->cluster, flow->source, flow->destination, &path);
        if (half.messages_count > 0) {
            add_to_links(load, lane, &path, &half);
        }
    }
}

/* The phase of one all-reduce. */
static void add_one(const struct phase_load *load, uint64_t elements)
{
    bool are_rings = is_steady(load);
    for (uint32_t i = 0; i < load->pattern->walks_count; i++) {
        const struct ar_walk *walk = &load->pattern->walks[i];
        struct ar_span part = ar_collective_part(load->collective, elements, walk->lane);
        (are_rings ? add_ring : add_moves)(load, walk, part.count);
    }
    for (uint32_t i = 0;
         load->phase->kind == AR_PHASE_TREE && i < ar_collective_lanes(load->collective); i++) {
        add_tree(load, i, ar_collective_part(load->collective, elements, i).count);
    }
}

static void add_phase(struct phase_load *load, const uint64_t *elements, size_t count)
{
    if (load->phase->kind == AR_PHASE_EXCHANGE) {
        add_exchange(load, elements, count);
        return;
    }
    if (load->phase->kind == AR_PHASE_SUMS) {
        add_sums(load, elements, count);
        return;
    }
    for (uint32_t i = 0; i < load->pattern->hops_count; i++) {
        load->hops[i] = (struct hop_load){.elements = 0};
    }
    for (size_t i = 0; i < count; i++) {
        add_one(load, elements[i]);
    }
    add_hops(load);
}

enum ar_status ar_link_load_add_patterns(const struct ar_collective *collective,
                                         const struct ar_phase *phases,
                                         const struct ar_pattern *patterns, uint32_t phases_count,
                                         const uint64_t *elements, size_t count,
                                         struct ar_link_load *loads, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct phase_load load = {
        .collective = collective, .loads = loads, .order = ar_collective_order(collective)};
    size_t hops_max = 1;
    AR_TRY(ar_phase_flows_create(&arena, collective, phases, phases_count, &load.flows, err));
    for (uint32_t i = 0; i < phases_count; i++) {
        hops_max = patterns[i].hops_count > hops_max ? patterns[i].hops_count : hops_max;
    }
    size_t links_count = ar_cluster_links_count(collective->cluster);
    load.hops = ar_arena_alloc(&arena, hops_max, sizeof *load.hops);
    load.sums =
        ar_arena_alloc(&arena, 2 * ar_shape_ranks(&collective->shape) + 1, sizeof *load.sums);
    load.together = ar_arena_alloc(&arena, links_count, sizeof *load.together);
    AR_NEED(load.hops && load.sums && load.together, err, "the loads of links");
    for (uint32_t i = 0; i < phases_count; i++) {
        load.phase = &phases[i];
        load.pattern = &patterns[i];
        if (phases[i].steps > 0) {
            add_phase(&load, elements, count);
        }
        load.first_step += phases[i].steps;
    }
    return AR_OK;
}

enum ar_status ar_link_load_add(const struct ar_collective *collective, const uint64_t *elements,
                                size_t count, struct ar_link_load *loads, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_pattern patterns[AR_PHASES_MAX] = {{.hops = NULL}};
    double unused;
    AR_TRY(ar_collective_check(collective, err));
    uint32_t phases_count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    AR_TRY(ar_pattern_resolve(&arena, collective, phases, phases_count, patterns, &unused, err));
    return ar_link_load_add_patterns(collective, phases, patterns, phases_count, elements, count,
                                     loads, err);
}
