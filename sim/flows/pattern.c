#include "ar_pattern.h"

#include <math.h>
#include <string.h>

#include "ar_exchange.h"
#include "ar_line_sums.h"
#include "ar_maxmin.h"
#include "ar_phase_flows.h"

/* Room to resolve the phases of one collective, reused from phase to phase. */
struct scratch {
    struct ar_phase_flows of; /* whose places the arrays below have */
    struct link_sums sums;    /* all phases so far */
    bool *has_sender;         /* per lane and position: some position sends to it */
    bool *is_visited;         /* per lane and position */
    struct ar_maxmin rates;   /* of the flows */
};

static enum ar_status scratch_create(struct ar_arena *arena, const struct ar_collective *collective,
                                     const struct ar_phase *phases, uint32_t phases_count,
                                     struct scratch *scratch, struct ar_error *err)
{
    AR_TRY(ar_phase_flows_create(arena, collective, phases, phases_count, &scratch->of, err));
    size_t places = scratch->of.places_max;
    size_t links = ar_cluster_links_count(collective->cluster);
    scratch->sums.carried = ar_arena_alloc(arena, links, sizeof *scratch->sums.carried);
    scratch->sums.folded = ar_arena_alloc(arena, links, sizeof *scratch->sums.folded);
    scratch->sums.period = ar_collective_ranks(collective);
    scratch->has_sender = ar_arena_alloc(arena, places, sizeof *scratch->has_sender);
    scratch->is_visited = ar_arena_alloc(arena, places, sizeof *scratch->is_visited);
    AR_NEED(!arena->is_broken, err, "the flows of a collective");
    return ar_maxmin_create(arena, collective->cluster, &scratch->rates, err);
}

static struct ar_hop hop_of(const struct ar_collective *collective, const struct scratch *scratch,
                            size_t place, struct ar_pattern *pattern)
{
    const struct ar_maxmin *rates = &scratch->rates;
    size_t flow = scratch->of.flow_of[place];
    struct ar_hop hop = {
        .from = (uint32_t)(place % ar_shape_ranks(&collective->shape)),
        .to = scratch->of.peers[place],
        .latency_s = rates->paths.latency_s[flow],
        .rate_Bps = rates->rates_Bps[flow],
        .tier = rates->paths.tiers[flow],
        .first_step = scratch->of.first_steps[place],
        .sends = scratch->of.sends[place],
    };
    hop.link = ar_maxmin_narrowest(rates, flow, &hop.flows);
    pattern->is_shared |= ar_maxmin_is_shared(rates, flow);
    return hop;
}

/* Appends the walk that begins at a position: its hops until it closes or ends. */
static void append_walk(const struct ar_collective *collective, uint32_t lane, uint32_t start,
                        struct scratch *scratch, struct ar_pattern *pattern)
{
    size_t base = (size_t)lane * ar_shape_ranks(&collective->shape);
    struct ar_walk *walk = &pattern->walks[pattern->walks_count++];
    size_t place = base + start;
    *walk = (struct ar_walk){.lane = lane, .first = pattern->hops_count};
    while (scratch->of.peers[place] != AR_NEVER && !scratch->is_visited[place]) {
        scratch->is_visited[place] = true;
        pattern->hops[pattern->hops_count++] = hop_of(collective, scratch, place, pattern);
        place = base + scratch->of.peers[place];
    }
    walk->count = pattern->hops_count - walk->first;
    walk->is_ring = scratch->of.peers[place] != AR_NEVER;
}

/* The hops of a tree, those of each lane by the step in which they begin. */
static enum ar_status lay_out_tree(struct ar_arena *arena, const struct ar_collective *collective,
                                   const struct ar_phase *phase, struct scratch *scratch,
                                   struct ar_pattern *pattern, struct ar_error *err)
{
    size_t each = (size_t)ar_shape_ranks(&collective->shape) * phase->period;
    uint32_t *next = ar_arena_alloc(arena, phase->steps, sizeof *next);
    uint32_t *begin = ar_arena_alloc(arena, phase->steps + 1, sizeof *begin);
    pattern->step_hops = begin;
    AR_NEED(next && begin, err, "the hops of a tree");
    for (size_t place = 0; place < each; place++) {
        if (scratch->of.peers[place] != AR_NEVER) {
            begin[scratch->of.first_steps[place] + 1]++;
        }
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        begin[step + 1] += begin[step];
    }
    for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
        pattern->lane_hops[lane] = pattern->hops_count;
        memcpy(next, begin, phase->steps * sizeof *next);
        for (size_t place = lane * each; place < (lane + 1) * each; place++) {
            if (scratch->of.peers[place] != AR_NEVER) {
                uint32_t index = next[scratch->of.first_steps[place]]++;
                pattern->hops[pattern->hops_count + index] =
                    hop_of(collective, scratch, place, pattern);
            }
        }
        pattern->hops_count += begin[phase->steps];
    }
    return AR_OK;
}

/* Chains begin where nobody sends to; what is left after them are rings. */
static void find_walks(const struct ar_collective *collective, uint32_t lane,
                       struct scratch *scratch, struct ar_pattern *pattern)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    size_t first = (size_t)lane * ranks;
    for (uint32_t position = 0; position < ranks; position++) {
        uint32_t to = scratch->of.peers[first + position];
        if (to != AR_NEVER) {
            scratch->has_sender[first + to] = true;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t position = 0; position < ranks; position++) {
            size_t place = first + position;
            bool begins = pass == 0 ? !scratch->has_sender[place] : !scratch->is_visited[place];
            if (begins && scratch->of.peers[place] != AR_NEVER) {
                append_walk(collective, lane, position, scratch, pattern);
            }
        }
    }
}

static bool are_alike(const struct ar_pattern *pattern)
{
    for (uint32_t i = 1; i < pattern->hops_count; i++) {
        const struct ar_hop *hop = &pattern->hops[i];
        if (hop->latency_s != pattern->hops[0].latency_s ||
            fabs(hop->rate_Bps - pattern->hops[0].rate_Bps) > 1e-9 * hop->rate_Bps) {
            return false;
        }
    }
    return true;
}

static enum ar_status resolve_phase(struct ar_arena *arena, const struct ar_collective *collective,
                                    const struct ar_phase *phase, uint32_t first_step,
                                    struct scratch *scratch, struct ar_pattern *pattern,
                                    struct ar_error *err)
{
    ar_phase_flows_find(collective, phase, first_step, &scratch->of);
    pattern->hops = ar_arena_alloc(arena, scratch->of.flows_count, sizeof *pattern->hops);
    pattern->walks = ar_arena_alloc(arena, scratch->of.flows_count, sizeof *pattern->walks);
    pattern->lane_hops = ar_arena_alloc(arena, (size_t)ar_collective_lanes(collective) + 1,
                                        sizeof *pattern->lane_hops);
    AR_NEED(!arena->is_broken, err, "the flows of a collective");
    AR_TRY(ar_maxmin_find(&scratch->rates, scratch->of.flows, scratch->of.flows_count, 0, err));
    if (phase->kind == AR_PHASE_TREE) {
        AR_TRY(lay_out_tree(arena, collective, phase, scratch, pattern, err));
    } else {
        size_t places = (size_t)ar_collective_ranks(collective) * collective->channels;
        memset(scratch->has_sender, 0, places * sizeof *scratch->has_sender);
        memset(scratch->is_visited, 0, places * sizeof *scratch->is_visited);
        for (uint32_t lane = 0; lane < ar_collective_lanes(collective); lane++) {
            pattern->lane_hops[lane] = pattern->hops_count;
            find_walks(collective, lane, scratch, pattern);
        }
    }
    pattern->lane_hops[ar_collective_lanes(collective)] = pattern->hops_count;
    pattern->is_uniform = are_alike(pattern);
    return AR_OK;
}

/* What the links carry in a phase, in buffers of a channel. */
static void add_busy_time(const struct ar_phase *phase, struct scratch *scratch)
{
    const struct ar_paths *paths = &scratch->rates.paths;
    for (size_t place = 0, flow = 0; flow < paths->count; place++) {
        if (scratch->of.peers[place] == AR_NEVER) {
            continue;
        }
        double buffers =
            phase->kind == AR_PHASE_TREE ? 1 : (double)scratch->of.sends[place] / phase->parts;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            scratch->sums.carried[paths->links[i]] += buffers;
        }
        flow++;
    }
}

static double find_busiest(const struct scratch *scratch, uint32_t ranks)
{
    const struct ar_maxmin *maxmin = &scratch->rates;
    uint32_t period = scratch->sums.period;
    double max_s_per_byte = 0;
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        uint32_t link = maxmin->known[i], first = link, turns;
        if (period < ranks) {
            first = ar_cluster_first_link(maxmin->cluster, period, link, &turns);
        }
        double buffers = scratch->sums.carried[link] + scratch->sums.folded[first];
        max_s_per_byte = fmax(max_s_per_byte, buffers / maxmin->links[link].bandwidth_Bps);
    }
    return max_s_per_byte;
}

enum ar_status ar_pattern_resolve(struct ar_arena *arena, const struct ar_collective *collective,
                                  const struct ar_phase *phases, uint32_t phases_count,
                                  struct ar_pattern *patterns, double *busiest_s_per_byte,
                                  struct ar_error *err)
{
    struct ar_arena scratch_arena AR_ENDS_HERE = {NULL};
    struct scratch scratch;
    struct exchange_scratch *exchanges = NULL;
    uint32_t first_step = 0;
    AR_TRY(scratch_create(&scratch_arena, collective, phases, phases_count, &scratch, err));
    for (uint32_t i = 0; i < phases_count; i++) {
        if (phases[i].steps > 0 && phases[i].kind == AR_PHASE_EXCHANGE) {
            if (exchanges == NULL) {
                AR_TRY(exchange_scratch_create(&scratch_arena, collective, &scratch.rates,
                                               &exchanges, err));
            }
            AR_TRY(exchange_resolve(arena, exchanges, &phases[i], first_step, &scratch.sums,
                                    &patterns[i].exchange, err));
            patterns[i].is_uniform = patterns[i].exchange->is_uniform;
            patterns[i].is_shared = patterns[i].exchange->is_shared;
        } else if (phases[i].steps > 0 && phases[i].kind == AR_PHASE_SUMS) {
            ar_phase_flows_find(collective, &phases[i], first_step, &scratch.of);
            AR_TRY(line_sums_resolve(arena, collective, &phases[i], first_step, &scratch.of,
                                     &scratch.rates, &scratch.sums, &patterns[i].line_sums, err));
            patterns[i].is_uniform = patterns[i].line_sums->is_uniform;
            patterns[i].is_shared = patterns[i].line_sums->is_shared;
        } else if (phases[i].steps > 0) {
            AR_TRY(resolve_phase(arena, collective, &phases[i], first_step, &scratch, &patterns[i],
                                 err));
            add_busy_time(&phases[i], &scratch);
        }
        first_step += phases[i].steps;
    }
    *busiest_s_per_byte = find_busiest(&scratch, ar_collective_ranks(collective));
    return AR_OK;
}
