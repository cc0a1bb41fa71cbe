/* Who can still reach whom where links are down. */
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
