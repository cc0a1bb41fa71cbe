/* Who can still reach whom where links are down, and which changed links nobody takes. */
#include "fabric.h"

static const char *reason_of(enum ar_link_kind kind)
{
    return kind == AR_KIND_HCA      ? "and the node has no other HCA that is up"
           : kind == AR_KIND_NVLINK ? "and the cluster describes no PCIe (pcie.switches, "
                                      "pcie.bandwidth, pcie.latency)"
                                    : "and there is no other way";
}

enum ar_status ar_reach_check_pair(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                   struct ar_error *err)
{
    struct ar_path path;
    ar_path_find(cluster, a, b, &path);
    if (path.links_count > 0) {
        ar_path_find(cluster, b, a, &path);
    }
    if (path.links_count > 0) {
        return AR_OK;
    }
    char name[64];
    return ar_error_set(err, AR_USAGE,
                        "--down-link: GPUs %u and %u cannot reach each other: %s is down, %s",
                        a < b ? a : b, a < b ? b : a,
                        ar_cluster_link_name(cluster, path.links[0], name, sizeof name),
                        reason_of(ar_link_kind(cluster, path.links[0])));
}

/* Every GPU of a node with every one of another. */
static enum ar_status check_nodes(const struct ar_cluster *cluster, uint64_t node, uint64_t other,
                                  uint32_t ranks, struct ar_error *err)
{
    uint64_t gpus = cluster->facts.gpus_per_node;
    for (uint64_t a = node * gpus; a < (node + 1) * gpus && a < ranks; a++) {
        for (uint64_t b = other * gpus; b < (other + 1) * gpus && b < ranks; b++) {
            if (a != b) {
                AR_TRY(ar_reach_check_pair(cluster, (uint32_t)a, (uint32_t)b, err));
            }
        }
    }
    return AR_OK;
}

/* The GPUs of the link's node with all: which HCA they use may depend on what is down elsewhere. */
static enum ar_status check_link(const struct ar_cluster *cluster, uint32_t link, uint32_t ranks,
                                 struct ar_error *err)
{
    if (link >= cluster->first_fabric_link) {
        return cluster->fabric->check_reach(cluster, link - cluster->first_fabric_link, ranks, err);
    }
    uint64_t node = link / cluster->node.count;
    AR_TRY(check_nodes(cluster, node, node, ranks, err));
    for (uint64_t other = 0; other * cluster->facts.gpus_per_node < ranks; other++) {
        AR_TRY(check_nodes(cluster, node, other, ranks, err));
    }
    return AR_OK;
}

enum ar_status ar_cluster_check_reach(const struct ar_cluster *cluster, uint32_t ranks,
                                      struct ar_error *err)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].is_down) {
            AR_TRY(check_link(cluster, cluster->changes[i].link, ranks, err));
        }
    }
    return AR_OK;
}

/* --- links that nobody takes ----------------------------------------------------------------- */

static bool is_idle(const struct ar_cluster *cluster, uint32_t link, uint32_t ranks, bool has_node)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    if (link >= cluster->first_fabric_link) {
        return cluster->fabric->is_idle(cluster, link - cluster->first_fabric_link, ranks);
    }
    const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
    uint32_t first = link / cluster->node.count * gpus;
    uint32_t present = ranks <= first ? 0 : ranks - first < gpus ? ranks - first : gpus;
    present = has_node && first == 0 ? gpus : present;
    bool has_relays = cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK;
    present = has_relays && present > 0 && ranks > gpus ? gpus : present;
    if (local->kind == AR_KIND_NVLINK) {
        return local->a >= present || local->b >= present;
    }
    if (local->kind == AR_KIND_HCA) { /* it may do the work of one that is down */
        return ranks <= gpus * cluster->domain_nodes || present == 0;
    }
    uint32_t groups =
        local->kind == AR_KIND_PCIE ? cluster->values.count[TOPO_PCIE_SWITCHES] : gpus;
    return local->a * (gpus / groups) >= present;
}

const struct ar_cluster_parameter *ar_cluster_idle_change(const struct ar_cluster *cluster,
                                                          size_t index, uint32_t ranks,
                                                          bool has_node)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].setting == index &&
            !is_idle(cluster, cluster->changes[i].link, ranks, has_node)) {
            return NULL;
        }
    }
    return &cluster->settings[index];
}

const char *ar_cluster_idle_routes(const struct ar_cluster *cluster, uint32_t ranks)
{
    const struct ar_topo_entry *routes =
        ar_topo_entries_find(&cluster->entries, TOPO_FABRIC_ROUTES);
    if (routes == NULL || cluster->values.count[TOPO_FABRIC_ROUTES] == AR_ROUTES_IDEAL) {
        return NULL;
    }
    for (uint32_t i = 0; i < cluster->fabric_links_count; i++) {
        if (!cluster->fabric->is_idle(cluster, i, ranks)) {
            return NULL;
        }
    }
    return routes->text;
}
