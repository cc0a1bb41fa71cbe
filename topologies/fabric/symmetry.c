/* Symmetries of a cluster: moves of all ranks that move every path along. */
#include "fabric.h"

/* One link leads up from a group of any level, whatever the destination, and none is changed. */
static bool has_equal_nodes(const struct ar_cluster *cluster)
{
    bool is_even = cluster->fabric_links_count == 0 ||
                   (cluster->fabric == &ar_fabric_fat_tree && cluster->routes == AR_ROUTES_IDEAL);
    return cluster->changes_count == 0 && is_even;
}

/* The first node beyond the group of some that a node is in. */
static uint32_t end_of_group(uint32_t node, uint32_t nodes)
{
    return (node / nodes + 1) * nodes;
}

struct ar_alike ar_cluster_alike(const struct ar_cluster *cluster, uint32_t rank)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    if (!has_equal_nodes(cluster) || (rank & AR_SWITCH) != 0) {
        return (struct ar_alike){.end = 0, .node_ranks = 1};
    }
    uint32_t end = cluster->facts.nodes_count;
    uint32_t node = rank / gpus;
    if (cluster->domain_nodes > 1) {
        end = end_of_group(node, cluster->domain_nodes);
    }
    if (cluster->fabric_links_count > 0) {
        uint32_t rack_end = end_of_group(node, cluster->tree.levels[0].children);
        end = rack_end < end ? rack_end : end;
    }
    return (struct ar_alike){.end = end * gpus,
                             .node_ranks = gpus,
                             .node_links = cluster->node.count,
                             .links_end = cluster->first_fabric_link};
}

bool ar_cluster_is_reversible(const struct ar_cluster *cluster)
{
    bool changes_rails = cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK;
    return has_equal_nodes(cluster) && !changes_rails;
}

/* Nodes of the groups that any of the nodes hang together in, of which there are several. */
static uint32_t nodes_of_unit(const struct ar_cluster *cluster, uint32_t nodes)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    uint32_t unit = cluster->domain_nodes;
    uint64_t of_group = 1;
    for (uint32_t i = 0; cluster->fabric_links_count > 0 && i < tree->levels_count; i++) {
        of_group *= tree->levels[i].children;
        if (of_group >= nodes) {
            break;
        }
        unit = of_group % unit == 0 ? (uint32_t)of_group : nodes;
    }
    return unit;
}

uint32_t ar_cluster_period(const struct ar_cluster *cluster, uint32_t ranks)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    bool has_rails = cluster->fabric_links_count > 0 && cluster->tree.rails > 1;
    if (!has_equal_nodes(cluster) || has_rails || ranks % gpus != 0) {
        return ranks;
    }
    uint32_t unit = nodes_of_unit(cluster, ranks / gpus);
    return ranks / gpus % unit == 0 ? unit * gpus : ranks;
}

uint32_t ar_cluster_first_link(const struct ar_cluster *cluster, uint32_t period, uint32_t link,
                               uint32_t *turns)
{
    uint32_t nodes = period / cluster->facts.gpus_per_node;
    *turns = 0;
    if (link < cluster->first_fabric_link) {
        *turns = link / cluster->node.count / nodes;
        return link - *turns * nodes * cluster->node.count;
    }
    const struct ar_tree_level *level = cluster->tree.levels;
    uint32_t index = link - cluster->first_fabric_link;
    uint64_t of_group = level->children;
    for (uint32_t i = 1; i < cluster->tree.levels_count && index >= level[1].first_link; i++) {
        level++;
        of_group *= level->children;
    }
    if (of_group > nodes) { /* no path takes it */
        return link;
    }
    uint32_t links = 2 * level->links * (uint32_t)(nodes / of_group); /* in a period */
    *turns = (index - level->first_link) / links;
    return link - *turns * links;
}
