#include "flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- walks and trees ------------------------------------------------------------------------- */

uint32_t flow_turns(const struct ar_maxmin *maxmin, size_t flow, const uint32_t *messages,
                    uint32_t own)
{
    const struct ar_paths *paths = &maxmin->paths;
    bool is_network = ar_tier_is_network(paths->tiers[flow]);
    uint32_t most = 0;
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1] && is_network; i++) {
        uint32_t link = paths->links[i];
        if (messages[link] > most && ar_cluster_is_hca_link(maxmin->cluster, maxmin->known[link])) {
            most = messages[link];
        }
    }
    return !is_network ? 1 : most > 0 ? most : own;
}

/* The kind of the hop of a flow, which is new unless it is among the last new ones. */
static const struct ar_message_kind *hop_kind(struct flows_scratch *scratch, size_t flow)
{
    const struct ar_maxmin *rates = &scratch->rates;
    double switches_s = rates->paths.switches_s[flow], rate_Bps = scratch->rates_Bps[flow];
    uint32_t turns = flow_turns(rates, flow, rates->flows, scratch->flows->collective.channels);
    enum ar_tier tier = rates->paths.tiers[flow];
    for (uint32_t i = 0; i < HOP_KINDS_KNOWN && i < scratch->kinds_count; i++) {
        const struct ar_message_kind *kind = scratch->kinds[i];
        if (kind->switches_s == switches_s && kind->rate_Bps == rate_Bps && kind->turns == turns &&
            kind->tier == tier) {
            return kind;
        }
    }
    struct ar_message_kind *made = ar_arena_alloc(scratch->arena, 1, sizeof *made);
    *made = (struct ar_message_kind){switches_s, rate_Bps, turns, 0, tier, 0, 0};
    made->link = ar_maxmin_narrowest(rates, flow, &made->flows);
    return scratch->kinds[scratch->kinds_count++ % HOP_KINDS_KNOWN] = made;
}

static struct ar_hop hop_of_place(struct flows_scratch *scratch, uint32_t lane, size_t place,
                                  uint32_t from, struct ar_pattern *pattern)
{
    const struct ar_phase_flows *peers = &scratch->peers;
    size_t flow = lane * peers->lane_flows + peers->flow_of[place];
    struct ar_hop hop = {from, peers->peers[place], hop_kind(scratch, flow)};
    /* Sums in another order may differ in the last digits. */
    pattern->is_shared |=
        hop.kind->rate_Bps < scratch->rates.paths.bandwidth_Bps[flow] * (1 - 1e-9);
    return hop;
}

/* Lays out the hops of a tree, those of each lane by the step in which they begin. */
static void tree_lay_out(struct flows_scratch *scratch, const struct ar_phase *phase,
                         struct ar_pattern *pattern)
{
    const struct ar_phase_flows *peers = &scratch->peers;
    uint32_t ranks = ar_shape_ranks(&scratch->collective->shape);
    size_t each = (size_t)ranks * phase->period;
    uint32_t *next = ar_arena_alloc(scratch->room, phase->steps, sizeof *next);
    uint32_t *begin = ar_arena_alloc(scratch->arena, phase->steps + 1, sizeof *begin);
    for (size_t place = 0; place < each; place++) {
        if (peers->peers[place] != AR_NEVER) {
            begin[peers->first_steps[place] + 1]++;
        }
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        begin[step + 1] += begin[step];
    }
    for (uint32_t lane = 0; lane < ar_collective_lanes(scratch->collective); lane++) {
        struct ar_hop *hops = pattern->hops + pattern->hops_count;
        pattern->lane_hops[lane] = pattern->hops_count;
        memcpy(next, begin, phase->steps * sizeof *next);
        for (size_t place = 0; place < each; place++) {
            if (peers->peers[place] != AR_NEVER) {
                hops[next[peers->first_steps[place]]++].from = (uint32_t)place;
            }
        }
        for (uint32_t i = 0; i < begin[phase->steps]; i++) {
            hops[i] = hop_of_place(scratch, lane, hops[i].from, hops[i].from % ranks, pattern);
        }
        pattern->hops_count += begin[phase->steps];
    }
    pattern->step_hops = begin;
}

/* Finds the walks of a lane: chains, which begin where nobody sends to, and rings, the rest. */
static void lane_find_walks(struct flows_scratch *scratch, const struct ar_phase *phase,
                            uint32_t lane, struct ar_pattern *pattern)
{
    uint32_t ranks = scratch->flows->period;
    const uint32_t *peers = scratch->peers.peers;
    struct ar_arena room AR_ENDS_HERE = {NULL};
    bool *has_sender = ar_arena_alloc(&room, ranks, sizeof *has_sender);
    bool *is_visited = ar_arena_alloc(&room, ranks, sizeof *is_visited);
    for (uint32_t position = 0; position < ranks; position++) {
        if (peers[position] != AR_NEVER) {
            has_sender[peers[position] % ranks] = true;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t position = 0; position < ranks; position++) {
            bool begins = pass == 0 ? !has_sender[position] : !is_visited[position];
            if (begins && peers[position] != AR_NEVER) {
                struct ar_walk *walk = &pattern->walks[pattern->walks_count++];
                uint32_t place = position;
                *walk = (struct ar_walk){.first = pattern->hops_count};
                for (; peers[place] != AR_NEVER && !is_visited[place];
                     place = peers[place] % ranks) {
                    is_visited[place] = true;
                    pattern->hops[pattern->hops_count++] =
                        hop_of_place(scratch, lane, place, place, pattern);
                }
                walk->period = pattern->hops_count - walk->first;
                walk->is_ring = peers[place] != AR_NEVER;
                walk->count = walk->is_ring ? phase->line : walk->period;
            }
        }
    }
}

/* Resolves a phase of walks or a tree. */
static void phase_resolve_hops(struct flows_scratch *scratch, const struct ar_phase *phase,
                               uint32_t first_step, struct ar_pattern *pattern)
{
    uint32_t lanes = ar_collective_lanes(scratch->collective);
    size_t flows = scratch->peers.flows_count;
    uint32_t period = scratch->flows->period;
    uint32_t folded = period < ar_shape_ranks(&scratch->collective->shape) ? period : 0;
    scratch->kinds_count = 0;
    pattern->hops = ar_arena_alloc(scratch->arena, flows, sizeof *pattern->hops);
    pattern->walks = ar_arena_alloc(scratch->arena, flows, sizeof *pattern->walks);
    pattern->lane_hops =
        ar_arena_alloc(scratch->arena, (size_t)lanes + 1, sizeof *pattern->lane_hops);
    pattern->lane_walks =
        ar_arena_alloc(scratch->arena, (size_t)lanes + 1, sizeof *pattern->lane_walks);
    if (!fast_paths_take(scratch, first_step)) {
        ar_maxmin_find_paths(&scratch->rates, scratch->peers.flows, flows, folded);
        if (scratch->kept != NULL) {
            scratch->kept[first_step].paths = scratch->rates.paths;
        }
    }
    if (phase->kind == AR_PHASE_TREE) {
        pattern->is_shared = ar_maxmin_is_overfull(&scratch->rates);
        scratch->rates_Bps = scratch->rates.paths.bandwidth_Bps;
        tree_lay_out(scratch, phase, pattern);
        pattern->tree = flows_tree_create(scratch->arena, scratch->flows, phase, pattern);
    } else {
        ar_maxmin_share(&scratch->rates);
        scratch->rates_Bps = scratch->rates.rates_Bps;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            pattern->lane_hops[lane] = pattern->hops_count;
            pattern->lane_walks[lane] = pattern->walks_count;
            lane_find_walks(scratch, phase, lane, pattern);
        }
    }
    pattern->lane_hops[lanes] = pattern->hops_count;
    pattern->lane_walks[lanes] = pattern->walks_count;
    pattern->is_uniform = true;
    for (uint32_t i = 1; i < pattern->hops_count; i++) { /* do all hops take as long? */
        const struct ar_message_kind *hop = pattern->hops[i].kind, *first = pattern->hops[0].kind;
        pattern->is_uniform &= hop->switches_s == first->switches_s &&
                               ar_tier_is_alike(hop->tier, first->tier) &&
                               (scratch->cost->gap_s == 0 || hop->turns == first->turns) &&
                               fabs(hop->rate_Bps - first->rate_Bps) <= 1e-9 * hop->rate_Bps;
    }
    /* The links carry that many buffers of a channel more. */
    const struct ar_paths *paths = &scratch->rates.paths;
    size_t each = (size_t)period * ar_phase_period(phase);
    double *carried = folded > 0 ? scratch->rates.folded : scratch->rates.carried;
    for (size_t place = 0, flow = 0; flow < paths->count && !scratch->is_again;
         place = (place + 1) % each) {
        if (scratch->peers.peers[place] == AR_NEVER) {
            continue;
        }
        double buffers =
            phase->kind == AR_PHASE_TREE ? 1 : (double)scratch->peers.sends[place] / phase->parts;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            carried[paths->links[i]] += buffers;
        }
        flow++;
    }
}

size_t flows_links_count(const struct ar_collective *collective, size_t *taken_max)
{
    uint32_t groups = ar_collective_groups(collective), ranks = ar_shape_ranks(&collective->shape);
    bool has_mesh = collective->mesh.axes_count > 0;
    uint32_t last = has_mesh ? ar_mesh_rank(&collective->mesh, groups - 1, ranks - 1) : ranks - 1;
    *taken_max = ar_cluster_links_taken(collective->cluster, last + 1);
    return ar_cluster_links_among(collective->cluster, last + 1);
}

/* --- a collective ---------------------------------------------------------------------------- */

static enum ar_status flows_create(const struct ar_collective *collective, bool is_plain,
                                   bool is_whole, struct ar_arena *room,
                                   struct flows_scratch **kept, struct ar_flows **made,
                                   struct ar_error *err)
{
    struct ar_arena here AR_ENDS_HERE = {NULL};
    AR_TRY(ar_collective_check(collective, err));
    struct ar_flows *flows = calloc(1, sizeof *flows + sizeof *flows->kept);
    ar_memory_require(flows != NULL, "the flows of a collective");
    flows->collective = *collective;
    flows->kept = (struct ar_kept *)(flows + 1);
    flows->is_plain = is_plain;
    flows->resolved = *collective;
    flows->lanes_each = is_plain ? 1 : ar_flows_lanes_each(collective);
    flows->resolved.channels /= flows->lanes_each;
    flows->resolved.copies = is_plain ? 1 : fast_lanes_copies(collective);
    flows->lanes_count = ar_collective_lanes(&flows->resolved) * flows->lanes_each;
    collective = &flows->resolved; /* what is made outlives the caller's */
    flows->phases_count =
        ar_algorithm_phases(collective->algorithm, &collective->shape, flows->phases);
    flows->period = is_whole                        ? ar_shape_ranks(&collective->shape)
                    : kept != NULL && *kept != NULL ? (*kept)->peers.positions
                                                    : fast_steps_period_of_all(flows);
    struct flows_scratch *once = NULL; /* trees and sums have more than paths to keep */
    if (kept == NULL || collective->algorithm->move != NULL || collective->algorithm->wants_sums) {
        kept = &once;
        room = &here;
    }
    struct flows_scratch *scratch = *kept;
    size_t taken_max, links = flows_links_count(collective, &taken_max);
    bool is_again = scratch != NULL;
    if (!is_again) {
        uint32_t steps = ar_algorithm_steps(collective->algorithm, &collective->shape);
        *kept = scratch = ar_arena_alloc(room, 1, sizeof *scratch);
        scratch->cost = &ar_cluster_facts(collective->cluster)->message;
        scratch->room = room;
        scratch->period = ar_collective_groups(collective) * flows->period;
        scratch->kept = room != &here ? ar_arena_alloc(room, steps, sizeof *scratch->kept) : NULL;
        ar_phase_flows_create(room, collective, flows->phases, flows->phases_count,
                              &scratch->peers);
        scratch->peers.positions = flows->period;
        ar_maxmin_create(room, collective->cluster, links, taken_max, &scratch->rates);
        scratch->rates.has_equal_gpus = flows->lanes_each > 1;
    }
    scratch->flows = flows;
    scratch->collective = collective;
    scratch->arena = &flows->memory;
    scratch->is_again = is_again;
    fast_paths_begin(scratch);
    flows->even_elements = ar_shape_ranks(&collective->shape);
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        const struct ar_phase *phase = &flows->phases[i];
        struct ar_pattern *pattern = &flows->patterns[i];
        if (phase->steps > 0 && phase->kind == AR_PHASE_EXCHANGE) {
            flows_resolve_exchange(scratch, phase, first_step, pattern);
        } else if (phase->steps > 0) {
            ar_phase_flows_find(collective, phase, first_step, &scratch->peers);
            if (phase->kind == AR_PHASE_SUMS) {
                flows_resolve_sums(scratch, phase, first_step, pattern);
            } else {
                phase_resolve_hops(scratch, phase, first_step, pattern);
            }
        }
        first_step += phase->steps;
        uint32_t parts = phase->pieces > 0 ? phase->pieces : phase->parts;
        flows->even_elements *= flows->even_elements % parts != 0 ? parts : 1;
    }
    /* How long the busiest link needs, for each byte of the buffer of a channel; and the energy of
     * all links: half of that of the network in the HCA of either end. */
    const struct ar_maxmin *maxmin = &scratch->rates;
    uint32_t period = scratch->period, ranks = ar_collective_ranks(collective);
    const struct ar_cluster_facts *facts = ar_cluster_facts(collective->cluster);
    double max_s_per_byte = 0, energy_j = 0;
    double board_j = facts->board_j_per_byte > 0 ? facts->board_j_per_byte : NAN;
    double hca_j = facts->net_j_per_byte > 0 ? facts->net_j_per_byte / 2 : NAN;
    double nodes_links = ar_cluster_links_of_nodes(collective->cluster, facts->nodes_count);
    double lanes_alike =
        (double)ar_collective_lanes(&flows->collective) / ar_collective_lanes(collective);
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        uint32_t first = i + 1, turns;
        if (period < ranks) {
            first = maxmin->numbers[ar_cluster_first_link(maxmin->cluster, period, maxmin->known[i],
                                                          &turns)];
        }
        double buffers = maxmin->carried[i] + (first > 0 ? maxmin->folded[first - 1] : 0);
        max_s_per_byte = fmax(max_s_per_byte, buffers / maxmin->bandwidth_Bps[i]);
        if (maxmin->known[i] < nodes_links) {
            energy_j +=
                lanes_alike * (maxmin->carried[i] + maxmin->folded[i] * ranks / period) *
                (ar_cluster_is_hca_link(maxmin->cluster, maxmin->known[i]) ? hca_j : board_j);
        }
    }
    flows->energy_j_per_byte = energy_j;
    flows->busiest_s_per_byte = max_s_per_byte;
    *made = flows;
    return AR_OK;
}

enum ar_status ar_flows_create(const struct ar_collective *collective, struct ar_flows **flows,
                               struct ar_error *err)
{
    return flows_create(collective, false, false, NULL, NULL, flows, err);
}

enum ar_status ar_flows_create_kept(const struct ar_collective *collective, struct ar_arena *arena,
                                    struct flows_scratch **kept, struct ar_flows **flows,
                                    struct ar_error *err)
{
    return flows_create(collective, false, false, arena, kept, flows, err);
}

enum ar_status ar_flows_create_plain(const struct ar_collective *collective,
                                     struct ar_flows **flows, struct ar_error *err)
{
    return flows_create(collective, true, true, NULL, NULL, flows, err);
}

const struct ar_flows *ar_flows_whole(const struct ar_flows *flows)
{
    struct ar_flows **whole = &flows->kept->whole;
    if (flows->period == ar_shape_ranks(&flows->collective.shape)) {
        return flows;
    }
    if (*whole == NULL) { /* cannot fail: these were made of the same collective */
        (void)flows_create(&flows->collective, false, true, NULL, NULL, whole, AR_IGNORED);
    }
    return *whole;
}

void ar_flows_destroy(void *flows)
{
    if (flows != NULL) {
        ar_flows_destroy(((struct ar_flows *)flows)->kept->whole);
        ar_arena_end(&((struct ar_flows *)flows)->kept->memory);
        ar_arena_end(&((struct ar_flows *)flows)->memory);
        free(flows);
    }
}

/* --- gaps ------------------------------------------------------------------------------------ */

double ar_flows_gap_s(const struct ar_flows *flows, uint32_t phase, uint32_t step, uint32_t lane,
                      uint32_t from, uint32_t to)
{
    const struct ar_message_cost *cost = &ar_cluster_facts(flows->collective.cluster)->message;
    const struct ar_pattern *pattern = &flows->patterns[phase];
    lane = ar_flows_lane(flows, lane);
    from %= flows->period;
    if (pattern->exchange != NULL) {
        const struct ar_exchange_step *messages = &pattern->exchange->steps[step];
        uint32_t kind =
            messages->kind_of != NULL
                ? messages->kind_of[lane * messages->period +
                                    (from - messages->first) / messages->stride % messages->period]
                : 0;
        const struct ar_message_kind *message =
            &pattern->exchange->kinds[messages->first_kind + kind];
        return message->turns * ar_message_gap_s(cost, message->tier);
    }
    if (pattern->line_sums != NULL) {
        return 0;
    }
    for (uint32_t i = pattern->lane_hops[lane]; i < pattern->lane_hops[lane + 1]; i++) {
        if (pattern->hops[i].from == from &&
            pattern->hops[i].to % flows->period == to % flows->period) {
            return pattern->hops[i].kind->turns *
                   ar_message_gap_s(cost, pattern->hops[i].kind->tier);
        }
    }
    return 0;
}

/* --- sizes ----------------------------------------------------------------------------------- */

const struct ar_tree_shares *ar_flows_tree_shares(const struct ar_flows *flows, uint32_t phase,
                                                  double bytes)
{
    return flows_tree_find(flows->patterns[phase].tree, bytes);
}

static uint64_t channel_elements(const struct ar_flows *flows, uint64_t elements)
{
    uint32_t channels = flows->collective.channels;
    return (elements + channels - 1) / channels;
}

uint64_t ar_flows_piece_elements(const struct ar_flows *flows, uint32_t phase, uint32_t pieces,
                                 uint64_t elements)
{
    uint32_t all = flows->phases[phase].pieces;
    uint64_t each = channel_elements(flows, elements);
    uint64_t most = (each + all - 1) / all * pieces;
    return most < each ? most : each;
}

uint64_t ar_flows_message_bytes(const struct ar_flows *flows, uint32_t phase, uint64_t elements)
{
    const struct ar_exchange *exchange = flows->patterns[phase].exchange;
    uint32_t parts = flows->phases[phase].parts;
    uint64_t most = exchange != NULL
                        ? ar_flows_piece_elements(flows, phase, exchange->largest, elements)
                        : (channel_elements(flows, elements) + parts - 1) / parts;
    return most * flows->collective.element_bytes;
}

double ar_flows_least_s(const struct ar_flows *flows, uint64_t elements)
{
    uint64_t even = flows->even_elements;
    uint64_t each = (channel_elements(flows, elements) + even - 1) / even * even;
    return flows->busiest_s_per_byte * (double)(each * flows->collective.element_bytes);
}

/* --- where sharing does not change while messages are under way ------------------------------- */

static bool has_chains(const struct ar_flows *flows)
{
    AR_EACH(const struct ar_pattern, pattern, flows->patterns, flows->phases_count) {
        for (uint32_t j = 0; j < pattern->walks_count; j++) {
            if (!pattern->walks[j].is_ring) {
                return true;
            }
        }
    }
    return false;
}

bool ar_flows_are_ragged(const struct ar_flows *flows)
{
    bool are_ragged = has_chains(flows);
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        const struct ar_exchange *exchange = flows->patterns[i].exchange;
        /* Some ranks of an exchange or a tree have less to do than others, and end before them. */
        are_ragged |= exchange != NULL && !exchange->is_full && !exchange->is_private;
        are_ragged |= flows->patterns[i].tree != NULL && flows->patterns[i].is_shared;
    }
    return are_ragged;
}

static const char *exchange_why_not_exact(const struct ar_flows *flows, uint32_t index,
                                          uint64_t elements)
{
    const struct ar_exchange *exchange = flows->patterns[index].exchange;
    uint32_t channels = flows->collective.channels;
    uint32_t pieces = flows->phases[index].pieces;
    bool are_whole = exchange->smallest == pieces;
    bool goes_on_otherwise = false;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        goes_on_otherwise |= flows->patterns[i].exchange == NULL && flows->phases[i].steps > 0;
    }
    if (!exchange->is_uniform) {
        return "the messages of a step differ";
    }
    if (elements % ((uint64_t)channels * (are_whole ? 1 : pieces)) != 0) {
        return "messages of a step have different sizes";
    }
    if (!exchange->is_full && (exchange->is_shared || goes_on_otherwise) &&
        flows->phases_count > 1) {
        return "ranks begin phases at different times";
    }
    return "";
}

/* The rates of a tree are those of messages of one size, on ranks that begin the phase together. */
static const char *tree_why_not_exact(const struct ar_flows *flows, uint32_t index,
                                      uint64_t elements)
{
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        if (i != index && flows->phases[i].steps > 0) {
            return "parts that go up a tree meet parts that come down";
        }
    }
    uint64_t whole = (uint64_t)flows->collective.channels * flows->phases[index].parts;
    return flows->patterns[index].is_shared && elements % whole != 0
               ? "parts of different sizes share a link"
               : "";
}

static const char *phase_why_not_exact(const struct ar_flows *flows, uint32_t index,
                                       uint64_t elements)
{
    const struct ar_pattern *pattern = &flows->patterns[index];
    uint64_t channels = flows->collective.channels;
    if (flows->phases[index].steps == 0) {
        return "";
    }
    switch (flows->phases[index].kind) {
    case AR_PHASE_EXCHANGE:
        return exchange_why_not_exact(flows, index, elements);
    case AR_PHASE_SUMS:
        return !pattern->is_uniform         ? "the lines of a stage of sums differ"
               : pattern->line_sums->is_met ? "stages of a pipeline share links"
               : elements % (channels * flows->phases[index].pieces) != 0
                   ? "parts have different sizes"
                   : "";
    case AR_PHASE_TREE:
        return tree_why_not_exact(flows, index, elements);
    case AR_PHASE_WALK:
        break;
    }
    uint64_t whole = channels * ar_shape_ranks(&flows->collective.shape);
    return !pattern->is_uniform ? "the hops of a phase differ"
           : pattern->is_shared && elements % whole != 0
               ? "messages of different sizes share a link"
               : "";
}

const char *ar_flows_why_not_exact(const struct ar_flows *flows, uint64_t elements)
{
    bool is_shared = false;
    for (uint32_t i = 0; i < flows->phases_count; i++) {
        const char *why = phase_why_not_exact(flows, i, elements);
        if (why[0] != '\0') {
            return why;
        }
        is_shared |= flows->phases[i].kind == AR_PHASE_WALK && flows->patterns[i].is_shared;
    }
    /* The head of a chain sends without waiting for a receive, so it runs ahead. */
    return is_shared && has_chains(flows) ? "messages of different steps share a link" : "";
}
