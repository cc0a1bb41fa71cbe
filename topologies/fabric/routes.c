#include "routes.h"

#include <assert.h>
#include <search.h>

int ar_flow_compare(const void *a, const void *b)
{
    const struct ar_flow *left = a;
    const struct ar_flow *right = b;
    return left->source != right->source
               ? (left->source > right->source) - (left->source < right->source)
               : (left->destination > right->destination) -
                     (left->destination < right->destination);
}

static int compare_routes(const void *a, const void *b)
{
    return ar_flow_compare(&((const struct ar_known_route *)a)->pair,
                           &((const struct ar_known_route *)b)->pair);
}

const struct ar_known_route *ar_route_find(const struct ar_platform *platform, struct ar_flow pair)
{
    const struct ar_known_route wanted = {.pair = pair};
    const struct ar_known_route *const *node = tfind(&wanted, &platform->routes, compare_routes);
    return node != NULL ? *node : NULL;
}

enum ar_status ar_route_add(struct ar_platform *platform, const struct ar_known_route *route,
                            struct ar_error *err)
{
    return tsearch(route, &platform->routes, compare_routes) != NULL
               ? AR_OK
               : ar_error_no_memory(err, "the routes of a platform");
}

static void keep(void *route)
{
    (void)route; /* the arena's */
}

void ar_routes_end(struct ar_platform *platform)
{
    tdestroy(platform->routes, keep);
    platform->routes = NULL;
}

struct ar_path ar_route_path(const struct ar_platform *platform, struct ar_flow pair)
{
    const struct ar_known_route *route = ar_route_find(platform, pair);
    assert(route != NULL); /* ar_cluster_prepare_paths() has passed */
    return (struct ar_path){.tier = AR_TIER_ROUTE,
                            .latency_s = route->latency_s,
                            .bandwidth_Bps = route->bandwidth_Bps,
                            .links_count = route->links_count,
                            .far_links = route->links};
}
