/* Paths. All functions fill in the caller's: a copy of one costs more than finding it. */
#include <assert.h>
#include <math.h>
#include <search.h>

#include "fabric.h"

void ar_path_add_changed(const struct ar_cluster *cluster, uint32_t link, struct ar_path *path)
{
    if (path->bandwidth_Bps == 0) {
        return;
    }
    if (ar_link_is_down(cluster, link)) {
        ar_path_fail(link, path);
        return;
    }
    path->near_links[path->links_count++] = link;
    path->bandwidth_Bps = fmin(path->bandwidth_Bps, ar_cluster_link_bandwidth(cluster, link));
}

static void begin_path(const struct ar_cluster *cluster, enum ar_tier tier, struct ar_path *path)
{
    path->tier = tier;
    path->latency_s = cluster->latencies_s[tier];
    path->bandwidth_Bps = HUGE_VAL;
    path->links_count = 0;
    path->far_links = NULL;
}

/* From GPU a to GPU b over their ports, in the node whose links start at `first`. */
static void port_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a, uint32_t b,
                      struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    begin_path(cluster, cluster->port_tier, path);
    ar_path_add(cluster, first + node->port[a], rates_Bps[AR_KIND_PORT], path);
    if (cluster->port_tier == AR_TIER_PCIE && node->uplink[a] != node->uplink[b]) {
        ar_path_add(cluster, first + node->uplink[a], rates_Bps[AR_KIND_PCIE], path);
        ar_path_add(cluster, first + node->uplink[b] + 1, rates_Bps[AR_KIND_PCIE], path);
    }
    ar_path_add(cluster, first + node->port[b] + 1, rates_Bps[AR_KIND_PORT], path);
}

/* By NVLink, if there is one that is up or the only way. */
static void node_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a, uint32_t b,
                      struct ar_path *path)
{
    uint32_t nvlink = cluster->node.nvlink[a][b];
    if (nvlink == AR_NO_LINK ||
        (cluster->node.port[a] != AR_NO_LINK && ar_link_is_down(cluster, first + nvlink))) {
        port_path(cluster, first, a, b, path);
        return;
    }
    begin_path(cluster, AR_TIER_NVLINK, path);
    ar_path_add(cluster, first + nvlink,
                cluster->values.weight[a][b] * cluster->rates_Bps[AR_KIND_NVLINK], path);
}

/* The HCA of a directed link of one. */
static struct ar_port port_of(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_node_links *node = &cluster->node;
    return (struct ar_port){link / node->count, (link % node->count - node->hca[0]) / 2};
}

/* From GPU a of one node to GPU b of another. */
static void network_path(const struct ar_cluster *cluster, uint32_t source_node, uint32_t a,
                         uint32_t destination_node, uint32_t b, struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    uint32_t source_first = source_node * node->count;
    uint32_t destination_first = destination_node * node->count;
    uint32_t out = ar_hca_in_use(cluster, source_first + node->hca[a]);
    uint32_t in = ar_hca_in_use(cluster, destination_first + node->hca[b] + 1);
    begin_path(cluster, AR_TIER_RACK, path);
    if (node->net_uplink[a] != AR_NO_LINK) {
        ar_path_add(cluster, source_first + node->net_uplink[a], rates_Bps[AR_KIND_PCIE], path);
    }
    ar_path_add(cluster, out, rates_Bps[AR_KIND_HCA], path);
    if (cluster->fabric_links_count > 0) {
        cluster->fabric->route(cluster, port_of(cluster, out), port_of(cluster, in), path);
    }
    ar_path_add(cluster, in, rates_Bps[AR_KIND_HCA], path);
    if (node->net_uplink[b] != AR_NO_LINK) {
        ar_path_add(cluster, destination_first + node->net_uplink[b] + 1, rates_Bps[AR_KIND_PCIE],
                    path);
    }
}

int ar_route_compare(const void *a, const void *b)
{
    const struct ar_flow *left = &((const struct ar_platform_route *)a)->pair;
    const struct ar_flow *right = &((const struct ar_platform_route *)b)->pair;
    return left->source != right->source
               ? (left->source > right->source) - (left->source < right->source)
               : (left->destination > right->destination) -
                     (left->destination < right->destination);
}

const struct ar_platform_route *ar_route_find(const struct ar_platform *platform,
                                              struct ar_flow pair)
{
    const struct ar_platform_route wanted = {.pair = pair};
    const struct ar_platform_route *const *node =
        tfind(&wanted, &platform->routes, ar_route_compare);
    return node != NULL ? *node : NULL;
}

static void route_path(const struct ar_platform *platform, struct ar_flow pair,
                       struct ar_path *path)
{
    const struct ar_platform_route *route = ar_route_find(platform, pair);
    assert(route != NULL); /* ar_cluster_prepare_paths() has passed */
    path->tier = AR_TIER_ROUTE;
    path->latency_s = route->latency_s;
    path->bandwidth_Bps = route->bandwidth_Bps;
    path->links_count = route->links_count;
    path->far_links = route->links;
}

void ar_path_find(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                  struct ar_path *path)
{
    if (cluster->platform != NULL) {
        route_path(cluster->platform, (struct ar_flow){source, destination}, path);
        return;
    }
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t source_node = source / gpus;
    uint32_t destination_node = destination / gpus;
    uint32_t a = source - source_node * gpus;
    uint32_t b = destination - destination_node * gpus;
    assert(source != destination && source_node < cluster->facts.nodes_count &&
           destination_node < cluster->facts.nodes_count);
    if (source_node == destination_node) {
        node_path(cluster, source_node * cluster->node.count, a, b, path);
    } else {
        network_path(cluster, source_node, a, destination_node, b, path);
    }
}

const struct ar_path *ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                                      uint32_t destination, struct ar_path *path)
{
    ar_path_find(cluster, source, destination, path);
    assert(path->links_count > 0 || cluster->platform != NULL);
    return path;
}
