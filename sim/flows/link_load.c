#include "ar_link_load.h"

#include "flows.h"

/* Elements and messages that go over a path in a phase. */
struct path_load {
    uint64_t elements, messages_count;
};

/* Flows on a link at the time of one of them; the others are of earlier times. */
struct together {
    uint32_t time, flows;
    uint32_t group;  /* of the last one; those of a group come one after the other */
    uint32_t groups; /* of the flows */
};

/* A phase of a collective. */
struct phase_load {
    const struct ar_collective *collective;
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    uint64_t elements;
    struct ar_order order;
    uint32_t first_step;
    struct ar_sends sends;     /* of the present step of an exchange */
    uint64_t *sums;            /* of the walks of a lane, each with one more than its hops */
    struct together *together; /* [link] */
    uint32_t time;             /* of messages that are under way together */
    struct ar_phase_flows flows;
    struct ar_link_load *loads;
};

/* Adds up what a position sends, or receives, in each `stride`-th step of [first, end). */
static struct path_load moves_load(const struct phase_load *load, uint32_t lane, uint32_t position,
                                   uint32_t first, uint32_t end, uint32_t stride, bool is_sent)
{
    struct path_load sum = {.elements = 0};
    uint64_t elements = ar_collective_part(load->collective, load->elements, lane).count;
    for (uint32_t step = first; step < end; step += stride) {
        struct ar_move move =
            ar_algorithm_move(load->collective->algorithm, &load->collective->shape, elements,
                              position, load->first_step + step);
        if (is_sent ? move.sends : move.receive != AR_RECEIVE_NONE) {
            sum.messages_count++;
            sum.elements += (is_sent ? &move.send_span : &move.receive_span)->count;
        }
    }
    return sum;
}

/* Adds the load of a path of a lane, from a rank to another one, to those of its links. */
static void path_add_load(struct phase_load *load, uint32_t lane, struct ar_flow flow,
                          struct path_load path_load)
{
    struct ar_path path;
    uint32_t group = lane / load->collective->channels;
    ar_cluster_path(load->collective->cluster, flow.source, flow.destination, &path);
    for (uint32_t i = 0; i < path.links_count; i++) {
        struct ar_link_load *link = &load->loads[path.links[i]];
        struct together *on = &load->together[path.links[i]];
        bool is_new = on->time != load->time;
        *on = (struct together){.time = load->time,
                                .flows = is_new ? 1 : on->flows + 1,
                                .group = group,
                                .groups = is_new ? 1 : on->groups + (on->group != group)};
        link->flows_max = on->flows > link->flows_max ? on->flows : link->flows_max;
        link->groups_max = on->groups > link->groups_max ? on->groups : link->groups_max;
        link->bytes += path_load.elements * load->collective->element_bytes;
        link->messages_count += path_load.messages_count;
    }
}

/* --- phases ---------------------------------------------------------------------------------- */

/* In step s, hop h of a ring of n sends what hop h - s sent in the first step (ar_verify() checks
 * that), so in S steps it sends the whole ring's first messages S / n times, and those of the
 * S % n hops up to itself once more. Lanes have the same walks; those that carry as many elements
 * have the same sums. */
static void rings_add_load(struct phase_load *load, const struct ar_flows *flows)
{
    uint32_t steps = load->phase->steps;
    uint64_t elements = UINT64_MAX; /* of the lane before */
    for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
        uint64_t own = ar_collective_part(load->collective, load->elements, lane).count;
        uint64_t *sums = load->sums; /* of the hops before, on each ring */
        const uint32_t *walks = &load->pattern->lane_walks[ar_flows_lane(flows, lane)];
        for (uint32_t k = walks[0]; k < walks[1]; k++, sums++) {
            const struct ar_walk *walk = &load->pattern->walks[k];
            const struct ar_hop *hops = load->pattern->hops + walk->first;
            uint32_t count = walk->count, rest = steps % count;
            for (uint32_t i = 0; i < count && own != elements; i++) {
                sums[0] = 0;
                sums[i + 1] =
                    sums[i] + moves_load(load, lane, hops[i].from, 0, 1, 1, true).elements;
            }
            struct ar_flow flow = {.destination = ar_order_rank(&load->order, lane, hops[0].from)};
            for (uint32_t i = 0; i < count; i++) {
                uint64_t up_to =
                    rest <= i + 1 ? sums[i + 1 - rest] : sums[count + i + 1 - rest] - sums[count];
                uint64_t sent = steps / count * sums[count] + sums[i + 1] - up_to;
                flow.source = flow.destination;
                flow.destination = ar_order_rank(&load->order, lane, hops[i].to);
                path_add_load(load, lane, flow, (struct path_load){sent, steps});
            }
            sums += count;
        }
        elements = own;
    }
}

/* The steps of an exchange are under way together if its messages go at once, else one by one. */
static void exchange_add_load(struct phase_load *load)
{
    const struct ar_sends *sends = &load->sends;
    uint32_t *ranks = load->flows.ranks;
    uint32_t together = load->phase->is_at_once ? load->phase->steps : 1;
    for (uint32_t first = 0; first < load->phase->steps; first += together, load->time++) {
        for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
            uint64_t elements = ar_collective_part(load->collective, load->elements, lane).count;
            for (uint32_t position = 0; position < sends->end; position++) {
                ranks[position] = ar_order_rank(&load->order, lane, position);
            }
            for (uint32_t step = first; step < first + together; step++) {
                ar_algorithm_sends(load->collective->algorithm, &load->collective->shape, elements,
                                   load->first_step + step, &load->sends);
                for (uint32_t position = 0; position < sends->end; position++) {
                    uint32_t peer = sends->peers[position];
                    if (peer != AR_NEVER) {
                        path_add_load(load, lane, (struct ar_flow){ranks[position], ranks[peer]},
                                      (struct path_load){sends->counts[position], 1});
                    }
                }
            }
        }
    }
}

/* The steps of a phase whose peers stay, or repeat, are under way together; so are all stages of
 * sums, whose places have two flows, to the switch and from it. */
static void moves_add_load(struct phase_load *load)
{
    const struct ar_phase_flows *flows = &load->flows;
    uint32_t ranks = load->order.ranks, period = ar_phase_period(load->phase);
    uint32_t each = load->phase->kind == AR_PHASE_SUMS ? 2 : 1;
    size_t places = (size_t)ranks * period * ar_collective_lanes(load->collective);
    ar_phase_flows_find(load->collective, load->phase, load->first_step, &load->flows);
    for (size_t i = 0; i < places * each; i++) {
        size_t place = i / each;
        uint32_t lane = (uint32_t)(place / ranks / period);
        uint32_t position = (uint32_t)(place % ranks), first = (uint32_t)(place / ranks % period);
        struct path_load moved =
            moves_load(load, lane, position, first, load->phase->steps, period, i % each == 0);
        if (moved.messages_count > 0) {
            size_t in_lane = place % ((size_t)ranks * period);
            size_t flow = each == 2 ? i : lane * flows->lane_flows + flows->flow_of[in_lane];
            path_add_load(load, lane, flows->flows[flow], moved);
        }
    }
}

/* --- a collective ---------------------------------------------------------------------------- */

void ar_link_load_add_flows(const struct ar_flows *flows, uint64_t elements,
                            struct ar_link_load *loads)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_cluster *cluster = flows->collective.cluster;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_collective first = flows->collective, *collective = &first;
    bool has_nodes_alone =
        ar_cluster_links_count(cluster) == ar_cluster_links_of_nodes(cluster, facts->nodes_count);
    first.copies = has_nodes_alone ? flows->resolved.copies : 1;
    size_t taken_max, links = flows_links_count(collective, &taken_max);
    size_t positions = ar_shape_ranks(&collective->shape);
    struct phase_load load = {
        .collective = collective,
        .elements = elements,
        .order = ar_collective_order(collective),
        .sends = {.end = (uint32_t)positions,
                  .peers = ar_arena_alloc(&arena, positions, sizeof *load.sends.peers),
                  .counts = ar_arena_alloc(&arena, positions, sizeof *load.sends.counts)},
        .sums = ar_arena_alloc(&arena, 2 * positions, sizeof *load.sums),
        .together = ar_arena_alloc(&arena, links, sizeof *load.together),
        .loads = ar_arena_alloc(&arena, links, sizeof *loads),
    };
    flows = ar_flows_whole(flows);
    ar_phase_flows_create(&arena, collective, flows->phases, flows->phases_count, &load.flows);
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        load.phase = &flows->phases[i];
        load.pattern = &flows->patterns[i];
        if (load.phase->steps > 0) {
            uint32_t lanes = ar_collective_lanes(&flows->resolved);
            /* Whether all hops lie on rings and send in every step. */
            bool has_rings = load.pattern->walks_count > 0 &&
                             load.phase->messages * lanes ==
                                 (uint64_t)load.phase->steps * load.pattern->hops_count;
            for (uint32_t k = 0; k < load.pattern->walks_count; k++) {
                has_rings = has_rings && load.pattern->walks[k].is_ring;
            }
            load.time++;
            if (load.phase->kind == AR_PHASE_EXCHANGE) {
                exchange_add_load(&load);
            } else if (has_rings) {
                rings_add_load(&load, flows);
            } else {
                moves_add_load(&load);
            }
        }
        load.first_step += load.phase->steps;
    }
    /* Adds the loads of the first groups to the links of each copy. */
    uint32_t *used = ar_arena_room(&arena, links, sizeof *used), used_count = 0;
    for (uint32_t link = 0; link < links; link++) {
        used[used_count] = link;
        used_count += load.loads[link].messages_count > 0;
    }
    for (uint32_t copy = 0; copy < first.copies; copy++) {
        uint32_t rank = ar_mesh_rank(&first.mesh, copy * ar_collective_groups(&first), 0);
        uint32_t moved = ar_cluster_links_of_nodes(cluster, rank / facts->gpus_per_node);
        for (uint32_t i = 0; i < used_count; i++) {
            const struct ar_link_load *own = &load.loads[used[i]];
            struct ar_link_load *link = &loads[used[i] + moved];
            link->bytes += own->bytes;
            link->messages_count += own->messages_count;
            link->flows_max = own->flows_max > link->flows_max ? own->flows_max : link->flows_max;
            link->groups_max =
                own->groups_max > link->groups_max ? own->groups_max : link->groups_max;
        }
    }
}

enum ar_status ar_link_load_add(const struct ar_collective *collective, uint64_t elements,
                                struct ar_link_load *loads, struct ar_error *err)
{
    struct ar_flows *flows;
    AR_TRY(ar_flows_create(collective, &flows, err));
    ar_link_load_add_flows(flows, elements, loads);
    ar_flows_destroy(flows);
    return AR_OK;
}
