/** \file routes.h
 * For the rooms of topologies/: the machine of a platform file, and what it has answered.
 */
#ifndef AR_ROUTES_H
#define AR_ROUTES_H

#include "ar_arena.h"
#include "ar_cluster.h"

struct ar_platform_source;

/** A known route. */
struct ar_known_route {
    struct ar_flow pair;
    double latency_s;
    double bandwidth_Bps; /**< of its narrowest link */
    uint32_t links_count;
    const uint32_t *links;
};

/** The known rates of a pattern of flows. */
struct ar_known_rates {
    const struct ar_known_rates *next;
    size_t count;
    const struct ar_flow *flows;
    const double *rates_Bps;
};

struct ar_platform {
    const char *path;
    const char *const *hosts; /**< names by rank */
    uint32_t hosts_count;
    const struct ar_platform_link *links;
    uint32_t links_count;
    const struct ar_platform_source *source;
    void *routes; /**< a tree of tsearch() */
    const struct ar_known_rates *rates;
};

/** The order of pairs of ranks: by source, then by destination; for qsort(). */
int ar_flow_compare(const void *a, const void *b);

/** The route of a pair, or NULL if it is not known. */
const struct ar_known_route *ar_route_find(const struct ar_platform *platform, struct ar_flow pair);

/** Adds a route that is not known yet; it stays where it is. */
enum ar_status ar_route_add(struct ar_platform *platform, const struct ar_known_route *route,
                            struct ar_error *err);

/** Forgets all routes. */
void ar_routes_end(struct ar_platform *platform);

/** The path of a pair whose route is known. */
struct ar_path ar_route_path(const struct ar_platform *platform, struct ar_flow pair);

#endif
