#include "ar_maxmin.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Shares closer than this are one level: they come from sums in different order. */
#define SAME_SHARE 1e-12

/* --- paths ----------------------------------------------------------------------------------- */

static enum ar_status make_flows_room(struct ar_arena *arena, size_t count, struct ar_paths *paths,
                                      struct ar_error *err)
{
    if (count <= paths->flows_room) {
        return AR_OK;
    }
    paths->flows_room = count;
    paths->begin = ar_arena_alloc(arena, count + 1, sizeof *paths->begin);
    paths->latency_s = ar_arena_alloc(arena, count, sizeof *paths->latency_s);
    paths->bandwidth_Bps = ar_arena_alloc(arena, count, sizeof *paths->bandwidth_Bps);
    paths->tiers = ar_arena_alloc(arena, count, sizeof *paths->tiers);
    AR_NEED(!arena->is_broken, err, "the sharing of links");
    return AR_OK;
}

static enum ar_status make_links_room(struct ar_arena *arena, size_t used, size_t more,
                                      struct ar_paths *paths, struct ar_error *err)
{
    if (used + more <= paths->links_room) {
        return AR_OK;
    }
    size_t before = paths->links_room, added = used + more + 8 * paths->flows_room - before;
    paths->links = ar_arena_grow(arena, paths->links, before, added, sizeof *paths->links);
    paths->turns = ar_arena_grow(arena, paths->turns, before, added, sizeof *paths->turns);
    AR_NEED(paths->links && paths->turns, err, "the sharing of links");
    paths->links_room = before + added;
    return AR_OK;
}

/* A path is that of as many flows before, moved on: two nodes, as neighbours may swap. */
enum { NODES_ON = 2, SLOTS_MAX = 128 };

/* Up to which source and destination the last paths move along. */
struct alike_ends {
    struct ar_alike nodes;
    uint32_t slots; /* ranks of NODES_ON nodes */
    uint32_t source[SLOTS_MAX], destination[SLOTS_MAX];
};

/* Appends the path of a flow. */
static enum ar_status ask_path(struct ar_arena *arena, const struct ar_cluster *cluster,
                               struct ar_flow flow, size_t index, struct ar_paths *paths,
                               struct ar_error *err)
{
    size_t used = paths->begin[index];
    struct ar_path path;
    ar_cluster_path(cluster, flow.source, flow.destination, &path);
    AR_TRY(make_links_room(arena, used, path.links_count, paths, err));
    paths->latency_s[index] = path.latency_s;
    paths->bandwidth_Bps[index] = path.bandwidth_Bps;
    paths->tiers[index] = path.tier;
    for (uint32_t j = 0; j < path.links_count; j++) {
        paths->links[used++] = ar_path_link(&path, j);
    }
    paths->begin[index + 1] = used;
    return AR_OK;
}

/* Appends that of the same GPUs of nodes before, moved on. */
static enum ar_status move_path(struct ar_arena *arena, const struct ar_alike *nodes, size_t index,
                                struct ar_paths *paths, struct ar_error *err)
{
    size_t from = index - (size_t)NODES_ON * nodes->node_ranks;
    size_t used = paths->begin[index], count = paths->begin[from + 1] - paths->begin[from];
    AR_TRY(make_links_room(arena, used, count, paths, err));
    const uint32_t *before = paths->links + paths->begin[from];
    paths->latency_s[index] = paths->latency_s[from];
    paths->bandwidth_Bps[index] = paths->bandwidth_Bps[from];
    paths->tiers[index] = paths->tiers[from];
    for (size_t j = 0; j < count; j++) {
        uint32_t on = before[j] < nodes->links_end ? NODES_ON * nodes->node_links : 0;
        paths->links[used + j] = before[j] + on;
    }
    paths->begin[index + 1] = used + count;
    return AR_OK;
}

static bool moves_along(const struct alike_ends *ends, const struct ar_flow *flows, size_t index,
                        uint32_t slot)
{
    const struct ar_flow *flow = &flows[index];
    const struct ar_flow *before = flow - ends->slots;
    return flow->source == before->source + ends->slots &&
           flow->destination == before->destination + ends->slots &&
           flow->source < ends->source[slot] && flow->destination < ends->destination[slot];
}

enum ar_status ar_paths_find(struct ar_arena *arena, const struct ar_cluster *cluster,
                             const struct ar_flow *flows, size_t count, struct ar_paths *paths,
                             struct ar_error *err)
{
    struct alike_ends ends = {.nodes = {.end = 0}};
    AR_TRY(make_flows_room(arena, count, paths, err));
    paths->count = count;
    paths->begin[0] = 0;
    ends.nodes = count > 0 ? ar_cluster_alike(cluster, flows[0].source) : ends.nodes;
    ends.slots = NODES_ON * ends.nodes.node_ranks;
    bool may_move = ends.nodes.end > 0 && ends.slots <= SLOTS_MAX;
    for (size_t i = 0, slot = 0; i < count; i++) {
        if (may_move && i >= ends.slots && moves_along(&ends, flows, i, (uint32_t)slot)) {
            AR_TRY(move_path(arena, &ends.nodes, i, paths, err));
        } else {
            AR_TRY(ask_path(arena, cluster, flows[i], i, paths, err));
            if (may_move) {
                ends.source[slot] = ar_cluster_alike(cluster, flows[i].source).end;
                ends.destination[slot] = ar_cluster_alike(cluster, flows[i].destination).end;
            }
        }
        slot = slot + 1 < ends.slots ? slot + 1 : 0;
    }
    return AR_OK;
}

void ar_paths_fold(struct ar_paths *paths, const struct ar_cluster *cluster, uint32_t period)
{
    for (size_t i = 0; i < paths->begin[paths->count]; i++) {
        paths->links[i] = ar_cluster_first_link(cluster, period, paths->links[i], &paths->turns[i]);
    }
}

/* --- rates ----------------------------------------------------------------------------------- */

enum ar_status ar_maxmin_create(struct ar_arena *arena, const struct ar_cluster *cluster,
                                struct ar_maxmin *maxmin, struct ar_error *err)
{
    uint32_t links_count = ar_cluster_links_count(cluster);
    *maxmin = (struct ar_maxmin){
        .cluster = cluster,
        .links = ar_arena_alloc(arena, links_count, sizeof *maxmin->links),
        .known = ar_arena_alloc(arena, links_count, sizeof *maxmin->known),
        .flows = ar_arena_alloc(arena, links_count, sizeof *maxmin->flows),
        .used = ar_arena_alloc(arena, links_count, sizeof *maxmin->used),
        .tight = ar_arena_alloc(arena, links_count, sizeof *maxmin->tight),
        .waiting = ar_arena_alloc(arena, links_count, sizeof *maxmin->waiting),
        .lowest = ar_arena_alloc(arena, links_count, sizeof *maxmin->lowest),
        .left_Bps = ar_arena_alloc(arena, links_count, sizeof *maxmin->left_Bps),
        .share_Bps = ar_arena_alloc(arena, links_count, sizeof *maxmin->share_Bps),
        .final_Bps = ar_arena_alloc(arena, links_count, sizeof *maxmin->final_Bps),
    };
    AR_NEED(!arena->is_broken, err, "the sharing of links");
    return AR_OK;
}

const struct ar_maxmin_link *ar_maxmin_know(struct ar_maxmin *maxmin, uint32_t link)
{
    struct ar_maxmin_link *known = &maxmin->links[link];
    if (known->bandwidth_Bps == 0) {
        known->bandwidth_Bps = ar_cluster_link_bandwidth(maxmin->cluster, link);
        known->is_shared = ar_cluster_link_is_shared(maxmin->cluster, link);
        maxmin->known[maxmin->known_count++] = link;
    }
    return known;
}

/* Counts the flows on all links; returns how many the fullest has. */
static uint32_t count_flows(struct ar_maxmin *maxmin, const struct ar_paths *paths)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        maxmin->flows[maxmin->used[i]] = 0;
    }
    maxmin->used_count = 0;
    for (size_t i = 0; i < paths->begin[paths->count]; i++) {
        uint32_t flows = ++maxmin->flows[paths->links[i]];
        if (flows == 1) {
            maxmin->used[maxmin->used_count++] = paths->links[i];
        }
        most = flows > most ? flows : most;
    }
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        ar_maxmin_know(maxmin, maxmin->used[i]);
    }
    return most;
}

/* All flows wait on the links that they share. A link with one flow, or whose bandwidth is not
 * shared, bounds its flows, each alone. */
static void begin(struct ar_maxmin *maxmin, const struct ar_paths *paths)
{
    uint32_t tight_count = 0;
    size_t left = 0;
    for (size_t flow = 0; flow < paths->count; flow++) {
        double bound_Bps = HUGE_VAL;
        maxmin->open[flow] = flow;
        maxmin->begin[flow] = left;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            uint32_t link = paths->links[i];
            const struct ar_maxmin_link *known = &maxmin->links[link];
            bool is_alone = maxmin->flows[link] == 1 || !known->is_shared;
            double Bps = is_alone ? known->bandwidth_Bps : HUGE_VAL;
            bound_Bps = Bps < bound_Bps ? Bps : bound_Bps;
            maxmin->links_left[left] = link;
            left += !is_alone;
        }
        maxmin->bounds_Bps[flow] = bound_Bps;
    }
    maxmin->begin[paths->count] = left;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        uint32_t link = maxmin->used[i];
        if (maxmin->flows[link] > 1 && maxmin->links[link].is_shared) {
            maxmin->waiting[link] = maxmin->flows[link];
            maxmin->left_Bps[link] = maxmin->links[link].bandwidth_Bps;
            maxmin->tight[tight_count++] = link;
        }
    }
    maxmin->tight_count = tight_count;
}

/* The least of what the links of a path have. */
static double least(const double *of_links, const uint32_t *links, size_t count)
{
    double least_Bps = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        double Bps = of_links[links[i]];
        least_Bps = Bps < least_Bps ? Bps : least_Bps;
    }
    return least_Bps;
}

/* What each link would give, and the least of it for each open flow. */
static void find_levels(struct ar_maxmin *maxmin, size_t open_count)
{
    for (uint32_t i = 0; i < maxmin->tight_count; i++) {
        uint32_t link = maxmin->tight[i], waiting = maxmin->waiting[link];
        maxmin->share_Bps[link] = waiting > 0 ? maxmin->left_Bps[link] / waiting : HUGE_VAL;
        maxmin->lowest[link] = 0;
    }
    for (size_t i = 0; i < open_count; i++) {
        size_t flow = maxmin->open[i], count = maxmin->begin[flow + 1] - maxmin->begin[flow];
        const uint32_t *links = maxmin->links_left + maxmin->begin[flow];
        double level = least(maxmin->share_Bps, links, count);
        level = level < maxmin->bounds_Bps[flow] ? level : maxmin->bounds_Bps[flow];
        maxmin->levels[flow] = level;
        for (size_t j = 0; j < count; j++) {
            maxmin->lowest[links[j]] += maxmin->share_Bps[links[j]] <= level * (1 + SAME_SHARE);
        }
    }
}

static void take(struct ar_maxmin *maxmin, size_t flow, double rate_Bps)
{
    for (size_t j = maxmin->begin[flow]; j < maxmin->begin[flow + 1]; j++) {
        maxmin->waiting[maxmin->links_left[j]]--;
        maxmin->left_Bps[maxmin->links_left[j]] -= rate_Bps;
    }
}

/* One round: settles whom it can of the open flows; returns how many are left. A flow is settled
 * where a link of its path gives to all of its flows the least that they get anywhere: then no
 * other link leaves anything of it to them. */
static size_t settle(struct ar_maxmin *maxmin, size_t open_count, double *rates_Bps)
{
    size_t left = 0, settled = 0;
    find_levels(maxmin, open_count);
    for (uint32_t i = 0; i < maxmin->tight_count; i++) {
        uint32_t link = maxmin->tight[i];
        bool is_final = maxmin->lowest[link] == maxmin->waiting[link];
        maxmin->final_Bps[link] = is_final ? maxmin->share_Bps[link] : HUGE_VAL;
    }
    for (size_t i = 0; i < open_count; i++) {
        size_t flow = maxmin->open[i], first = maxmin->begin[flow];
        double level = maxmin->levels[flow];
        double final_Bps =
            least(maxmin->final_Bps, maxmin->links_left + first, maxmin->begin[flow + 1] - first);
        bool is_final = level >= maxmin->bounds_Bps[flow] || final_Bps <= level * (1 + SAME_SHARE);
        rates_Bps[flow] = is_final ? level : -1;
        settled += is_final;
    }
    for (size_t i = 0; settled < open_count && i < open_count; i++) {
        size_t flow = maxmin->open[i];
        if (rates_Bps[flow] < 0) {
            maxmin->open[left++] = flow;
        } else {
            take(maxmin, flow, rates_Bps[flow]);
        }
    }
    return left;
}

static enum ar_status make_room(struct ar_arena *arena, struct ar_maxmin *maxmin,
                                const struct ar_paths *paths, struct ar_error *err)
{
    if (paths->count > maxmin->flows_room) {
        maxmin->flows_room = paths->count;
        maxmin->begin = ar_arena_alloc(arena, paths->count + 1, sizeof *maxmin->begin);
        maxmin->bounds_Bps = ar_arena_alloc(arena, paths->count, sizeof *maxmin->bounds_Bps);
        maxmin->open = ar_arena_alloc(arena, paths->count, sizeof *maxmin->open);
        maxmin->levels = ar_arena_alloc(arena, paths->count, sizeof *maxmin->levels);
    }
    if (maxmin->links_left == NULL || paths->begin[paths->count] > maxmin->links_room) {
        maxmin->links_room = paths->links_room;
        maxmin->links_left = /* one more than all may be written */
            ar_arena_alloc(arena, paths->links_room + 1, sizeof *maxmin->links_left);
    }
    AR_NEED(!arena->is_broken, err, "the sharing of links");
    return AR_OK;
}

enum ar_status ar_maxmin_share(struct ar_arena *arena, struct ar_maxmin *maxmin,
                               const struct ar_paths *paths, double *rates_Bps,
                               struct ar_error *err)
{
    AR_TRY(make_room(arena, maxmin, paths, err));
    if (count_flows(maxmin, paths) == 1) { /* no two meet */
        memcpy(rates_Bps, paths->bandwidth_Bps, paths->count * sizeof *rates_Bps);
        return AR_OK;
    }
    begin(maxmin, paths);
    for (size_t open = paths->count; open > 0;) {
        open = settle(maxmin, open, rates_Bps);
    }
    return AR_OK;
}

enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               size_t flows_count, double *rates_Bps, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_paths paths = {.count = 0};
    struct ar_maxmin maxmin;
    AR_TRY(ar_paths_find(&arena, cluster, flows, flows_count, &paths, err));
    AR_TRY(ar_maxmin_create(&arena, cluster, &maxmin, err));
    return ar_maxmin_share(&arena, &maxmin, &paths, rates_Bps, err);
}
