#include "ar_maxmin.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Shares closer than this are one level: they come from sums in different order. */
#define SAME_SHARE 1e-12

/* --- paths ----------------------------------------------------------------------------------- */

static enum ar_status no_memory(struct ar_error *err)
{
    return ar_error_no_memory(err, "the sharing of links");
}

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
    bool is_made = paths->begin != NULL && paths->latency_s != NULL &&
                   paths->bandwidth_Bps != NULL && paths->tiers != NULL;
    return is_made ? AR_OK : no_memory(err);
}

static enum ar_status make_links_room(struct ar_arena *arena, size_t used, size_t more,
                                      struct ar_paths *paths, struct ar_error *err)
{
    if (used + more <= paths->links_room) {
        return AR_OK;
    }
    size_t room = 2 * (used + more) + 8 * paths->flows_room;
    uint32_t *links = ar_arena_alloc(arena, room, sizeof *links);
    paths->turns = ar_arena_alloc(arena, room, sizeof *paths->turns);
    if (links == NULL || paths->turns == NULL) {
        return no_memory(err);
    }
    if (used > 0) {
        memcpy(links, paths->links, used * sizeof *links);
    }
    paths->links = links;
    paths->links_room = room;
    return AR_OK;
}

enum ar_status ar_paths_find(struct ar_arena *arena, const struct ar_cluster *cluster,
                             const struct ar_flow *flows, size_t count, struct ar_paths *paths,
                             struct ar_error *err)
{
    size_t used = 0;
    struct ar_path path;
    AR_TRY(make_flows_room(arena, count, paths, err));
    paths->count = count;
    for (size_t i = 0; i < count; i++) {
        ar_cluster_path(cluster, flows[i].source, flows[i].destination, &path);
        AR_TRY(make_links_room(arena, used, path.links_count, paths, err));
        paths->begin[i] = used;
        paths->latency_s[i] = path.latency_s;
        paths->bandwidth_Bps[i] = path.bandwidth_Bps;
        paths->tiers[i] = path.tier;
        for (uint32_t j = 0; j < path.links_count; j++) {
            paths->links[used++] = ar_path_link(&path, j);
        }
    }
    paths->begin[count] = used;
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
    };
    bool is_made = maxmin->links != NULL && maxmin->known != NULL && maxmin->flows != NULL &&
                   maxmin->used != NULL;
    return is_made ? AR_OK : no_memory(err);
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

/* The level beyond which a flow cannot go, whatever others do. It matters only where a link of its
 * path is not shared. */
static double bound_of(const struct ar_paths *paths, bool has_bounds, size_t flow)
{
    return has_bounds ? paths->bandwidth_Bps[flow] : HUGE_VAL;
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

/* All flows wait on their links; returns whether a link that is not shared bounds some of them. */
static bool begin(struct ar_maxmin *maxmin, const struct ar_paths *paths)
{
    bool has_bounds = false;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        struct ar_maxmin_link *link = &maxmin->links[maxmin->used[i]];
        link->waiting = link->is_shared ? maxmin->flows[maxmin->used[i]] : 0;
        link->left_Bps = link->bandwidth_Bps;
        has_bounds |= !link->is_shared;
    }
    for (size_t i = 0; i < paths->count; i++) {
        maxmin->open[i] = i;
    }
    return has_bounds;
}

/* The level of a flow: the least that a link of its path gives. */
static double find_level(struct ar_maxmin *maxmin, const struct ar_paths *paths, size_t flow,
                         double bound)
{
    double level = bound;
    for (size_t j = paths->begin[flow]; j < paths->begin[flow + 1]; j++) {
        const struct ar_maxmin_link *link = &maxmin->links[paths->links[j]];
        if (link->is_shared && link->share_Bps < level) {
            level = link->share_Bps;
        }
    }
    for (size_t j = paths->begin[flow]; j < paths->begin[flow + 1]; j++) {
        struct ar_maxmin_link *link = &maxmin->links[paths->links[j]];
        link->lowest += link->share_Bps <= level * (1 + SAME_SHARE);
    }
    return level;
}

/* Whether a link of its path gives to all of its flows the least that they get anywhere: then no
 * other link leaves anything of it to them. */
static bool is_at_full_link(const struct ar_maxmin *maxmin, const struct ar_paths *paths,
                            size_t flow)
{
    for (size_t j = paths->begin[flow]; j < paths->begin[flow + 1]; j++) {
        const struct ar_maxmin_link *link = &maxmin->links[paths->links[j]];
        if (link->is_shared && link->lowest == link->waiting &&
            link->share_Bps <= maxmin->levels[flow] * (1 + SAME_SHARE)) {
            return true;
        }
    }
    return false;
}

static void take(struct ar_maxmin *maxmin, const struct ar_paths *paths, size_t flow,
                 double rate_Bps)
{
    for (size_t j = paths->begin[flow]; j < paths->begin[flow + 1]; j++) {
        struct ar_maxmin_link *link = &maxmin->links[paths->links[j]];
        link->waiting -= link->is_shared;
        link->left_Bps -= rate_Bps;
    }
}

/* One round: settles whom it can of the open flows; returns how many are left. */
static size_t settle(struct ar_maxmin *maxmin, const struct ar_paths *paths, bool has_bounds,
                     size_t open_count, double *rates_Bps)
{
    size_t left = 0, settled = 0;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        struct ar_maxmin_link *link = &maxmin->links[maxmin->used[i]];
        link->share_Bps = link->waiting > 0 ? link->left_Bps / link->waiting : HUGE_VAL;
        link->lowest = 0;
    }
    for (size_t i = 0; i < open_count; i++) {
        size_t flow = maxmin->open[i];
        double bound = bound_of(paths, has_bounds, flow);
        maxmin->levels[flow] = find_level(maxmin, paths, flow, bound);
    }
    for (size_t i = 0; i < open_count; i++) {
        size_t flow = maxmin->open[i];
        bool is_final = maxmin->levels[flow] >= bound_of(paths, has_bounds, flow) ||
                        is_at_full_link(maxmin, paths, flow);
        rates_Bps[flow] = is_final ? maxmin->levels[flow] : -1;
        settled += is_final;
    }
    for (size_t i = 0; settled < open_count && i < open_count; i++) {
        size_t flow = maxmin->open[i];
        if (rates_Bps[flow] < 0) {
            maxmin->open[left++] = flow;
        } else {
            take(maxmin, paths, flow, rates_Bps[flow]);
        }
    }
    return left;
}

enum ar_status ar_maxmin_share(struct ar_arena *arena, struct ar_maxmin *maxmin,
                               const struct ar_paths *paths, double *rates_Bps,
                               struct ar_error *err)
{
    if (paths->count > maxmin->flows_room) {
        maxmin->flows_room = paths->count;
        maxmin->open = ar_arena_alloc(arena, paths->count, sizeof *maxmin->open);
        maxmin->levels = ar_arena_alloc(arena, paths->count, sizeof *maxmin->levels);
        if (maxmin->open == NULL || maxmin->levels == NULL) {
            return no_memory(err);
        }
    }
    if (count_flows(maxmin, paths) == 1) { /* no two meet */
        memcpy(rates_Bps, paths->bandwidth_Bps, paths->count * sizeof *rates_Bps);
        return AR_OK;
    }
    bool has_bounds = begin(maxmin, paths);
    for (size_t open = paths->count; open > 0;) {
        open = settle(maxmin, paths, has_bounds, open, rates_Bps);
    }
    return AR_OK;
}

static enum ar_status find_rates(struct ar_arena *arena, const struct ar_cluster *cluster,
                                 const struct ar_flow *flows, size_t flows_count, double *rates_Bps,
                                 struct ar_error *err)
{
    struct ar_paths paths = {.count = 0};
    struct ar_maxmin maxmin;
    AR_TRY(ar_paths_find(arena, cluster, flows, flows_count, &paths, err));
    AR_TRY(ar_maxmin_create(arena, cluster, &maxmin, err));
    return ar_maxmin_share(arena, &maxmin, &paths, rates_Bps, err);
}

enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               size_t flows_count, double *rates_Bps, struct ar_error *err)
{
    struct ar_arena arena = {NULL};
    enum ar_status status = find_rates(&arena, cluster, flows, flows_count, rates_Bps, err);
    ar_arena_end(&arena);
    return status;
}
