/* Who can still reach whom where links are down, and which changed links nobody takes. */
#include "fabric.h"

static const char *reason_of(enum ar_link_kind kind)
{
    return kind == AR_KIND_HCA      ? "and the node has no other HCA that is up"
           : kind == AR_KIND_NVLINK ? "and the cluster describes no PCIe (pcie.switches, "
                                      "pcie.bandwidth, pcie.latency)"
                                    : "and there is no other way";
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
        reason_of(ar_link_kind(cluster, path.near_links[0])));
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

/* --- links that nobody takes ----------------------------------------------------------------- */

/* Is a link of a node one of those of its first GPUs? Links of a pair are neighbours. */
static bool serves(const uint16_t link_of_gpu[AR_TOPO_GPUS_MAX], uint32_t gpus, uint32_t local)
{
    for (uint32_t g = 0; g < gpus; g++) {
        if (link_of_gpu[g] != AR_NO_LINK &&
            (local == link_of_gpu[g] || local == link_of_gpu[g] + 1u)) {
            return true;
        }
    }
    return false;
}

static bool has_down(const struct ar_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].is_down) {
            return true;
        }
    }
    return false;
}

static bool is_idle(const struct ar_cluster *cluster, uint32_t link, uint32_t ranks, bool has_node)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    if (ar_link_kind(cluster, link) == AR_KIND_RACK) {
        uint64_t rack_gpus = (uint64_t)cluster->facts.nodes_per_rack * gpus;
        uint64_t first = (link - cluster->first_rack_link) / 2 * rack_gpus;
        return ranks <= first || ranks <= rack_gpus;
    }
    const struct ar_node_links *node = &cluster->node;
    uint32_t first = link / node->count * gpus;
    uint32_t local = link % node->count;
    uint32_t present = ranks <= first ? 0 : ranks - first < gpus ? ranks - first : gpus;
    present = has_node && first == 0 ? gpus : present;
    switch (node->list[local].kind) {
    case AR_KIND_NVLINK:
        return node->list[local].a >= present || node->list[local].b >= present;
    case AR_KIND_HCA: /* one that is down has another do its work */
        return ranks <= gpus || present == 0 ||
               (present < gpus && !has_down(cluster) && !serves(node->hca, present, local));
    case AR_KIND_PCIE:
        return !serves(node->uplink, present, local);
    default:
        return !serves(node->port, present, local);
    }
}

const struct ar_cluster_parameter *ar_cluster_idle_change(const struct ar_cluster *cluster,
                                                          size_t index, uint32_t ranks,
                                                          bool has_node)
{
    if (cluster->platform != NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].setting == index &&
            !is_idle(cluster, cluster->changes[i].link, ranks, has_node)) {
            return NULL;
        }
    }
    return &cluster->settings[index];
}
