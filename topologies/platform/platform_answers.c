/* What a platform is asked for, and what it has answered before. */
#include <assert.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ar_platform.h"
#include "fabric.h"

/* --- routes ---------------------------------------------------------------------------------- */

/* Writes the pairs without a known route, each once, in order; returns how many. */
static size_t find_unknown(const struct ar_platform *platform, const struct ar_flow *pairs,
                           size_t pairs_count, struct ar_platform_route *unknown)
{
    size_t count = 0;
    for (size_t i = 0; i < pairs_count; i++) {
        if (ar_route_find(platform, pairs[i]) == NULL) {
            unknown[count++].pair = pairs[i];
        }
    }
    qsort(unknown, count, sizeof *unknown, ar_route_compare);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || ar_route_compare(&unknown[i - 1], &unknown[i]) != 0) {
            unknown[kept++] = unknown[i];
        }
    }
    return kept;
}

/* Keeps a route that was answered. */
static enum ar_status keep_route(const struct ar_cluster *cluster, struct ar_platform_route *route,
                                 struct ar_error *err)
{
    if (!(route->latency_s >= 0 && isfinite(route->latency_s))) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: route from GPU %u to GPU %u: found a latency of %gs; expected "
                            "one not below zero",
                            cluster->platform->path, route->pair.source, route->pair.destination,
                            route->latency_s);
    }
    route->bandwidth_Bps = HUGE_VAL;
    for (uint32_t i = 0; i < route->links_count; i++) {
        double link_Bps = ar_cluster_link_bandwidth(cluster, route->links[i]);
        route->bandwidth_Bps = fmin(route->bandwidth_Bps, link_Bps);
    }
    return tsearch(route, &cluster->platform->routes, ar_route_compare) != NULL
               ? AR_OK
               : ar_error_no_memory(err, "the routes of a platform");
}

enum ar_status ar_cluster_prepare_paths(const struct ar_cluster *cluster,
                                        const struct ar_flow *pairs, size_t pairs_count,
                                        struct ar_error *err)
{
    if (cluster->platform == NULL || pairs_count == 0) {
        return AR_OK;
    }
    struct ar_platform_route *routes = ar_arena_alloc(cluster->arena, pairs_count, sizeof *routes);
    AR_NEED(routes, err, "the routes of a platform");
    size_t count = find_unknown(cluster->platform, pairs, pairs_count, routes);
    if (count > 0) {
        AR_TRY(cluster->platform->source->routes(cluster, routes, count, cluster->arena, err));
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(keep_route(cluster, &routes[i], err));
    }
    return AR_OK;
}

/* --- rates ----------------------------------------------------------------------------------- */

/* The known rates of a pattern of flows. */
struct ar_known_rates {
    const struct ar_known_rates *next;
    size_t count;
    const struct ar_flow *flows;
    const double *rates_Bps;
};

/* The rates of exactly these flows in this order, or NULL. */
static const double *find_rates(const struct ar_platform *platform, const struct ar_flow *flows,
                                size_t count)
{
    const struct ar_known_rates *known = platform->rates;
    while (known != NULL &&
           (known->count != count || memcmp(known->flows, flows, count * sizeof *flows) != 0)) {
        known = known->next;
    }
    return known != NULL ? known->rates_Bps : NULL;
}

static enum ar_status keep_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                                 size_t count, const double *rates_Bps, struct ar_error *err)
{
    struct ar_known_rates *known = ar_arena_alloc(cluster->arena, 1, sizeof *known);
    struct ar_flow *own_flows = ar_arena_alloc(cluster->arena, count, sizeof *flows);
    double *own_rates_Bps = ar_arena_alloc(cluster->arena, count, sizeof *rates_Bps);
    AR_NEED(known && own_flows && own_rates_Bps, err, "the rates of flows");
    memcpy(own_flows, flows, count * sizeof *flows);
    memcpy(own_rates_Bps, rates_Bps, count * sizeof *rates_Bps);
    *known = (struct ar_known_rates){.next = cluster->platform->rates,
                                     .count = count,
                                     .flows = own_flows,
                                     .rates_Bps = own_rates_Bps};
    cluster->platform->rates = known;
    return AR_OK;
}

enum ar_status ar_cluster_platform_rates(const struct ar_cluster *cluster,
                                         const struct ar_flow *flows, size_t flows_count,
                                         double *rates_Bps, struct ar_error *err)
{
    const struct ar_platform *platform = cluster->platform;
    assert(platform != NULL);
    const double *known = find_rates(platform, flows, flows_count);
    if (known != NULL) {
        memcpy(rates_Bps, known, flows_count * sizeof *rates_Bps);
        return AR_OK;
    }
    AR_TRY(platform->source->rates(cluster, flows, flows_count, rates_Bps, err));
    return keep_rates(cluster, flows, flows_count, rates_Bps, err);
}
