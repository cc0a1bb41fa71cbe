#include "ar_maxmin.h"

#include <math.h>
#include <stdbool.h>

#include "ar_arena.h"

/* Shares closer than this are one level: they come from sums in different order. */
#define SAME_SHARE 1e-12

struct filling {
    const struct ar_cluster *cluster;
    const struct ar_flow *flows;
    const double *weights; /* NULL: all 1 */
    size_t flows_count;
    double *left_Bps;  /* per link: bandwidth not yet given to settled flows */
    uint32_t *waiting; /* per link: flows not yet settled */
    double *weight;    /* per link: of these flows together */
    bool *is_full;     /* per link, at the present level */
    uint32_t *used;    /* the shared links that carry flows */
    uint32_t used_count;
};

static double weight_of(const struct filling *filling, size_t flow)
{
    return filling->weights != NULL ? filling->weights[flow] : 1;
}

static void path_of(const struct filling *filling, size_t flow, struct ar_path *path)
{
    ar_cluster_path(filling->cluster, filling->flows[flow].source, filling->flows[flow].destination,
                    path);
}

/* The level, rate over weight, at which the next link is full or the next flow is at the bandwidth
 * of its path. The latter matters only where a link of the path is not shared. */
static double next_level(const struct filling *filling, bool has_bounds, const double *rates_Bps)
{
    double min = HUGE_VAL;
    for (uint32_t i = 0; i < filling->used_count; i++) {
        uint32_t link = filling->used[i];
        if (filling->waiting[link] > 0) {
            min = fmin(min, filling->left_Bps[link] / filling->weight[link]);
        }
    }
    for (size_t i = 0; has_bounds && i < filling->flows_count; i++) {
        if (rates_Bps[i] == 0) {
            struct ar_path path;
            path_of(filling, i, &path);
            min = fmin(min, path.bandwidth_Bps / weight_of(filling, i));
        }
    }
    return min;
}

static bool is_on_full_link(const struct ar_path *path, const bool *is_full)
{
    for (uint32_t i = 0; i < path->links_count; i++) {
        if (is_full[ar_path_link(path, i)]) {
            return true;
        }
    }
    return false;
}

static void mark_full_links(struct filling *filling, double level)
{
    for (uint32_t i = 0; i < filling->used_count; i++) {
        uint32_t link = filling->used[i];
        filling->is_full[link] =
            filling->waiting[link] > 0 &&
            filling->left_Bps[link] / filling->weight[link] <= level * (1 + SAME_SHARE);
    }
}

/* Settles the flows that can have no more than the level; returns how many. */
static size_t settle(struct filling *filling, double level, double *rates_Bps)
{
    size_t settled = 0;
    mark_full_links(filling, level);
    for (size_t i = 0; i < filling->flows_count; i++) {
        if (rates_Bps[i] > 0) {
            continue;
        }
        struct ar_path path;
        path_of(filling, i, &path);
        double weight = weight_of(filling, i);
        bool is_at_bound = path.bandwidth_Bps <= level * weight * (1 + SAME_SHARE);
        if (!is_at_bound && !is_on_full_link(&path, filling->is_full)) {
            continue;
        }
        rates_Bps[i] = level * weight;
        settled++;
        for (uint32_t j = 0; j < path.links_count; j++) {
            uint32_t link = ar_path_link(&path, j);
            if (filling->waiting[link] > 0) { /* else it is not shared */
                filling->left_Bps[link] -= rates_Bps[i];
                filling->weight[link] -= weight;
                filling->waiting[link]--;
            }
        }
    }
    return settled;
}

/* Notes a flow on a link of its path; false if the link is not shared. */
static bool use_link(struct filling *filling, uint32_t link, double weight)
{
    if (!ar_cluster_link_is_shared(filling->cluster, link)) {
        return false;
    }
    if (filling->waiting[link]++ == 0) {
        filling->used[filling->used_count++] = link;
        filling->left_Bps[link] = ar_cluster_link_bandwidth(filling->cluster, link);
        filling->weight[link] = 0;
    }
    filling->weight[link] += weight;
    return true;
}

static void fill(struct filling *filling, double *rates_Bps)
{
    bool has_bounds = false;
    for (size_t i = 0; i < filling->flows_count; i++) {
        struct ar_path path;
        path_of(filling, i, &path);
        rates_Bps[i] = 0;
        for (uint32_t j = 0; j < path.links_count; j++) {
            has_bounds |= !use_link(filling, ar_path_link(&path, j), weight_of(filling, i));
        }
    }
    for (size_t settled = 0; settled < filling->flows_count;) {
        settled += settle(filling, next_level(filling, has_bounds, rates_Bps), rates_Bps);
    }
}

static enum ar_status run(struct ar_arena *arena, struct filling *filling, double *rates_Bps,
                          struct ar_error *err)
{
    uint32_t links_count = ar_cluster_links_count(filling->cluster);
    filling->left_Bps = ar_arena_alloc(arena, links_count, sizeof *filling->left_Bps);
    filling->waiting = ar_arena_alloc(arena, links_count, sizeof *filling->waiting);
    filling->weight = ar_arena_alloc(arena, links_count, sizeof *filling->weight);
    filling->is_full = ar_arena_alloc(arena, links_count, sizeof *filling->is_full);
    filling->used = ar_arena_alloc(arena, links_count, sizeof *filling->used);
    if (filling->left_Bps == NULL || filling->waiting == NULL || filling->weight == NULL ||
        filling->is_full == NULL || filling->used == NULL) {
        return ar_error_no_memory(err, "the sharing of links");
    }
    fill(filling, rates_Bps);
    return AR_OK;
}

enum ar_status ar_maxmin_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                               const double *weights, size_t flows_count, double *rates_Bps,
                               struct ar_error *err)
{
    struct ar_arena arena = {NULL};
    struct filling filling = {
        .cluster = cluster, .flows = flows, .weights = weights, .flows_count = flows_count};
    enum ar_status status = run(&arena, &filling, rates_Bps, err);
    ar_arena_end(&arena);
    return status;
}
