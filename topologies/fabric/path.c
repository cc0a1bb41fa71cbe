/* Paths. All functions fill in the caller's: a copy of one costs more than finding it. */
#include <assert.h>
#include <math.h>

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
    path->links[path->links_count++] = link;
    path->bandwidth_Bps = fmin(path->bandwidth_Bps, ar_cluster_link_bandwidth(cluster, link));
}

static void begin_path(const struct ar_cluster *cluster, enum ar_tier tier, struct ar_path *path)
{
    path->tier = tier;
    path->latency_s = cluster->latencies_s[tier];
    path->bandwidth_Bps = HUGE_VAL;
    path->links_count = 0;
    path->climbs = 0;
}

/* A GPU of a node, whose links start at `first`. */
struct place {
    uint32_t node, first, gpu;
};

/* Over the ports of two GPUs of a node or, over NVLink switches, of an NVLink domain. */
static void port_path(const struct ar_cluster *cluster, struct place from, struct place to,
                      struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    begin_path(cluster, cluster->port_tier, path);
    ar_path_add(cluster, from.first + node->port[from.gpu], rates_Bps[AR_KIND_PORT], path);
    path->climbs = path->links_count;
    if (cluster->port_tier == AR_TIER_PCIE && node->uplink[from.gpu] != node->uplink[to.gpu]) {
        ar_path_add(cluster, from.first + node->uplink[from.gpu], rates_Bps[AR_KIND_PCIE], path);
        path->climbs = path->links_count;
        ar_path_add(cluster, to.first + node->uplink[to.gpu] + 1, rates_Bps[AR_KIND_PCIE], path);
    }
    ar_path_add(cluster, to.first + node->port[to.gpu] + 1, rates_Bps[AR_KIND_PORT], path);
}

/* By NVLink, if there is one that is up or the only way. */
static void node_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a, uint32_t b,
                      struct ar_path *path)
{
    uint32_t nvlink = cluster->node.nvlink[a][b];
    if (nvlink == AR_NO_LINK ||
        (cluster->node.port[a] != AR_NO_LINK && ar_link_is_down(cluster, first + nvlink))) {
        port_path(cluster, (struct place){.first = first, .gpu = a},
                  (struct place){.first = first, .gpu = b}, path);
        return;
    }
    begin_path(cluster, AR_TIER_NVLINK, path);
    ar_path_add(cluster, first + nvlink,
                cluster->values.weight[a][b] * cluster->rates_Bps[AR_KIND_NVLINK], path);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u; /* the finalizer of SplitMix64 (Steele 2014) */
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t ar_route_hash(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                       uint32_t salt)
{
    uint64_t pair = (uint64_t)ar_port_number(cluster, from) << 32 | ar_port_number(cluster, to);
    uint64_t seed = (uint64_t)cluster->values.number[TOPO_FABRIC_ROUTES] << 8 | salt;
    return (uint32_t)(mix(mix(pair + 0x9e3779b97f4a7c15u) + seed * 0x9e3779b97f4a7c15u) >> 32);
}

/* The HCA of a directed link of one of the place's node. */
static struct ar_port port_of(const struct ar_cluster *cluster, struct place place, uint32_t link)
{
    return (struct ar_port){place.node, (link - place.first - cluster->node.hca[0]) / 2};
}

/* The rail on which a message between nodes travels: that of its destination, if both its HCAs are
 * up, else the next one. */
static uint32_t rail_of(const struct ar_cluster *cluster, struct place from, struct place to)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t rails = cluster->facts.hcas_per_node;
    uint32_t own = (node->hca[to.gpu] - node->hca[0]) / 2u;
    for (uint32_t i = 0; i < rails && cluster->changes_count > 0; i++) {
        uint32_t out = node->hca[0] + 2 * ((own + i) % rails);
        if (!ar_link_is_down(cluster, from.first + out) &&
            !ar_link_is_down(cluster, to.first + out + 1)) {
            return (own + i) % rails;
        }
    }
    return own;
}

/* To the GPU of the source's node whose HCA is on the rail of the destination; with several, those
 * of a rail take one each. */
static struct place change_rails(const struct ar_cluster *cluster, struct place from,
                                 struct place to, uint32_t *out, uint32_t *in, struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t rail = rail_of(cluster, from, to);
    uint32_t gpus = cluster->facts.gpus_per_node / cluster->facts.hcas_per_node; /* of a rail */
    struct place relay = {from.node, from.first, rail * gpus + from.gpu % gpus};
    *out = from.first + node->hca[0] + 2 * rail;
    *in = to.first + node->hca[0] + 2 * rail + 1;
    if (relay.gpu != from.gpu) {
        node_path(cluster, from.first, from.gpu, relay.gpu, path);
        path->tier = AR_TIER_RACK;
        path->latency_s = cluster->latencies_s[AR_TIER_RACK];
    }
    return relay;
}

/* From a GPU of one node to one of another. */
static void network_path(const struct ar_cluster *cluster, struct place from, struct place to,
                         struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    uint32_t out = ar_hca_in_use(cluster, from.first + node->hca[from.gpu]);
    uint32_t in = ar_hca_in_use(cluster, to.first + node->hca[to.gpu] + 1);
    begin_path(cluster, AR_TIER_RACK, path);
    if (cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK) {
        from = change_rails(cluster, from, to, &out, &in, path);
    }
    if (node->net_uplink[from.gpu] != AR_NO_LINK) {
        ar_path_add(cluster, from.first + node->net_uplink[from.gpu], rates_Bps[AR_KIND_PCIE],
                    path);
    }
    ar_path_add(cluster, out, rates_Bps[AR_KIND_HCA], path);
    uint32_t before = path->links_count;
    if (cluster->fabric_links_count > 0) {
        cluster->fabric->route(cluster, port_of(cluster, from, out), port_of(cluster, to, in),
                               path);
    }
    path->climbs = before + (path->links_count - before) / 2;
    ar_path_add(cluster, in, rates_Bps[AR_KIND_HCA], path);
    if (node->net_uplink[to.gpu] != AR_NO_LINK) {
        ar_path_add(cluster, to.first + node->net_uplink[to.gpu] + 1, rates_Bps[AR_KIND_PCIE],
                    path);
    }
}

/* Keeps the links of a path up to the switch in its middle, or those behind it. */
static void keep_half(const struct ar_cluster *cluster, bool is_first, struct ar_path *path)
{
    uint32_t dropped = is_first ? 0 : path->climbs;
    if (path->links_count == 0) {
        return;
    }
    path->links_count = is_first ? path->climbs : path->links_count - dropped;
    path->bandwidth_Bps = HUGE_VAL;
    for (uint32_t i = 0; i < path->links_count; i++) {
        uint32_t link = path->links[i] = path->links[i + dropped];
        path->bandwidth_Bps = fmin(path->bandwidth_Bps, ar_cluster_link_bandwidth(cluster, link));
    }
}

void ar_path_find(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                  struct ar_path *path)
{
    if (((source | destination) & AR_SWITCH) != 0) {
        ar_path_find(cluster, source & ~AR_SWITCH, destination & ~AR_SWITCH, path);
        keep_half(cluster, (source & AR_SWITCH) == 0, path);
        return;
    }
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t source_node = source / gpus;
    uint32_t destination_node = destination / gpus;
    uint32_t links = cluster->node.count;
    struct place from = {source_node, source_node * links, source - source_node * gpus};
    struct place to = {destination_node, destination_node * links,
                       destination - destination_node * gpus};
    assert(source != destination && source_node < cluster->facts.nodes_count &&
           destination_node < cluster->facts.nodes_count);
    if (source_node == destination_node) {
        node_path(cluster, from.first, from.gpu, to.gpu, path);
    } else if (source_node / cluster->domain_nodes == destination_node / cluster->domain_nodes) {
        port_path(cluster, from, to, path);
    } else {
        network_path(cluster, from, to, path);
    }
}

const struct ar_path *ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                                      uint32_t destination, struct ar_path *path)
{
    ar_path_find(cluster, source, destination, path);
    assert(path->links_count > 0);
    return path;
}
