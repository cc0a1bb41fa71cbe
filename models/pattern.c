#include "pattern.h"

#include <stdlib.h>
#include <string.h>

struct pattern_scratch {
    uint32_t *flows;  /* per link */
    uint32_t *peers;  /* per channel and position; NOBODY if it does not send */
    bool *has_sender; /* per channel and position: some position sends to it */
    bool *is_visited; /* per channel and position */
};

#define NOBODY UINT32_MAX

enum ar_status pattern_scratch_create(const struct ar_collective *collective,
                                      struct pattern_scratch **scratch, struct ar_error *err)
{
    size_t places = (size_t)ar_shape_ranks(&collective->shape) * collective->channels;
    struct pattern_scratch *created = calloc(1, sizeof *created);
    if (created != NULL) {
        created->flows = calloc(ar_cluster_links_count(collective->cluster), sizeof(uint32_t));
        created->peers = calloc(places, sizeof(uint32_t));
        created->has_sender = calloc(places, sizeof(bool));
        created->is_visited = calloc(places, sizeof(bool));
    }
    if (created == NULL || created->flows == NULL || created->peers == NULL ||
        created->has_sender == NULL || created->is_visited == NULL) {
        pattern_scratch_destroy(created);
        return ar_error_no_memory(err, "the flows of a collective");
    }
    *scratch = created;
    return AR_OK;
}

void pattern_scratch_destroy(struct pattern_scratch *scratch)
{
    if (scratch == NULL) {
        return;
    }
    free(scratch->flows);
    free(scratch->peers);
    free(scratch->has_sender);
    free(scratch->is_visited);
    free(scratch);
}

/* The peer a position sends to in a phase. A position that sends at all sends in the first or in
 * the last step of the phase (ar_verify() checks that). */
static uint32_t peer_in_phase(const struct ar_collective *collective, uint32_t position,
                              uint32_t first_step, uint32_t steps)
{
    struct ar_move move = collective->algorithm->move(&collective->shape, 0, position, first_step);
    if (!move.sends) {
        move = collective->algorithm->move(&collective->shape, 0, position, first_step + steps - 1);
    }
    return move.sends ? move.send_to : NOBODY;
}

static struct ar_path path_between(const struct ar_collective *collective, uint32_t channel,
                                   uint32_t from, uint32_t to)
{
    struct ar_order order = ar_collective_order(collective);
    return ar_cluster_path(collective->cluster, ar_order_rank(&order, channel, from),
                           ar_order_rank(&order, channel, to));
}

static void count_flows(const struct ar_collective *collective, uint32_t first_step, uint32_t steps,
                        struct pattern_scratch *scratch)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    size_t places = (size_t)ranks * collective->channels;
    memset(scratch->flows, 0, ar_cluster_links_count(collective->cluster) * sizeof *scratch->flows);
    memset(scratch->has_sender, 0, places * sizeof *scratch->has_sender);
    memset(scratch->is_visited, 0, places * sizeof *scratch->is_visited);
    for (uint32_t channel = 0; channel < collective->channels; channel++) {
        for (uint32_t from = 0; from < ranks; from++) {
            uint32_t to = peer_in_phase(collective, from, first_step, steps);
            scratch->peers[(size_t)channel * ranks + from] = to;
            if (to == NOBODY) {
                continue;
            }
            scratch->has_sender[(size_t)channel * ranks + to] = true;
            struct ar_path path = path_between(collective, channel, from, to);
            for (uint32_t i = 0; i < path.links_count; i++) {
                scratch->flows[path.links[i]]++;
            }
        }
    }
}

static struct hop hop_between(const struct ar_collective *collective, const uint32_t *flows,
                              uint32_t channel, uint32_t from, uint32_t to)
{
    struct ar_path path = path_between(collective, channel, from, to);
    struct hop hop = {.latency_s = path.latency_s, .tier = path.tier};
    for (uint32_t i = 0; i < path.links_count; i++) {
        uint32_t link = path.links[i];
        double rate_Bps = ar_cluster_link_bandwidth(collective->cluster, link) / flows[link];
        if (i == 0 || rate_Bps < hop.rate_Bps) {
            hop.rate_Bps = rate_Bps;
            hop.link = link;
            hop.flows = flows[link];
        }
    }
    return hop;
}

/* Appends the walk that begins at a position: its hops until it closes or ends. */
static void append_walk(const struct ar_collective *collective, uint32_t channel, uint32_t start,
                        struct pattern_scratch *scratch, struct pattern *pattern)
{
    size_t base = (size_t)channel * ar_shape_ranks(&collective->shape);
    struct walk *walk = &pattern->walks[pattern->walks_count++];
    walk->first = pattern->hops_count;
    uint32_t position = start;
    while (scratch->peers[base + position] != NOBODY && !scratch->is_visited[base + position]) {
        uint32_t to = scratch->peers[base + position];
        scratch->is_visited[base + position] = true;
        pattern->hops[pattern->hops_count++] =
            hop_between(collective, scratch->flows, channel, position, to);
        position = to;
    }
    walk->count = pattern->hops_count - walk->first;
    walk->is_ring = scratch->peers[base + position] != NOBODY;
}

/* Chains begin where nobody sends to; what is left after them are rings. */
static void find_walks(const struct ar_collective *collective, struct pattern_scratch *scratch,
                       struct pattern *pattern)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t channel = 0; channel < collective->channels; channel++) {
            for (uint32_t position = 0; position < ranks; position++) {
                size_t place = (size_t)channel * ranks + position;
                bool begins = pass == 0 ? !scratch->has_sender[place] : !scratch->is_visited[place];
                if (begins && scratch->peers[place] != NOBODY) {
                    append_walk(collective, channel, position, scratch, pattern);
                }
            }
        }
    }
}

static void describe(struct pattern *pattern)
{
    pattern->is_uniform = true;
    for (uint32_t i = 0; i < pattern->hops_count; i++) {
        const struct hop *hop = &pattern->hops[i];
        if (hop->latency_s != pattern->hops[0].latency_s ||
            hop->rate_Bps != pattern->hops[0].rate_Bps) {
            pattern->is_uniform = false;
        }
        if (hop->flows > 1) {
            pattern->is_shared = true;
        }
    }
}

enum ar_status pattern_resolve(const struct ar_collective *collective, uint32_t first_step,
                               uint32_t steps, struct pattern_scratch *scratch,
                               struct pattern *pattern, struct ar_error *err)
{
    size_t places = (size_t)ar_shape_ranks(&collective->shape) * collective->channels;
    pattern->hops = malloc(places * sizeof *pattern->hops);
    pattern->walks = malloc(places * sizeof *pattern->walks);
    if (pattern->hops == NULL || pattern->walks == NULL) {
        return ar_error_no_memory(err, "the flows of a collective");
    }
    count_flows(collective, first_step, steps, scratch);
    find_walks(collective, scratch, pattern);
    describe(pattern);
    return AR_OK;
}

void pattern_destroy(struct pattern *pattern)
{
    free(pattern->hops);
    free(pattern->walks);
}
