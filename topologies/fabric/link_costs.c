/* The numbers of a cluster file that measurements can tell. */
#include <assert.h>

#include "fabric.h"

static const enum ar_topo_key keys[AR_LINK_COSTS_COUNT] = {
    [AR_LINK_SETUP] = TOPO_COLLECTIVE_SETUP,
    [AR_LINK_NVLINK_LATENCY] = TOPO_NVLINK_LATENCY,
    [AR_LINK_NVLINK_BANDWIDTH] = TOPO_NVLINK_BANDWIDTH,
    [AR_LINK_PCIE_LATENCY] = TOPO_PCIE_LATENCY,
    [AR_LINK_PCIE_BANDWIDTH] = TOPO_PCIE_BANDWIDTH,
    [AR_LINK_NET_LATENCY] = TOPO_NET_LATENCY,
    [AR_LINK_HCA_BANDWIDTH] = TOPO_HCA_BANDWIDTH,
    [AR_LINK_REDUCE_COST] = TOPO_GPU_REDUCE_COST,
};

const char *ar_link_cost_key(enum ar_link_cost cost)
{
    return ar_topo_key_name(keys[cost]);
}

enum ar_link_cost_unit ar_link_cost_unit(enum ar_link_cost cost)
{
    switch (cost) {
    case AR_LINK_NVLINK_BANDWIDTH:
    case AR_LINK_PCIE_BANDWIDTH:
    case AR_LINK_HCA_BANDWIDTH:
        return AR_LINK_RATE;
    case AR_LINK_REDUCE_COST:
        return AR_LINK_SECONDS_PER_BYTE;
    default:
        return AR_LINK_SECONDS;
    }
}

bool ar_cluster_has_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.is_given[keys[cost]];
}

double ar_cluster_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.number[keys[cost]];
}

void ar_cluster_set_link_cost(struct ar_cluster *cluster, enum ar_link_cost cost, double value)
{
    assert(cluster->platform == NULL && value > 0);
    struct ar_topo_values *values = &cluster->values;
    values->number[keys[cost]] = value;
    ar_cluster_take_rates(cluster);
    cluster->facts.reduce_s_per_byte = values->number[TOPO_GPU_REDUCE_COST];
    cluster->facts.collective_setup_s = values->number[TOPO_COLLECTIVE_SETUP];
}
