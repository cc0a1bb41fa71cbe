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

/* Racks. */
struct part {
    uint64_t first, count;
};

/* What is in the group that has a link. */
static struct part part_of(const struct ar_fat_tree *tree, uint32_t index)
{
    uint32_t level = level_of(tree, index);
    uint32_t group = (index - tree->levels[level].first_link) / 2 / tree->levels[level].links;
    struct part part = {group, 1};
    for (uint32_t i = 1; i <= level; i++) {
        part.count *= tree->levels[i].children;
    }
    part.first = part.first * part.count / tree->rails;
    part.count = level == 0 ? 1 : part.count / tree->rails;
    return part;
}

/* Nodes that stand for all of a rack: its first two, which may be on unlike rails, and, where
 * NVLinks go beyond nodes, the first ones of the first two domains that begin in it. Some may be
 * the same. */
enum { STAND_INS = 4 };

static uint64_t stand_in(const struct ar_cluster *cluster, uint64_t rack, uint32_t which)
{
    uint64_t nodes = cluster->tree.levels[0].children, domain = cluster->domain_nodes;
    uint64_t first = rack * nodes;
    uint64_t node =
        which < 2 ? first + which : (first + domain - 1) / domain * domain + (which - 2) * domain;
    return node < first + nodes && node < cluster->facts.nodes_count ? node : first;
}

/* The GPUs that stand for those of two racks or of one. */
static enum ar_status check_racks(const struct ar_cluster *cluster, uint64_t a, uint64_t b,
                                  uint32_t ranks, struct ar_error *err)
{
    uint32_t rails = cluster->tree.rails, gpus = cluster->facts.gpus_per_node;
    uint32_t each = STAND_INS * rails;
    for (uint32_t i = 0; i < each * each; i++) {
        uint32_t left = i / each, right = i % each;
        uint64_t source = stand_in(cluster, a, left / rails) * gpus + left % rails * gpus / rails;
        uint64_t other = stand_in(cluster, b, right / rails) * gpus + right % rails * gpus / rails;
        if (source != other && source < ranks && other < ranks) {
            AR_TRY(ar_reach_check_pair(cluster, (uint32_t)source, (uint32_t)other, err));
        }
    }
    return AR_OK;
}

/* Each rack of the part with all outside of it, with itself if it has rails. */
static enum ar_status tree_check_reach(const struct ar_cluster *cluster, uint32_t index,
                                       uint32_t ranks, struct ar_error *err)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    struct part part = part_of(tree, index);
    uint64_t racks = tree->levels[0].count / tree->rails;
    uint64_t rack_gpus = (uint64_t)tree->levels[0].children * cluster->facts.gpus_per_node;
    bool has_inside = tree->rails > 1 && part.count == 1;
    for (uint64_t a = part.first; a < part.first + part.count && a * rack_gpus < ranks; a++) {
        for (uint64_t b = 0; b < racks && b * rack_gpus < ranks; b++) {
            if (has_inside || b < part.first || b >= part.first + part.count) {
                AR_TRY(check_racks(cluster, a, b, ranks, err));
            }
        }
    }
    return AR_OK;
}

static bool tree_is_idle(const struct ar_cluster *cluster, uint32_t index, uint32_t ranks)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    struct part part = part_of(tree, index);
    uint64_t rack_gpus = (uint64_t)tree->levels[0].children * cluster->facts.gpus_per_node;
    bool has_inside = tree->rails > 1 && part.count == 1;
    return ranks <= part.first * rack_gpus ||
           (!has_inside && part.first == 0 && ranks <= part.count * rack_gpus);
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
