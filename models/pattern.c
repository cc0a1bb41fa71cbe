#include "ar_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_maxmin.h"

/* Room to resolve the phases of one collective, reused from phase to phase. */
struct scratch {
    uint32_t *on_link;     /* flows per link */
    uint32_t *peers;       /* per place; NOBODY if it does not send */
    uint32_t *first_steps; /* per place that sends */
    uint32_t *flow_of;     /* per place that sends */
    bool *has_sender;      /* per channel and position: some position sends to it */
    bool *is_visited;      /* per channel and position */
    struct ar_flow *flows; /* of all channels */
    double *rates_Bps;     /* per flow */
    size_t flows_count;
};

/* Places: [channel][step of the period][position]. In walks, the period is one step. */

#define NOBODY UINT32_MAX

static void scratch_destroy(struct scratch *scratch)
{
    if (scratch == NULL) {
        return;
    }
    free(scratch->on_link);
    free(scratch->peers);
    free(scratch->first_steps);
    free(scratch->flow_of);
    free(scratch->has_sender);
    free(scratch->is_visited);
    free(scratch->flows);
    free(scratch->rates_Bps);
    free(scratch);
}

static enum ar_status scratch_create(const struct ar_collective *collective,
                                     const struct ar_phase *phases, uint32_t phases_count,
                                     struct scratch **scratch, struct ar_error *err)
{
    size_t period = 1;
    for (uint32_t i = 0; i < phases_count; i++) {
        period = ar_phase_period(&phases[i]) > period ? ar_phase_period(&phases[i]) : period;
    }
    size_t places = ar_shape_ranks(&collective->shape) * collective->channels * period;
    struct scratch *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->on_link = calloc(ar_cluster_links_count(collective->cluster), sizeof(uint32_t));
        made->peers = calloc(places, sizeof *made->peers);
        made->first_steps = calloc(places, sizeof *made->first_steps);
        made->flow_of = calloc(places, sizeof *made->flow_of);
        made->has_sender = calloc(places, sizeof *made->has_sender);
        made->is_visited = calloc(places, sizeof *made->is_visited);
        made->flows = calloc(places, sizeof *made->flows);
        made->rates_Bps = calloc(places, sizeof *made->rates_Bps);
    }
    if (made == NULL || made->on_link == NULL || made->peers == NULL || made->first_steps == NULL ||
        made->flow_of == NULL || made->has_sender == NULL || made->is_visited == NULL ||
        made->flows == NULL || made->rates_Bps == NULL) {
        scratch_destroy(made);
        return ar_error_no_memory(err, "the flows of a collective");
    }
    *scratch = made;
    return AR_OK;
}

/* Finds the peer a position sends to, and from which step on. All channels have the same ones. */
static void find_peer(const struct ar_collective *collective, const struct ar_phase *phase,
                      uint32_t first_step, size_t place, struct scratch *scratch)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    size_t each = (size_t)ranks * ar_phase_period(phase);
    if (place >= each) {
        scratch->peers[place] = scratch->peers[place - each];
        scratch->first_steps[place] = scratch->first_steps[place - each];
        return;
    }
    struct ar_move move;
    scratch->first_steps[place] =
        ar_algorithm_find_step(collective->algorithm, &collective->shape, phase, first_step,
                               (uint32_t)(place % ranks), (uint32_t)(place / ranks), true, &move);
    scratch->peers[place] = scratch->first_steps[place] == AR_NEVER ? NOBODY : move.send_to;
}

static void find_flows(const struct ar_collective *collective, const struct ar_phase *phase,
                       uint32_t first_step, struct scratch *scratch)
{
    struct ar_order order = ar_collective_order(collective);
    uint32_t ranks = order.ranks;
    size_t each = (size_t)ranks * ar_phase_period(phase);
    size_t places = each * collective->channels;
    memset(scratch->has_sender, 0, places * sizeof *scratch->has_sender);
    memset(scratch->is_visited, 0, places * sizeof *scratch->is_visited);
    scratch->flows_count = 0;
    for (size_t place = 0; place < places; place++) {
        uint32_t channel = (uint32_t)(place / each);
        uint32_t from = (uint32_t)(place % ranks);
        find_peer(collective, phase, first_step, place, scratch);
        uint32_t to = scratch->peers[place];
        if (to != NOBODY) {
            scratch->has_sender[(size_t)channel * ranks + to] = true;
            scratch->flow_of[place] = (uint32_t)scratch->flows_count;
            scratch->flows[scratch->flows_count++] = (struct ar_flow){
                ar_order_rank(&order, channel, from), ar_order_rank(&order, channel, to)};
        }
    }
}

static void count_on_links(const struct ar_collective *collective, struct scratch *scratch)
{
    memset(scratch->on_link, 0,
           ar_cluster_links_count(collective->cluster) * sizeof *scratch->on_link);
    for (size_t i = 0; i < scratch->flows_count; i++) {
        struct ar_path path = ar_cluster_path(collective->cluster, scratch->flows[i].source,
                                              scratch->flows[i].destination);
        for (uint32_t j = 0; j < path.links_count; j++) {
            scratch->on_link[ar_path_link(&path, j)]++;
        }
    }
}

/* Does a flow have less than the bandwidth of its path? Sums in another order may differ in the
 * last digits. */
static bool is_less(double rate_Bps, double bandwidth_Bps)
{
    return rate_Bps < bandwidth_Bps * (1 - 1e-9);
}

static struct ar_hop hop_of(const struct ar_collective *collective, const struct scratch *scratch,
                            size_t place, struct ar_pattern *pattern)
{
    const struct ar_flow *flow = &scratch->flows[scratch->flow_of[place]];
    struct ar_path path = ar_cluster_path(collective->cluster, flow->source, flow->destination);
    struct ar_hop hop = {
        .from = (uint32_t)(place % ar_shape_ranks(&collective->shape)),
        .to = scratch->peers[place],
        .latency_s = path.latency_s,
        .rate_Bps = scratch->rates_Bps[scratch->flow_of[place]],
        .tier = path.tier,
        .first_step = scratch->first_steps[place],
    };
    double min_Bps = 0;
    for (uint32_t i = 0; i < path.links_count; i++) {
        uint32_t link = ar_path_link(&path, i);
        bool is_shared = ar_cluster_link_is_shared(collective->cluster, link);
        uint32_t flows = is_shared ? scratch->on_link[link] : 1;
        double each_Bps = ar_cluster_link_bandwidth(collective->cluster, link) / flows;
        if (i == 0 || each_Bps < min_Bps) {
            min_Bps = each_Bps;
            hop.link = link;
            hop.flows = flows;
        }
    }
    pattern->is_shared |= is_less(hop.rate_Bps, path.bandwidth_Bps);
    return hop;
}

/* Appends the walk that begins at a position: its hops until it closes or ends. */
static void append_walk(const struct ar_collective *collective, uint32_t channel, uint32_t start,
                        struct scratch *scratch, struct ar_pattern *pattern)
{
    size_t base = (size_t)channel * ar_shape_ranks(&collective->shape);
    struct ar_walk *walk = &pattern->walks[pattern->walks_count++];
    size_t place = base + start;
    *walk = (struct ar_walk){.channel = channel, .first = pattern->hops_count};
    while (scratch->peers[place] != NOBODY && !scratch->is_visited[place]) {
        scratch->is_visited[place] = true;
        pattern->hops[pattern->hops_count++] = hop_of(collective, scratch, place, pattern);
        place = base + scratch->peers[place];
    }
    walk->count = pattern->hops_count - walk->first;
    walk->is_ring = scratch->peers[place] != NOBODY;
}

/* The hops of a tree, those of each channel by the step in which they begin. */
static enum ar_status lay_out_tree(const struct ar_collective *collective,
                                   const struct ar_phase *phase, struct scratch *scratch,
                                   struct ar_pattern *pattern, struct ar_error *err)
{
    size_t each = (size_t)ar_shape_ranks(&collective->shape) * phase->period;
    uint32_t *next = calloc(phase->steps, sizeof *next);
    uint32_t *begin = calloc(phase->steps + 1, sizeof *begin);
    pattern->step_hops = begin;
    if (next == NULL || begin == NULL) {
        free(next);
        return ar_error_no_memory(err, "the hops of a tree");
    }
    for (size_t place = 0; place < each; place++) {
        if (scratch->peers[place] != NOBODY) {
            begin[scratch->first_steps[place] + 1]++;
        }
    }
    for (uint32_t step = 0; step < phase->steps; step++) {
        begin[step + 1] += begin[step];
    }
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        pattern->channel_hops[channel] = pattern->hops_count;
        memcpy(next, begin, phase->steps * sizeof *next);
        for (size_t place = channel * each; place < (channel + 1) * each; place++) {
            if (scratch->peers[place] != NOBODY) {
                uint32_t index = next[scratch->first_steps[place]]++;
                pattern->hops[pattern->hops_count + index] =
                    hop_of(collective, scratch, place, pattern);
            }
        }
        pattern->hops_count += begin[phase->steps];
    }
    free(next);
    return AR_OK;
}

/* Chains begin where nobody sends to; what is left after them are rings. */
static void find_walks(const struct ar_collective *collective, uint32_t channel,
                       struct scratch *scratch, struct ar_pattern *pattern)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t position = 0; position < ranks; position++) {
            size_t place = (size_t)channel * ranks + position;
            bool begins = pass == 0 ? !scratch->has_sender[place] : !scratch->is_visited[place];
            if (begins && scratch->peers[place] != NOBODY) {
                append_walk(collective, channel, position, scratch, pattern);
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

/* SimGrid shares by latency: the less of it, the more bandwidth. */
static enum ar_status weigh_flows(const struct ar_collective *collective,
                                  const struct scratch *scratch, double **weights,
                                  struct ar_error *err)
{
    double *made = malloc(scratch->flows_count * sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "the flows of a collective");
    }
    for (size_t i = 0; i < scratch->flows_count; i++) {
        struct ar_path path = ar_cluster_path(collective->cluster, scratch->flows[i].source,
                                              scratch->flows[i].destination);
        made[i] = path.latency_s > 0 ? 1 / path.latency_s : 1;
    }
    *weights = made;
    return AR_OK;
}

static bool is_any_shared(const struct ar_collective *collective, const struct scratch *scratch)
{
    for (size_t i = 0; i < scratch->flows_count; i++) {
        struct ar_path path = ar_cluster_path(collective->cluster, scratch->flows[i].source,
                                              scratch->flows[i].destination);
        if (is_less(scratch->rates_Bps[i], path.bandwidth_Bps)) {
            return true;
        }
    }
    return false;
}

/* Max-min fair shares; on a platform file, whose sharing is SimGrid's matter, they are a guess that
 * SimGrid itself corrects. */
static enum ar_status find_rates(const struct ar_collective *collective, struct scratch *scratch,
                                 struct ar_error *err)
{
    const struct ar_cluster *cluster = collective->cluster;
    double *weights = NULL;
    bool has_platform = ar_cluster_platform_path(cluster) != NULL;
    enum ar_status status = has_platform ? weigh_flows(collective, scratch, &weights, err) : AR_OK;
    if (status == AR_OK) {
        status = ar_maxmin_rates(cluster, scratch->flows, weights, scratch->flows_count,
                                 scratch->rates_Bps, err);
    }
    free(weights);
    if (status == AR_OK && has_platform && is_any_shared(collective, scratch)) {
        status = ar_cluster_platform_rates(cluster, scratch->flows, scratch->flows_count,
                                           scratch->rates_Bps, err);
    }
    return status;
}

static enum ar_status resolve_phase(const struct ar_collective *collective,
                                    const struct ar_phase *phase, uint32_t first_step,
                                    struct scratch *scratch, struct ar_pattern *pattern,
                                    struct ar_error *err)
{
    find_flows(collective, phase, first_step, scratch);
    pattern->hops = malloc((scratch->flows_count + 1) * sizeof *pattern->hops);
    pattern->walks = malloc((scratch->flows_count + 1) * sizeof *pattern->walks);
    if (pattern->hops == NULL || pattern->walks == NULL) {
        return ar_error_no_memory(err, "the flows of a collective");
    }
    count_on_links(collective, scratch);
    enum ar_status status = find_rates(collective, scratch, err);
    if (status == AR_OK && phase->period > 0) {
        status = lay_out_tree(collective, phase, scratch, pattern, err);
    }
    for (uint32_t channel = 0;
         status == AR_OK && phase->period == 0 && channel < collective->channels; channel++) {
        pattern->channel_hops[channel] = pattern->hops_count;
        find_walks(collective, channel, scratch, pattern);
    }
    pattern->channel_hops[collective->channels] = pattern->hops_count;
    pattern->is_uniform = are_alike(pattern);
    return status;
}

enum ar_status ar_pattern_resolve(const struct ar_collective *collective,
                                  const struct ar_phase *phases, uint32_t phases_count,
                                  struct ar_pattern *patterns, struct ar_error *err)
{
    struct scratch *scratch = NULL;
    enum ar_status status = scratch_create(collective, phases, phases_count, &scratch, err);
    uint32_t first_step = 0;
    for (uint32_t i = 0; status == AR_OK && i < phases_count; i++) {
        if (phases[i].steps > 0) {
            status = resolve_phase(collective, &phases[i], first_step, scratch, &patterns[i], err);
        }
        first_step += phases[i].steps;
    }
    scratch_destroy(scratch);
    return status;
}

enum ar_status ar_pattern_prepare(const struct ar_collective *collective, struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    struct scratch *scratch = NULL;
    uint32_t phases_count = collective->algorithm->phases(&collective->shape, phases);
    uint32_t first_step = 0;
    enum ar_status status = scratch_create(collective, phases, phases_count, &scratch, err);
    for (uint32_t i = 0; status == AR_OK && i < phases_count; i++) {
        if (phases[i].steps > 0) {
            find_flows(collective, &phases[i], first_step, scratch);
            status = ar_cluster_prepare_paths(collective->cluster, scratch->flows,
                                              scratch->flows_count, err);
        }
        first_step += phases[i].steps;
    }
    scratch_destroy(scratch);
    return status;
}

void ar_pattern_destroy(struct ar_pattern *pattern)
{
    free(pattern->hops);
    free(pattern->walks);
    free(pattern->step_hops);
}
