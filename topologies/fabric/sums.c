/* Which switches sum. */
#include "fabric.h"

static enum ar_status refuse(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                             const char *found, const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE, "GPUs %u and %u of cluster %s: found %s; expected %s", a, b,
                        cluster->facts.name, found, expected);
}

enum ar_status ar_cluster_find_sums(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                    enum ar_sums *sums, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = &cluster->facts;
    uint32_t first = a / facts->gpus_per_node, second = b / facts->gpus_per_node;
    if (first / cluster->domain_nodes == second / cluster->domain_nodes) {
        *sums = AR_SUMS_NVLINK;
        return facts->has_nvlink_sums ? AR_OK
                                      : refuse(cluster, a, b, "no NVLink switch that sums",
                                               "nvlink.pairs = switch and nvlink.sums = yes", err);
    }
    if (!facts->has_fabric_sums) {
        return refuse(cluster, a, b, "no switch of the network that sums",
                      "fabric = fat-tree and fabric.sums = yes", err);
    }
    struct ar_path path;
    ar_path_find(cluster, a, b, &path);
    *sums = path.tier == AR_TIER_SPINE ? AR_SUMS_TREE : AR_SUMS_LEAF;
    return AR_OK;
}
