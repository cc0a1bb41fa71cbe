#include <assert.h>

#include "ar_text.h"
#include "fabric.h"
#include "routes.h"

static void add_link(struct ar_path *path, uint32_t link, double bandwidth_Bps)
{
    path->near_links[path->links_count++] = link;
    if (bandwidth_Bps < path->bandwidth_Bps) {
        path->bandwidth_Bps = bandwidth_Bps;
    }
}

struct ar_path ar_path_over_ports(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                  uint32_t b)
{
    const struct ar_node_links *node = &cluster->node;
    const double *number = cluster->values.number;
    struct ar_path path = {
        .tier = AR_TIER_NVLINK, .latency_s = number[TOPO_NVLINK_LATENCY], .bandwidth_Bps = 1e300};
    add_link(&path, first + node->port[a], cluster->port_Bps);
    if (cluster->port_tier == AR_TIER_PCIE) {
        path.tier = AR_TIER_PCIE;
        path.latency_s = number[TOPO_PCIE_LATENCY];
        if (node->uplink[a] != node->uplink[b]) {
            add_link(&path, first + node->uplink[a], cluster->uplink_Bps);
            add_link(&path, first + node->uplink[b] + 1, cluster->uplink_Bps);
        }
    }
    add_link(&path, first + node->port[b] + 1, cluster->port_Bps);
    return path;
}

/* From GPU a to GPU b of the node whose links start at `first`. */
static struct ar_path node_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                uint32_t b)
{
    const struct ar_node_links *node = &cluster->node;
    const double *number = cluster->values.number;
    if (node->nvlink[a][b] == AR_NO_LINK) {
        return ar_path_over_ports(cluster, first, a, b);
    }
    struct ar_path path = {
        .tier = AR_TIER_NVLINK, .latency_s = number[TOPO_NVLINK_LATENCY], .bandwidth_Bps = 1e300};
    add_link(&path, first + node->nvlink[a][b],
             cluster->values.weight[a][b] * number[TOPO_NVLINK_BANDWIDTH]);
    return path;
}

/* From GPU a of one node to GPU b of another. */
static struct ar_path network_path(const struct ar_cluster *cluster, uint32_t source_node,
                                   uint32_t a, uint32_t destination_node, uint32_t b)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t source_first = source_node * node->count;
    uint32_t destination_first = destination_node * node->count;
    struct ar_path path = {.tier = AR_TIER_RACK,
                           .latency_s = cluster->values.number[TOPO_NET_LATENCY],
                           .bandwidth_Bps = cluster->hca_Bps};
    if (node->net_uplink[a] != AR_NO_LINK) {
        add_link(&path, source_first + node->net_uplink[a], cluster->uplink_Bps);
    }
    add_link(&path, source_first + node->hca[a], cluster->hca_Bps);
    if (cluster->racks_count > 0) {
        uint32_t source_rack = source_node / cluster->facts.nodes_per_rack;
        uint32_t destination_rack = destination_node / cluster->facts.nodes_per_rack;
        if (source_rack != destination_rack) {
            path.tier = AR_TIER_SPINE;
            add_link(&path, cluster->first_rack_link + 2 * source_rack, cluster->rack_uplink_Bps);
            add_link(&path, cluster->first_rack_link + 2 * destination_rack + 1,
                     cluster->rack_uplink_Bps);
        }
    }
    add_link(&path, destination_first + node->hca[b] + 1, cluster->hca_Bps);
    if (node->net_uplink[b] != AR_NO_LINK) {
        add_link(&path, destination_first + node->net_uplink[b] + 1, cluster->uplink_Bps);
    }
    return path;
}

/* As the file says. */
static inline struct ar_path file_path(const struct ar_cluster *cluster, uint32_t source,
                                       uint32_t destination)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t source_node = source / gpus;
    uint32_t destination_node = destination / gpus;
    assert(source != destination && source_node < cluster->facts.nodes_count &&
           destination_node < cluster->facts.nodes_count);
    if (source_node == destination_node) {
        return node_path(cluster, source_node * cluster->node.count, source % gpus,
                         destination % gpus);
    }
    return network_path(cluster, source_node, source % gpus, destination_node, destination % gpus);
}

struct ar_path ar_path_find(const struct ar_cluster *cluster, uint32_t source, uint32_t destination)
{
    if (cluster->platform != NULL) {
        return ar_route_path(cluster->platform, (struct ar_flow){source, destination});
    }
    struct ar_path path = file_path(cluster, source, destination);
    if (cluster->changes_count > 0) {
        ar_path_change(cluster, source, destination, &path);
    }
    return path;
}

struct ar_path ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                               uint32_t destination)
{
    if (cluster->is_changed) {
        struct ar_path path = ar_path_find(cluster, source, destination);
        assert(path.links_count > 0);
        return path;
    }
    return file_path(cluster, source, destination);
}

uint32_t ar_cluster_links_count(const struct ar_cluster *cluster)
{
    return cluster->platform != NULL ? cluster->platform->links_count
                                     : cluster->first_rack_link + 2 * cluster->racks_count;
}

/* The pair of GPUs of an NVLink; NVLinks are numbered first. */
static void find_nvlink(const struct ar_cluster *cluster, uint32_t link, uint32_t *a, uint32_t *b)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    for (*a = 0; *a < gpus; ++*a) {
        for (*b = 0; *b < gpus; ++*b) {
            if (cluster->node.nvlink[*a][*b] == link) {
                return;
            }
        }
    }
    assert(false);
}

/* As the file says. */
static double file_bandwidth(const struct ar_cluster *cluster, uint32_t link)
{
    if (cluster->platform != NULL) {
        return cluster->platform->links[link].bandwidth_Bps;
    }
    if (link >= cluster->first_rack_link) {
        return cluster->rack_uplink_Bps;
    }
    uint32_t local = link % cluster->node.count;
    if (local >= cluster->node.first_hca) {
        return cluster->hca_Bps;
    }
    if (local >= cluster->node.first_uplink) {
        return cluster->uplink_Bps;
    }
    if (local >= cluster->node.first_port) {
        return cluster->port_Bps;
    }
    uint32_t a, b;
    find_nvlink(cluster, local, &a, &b);
    return cluster->values.weight[a][b] * cluster->values.number[TOPO_NVLINK_BANDWIDTH];
}

double ar_cluster_link_factor(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_link_change *change =
        cluster->changes_count > 0 ? ar_link_change_find(cluster, link) : NULL;
    return change != NULL ? change->factor : 1;
}

double ar_cluster_link_bandwidth(const struct ar_cluster *cluster, uint32_t link)
{
    assert(link < ar_cluster_links_count(cluster));
    return file_bandwidth(cluster, link) / ar_cluster_link_factor(cluster, link);
}

const char *ar_cluster_link_name(const struct ar_cluster *cluster, uint32_t link, char *name,
                                 size_t size)
{
    assert(link < ar_cluster_links_count(cluster));
    const struct ar_node_links *node = &cluster->node;
    if (cluster->platform != NULL) {
        ar_copy_text(name, size, cluster->platform->links[link].name);
        return name;
    }
    if (link >= cluster->first_rack_link) {
        uint32_t index = link - cluster->first_rack_link;
        snprintf(name, size, "rack-%u.%s", index / 2, index % 2 == 0 ? "up" : "down");
        return name;
    }
    uint32_t number = link / node->count;
    uint32_t local = link % node->count;
    if (local >= node->first_hca) {
        uint32_t index = local - node->first_hca;
        snprintf(name, size, "node-%u.hca-%u.%s", number, index / 2, index % 2 == 0 ? "out" : "in");
    } else if (local >= node->first_uplink) {
        uint32_t index = local - node->first_uplink;
        snprintf(name, size, "node-%u.pcie-%u.%s", number, index / 2,
                 index % 2 == 0 ? "up" : "down");
    } else if (local >= node->first_port) {
        uint32_t index = local - node->first_port;
        snprintf(name, size, "node-%u.port-%u.%s", number, index / 2,
                 index % 2 == 0 ? "out" : "in");
    } else {
        uint32_t a, b;
        find_nvlink(cluster, local, &a, &b);
        snprintf(name, size, "node-%u.nvlink-%u-%u", number, a, b);
    }
    return name;
}

const char *ar_cluster_host_name(const struct ar_cluster *cluster, uint32_t rank, char *name,
                                 size_t size)
{
    if (cluster->platform != NULL) {
        ar_copy_text(name, size, cluster->platform->hosts[rank]);
    } else {
        snprintf(name, size, "gpu-%u", rank);
    }
    return name;
}

bool ar_cluster_link_is_shared(const struct ar_cluster *cluster, uint32_t link)
{
    return cluster->platform == NULL || cluster->platform->links[link].is_shared;
}

const char *ar_cluster_platform_path(const struct ar_cluster *cluster)
{
    return cluster->platform != NULL ? cluster->platform->path : NULL;
}
