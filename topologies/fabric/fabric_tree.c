/* Fat trees: racks, pods of racks, and so on, each with links of its own to the level above, whose
 * switches never limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/* Names of the groups, level by level; the same word with a number above. */
static const char *const level_names[] = {"rack", "pod"};

enum { NAMED_LEVELS = sizeof level_names / sizeof level_names[0], NAME_SIZE = 64 };

static enum ar_status check_lists(const struct ar_cluster *cluster, struct ar_error *err)
{
    static const enum ar_topo_key keys[] = {TOPO_TREE_UPLINKS, TOPO_TREE_UPLINK_BANDWIDTH};
    const struct ar_topo_values *values = &cluster->values;
    uint32_t groups = values->count[TOPO_TREE_GROUPS];
    if (groups > 0 && values->count[TOPO_RACK_NODES] == 0) {
        return ar_topo_refuse(&cluster->entries, TOPO_TREE_GROUPS,
                              "none, or rack.nodes, since groups are of racks", err);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint32_t items = values->count[keys[i]];
        if (items == groups) {
            continue;
        }
        char expected[80];
        snprintf(expected, sizeof expected, "%u item%s, as many as tree.groups has", groups,
                 groups == 1 ? "" : "s");
        if (items > 0) {
            return ar_topo_refuse(&cluster->entries, keys[i], expected, err);
        }
        return ar_error_set(err, AR_BAD_DATA, "%.200s: key \"%s\": found nowhere; expected %s",
                            cluster->entries.path, ar_topo_keys[keys[i]].name, expected);
    }
    return AR_OK;
}

/* Levels of which there are several groups; what is left of one below is a group, too. */
static enum ar_status tree_make(struct ar_cluster *cluster, uint64_t *links_count,
                                struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    uint32_t count = values->count[TOPO_NODES];
    AR_TRY(check_lists(cluster, err));
    tree->levels_count = 0;
    *links_count = 0;
    for (uint32_t i = 0; i <= values->count[TOPO_TREE_GROUPS]; i++) {
        double children =
            i == 0 ? values->count[TOPO_RACK_NODES] : values->list[TOPO_TREE_GROUPS][i - 1];
        if (children == 0 || children >= count) {
            break;
        }
        struct ar_tree_level *level = &tree->levels[tree->levels_count++];
        level->children = (uint32_t)children;
        level->count = count = (count - 1) / level->children + 1;
        level->first_link = (uint32_t)*links_count;
        level->bandwidth_Bps =
            i == 0 ? values->count[TOPO_RACK_UPLINKS] * values->number[TOPO_RACK_UPLINK_BANDWIDTH]
                   : values->list[TOPO_TREE_UPLINKS][i - 1] *
                         values->list[TOPO_TREE_UPLINK_BANDWIDTH][i - 1];
        *links_count += 2 * (uint64_t)count;
    }
    return AR_OK;
}

static void tree_route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                       struct ar_path *path)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    uint32_t first = cluster->first_fabric_link;
    uint32_t down[AR_TREE_LEVELS_MAX];
    uint32_t a = from.node, b = to.node, ups = 0;
    while (ups < tree->levels_count) {
        const struct ar_tree_level *level = &tree->levels[ups];
        a /= level->children;
        b /= level->children;
        if (a == b) {
            break;
        }
        ar_path_add(cluster, first + level->first_link + 2 * a, level->bandwidth_Bps, path);
        down[ups++] = first + level->first_link + 2 * b + 1;
    }
    path->tier = ups > 0 ? AR_TIER_SPINE : path->tier;
    while (ups > 0) {
        ups--;
        ar_path_add(cluster, down[ups], tree->levels[ups].bandwidth_Bps, path);
    }
}

static uint32_t level_of(const struct ar_fat_tree *tree, uint32_t index)
{
    uint32_t level = tree->levels_count - 1;
    while (tree->levels[level].first_link > index) {
        level--;
    }
    return level;
}

static double tree_bandwidth(const struct ar_cluster *cluster, uint32_t index)
{
    return cluster->tree.levels[level_of(&cluster->tree, index)].bandwidth_Bps;
}

const char *ar_tree_group_name(uint32_t level, uint32_t group, char *name, size_t size)
{
    if (level < NAMED_LEVELS) {
        snprintf(name, size, "%s-%u", level_names[level], group);
    } else {
        snprintf(name, size, "%s%u-%u", level_names[NAMED_LEVELS - 1], level + 1, group);
    }
    return name;
}

static void tree_name(const struct ar_cluster *cluster, uint32_t index, char *name, size_t size)
{
    uint32_t level = level_of(&cluster->tree, index);
    uint32_t local = index - cluster->tree.levels[level].first_link;
    char group[NAME_SIZE];
    snprintf(name, size, "%s.%s", ar_tree_group_name(level, local / 2, group, sizeof group),
             local % 2 == 0 ? "up" : "down");
}

static struct ar_link_range tree_candidates(const struct ar_cluster *cluster, const char *name)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    const char *dash = strchr(name, '-');
    uint32_t group = dash != NULL ? (uint32_t)strtoul(dash + 1, NULL, 10) : 0;
    for (uint32_t i = tree->levels_count; i-- > 0;) { /* `pod3-` before `pod-` */
        const struct ar_tree_level *level = &tree->levels[i];
        char stem[NAME_SIZE];
        ar_tree_group_name(i, 0, stem, sizeof stem);
        size_t length = i < NAMED_LEVELS ? 2 : strlen(stem) - 1; /* `ra`, `po`; without the 0 */
        if (strncmp(name, stem, length) == 0) {
            group = group < level->count ? group : level->count - 1;
            return (struct ar_link_range){level->first_link + 2 * group, 2};
        }
    }
    return (struct ar_link_range){0, 0};
}

/* The nodes of the group that has a link. */
static void find_nodes(const struct ar_fat_tree *tree, uint32_t index, uint64_t *first,
                       uint64_t *count)
{
    uint32_t level = level_of(tree, index);
    *count = 1;
    for (uint32_t i = 0; i <= level; i++) {
        *count *= tree->levels[i].children;
    }
    *first = (index - tree->levels[level].first_link) / 2 * *count;
}

/* The first GPU of the group with the first one outside stands for all. */
static enum ar_status tree_check_reach(const struct ar_cluster *cluster, uint32_t index,
                                       uint32_t ranks, struct ar_error *err)
{
    uint64_t first, count;
    uint32_t gpus = cluster->facts.gpus_per_node;
    find_nodes(&cluster->tree, index, &first, &count);
    uint64_t outside = first == 0 ? count : 0;
    return first * gpus < ranks && outside * gpus < ranks
               ? ar_reach_check_pair(cluster, (uint32_t)(first * gpus), (uint32_t)(outside * gpus),
                                     err)
               : AR_OK;
}

static bool tree_is_idle(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks)
{
    uint64_t first, count;
    uint32_t gpus = cluster->facts.gpus_per_node;
    find_nodes(&cluster->tree, index, &first, &count);
    return ranks <= first * gpus || (first == 0 && ranks <= count * gpus);
}

const struct ar_fabric ar_fabric_fat_tree = {
    .make = tree_make,
    .route = tree_route,
    .bandwidth = tree_bandwidth,
    .name = tree_name,
    .candidates = tree_candidates,
    .check_reach = tree_check_reach,
    .is_idle = tree_is_idle,
};
