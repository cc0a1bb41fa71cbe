/* The links of a cluster: how many, how fast, their names. */
#include <assert.h>
#include <math.h>

#include "fabric.h"

static const struct {
    const char *name, *directions[2];
} kinds[] = {[AR_KIND_PORT] = {"port", {"out", "in"}},
             [AR_KIND_PCIE] = {"pcie", {"up", "down"}},
             [AR_KIND_HCA] = {"hca", {"out", "in"}}};

/* As the file says. */
static double file_bandwidth(const struct ar_cluster *cluster, uint32_t link)
{
    if (link >= cluster->first_fabric_link) {
        return cluster->fabric->bandwidth(cluster, link - cluster->first_fabric_link);
    }
    const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
    return local->weight * cluster->rates_Bps[local->kind];
}

uint32_t ar_cluster_links_count(const struct ar_cluster *cluster)
{
    return cluster->first_fabric_link + cluster->fabric_links_count;
}

double ar_cluster_link_factor(const struct ar_cluster *cluster, uint32_t link)
{
    double factor = cluster->changes_count > 0 ? ar_link_factor(cluster, link) : 1;
    return isfinite(factor) ? factor : 1;
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
    if (link >= cluster->first_fabric_link) {
        cluster->fabric->name(cluster, link - cluster->first_fabric_link, name, size);
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

const char *ar_host_name(uint32_t rank, char *name, size_t size)
{
    snprintf(name, size, "gpu-%u%s", rank & ~AR_SWITCH, (rank & AR_SWITCH) != 0 ? ".switch" : "");
    return name;
}
