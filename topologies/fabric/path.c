#include <assert.h>
#include <math.h>
#include <search.h>

#include "ar_text.h"
#include "fabric.h"

static const struct {
    const char *name, *directions[2];
} kinds[] = {[AR_KIND_PORT] = {"port", {"out", "in"}},
             [AR_KIND_PCIE] = {"pcie", {"up", "down"}},
             [AR_KIND_HCA] = {"hca", {"out", "in"}}};

/* As the file says. */
static double file_bandwidth(const struct ar_cluster *cluster, uint32_t link)
{
    if (cluster->platform != NULL) {
        return cluster->platform->links[link].bandwidth_Bps;
    }
    if (link >= cluster->first_rack_link) {
        return cluster->rates_Bps[AR_KIND_RACK];
    }
    const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
    return local->weight * cluster->rates_Bps[local->kind];
}

/* Adds what carries the messages of a link. A path over a link that is down has a bandwidth of 0
 * and no links, but that one in the first place. */
static void add_changed_link(const struct ar_cluster *cluster, uint32_t link, struct ar_path *path)
{
    if (path->bandwidth_Bps == 0) {
        return;
    }
    link = ar_link_in_use(cluster, link);
    bool is_down = ar_link_is_down(cluster, link);
    double bandwidth_Bps = is_down ? 0 : ar_cluster_link_bandwidth(cluster, link);
    path->links_count = is_down ? 0 : path->links_count + 1;
    path->near_links[is_down ? 0 : path->links_count - 1] = link;
    path->bandwidth_Bps = fmin(path->bandwidth_Bps, bandwidth_Bps);
}

static inline void add_link(const struct ar_cluster *cluster, uint32_t link, double bandwidth_Bps,
                            struct ar_path *path)
{
    if (cluster->changes_count > 0) {
        add_changed_link(cluster, link, path);
        return;
    }
    path->near_links[path->links_count++] = link;
    if (bandwidth_Bps < path->bandwidth_Bps) {
        path->bandwidth_Bps = bandwidth_Bps;
    }
}

/* From GPU a to GPU b over their ports, in the node whose links start at `first`. */
static struct ar_path port_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                uint32_t b)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    struct ar_path path = {.tier = cluster->port_tier,
                           .latency_s = cluster->latencies_s[cluster->port_tier],
                           .bandwidth_Bps = HUGE_VAL};
    add_link(cluster, first + node->port[a], rates_Bps[AR_KIND_PORT], &path);
    if (cluster->port_tier == AR_TIER_PCIE && node->uplink[a] != node->uplink[b]) {
        add_link(cluster, first + node->uplink[a], rates_Bps[AR_KIND_PCIE], &path);
        add_link(cluster, first + node->uplink[b] + 1, rates_Bps[AR_KIND_PCIE], &path);
    }
    add_link(cluster, first + node->port[b] + 1, rates_Bps[AR_KIND_PORT], &path);
    return path;
}

/* The same over their NVLink. */
static struct ar_path nvlink_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                  uint32_t b)
{
    struct ar_path path = {.tier = AR_TIER_NVLINK,
                           .latency_s = cluster->latencies_s[AR_TIER_NVLINK],
                           .bandwidth_Bps = HUGE_VAL};
    add_link(cluster, first + cluster->node.nvlink[a][b],
             cluster->values.weight[a][b] * cluster->rates_Bps[AR_KIND_NVLINK], &path);
    return path;
}

/* By NVLink, if there is one that is up or the only way. A function that returns a path has one
 * path: copies cost trees a third of their time. */
static struct ar_path node_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a,
                                uint32_t b)
{
    uint32_t nvlink = cluster->node.nvlink[a][b];
    bool is_lost = nvlink == AR_NO_LINK || (cluster->node.port[a] != AR_NO_LINK &&
                                            ar_link_is_down(cluster, first + nvlink));
    return is_lost ? port_path(cluster, first, a, b) : nvlink_path(cluster, first, a, b);
}

/* From GPU a of one node to GPU b of another. */
static struct ar_path network_path(const struct ar_cluster *cluster, uint32_t source_node,
                                   uint32_t a, uint32_t destination_node, uint32_t b)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    uint32_t source_first = source_node * node->count;
    uint32_t destination_first = destination_node * node->count;
    struct ar_path path = {.tier = AR_TIER_RACK,
                           .latency_s = cluster->latencies_s[AR_TIER_RACK],
                           .bandwidth_Bps = HUGE_VAL};
    if (node->net_uplink[a] != AR_NO_LINK) {
        add_link(cluster, source_first + node->net_uplink[a], rates_Bps[AR_KIND_PCIE], &path);
    }
    add_link(cluster, source_first + node->hca[a], rates_Bps[AR_KIND_HCA], &path);
    if (cluster->racks_count > 0) {
        uint32_t up = cluster->first_rack_link + 2 * (source_node / cluster->facts.nodes_per_rack);
        uint32_t down =
            cluster->first_rack_link + 2 * (destination_node / cluster->facts.nodes_per_rack) + 1;
        if (up + 1 != down) {
            path.tier = AR_TIER_SPINE;
            add_link(cluster, up, rates_Bps[AR_KIND_RACK], &path);
            add_link(cluster, down, rates_Bps[AR_KIND_RACK], &path);
        }
    }
    add_link(cluster, destination_first + node->hca[b] + 1, rates_Bps[AR_KIND_HCA], &path);
    if (node->net_uplink[b] != AR_NO_LINK) {
        add_link(cluster, destination_first + node->net_uplink[b] + 1, rates_Bps[AR_KIND_PCIE],
                 &path);
    }
    return path;
}

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

static struct ar_path route_path(const struct ar_platform *platform, struct ar_flow pair)
{
    const struct ar_platform_route *route = ar_route_find(platform, pair);
    assert(route != NULL); /* ar_cluster_prepare_paths() has passed */
    return (struct ar_path){.tier = AR_TIER_ROUTE,
                            .latency_s = route->latency_s,
                            .bandwidth_Bps = route->bandwidth_Bps,
                            .links_count = route->links_count,
                            .far_links = route->links};
}

struct ar_path ar_path_find(const struct ar_cluster *cluster, uint32_t source, uint32_t destination)
{
    return cluster->platform != NULL
               ? route_path(cluster->platform, (struct ar_flow){source, destination})
               : file_path(cluster, source, destination);
}

struct ar_path ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                               uint32_t destination)
{
    if (cluster->platform != NULL || cluster->changes_count > 0) {
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
    if (cluster->platform != NULL) {
        ar_copy_text(name, size, cluster->platform->links[link].name);
    } else if (link >= cluster->first_rack_link) {
        uint32_t index = link - cluster->first_rack_link;
        snprintf(name, size, "rack-%u.%s", index / 2, index % 2 == 0 ? "up" : "down");
    } else {
        const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
        uint32_t number = link / cluster->node.count;
        if (local->kind == AR_KIND_NVLINK) {
            snprintf(name, size, "node-%u.nvlink-%u-%u", number, local->a, local->b);
        } else {
            snprintf(name, size, "node-%u.%s-%u.%s", number, kinds[local->kind].name, local->a,
                     kinds[local->kind].directions[local->b]);
        }
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
