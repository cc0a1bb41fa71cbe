/* Paths where links are slow or down, and who can still reach whom. */
#include <math.h>

#include "fabric.h"

static bool is_hca(const struct ar_cluster *cluster, uint32_t link)
{
    return link < cluster->first_rack_link && link % cluster->node.count >= cluster->node.first_hca;
}

uint32_t ar_link_hca_in_use(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t first = link - link % node->count + node->first_hca;
    uint32_t ends = node->count - node->first_hca; /* two of each HCA: out and in */
    for (uint32_t step = 0; step < ends; step += 2) {
        uint32_t candidate = first + (link - first + step) % ends;
        if (!ar_link_is_down(cluster, candidate)) {
            return candidate;
        }
    }
    return link;
}

/* Only the path of an NVLink pair has one link. */
static bool lost_its_nvlink(const struct ar_cluster *cluster, const struct ar_path *path)
{
    return path->links_count == 1 && ar_link_is_down(cluster, path->near_links[0]);
}

void ar_path_change(const struct ar_cluster *cluster, uint32_t source, uint32_t destination,
                    struct ar_path *path)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t a = source % gpus;
    if (lost_its_nvlink(cluster, path) && cluster->node.port[a] != AR_NO_LINK) {
        uint32_t first = source / gpus * cluster->node.count;
        *path = ar_path_over_ports(cluster, first, a, destination % gpus);
    }
    double bandwidth_Bps = HUGE_VAL;
    for (uint32_t i = 0; i < path->links_count; i++) {
        uint32_t link = path->near_links[i];
        link = is_hca(cluster, link) ? ar_link_hca_in_use(cluster, link) : link;
        if (ar_link_is_down(cluster, link)) {
            path->links_count = 0;
            path->near_links[0] = link;
            return;
        }
        path->near_links[i] = link;
        bandwidth_Bps = fmin(bandwidth_Bps, ar_cluster_link_bandwidth(cluster, link));
    }
    path->bandwidth_Bps = bandwidth_Bps;
}

/* --- who can reach whom ---------------------------------------------------------------------- */

static const char *reason_of(const struct ar_cluster *cluster, uint32_t link)
{
    if (is_hca(cluster, link)) {
        return "and the node has no other HCA that is up";
    }
    if (link < cluster->first_rack_link && link % cluster->node.count < cluster->node.first_port) {
        return "and the cluster describes no PCIe (pcie.switches, pcie.bandwidth, pcie.latency)";
    }
    return "and there is no other way";
}

static enum ar_status check_pair(const struct ar_cluster *cluster, uint32_t source,
                                 uint32_t destination, struct ar_error *err)
{
    struct ar_path path = ar_path_find(cluster, source, destination);
    if (path.links_count > 0) {
        return AR_OK;
    }
    char name[64];
    return ar_error_set(
        err, AR_USAGE, "--down-link: GPUs %u and %u cannot reach each other: %s is down, %s",
        source < destination ? source : destination, source < destination ? destination : source,
        ar_cluster_link_name(cluster, path.near_links[0], name, sizeof name),
        reason_of(cluster, path.near_links[0]));
}

static enum ar_status check_both(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                 struct ar_error *err)
{
    AR_TRY(check_pair(cluster, a, b, err));
    return check_pair(cluster, b, a, err);
}

/* The GPUs of a node with each other and with one of another node, which stands for all: their way
 * out of the node is the same. */
static enum ar_status check_node(const struct ar_cluster *cluster, uint32_t node, uint32_t ranks,
                                 struct ar_error *err)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t end = ranks < (node + 1) * gpus ? ranks : (node + 1) * gpus;
    uint32_t outside = node == 0 ? gpus : 0;
    for (uint32_t a = node * gpus; a < end; a++) {
        for (uint32_t b = a + 1; b < end; b++) {
            AR_TRY(check_both(cluster, a, b, err));
        }
        if (outside < ranks) {
            AR_TRY(check_both(cluster, a, outside, err));
        }
    }
    return AR_OK;
}

/* The first GPU of a rack with one of another rack, which stands for all. */
static enum ar_status check_rack(const struct ar_cluster *cluster, uint32_t rack, uint32_t ranks,
                                 struct ar_error *err)
{
    uint64_t rack_gpus = (uint64_t)cluster->facts.nodes_per_rack * cluster->facts.gpus_per_node;
    uint64_t inside = rack * rack_gpus;
    uint64_t outside = rack == 0 ? rack_gpus : 0;
    if (inside >= ranks || outside >= ranks) {
        return AR_OK;
    }
    return check_both(cluster, (uint32_t)inside, (uint32_t)outside, err);
}

enum ar_status ar_cluster_check_reach(const struct ar_cluster *cluster, uint32_t ranks,
                                      struct ar_error *err)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        uint32_t link = cluster->changes[i].link;
        if (cluster->changes[i].is_down) {
            AR_TRY(link >= cluster->first_rack_link
                       ? check_rack(cluster, (link - cluster->first_rack_link) / 2, ranks, err)
                       : check_node(cluster, link / cluster->node.count, ranks, err));
        }
    }
    return AR_OK;
}
