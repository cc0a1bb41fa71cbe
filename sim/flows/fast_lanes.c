/* Lanes that do the same on the GPUs of a node in turn are resolved once, and run once where ranks
 * begin together. Gains 7 times on nodes of 8 with an HCA for each GPU. The results are the same
 * without this file: every lane may stand for itself alone.
 *
 * Channels go through the GPUs of a node in orders of their own. Where as many channels as a node
 * has GPUs have each GPU once at each place of their orders, and paths see no difference between
 * GPUs, each port and each HCA of a node has one message of each place, from some channel. So all
 * of them have the same messages at once, and so has a channel on the links of the first GPUs.
 *
 * Groups of a mesh that lie a period of the cluster apart, or several, send over the same links of
 * other nodes: the first ones are resolved. Gains 5 times on a step of 65,536 GPUs. */
#include "flows.h"

uint32_t fast_lanes_copies(const struct ar_collective *collective)
{
    uint32_t period = ar_cluster_period(collective->cluster, ar_collective_ranks(collective));
    return collective->mesh.axes_count > 0 ? ar_mesh_copies(&collective->mesh, period) : 1;
}

uint32_t ar_flows_lanes_each(const struct ar_collective *collective)
{
    uint32_t gpus = ar_cluster_facts(collective->cluster)->gpus_per_node;
    struct ar_order order = ar_collective_order(collective);
    uint32_t halves = order.mirror_group > 0 ? 2 : 1; /* mirrored channels are not like others */
    if (!ar_cluster_has_equal_gpus(collective->cluster) || gpus < 2 || gpus > 64 ||
        collective->algorithm->wants_sums || order.has_root || order.node_members != gpus ||
        order.ranks % gpus != 0 || collective->channels % (halves * gpus) != 0) {
        return 1;
    }
    for (uint32_t first = 0; first < collective->channels; first += gpus) {
        for (uint32_t position = 0; position < gpus; position++) {
            uint64_t seen = 0;
            for (uint32_t lane = first; lane < first + gpus; lane++) {
                seen |= (uint64_t)1 << ar_order_rank(&order, lane, position) % gpus;
            }
            if (seen != UINT64_MAX >> (64 - gpus)) {
                return 1;
            }
        }
    }
    return gpus;
}
