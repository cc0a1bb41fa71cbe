#include "ar_link_load.h"

/* Elements and messages that go over a path in a phase, in all collectives together. */
struct path_load {
    uint64_t elements;
    uint64_t messages_count;
};

/* Flows on a link at the time of one of them; the others are of earlier times. */
struct together {
    uint32_t time;
    uint32_t flows;
    uint32_t group;  /* of the last one; those of a group come one after the other */
    uint32_t groups; /* of the flows */
};

/* A phase of some collectives that differ in their elements alone. */
struct phase_load {
    const struct ar_collective *collective;
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    const uint64_t *elements; /* [collective] */
    size_t count;
    struct ar_order order;
    uint32_t first_step;
    uint64_t *sums;            /* [2 * positions + 1]: room for a ring */
    struct together *together; /* [link] */
    uint32_t time;             /* of messages that are under way together */
    struct ar_phase_flows flows;
    struct ar_link_load *loads;
};

static uint64_t lane_elements(const struct phase_load *load, size_t collective, uint32_t lane)
{
    return ar_collective_part(load->collective, load->elements[collective], lane).count;
}

static struct ar_move load_move(const struct phase_load *load, uint64_t elements, uint32_t position,
                                uint32_t step)
{
    const struct ar_collective *collective = load->collective;
    return ar_algorithm_move(collective->algorithm, &collective->shape, elements, position,
                             load->first_step + step);
}

/* Adds up what a position sends, or receives, in every `stride`-th step from `first` to before
 * `end`. */
static struct path_load moves_load(const struct phase_load *load, uint32_t lane, uint32_t position,
                                   uint32_t first, uint32_t end, uint32_t stride, bool is_sent)
{
    struct path_load sum = {.elements = 0};
    for (size_t i = 0; i < load->count; i++) {
        uint64_t elements = lane_elements(load, i, lane);
        for (uint32_t step = first; step < end; step += stride) {
            struct ar_move move = load_move(load, elements, position, step);
            const struct ar_slice *span = is_sent ? &move.send_span : &move.receive_span;
            bool is_there = is_sent ? move.sends : move.receive != AR_RECEIVE_NONE;
            sum.messages_count += is_there;
            sum.elements += is_there ? span->count : 0;
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

static void hop_add_load(struct phase_load *load, uint32_t lane, uint32_t from, uint32_t to,
                         struct path_load hop_load)
{
    struct ar_flow flow = {ar_order_rank(&load->order, lane, from),
                           ar_order_rank(&load->order, lane, to)};
    path_add_load(load, lane, flow, hop_load);
}

/* --- walks and trees ------------------------------------------------------------------------- */

/* Whether all hops lie on rings and send in every step. */
static bool has_steady_rings(const struct phase_load *load)
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
static void ring_add_load(struct phase_load *load, const struct ar_walk *walk)
{
    const struct ar_hop *hops = load->pattern->hops + walk->first;
    uint32_t count = walk->count, steps = load->phase->steps;
    uint64_t *sums = load->sums; /* of the hops before, twice around */
    sums[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i] + moves_load(load, walk->lane, hops[i].from, 0, 1, 1, true).elements;
    }
    for (uint32_t i = 0; i < count; i++) {
        sums[count + i + 1] = sums[count] + sums[i + 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = count + i + 1;
        uint64_t rest = sums[end] - sums[end - steps % count];
        hop_add_load(load, walk->lane, hops[i].from, hops[i].to,
                     (struct path_load){.elements = steps / count * sums[count] + rest,
                                        .messages_count = steps * load->count});
    }
}

static void walks_add_load(struct phase_load *load)
{
    bool are_rings = has_steady_rings(load);
    for (uint32_t i = 0; i < load->pattern->walks_count; i++) {
        const struct ar_walk *walk = &load->pattern->walks[i];
        const struct ar_hop *hops = load->pattern->hops + walk->first;
        if (are_rings) {
            ring_add_load(load, walk);
        }
        for (uint32_t hop = 0; hop < walk->count && !are_rings; hop++) {
            hop_add_load(
                load, walk->lane, hops[hop].from, hops[hop].to,
                moves_load(load, walk->lane, hops[hop].from, 0, load->phase->steps, 1, true));
        }
    }
}

/* Every hop of a tree carries the whole buffer. */
static void tree_add_load(struct phase_load *load)
{
    for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
        struct path_load whole = {.messages_count = load->phase->parts * load->count};
        for (size_t i = 0; i < load->count; i++) {
            whole.elements += lane_elements(load, i, lane);
        }
        const uint32_t *first = &load->pattern->lane_hops[lane];
        for (uint32_t i = first[0]; i < first[1]; i++) {
            const struct ar_hop *hop = &load->pattern->hops[i];
            hop_add_load(load, lane, hop->from, hop->to, whole);
        }
    }
}

/* --- exchanges and sums ---------------------------------------------------------------------- */

/* The steps of a phase that is at once are together, else each is for itself. */
static void exchange_add_load(struct phase_load *load)
{
    uint32_t steps = load->phase->steps, ranks = load->order.ranks;
    uint32_t together = load->phase->is_at_once ? steps : 1;
    for (uint32_t first = 0; first < steps; first += together) {
        load->time += first > 0;
        for (uint32_t lane = 0; lane < ar_collective_lanes(load->collective); lane++) {
            for (uint32_t i = 0; i < together * ranks; i++) {
                uint32_t position = i % ranks, step = first + i / ranks;
                struct ar_move move = load_move(load, 0, position, step);
                if (move.sends) {
                    hop_add_load(load, lane, position, move.send_to,
                                 moves_load(load, lane, position, step, step + 1, 1, true));
                }
            }
        }
    }
}

/* All stages are under way together. Flows come in pairs, to the switch and from it. */
static void sums_add_load(struct phase_load *load)
{
    uint32_t positions = load->order.ranks, period = load->phase->period;
    ar_phase_flows_find(load->collective, load->phase, load->first_step, &load->flows);
    for (size_t i = 0; i < load->flows.flows_count; i++) {
        size_t place = i / 2 % ((size_t)positions * period);
        uint32_t lane = (uint32_t)(i / 2 / ((size_t)positions * period));
        struct path_load half =
            moves_load(load, lane, (uint32_t)(place % positions), (uint32_t)(place / positions),
                       load->phase->steps, period, i % 2 == 0);
        if (half.messages_count > 0) {
            path_add_load(load, lane, load->flows.flows[i], half);
        }
    }
}

/* --- a collective ---------------------------------------------------------------------------- */

void ar_link_load_add_flows(const struct ar_flows *flows, const uint64_t *elements, size_t count,
                            struct ar_link_load *loads)
{
    static void (*const add_load[])(struct phase_load *) = {[AR_PHASE_WALK] = walks_add_load,
                                                            [AR_PHASE_TREE] = tree_add_load,
                                                            [AR_PHASE_EXCHANGE] = exchange_add_load,
                                                            [AR_PHASE_SUMS] = sums_add_load};
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const struct ar_collective *collective = &flows->collective;
    size_t positions = ar_shape_ranks(&collective->shape);
    struct phase_load load = {
        .collective = collective,
        .elements = elements,
        .count = count,
        .order = ar_collective_order(collective),
        .sums = ar_arena_alloc(&arena, 2 * positions + 1, sizeof *load.sums),
        .together = ar_arena_alloc(&arena, ar_cluster_links_count(collective->cluster),
                                   sizeof *load.together),
        .loads = loads,
    };
    ar_phase_flows_create(&arena, collective, flows->phases, flows->phases_count, &load.flows);
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        load.phase = &flows->phases[i];
        load.pattern = &flows->patterns[i];
        if (load.phase->steps > 0) {
            load.time++;
            add_load[load.phase->kind](&load);
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
