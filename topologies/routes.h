/** \file routes.h
 * Private to this folder: what a platform has answered, by pair of ranks and by pattern of flows.
 */
#ifndef AR_ROUTES_H
#define AR_ROUTES_H

#include "ar_platform.h"

/** A known route. */
struct ar_known_route {
    uint64_t key; /**< of its pair; 0: a free place */
    double latency_s;
    double bandwidth_Bps; /**< of its narrowest link */
    uint32_t *links;      /**< owned */
    uint32_t links_count;
};

/** Routes by pair: a hash table with open addressing. */
struct ar_route_table {
    struct ar_known_route *places;
    size_t places_count; /**< a power of 2, or 0 */
    size_t used_count;
};

/** Key of a pair of different ranks; never 0. */
uint64_t ar_route_key(struct ar_flow pair);

const struct ar_known_route *ar_route_find(const struct ar_route_table *table, uint64_t key);

/** Adds a route that is not there yet; it then owns the links. */
enum ar_status ar_route_add(struct ar_route_table *table, struct ar_known_route route,
                            struct ar_error *err);
void ar_route_table_free(struct ar_route_table *table);

/** The rates of a pattern of flows. */
struct ar_known_rates {
    struct ar_flow *flows; /**< owned */
    double *rates_Bps;     /**< owned */
    size_t count;
    uint64_t hash;
};

struct ar_rates_list {
    struct ar_known_rates *entries;
    size_t count;
};

/** The rates of exactly these flows in this order, or NULL. */
const double *ar_rates_find(const struct ar_rates_list *list, const struct ar_flow *flows,
                            size_t count);
enum ar_status ar_rates_add(struct ar_rates_list *list, const struct ar_flow *flows, size_t count,
                            const double *rates_Bps, struct ar_error *err);
void ar_rates_list_free(struct ar_rates_list *list);

#endif
