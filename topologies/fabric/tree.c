/* Fat trees: racks, pods of racks, and so on, each with links of its own to the level above, whose
 * switches never limit. */
#include <stdio.h>

#include "ar_numbers.h"
#include "ar_text.h"
#include "fabric.h"

/* --- levels ----------------------------------------------------------------------------------- */

/* Links of a level: its cables, spread evenly over the switches at both ends; or their sum. */
static enum ar_status lay_cables(struct ar_cluster *cluster, uint32_t index, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    struct ar_tree_level *level = &tree->levels[index];
    const double *uplinks = values->list[TOPO_TREE_UPLINKS]; /* from the second level on */
    uint32_t cables = index == 0 ? values->count[TOPO_RACK_UPLINKS] : (uint32_t)uplinks[index - 1];
    /* Switches above: as many as its cables, and those of the next level, spread over evenly. */
    uint32_t above = index + 1 < tree->levels_count ? (uint32_t)uplinks[index] : 0;
    uint32_t switches = values->is_given[TOPO_TREE_SWITCHES]
                            ? (uint32_t)values->list[TOPO_TREE_SWITCHES][index]
                            : ar_common_divisor(cables, above);
    uint32_t below = index > 0 ? tree->levels[index - 1].switches : 1;
    level->bandwidth_Bps = index == 0 ? values->number[TOPO_RACK_UPLINK_BANDWIDTH]
                                      : values->list[TOPO_TREE_UPLINK_BANDWIDTH][index - 1];
    AR_TOPO_REFUSE(
        cables % switches != 0 || cables % below != 0, &cluster->entries, TOPO_TREE_SWITCHES, err,
        "divisors of the uplinks on both sides: those of level %u are %u, not a multiple "
        "of %u",
        index + 1, cables, cables % switches != 0 ? switches : below);
    if (cluster->routes == AR_ROUTES_IDEAL) {
        level->links = level->switches = 1;
        level->bandwidth_Bps *= cables;
        return AR_OK;
    }
    level->links = cables;
    level->switches = switches;
    return AR_OK;
}

static enum ar_status tree_make(struct ar_cluster *cluster, uint64_t *links_count,
                                struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    bool has_rails = values->count[TOPO_TREE_RAILS] != AR_RAILS_NONE;
    tree->rails = has_rails && values->count[TOPO_HCAS] > 1 ? values->count[TOPO_HCAS] : 1;
    /* Nodes that do not fill a group are one, too. Rails joined above are groups even in a rack. */
    uint32_t count = values->count[TOPO_NODES];
    for (uint32_t i = 0; i <= values->count[TOPO_TREE_GROUPS]; i++) {
        uint32_t children = i == 0 ? values->count[TOPO_RACK_NODES]
                                   : (uint32_t)values->list[TOPO_TREE_GROUPS][i - 1];
        if (children == 0 || children >= count) {
            break; /* one group would hold all */
        }
        count = (count - 1) / children + 1;
        tree->levels[tree->levels_count].children = children;
        tree->levels[tree->levels_count++].count = count;
    }
    if (tree->levels_count > 0) {
        tree->levels[0].count *= tree->rails;
        tree->levels[1].children *= tree->rails; /* if there is one */
    } else if (values->count[TOPO_TREE_RAILS] == AR_RAILS_SPINE && tree->rails > 1) {
        tree->levels[tree->levels_count++] =
            (struct ar_tree_level){.children = count, .count = tree->rails};
    }
    /* Cables of the levels, and what was taken for switches that nobody counted. */
    char switches[16 * AR_TREE_LEVELS_MAX] = "";
    *links_count = 0;
    for (uint32_t i = 0; i < tree->levels_count && *links_count <= INT32_MAX; i++) {
        AR_TRY(lay_cables(cluster, i, err));
        tree->levels[i].first_link = (uint32_t)*links_count;
        *links_count += 2 * (uint64_t)tree->levels[i].count * tree->levels[i].links;
        ar_append_text(switches, sizeof switches, "%s%u", i > 0 ? "x" : "",
                       tree->levels[i].switches);
    }
    if (cluster->routes != AR_ROUTES_IDEAL && switches[0] != '\0' &&
        !values->is_given[TOPO_TREE_SWITCHES]) {
        ar_topo_entries_store((struct ar_topo_entry){TOPO_TREE_SWITCHES,
                                                     ar_arena_text(cluster->arena, switches),
                                                     "assumed", cluster->entries.path, AR_BAD_DATA},
                              &cluster->entries);
    }
    return AR_OK;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* The way of a message through a fat tree: at each level the link up, at the top the switch where
 * it turns, from there the links down.
 *
 * dmodk: with d the number of the destination among the ports that groups at level 0 can tell
 * apart, the link up is d modulo the links there are, at the next level what d / links leaves, and
 * so on; the way down takes the same numbers. Messages to different destinations so meet as late as
 * can be. hash: at each level a hash of seed, source, destination and level. */
struct climb {
    const struct ar_cluster *cluster;
    struct ar_port from, to;
};

static uint32_t link_of(const struct climb *climb, uint32_t level, uint32_t group, uint32_t link)
{
    const struct ar_tree_level *at = &climb->cluster->tree.levels[level];
    return climb->cluster->first_fabric_link + at->first_link + 2 * (group * at->links + link);
}

/* Climbs from switch `on` of group `a` of a level, and descends to group `b`; `rest` is what is
 * left of d. Returns the switch above the level at which the message turns into `b`. */
static uint32_t climb_level(const struct climb *climb, uint32_t level, uint32_t a, uint32_t b,
                            uint32_t on, uint32_t rest, struct ar_path *path)
{
    const struct ar_fat_tree *tree = &climb->cluster->tree;
    const struct ar_tree_level *at = &tree->levels[level];
    bool is_hash = climb->cluster->routes == AR_ROUTES_HASH;
    uint32_t below = level > 0 ? tree->levels[level - 1].switches : 1;
    uint32_t ups = at->links / below, downs = at->links / at->switches;
    uint32_t first =
        is_hash ? ar_route_hash(climb->cluster, climb->from, climb->to, 2 * level) : rest;
    uint32_t up = on + below * (first % ups);
    uint32_t turn = up % at->switches;
    ar_path_add(climb->cluster, link_of(climb, level, a, up), at->bandwidth_Bps, path);
    if (level + 1 < tree->levels_count) {
        uint32_t children = at[1].children;
        if (a / children != b / children) {
            turn =
                climb_level(climb, level + 1, a / children, b / children, turn, rest / ups, path);
        }
    }
    first = is_hash ? ar_route_hash(climb->cluster, climb->from, climb->to, 2 * level + 1)
                    : up / at->switches;
    uint32_t down = turn + at->switches * (first % downs);
    ar_path_add(climb->cluster, link_of(climb, level, b, down) + 1, at->bandwidth_Bps, path);
    return down % below;
}

static void tree_route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                       struct ar_path *path)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    bool has_rails = tree->rails > 1;
    uint32_t nodes = tree->levels[0].children; /* of a rack */
    uint32_t a = from.node / nodes * tree->rails + (has_rails ? from.hca : 0);
    uint32_t b = to.node / nodes * tree->rails + (has_rails ? to.hca : 0);
    if (a == b) {
        return;
    }
    path->tier = AR_TIER_SPINE;
    uint32_t hcas = has_rails ? 1 : cluster->facts.hcas_per_node;
    const struct climb climb = {cluster, from, to};
    climb_level(&climb, 0, a, b, 0, to.node * hcas + (hcas > 1 ? to.hca : 0), path);
}

/* --- links ------------------------------------------------------------------------------------ */

/* Names of the groups, level by level; the same word with a number above. */
static const char *const level_names[] = {"rack", "pod"};

enum { NAMED_LEVELS = sizeof level_names / sizeof level_names[0], NAME_SIZE = AR_LINK_NAME_SIZE };

static uint32_t level_of(const struct ar_fat_tree *tree, uint32_t index)
{
    uint32_t level = tree->levels_count - 1;
    while (tree->levels[level].first_link > index) {
        level--;
    }
    return level;
}

static double tree_link_bandwidth(const struct ar_cluster *cluster, uint32_t index)
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

const struct ar_fabric ar_fabric_fat_tree = {
    .make = tree_make,
    .route = tree_route,
    .bandwidth = tree_link_bandwidth,
    .name = tree_name,
};
