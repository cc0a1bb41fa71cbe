#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "platform_cluster.h"
#include "topo.h"

/* --- making one ------------------------------------------------------------------------------ */

void ar_platform_destroy(struct ar_platform *platform)
{
    if (platform == NULL) {
        return;
    }
    for (uint32_t i = 0; platform->hosts != NULL && i < platform->hosts_count; i++) {
        free(platform->hosts[i]);
    }
    for (uint32_t i = 0; platform->links != NULL && i < platform->links_count; i++) {
        free((char *)platform->links[i].name);
    }
    free(platform->path);
    free(platform->hosts);
    free(platform->links);
    ar_route_table_free(&platform->routes);
    ar_rates_list_free(&platform->rates);
    free(platform);
}

static enum ar_status copy_content(const char *path, const struct ar_platform_content *content,
                                   struct ar_platform *platform, struct ar_error *err)
{
    platform->hosts_count = content->hosts_count;
    platform->links_count = content->links_count;
    platform->path = strdup(path);
    platform->hosts = calloc(content->hosts_count, sizeof *platform->hosts);
    platform->links = calloc(content->links_count + 1u, sizeof *platform->links);
    bool is_copied = platform->path != NULL && platform->hosts != NULL && platform->links != NULL;
    for (uint32_t i = 0; is_copied && i < content->hosts_count; i++) {
        platform->hosts[i] = strdup(content->hosts[i]);
        is_copied = platform->hosts[i] != NULL;
    }
    for (uint32_t i = 0; is_copied && i < content->links_count; i++) {
        platform->links[i] = content->links[i];
        platform->links[i].name = strdup(content->links[i].name);
        is_copied = platform->links[i].name != NULL;
    }
    return is_copied ? AR_OK : ar_error_no_memory(err, "the platform");
}

/* The keys of a cluster file that a platform leaves open. */
static const enum ar_topo_key open_keys[] = {
    TOPO_NAME,
    TOPO_DESCRIPTION,
    TOPO_GPUS,
    TOPO_GPU_MODEL,
    TOPO_GPU_COST_TABLE,
    TOPO_GPU_REDUCE_COST,
    TOPO_COLLECTIVE_SETUP,
    TOPO_HCAS,
};

static enum ar_status check_keys(const struct ar_topo *topo, struct ar_error *err)
{
    for (size_t i = 0; i < topo->entries_count; i++) {
        bool is_open = false;
        for (size_t j = 0; j < sizeof open_keys / sizeof open_keys[0]; j++) {
            is_open = is_open || topo->entries[i].key == open_keys[j];
        }
        if (!is_open) {
            return ar_error_set(err, AR_USAGE,
                                "--set: key \"%s\": found a value that the platform file says "
                                "itself; expected gpus_per_node, gpu.reduce_cost, "
                                "collective.setup, gpu.cost_table, hcas or name",
                                ar_topo_key_name(topo->entries[i].key));
        }
    }
    return AR_OK;
}

/* The name of the file without folder and ending, in the letters of a name. */
static void name_of_file(const char *path, char name[AR_TOPO_TEXT_MAX])
{
    const char *slash = strrchr(path, '/');
    ar_copy_text(name, AR_TOPO_TEXT_MAX, slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) {
        *dot = '\0';
    }
    for (char *at = name; *at != '\0'; at++) {
        bool is_plain = strchr("-_.", *at) != NULL || (*at >= '0' && *at <= '9') ||
                        (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        *at = is_plain ? *at : '-';
    }
}

static enum ar_status assume(struct ar_topo *topo, enum ar_topo_key key, const char *text,
                             const char *source, struct ar_error *err)
{
    return ar_topo_find(topo, key) != NULL ? AR_OK : ar_topo_store(topo, key, 0, text, source, err);
}

static enum ar_status assume_rest(const char *path, struct ar_topo *topo, struct ar_error *err)
{
    static const char source[] = "assumed";
    char name[AR_TOPO_TEXT_MAX];
    name_of_file(path, name);
    enum ar_status status = assume(topo, TOPO_NAME, name, "name of the platform file", err);
    if (status == AR_OK) {
        status = assume(topo, TOPO_GPUS, "1", source, err);
    }
    if (status == AR_OK) {
        status = assume(topo, TOPO_GPU_REDUCE_COST, "0s/B", source, err);
    }
    if (status == AR_OK) {
        status = assume(topo, TOPO_COLLECTIVE_SETUP, "0s", source, err);
    }
    return status == AR_OK ? assume(topo, TOPO_HCAS, "1", source, err) : status;
}

/* Hosts fill nodes in order; the last node may be filled in part. */
static enum ar_status count_nodes(struct ar_cluster *cluster, struct ar_error *err)
{
    char text[64];
    uint32_t hosts = cluster->platform->hosts_count;
    uint32_t gpus = cluster->values.count[TOPO_GPUS];
    if (gpus > hosts) {
        snprintf(text, sizeof text, "at most %u, the hosts of the platform", hosts);
        return ar_topo_refuse(&cluster->topo, TOPO_GPUS, text, err);
    }
    cluster->values.count[TOPO_NODES] = (hosts + gpus - 1) / gpus;
    snprintf(text, sizeof text, "%u", cluster->values.count[TOPO_NODES]);
    return ar_topo_store(&cluster->topo, TOPO_NODES, 0, text,
                         "hosts of the platform over gpus_per_node", err);
}

static enum ar_status read_settings(const char *path, const char *const *settings,
                                    size_t settings_count, struct ar_cluster *cluster,
                                    struct ar_error *err)
{
    struct ar_topo *topo = &cluster->topo;
    enum ar_status status = ar_topo_apply(topo, settings, settings_count, err);
    if (status == AR_OK) {
        status = check_keys(topo, err);
    }
    if (status == AR_OK) {
        status = assume_rest(path, topo, err);
    }
    if (status == AR_OK) {
        status = ar_topo_parse_entries(topo, &cluster->values, err);
    }
    return status == AR_OK ? count_nodes(cluster, err) : status;
}

enum ar_status ar_cluster_from_platform(const char *path, const struct ar_platform_content *content,
                                        const struct ar_platform_source *source,
                                        const char *const *settings, size_t settings_count,
                                        struct ar_cluster **cluster, struct ar_error *err)
{
    struct ar_cluster *made = calloc(1, sizeof *made);
    struct ar_platform *platform = calloc(1, sizeof *platform);
    if (made == NULL || platform == NULL) {
        free(made);
        free(platform);
        return ar_error_no_memory(err, "the cluster");
    }
    made->platform = platform;
    made->is_changed = true;
    platform->source = source;
    enum ar_status status = copy_content(path, content, platform, err);
    if (status == AR_OK) {
        status = read_settings(path, settings, settings_count, made, err);
    }
    if (status != AR_OK) {
        ar_cluster_destroy(made);
        return status;
    }
    ar_topo_fill_facts(made);
    *cluster = made;
    return AR_OK;
}

/* --- answers --------------------------------------------------------------------------------- */

const char *ar_cluster_platform_path(const struct ar_cluster *cluster)
{
    return cluster->platform != NULL ? cluster->platform->path : NULL;
}

bool ar_cluster_link_is_shared(const struct ar_cluster *cluster, uint32_t link)
{
    return cluster->platform == NULL || cluster->platform->links[link].is_shared;
}

struct ar_path ar_platform_find_path(const struct ar_platform *platform, uint32_t source,
                                     uint32_t destination)
{
    const struct ar_known_route *route =
        ar_route_find(&platform->routes, ar_route_key((struct ar_flow){source, destination}));
    assert(route != NULL); /* prepared before */
    return (struct ar_path){.tier = AR_TIER_ROUTE,
                            .latency_s = route->latency_s,
                            .bandwidth_Bps = route->bandwidth_Bps,
                            .links_count = route->links_count,
                            .far_links = route->links};
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t left = ar_route_key(*(const struct ar_flow *)a);
    uint64_t right = ar_route_key(*(const struct ar_flow *)b);
    return (left > right) - (left < right);
}

/* Copies the pairs without a known route, each once, in order; returns how many. */
static size_t find_unknown(const struct ar_route_table *table, const struct ar_flow *pairs,
                           size_t pairs_count, struct ar_flow *unknown)
{
    size_t count = 0;
    for (size_t i = 0; i < pairs_count; i++) {
        if (ar_route_find(table, ar_route_key(pairs[i])) == NULL) {
            unknown[count++] = pairs[i];
        }
    }
    qsort(unknown, count, sizeof *unknown, compare_pairs);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_pairs(&unknown[i - 1], &unknown[i]) != 0) {
            unknown[kept++] = unknown[i];
        }
    }
    return kept;
}

static enum ar_status keep_route(const struct ar_cluster *cluster, struct ar_flow pair,
                                 const struct ar_platform_route *answer, const uint32_t *links,
                                 struct ar_error *err)
{
    struct ar_known_route route = {.key = ar_route_key(pair),
                                   .latency_s = answer->latency_s,
                                   .bandwidth_Bps = HUGE_VAL,
                                   .links_count = answer->links_count};
    route.links = malloc(answer->links_count * sizeof *route.links);
    if (route.links == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    for (uint32_t i = 0; i < answer->links_count; i++) {
        route.links[i] = links[i];
        route.bandwidth_Bps =
            fmin(route.bandwidth_Bps, ar_cluster_link_bandwidth(cluster, links[i]));
    }
    enum ar_status status = ar_route_add(&cluster->platform->routes, route, err);
    if (status != AR_OK) {
        free(route.links);
    }
    return status;
}

static enum ar_status ask_routes(const struct ar_cluster *cluster, const struct ar_flow *pairs,
                                 size_t count, struct ar_error *err)
{
    uint32_t *links = NULL;
    struct ar_platform_route *routes = malloc(count * sizeof *routes);
    if (routes == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    enum ar_status status =
        cluster->platform->source->routes(cluster, pairs, count, routes, &links, err);
    const uint32_t *next = links;
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        status = keep_route(cluster, pairs[i], &routes[i], next, err);
        next += routes[i].links_count;
    }
    free(links);
    free(routes);
    return status;
}

enum ar_status ar_cluster_prepare_paths(const struct ar_cluster *cluster,
                                        const struct ar_flow *pairs, size_t pairs_count,
                                        struct ar_error *err)
{
    if (cluster->platform == NULL || pairs_count == 0) {
        return AR_OK;
    }
    struct ar_flow *unknown = malloc(pairs_count * sizeof *unknown);
    if (unknown == NULL) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    size_t count = find_unknown(&cluster->platform->routes, pairs, pairs_count, unknown);
    enum ar_status status = count > 0 ? ask_routes(cluster, unknown, count, err) : AR_OK;
    free(unknown);
    return status;
}

enum ar_status ar_cluster_platform_rates(const struct ar_cluster *cluster,
                                         const struct ar_flow *flows, size_t flows_count,
                                         double *rates_Bps, struct ar_error *err)
{
    struct ar_platform *platform = cluster->platform;
    assert(platform != NULL);
    const double *known = ar_rates_find(&platform->rates, flows, flows_count);
    if (known != NULL) {
        memcpy(rates_Bps, known, flows_count * sizeof *rates_Bps);
        return AR_OK;
    }
    enum ar_status status = platform->source->rates(cluster, flows, flows_count, rates_Bps, err);
    return status == AR_OK ? ar_rates_add(&platform->rates, flows, flows_count, rates_Bps, err)
                           : status;
}
