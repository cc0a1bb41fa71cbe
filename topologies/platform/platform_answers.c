/* What a platform is asked for, and what it has answered before. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_platform.h"
#include "fabric.h"
#include "routes.h"

/* --- routes ---------------------------------------------------------------------------------- */

/* Copies the pairs without a known route, each once, in order; returns how many. */
static size_t find_unknown(const struct ar_platform *platform, const struct ar_flow *pairs,
                           size_t pairs_count, struct ar_flow *unknown)
{
    size_t count = 0;
    for (size_t i = 0; i < pairs_count; i++) {
        if (ar_route_find(platform, pairs[i]) == NULL) {
            unknown[count++] = pairs[i];
        }
    }
    qsort(unknown, count, sizeof *unknown, ar_flow_compare);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || ar_flow_compare(&unknown[i - 1], &unknown[i]) != 0) {
            unknown[kept++] = unknown[i];
        }
    }
    return kept;
}

/* Keeps the routes that were answered; `links` are those of all, one after the other. */
static enum ar_status keep_routes(const struct ar_cluster *cluster, const struct ar_flow *pairs,
                                  size_t count, const struct ar_platform_route *answers,
                                  const uint32_t *links, struct ar_error *err)
{
    struct ar_platform *platform = cluster->platform;
    struct ar_known_route *routes = ar_arena_alloc(cluster->arena, count, sizeof *routes);
    for (size_t i = 0; routes != NULL && i < count; i++) {
        uint32_t links_count = answers[i].links_count;
        uint32_t *own = ar_arena_alloc(cluster->arena, links_count, sizeof *own);
        if (own == NULL) {
            return ar_error_no_memory(err, "the routes of a platform");
        }
        if (!(answers[i].latency_s >= 0 && isfinite(answers[i].latency_s))) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.200s: route from GPU %u to GPU %u: found a latency of %gs; "
                                "expected one not below zero",
                                platform->path, pairs[i].source, pairs[i].destination,
                                answers[i].latency_s);
        }
        routes[i] = (struct ar_known_route){.pair = pairs[i],
                                            .latency_s = answers[i].latency_s,
                                            .bandwidth_Bps = HUGE_VAL,
                                            .links_count = links_count,
                                            .links = own};
        for (uint32_t j = 0; j < links_count; j++) {
            own[j] = *links++;
            double link_Bps = ar_cluster_link_bandwidth(cluster, own[j]);
            routes[i].bandwidth_Bps = fmin(routes[i].bandwidth_Bps, link_Bps);
        }
        AR_TRY(ar_route_add(platform, &routes[i], err));
    }
    return routes != NULL ? AR_OK : ar_error_no_memory(err, "the routes of a platform");
}

static enum ar_status ask_routes(const struct ar_cluster *cluster, const struct ar_flow *pairs,
                                 size_t pairs_count, struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_platform *platform = cluster->platform;
    struct ar_flow *unknown = ar_arena_alloc(arena, pairs_count, sizeof *unknown);
    struct ar_platform_route *answers = ar_arena_alloc(arena, pairs_count, sizeof *answers);
    if (unknown == NULL || answers == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    size_t count = find_unknown(platform, pairs, pairs_count, unknown);
    uint32_t *links = NULL;
    if (count == 0) {
        return AR_OK;
    }
    AR_TRY(platform->source->routes(cluster, unknown, count, answers, &links, err));
    if (ar_arena_own(arena, links, free) == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    return keep_routes(cluster, unknown, count, answers, links, err);
}

enum ar_status ar_cluster_prepare_paths(const struct ar_cluster *cluster,
                                        const struct ar_flow *pairs, size_t pairs_count,
                                        struct ar_error *err)
{
    if (cluster->platform == NULL || pairs_count == 0) {
        return AR_OK;
    }
    struct ar_arena arena = {.last = NULL};
    enum ar_status status = ask_routes(cluster, pairs, pairs_count, &arena, err);
    ar_arena_end(&arena);
    return status;
}

/* --- rates ----------------------------------------------------------------------------------- */

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
    if (known == NULL || own_flows == NULL || own_rates_Bps == NULL) {
        return ar_error_no_memory(err, "the rates of flows");
    }
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
