#include "routes.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MIN = 1024 };

uint64_t ar_route_key(struct ar_flow pair)
{
    return (uint64_t)pair.source << 32 | pair.destination; /* 0 only for rank 0 to itself */
}

/* The place of a key, or the free place where it belongs; the table has a free place. */
static size_t place_of(const struct ar_route_table *table, uint64_t key)
{
    size_t mask = table->places_count - 1;
    size_t place = (key * 0x9e3779b97f4a7c15u >> 20) & mask; /* Fibonacci hashing */
    while (table->places[place].key != 0 && table->places[place].key != key) {
        place = (place + 1) & mask;
    }
    return place;
}

const struct ar_known_route *ar_route_find(const struct ar_route_table *table, uint64_t key)
{
    if (table->places_count == 0) {
        return NULL;
    }
    const struct ar_known_route *route = &table->places[place_of(table, key)];
    return route->key == key ? route : NULL;
}

static enum ar_status grow(struct ar_route_table *table, struct ar_error *err)
{
    struct ar_route_table larger = {
        .places_count = table->places_count > 0 ? 2 * table->places_count : PLACES_MIN,
        .used_count = table->used_count,
    };
    larger.places = calloc(larger.places_count, sizeof *larger.places);
    if (larger.places == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    for (size_t i = 0; i < table->places_count; i++) {
        if (table->places[i].key != 0) {
            larger.places[place_of(&larger, table->places[i].key)] = table->places[i];
        }
    }
    free(table->places);
    *table = larger;
    return AR_OK;
}

enum ar_status ar_route_add(struct ar_route_table *table, struct ar_known_route route,
                            struct ar_error *err)
{
    if (2 * (table->used_count + 1) > table->places_count) {
        enum ar_status status = grow(table, err);
        if (status != AR_OK) {
            return status;
        }
    }
    table->places[place_of(table, route.key)] = route;
    table->used_count++;
    return AR_OK;
}

void ar_route_table_free(struct ar_route_table *table)
{
    for (size_t i = 0; i < table->places_count; i++) {
        free(table->places[i].links);
    }
    free(table->places);
}

/* FNV-1a over the ranks. */
static uint64_t hash_flows(const struct ar_flow *flows, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ flows[i].source) * 0x100000001b3u;
        hash = (hash ^ flows[i].destination) * 0x100000001b3u;
    }
    return hash;
}

const double *ar_rates_find(const struct ar_rates_list *list, const struct ar_flow *flows,
                            size_t count)
{
    uint64_t hash = hash_flows(flows, count);
    for (size_t i = 0; i < list->count; i++) {
        const struct ar_known_rates *entry = &list->entries[i];
        if (entry->hash == hash && entry->count == count &&
            memcmp(entry->flows, flows, count * sizeof *flows) == 0) {
            return entry->rates_Bps;
        }
    }
    return NULL;
}

enum ar_status ar_rates_add(struct ar_rates_list *list, const struct ar_flow *flows, size_t count,
                            const double *rates_Bps, struct ar_error *err)
{
    struct ar_known_rates entry = {.count = count, .hash = hash_flows(flows, count)};
    struct ar_known_rates *entries =
        realloc(list->entries, (list->count + 1) * sizeof *list->entries);
    list->entries = entries != NULL ? entries : list->entries;
    entry.flows = malloc(count * sizeof *flows);
    entry.rates_Bps = malloc(count * sizeof *rates_Bps);
    if (entries == NULL || entry.flows == NULL || entry.rates_Bps == NULL) {
        free(entry.flows);
        free(entry.rates_Bps);
        return ar_error_no_memory(err, "the rates of flows");
    }
    memcpy(entry.flows, flows, count * sizeof *flows);
    memcpy(entry.rates_Bps, rates_Bps, count * sizeof *rates_Bps);
    list->entries[list->count++] = entry;
    return AR_OK;
}

void ar_rates_list_free(struct ar_rates_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entries[i].flows);
        free(list->entries[i].rates_Bps);
    }
    free(list->entries);
}
