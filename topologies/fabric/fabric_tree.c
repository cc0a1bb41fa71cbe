/* Fat trees: racks, pods of racks, and so on, each with links of its own to the level above, whose
 * switches never limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/* Names of the groups, level by level; the same word with a number above. */
static const char *const level_names[] = {"rack", "pod"};

enum { NAMED_LEVELS = sizeof level_names / sizeof level_names[0], NAME_SIZE = 64 };

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

const char *ar_tree_group_name(const struct ar_fat_tree *tree, uint32_t level, uint32_t group,
                               char *name, size_t size)
{
    if (level == 0 && tree->rails > 1) {
        snprintf(name, size, "%s-%u.rail-%u", level_names[0], group / tree->rails,
                 group % tree->rails);
    } else if (level < NAMED_LEVELS) {
        snprintf(name, size, "%s-%u", level_names[level], group);
    } else {
        snprintf(name, size, "%s%u-%u", level_names[NAMED_LEVELS - 1], level + 1, group);
    }
    return name;
}

static void tree_name(const struct ar_cluster *cluster, uint32_t index, char *name, size_t size)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    uint32_t level = level_of(tree, index);
    uint32_t link = (index - tree->levels[level].first_link) / 2;
    uint32_t links = tree->levels[level].links;
    const char *direction = index % 2 == 0 ? "up" : "down";
    char group[NAME_SIZE];
    ar_tree_group_name(tree, level, link / links, group, sizeof group);
    if (cluster->routes == AR_ROUTES_IDEAL) {
        snprintf(name, size, "%s.%s", group, direction);
    } else {
        snprintf(name, size, "%s.cable-%u.%s", group, link % links, direction);
    }
}

static uint32_t tree_cables(const struct ar_cluster *cluster, uint32_t index)
{
    return cluster->tree.levels[level_of(&cluster->tree, index)].cables;
}

/* A number in a name behind the last of some words, at most `max`. */
static uint32_t number_behind(const char *name, const char *word, uint32_t max)
{
    const char *at = strstr(name, word);
    unsigned long number = at != NULL ? strtoul(at + strlen(word), NULL, 10) : 0;
    return number < max ? (uint32_t)number : max;
}

static struct ar_link_range tree_candidates(const struct ar_cluster *cluster, const char *name)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    for (uint32_t i = tree->levels_count; i-- > 0;) { /* `pod3-` before `pod-` */
        const struct ar_tree_level *level = &tree->levels[i];
        char stem[NAME_SIZE];
        ar_tree_group_name(tree, i, 0, stem, sizeof stem);
        size_t length = i < NAMED_LEVELS ? 2 : strcspn(stem, "-"); /* `ra`, `po`, `pod3` */
        if (strncmp(name, stem, length) != 0) {
            continue;
        }
        uint32_t rails = i == 0 ? tree->rails : 1;
        uint32_t group = number_behind(name, "-", level->count / rails - 1) * rails;
        group += rails > 1 ? number_behind(name, "rail-", rails - 1) : 0;
        return (struct ar_link_range){level->first_link + 2 * group * level->links,
                                      2 * level->links};
    }
    return (struct ar_link_range){0, 0};
}

/* --- reach ----------------------------------------------------------------------------------- */

/* Nodes, and of their HCAs one with rails. */
struct part {
    uint64_t first, count;
    uint32_t rail; /* AR_ALL_RAILS: every one */
};

enum { AR_ALL_RAILS = UINT16_MAX };

/* What is in the group that has a link. */
static struct part part_of(const struct ar_fat_tree *tree, uint32_t index)
{
    uint32_t level = level_of(tree, index);
    uint32_t group = (index - tree->levels[level].first_link) / 2 / tree->levels[level].links;
    struct part part = {.count = tree->levels[0].children, .rail = AR_ALL_RAILS};
    if (level == 0 && tree->rails > 1) {
        part.rail = group % tree->rails;
        group /= tree->rails;
    }
    for (uint32_t i = 1; i <= level; i++) {
        part.count *= tree->levels[i].children / (i == 1 ? tree->rails : 1);
    }
    part.first = group * part.count;
    return part;
}

/* The first GPU of a rail in a node stands for all of its rack. */
static uint64_t gpu_of(const struct ar_cluster *cluster, uint64_t rack, uint32_t rail)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    return rack * cluster->tree.levels[0].children * gpus + rail * gpus / cluster->tree.rails;
}

/* Each rack and rail of the part with all outside of it. */
static enum ar_status tree_check_reach(const struct ar_cluster *cluster, uint32_t index,
                                       uint32_t ranks, struct ar_error *err)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    struct part part = part_of(tree, index);
    uint32_t rack_nodes = tree->levels[0].children;
    uint64_t leaves = tree->levels[0].count;
    uint64_t begin = part.first / rack_nodes * tree->rails;
    uint64_t end = (part.first + part.count) / rack_nodes * tree->rails;
    for (uint64_t a = begin; a < end && a < leaves; a++) {
        uint64_t source = gpu_of(cluster, a / tree->rails, (uint32_t)(a % tree->rails));
        if (source >= ranks || (part.rail != AR_ALL_RAILS && a % tree->rails != part.rail)) {
            continue;
        }
        for (uint64_t b = 0; b < leaves; b++) {
            uint64_t other = gpu_of(cluster, b / tree->rails, (uint32_t)(b % tree->rails));
            bool is_inside = b >= begin && b < end && part.rail == AR_ALL_RAILS;
            if (other < ranks && a != b && !is_inside) {
                AR_TRY(ar_reach_check_pair(cluster, (uint32_t)source, (uint32_t)other, err));
            }
        }
    }
    return AR_OK;
}

static bool tree_is_idle(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks)
{
    struct part part = part_of(&cluster->tree, index);
    uint32_t gpus = cluster->facts.gpus_per_node;
    return ranks <= part.first * gpus ||
           (part.rail == AR_ALL_RAILS && part.first == 0 && ranks <= part.count * gpus);
}

const struct ar_fabric ar_fabric_fat_tree = {
    .make = ar_tree_make,
    .route = ar_tree_route,
    .bandwidth = tree_bandwidth,
    .name = tree_name,
    .cables = tree_cables,
    .candidates = tree_candidates,
    .check_reach = tree_check_reach,
    .is_idle = tree_is_idle,
};
