/* The way of a message through a fat tree: at each level the link up, at the top the switch where
 * it turns, from there the links down.
 *
 * dmodk: with d the number of the destination among the ports that groups at level 0 can tell
 * apart, the link up is d modulo the links there are, at the next level what d / links leaves, and
 * so on; the way down takes the same numbers. Messages to different destinations so meet as late as
 * can be. hash: at each level a hash of seed, source, destination and level. Where a link is down,
 * the next one of the same switches is taken; if none leads on, the next switch below is. */
#include "fabric.h"

struct climb {
    const struct ar_cluster *cluster;
    struct ar_port from, to;
    uint32_t a[AR_TREE_LEVELS_MAX];  /* groups on the way up, by level */
    uint32_t b[AR_TREE_LEVELS_MAX];  /* on the way down */
    uint32_t up[AR_TREE_LEVELS_MAX]; /* links */
    uint32_t down[AR_TREE_LEVELS_MAX];
    uint32_t levels_count;
    uint32_t blocked; /* a link that is down, or AR_NO_BLOCK */
};

#define AR_NO_BLOCK UINT32_MAX

static bool is_up(struct climb *climb, uint32_t link)
{
    if (climb->cluster->changes_count == 0 || !ar_link_is_down(climb->cluster, link)) {
        return true;
    }
    climb->blocked = link;
    return false;
}

static uint32_t link_of(const struct climb *climb, uint32_t level, uint32_t group, uint32_t link)
{
    const struct ar_tree_level *at = &climb->cluster->tree.levels[level];
    return climb->cluster->first_fabric_link + at->first_link + 2 * (group * at->links + link);
}

/* From a switch above the groups of a level down into one of them, and on to the destination. */
static bool descend(struct climb *climb, uint32_t level, uint32_t from)
{
    const struct ar_fat_tree *tree = &climb->cluster->tree;
    const struct ar_tree_level *at = &tree->levels[level];
    uint32_t choices = at->links / at->switches;
    uint32_t first = climb->cluster->routes == AR_ROUTES_HASH
                         ? ar_route_hash(climb->cluster, climb->from, climb->to, 2 * level + 1)
                         : climb->up[level] / at->switches;
    for (uint32_t i = 0; i < choices; i++) {
        uint32_t link = from + at->switches * ((first % choices + i) % choices);
        climb->down[level] = link_of(climb, level, climb->b[level], link) + 1;
        if (is_up(climb, climb->down[level]) &&
            (level == 0 || descend(climb, level - 1, link % tree->levels[level - 1].switches))) {
            return true;
        }
    }
    return false;
}

/* From one of the switches of a group up; `rest` is what is left of d. */
static bool ascend(struct climb *climb, uint32_t level, uint32_t from, uint32_t rest)
{
    const struct ar_fat_tree *tree = &climb->cluster->tree;
    const struct ar_tree_level *at = &tree->levels[level];
    uint32_t below = level > 0 ? tree->levels[level - 1].switches : 1;
    uint32_t choices = at->links / below;
    uint32_t first = climb->cluster->routes == AR_ROUTES_HASH
                         ? ar_route_hash(climb->cluster, climb->from, climb->to, 2 * level)
                         : rest;
    for (uint32_t i = 0; i < choices; i++) {
        uint32_t link = from + below * ((first % choices + i) % choices);
        climb->up[level] = link;
        if (is_up(climb, link_of(climb, level, climb->a[level], link)) &&
            (level + 1 == climb->levels_count
                 ? descend(climb, level, link % at->switches)
                 : ascend(climb, level + 1, link % at->switches, rest / choices))) {
            return true;
        }
    }
    return false;
}

static void add_links(const struct climb *climb, struct ar_path *path)
{
    const struct ar_tree_level *levels = climb->cluster->tree.levels;
    for (uint32_t i = 0; i < climb->levels_count; i++) {
        ar_path_add(climb->cluster, link_of(climb, i, climb->a[i], climb->up[i]),
                    levels[i].bandwidth_Bps, path);
    }
    for (uint32_t i = climb->levels_count; i-- > 0;) {
        ar_path_add(climb->cluster, climb->down[i], levels[i].bandwidth_Bps, path);
    }
}

/* From one group of a level to another one, and on the way what is above: one link up, one down. */
static void route_ideal(const struct ar_cluster *cluster, uint32_t index, uint32_t a, uint32_t b,
                        struct ar_path *path)
{
    const struct ar_tree_level *level = &cluster->tree.levels[index];
    uint32_t first = cluster->first_fabric_link + level->first_link;
    ar_path_add(cluster, first + 2 * a, level->bandwidth_Bps, path);
    if (index + 1 < cluster->tree.levels_count) {
        uint32_t children = level[1].children;
        if (a / children != b / children) {
            route_ideal(cluster, index + 1, a / children, b / children, path);
        }
    }
    ar_path_add(cluster, first + 2 * b + 1, level->bandwidth_Bps, path);
}

/* As ar_tree_route(), between different groups. */
static void route_cables(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                         struct ar_path *path)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    uint32_t hcas = tree->rails == 1 ? cluster->facts.hcas_per_node : 1;
    uint32_t a = ar_tree_leaf(tree, from), b = ar_tree_leaf(tree, to);
    struct climb climb;
    climb.cluster = cluster;
    climb.from = from;
    climb.to = to;
    climb.levels_count = 0;
    climb.blocked = AR_NO_BLOCK;
    while (a != b) {
        climb.a[climb.levels_count] = a;
        climb.b[climb.levels_count++] = b;
        if (climb.levels_count == tree->levels_count) {
            break;
        }
        a /= tree->levels[climb.levels_count].children;
        b /= tree->levels[climb.levels_count].children;
    }
    uint32_t port = to.node * hcas + (hcas > 1 ? to.hca : 0);
    if (ascend(&climb, 0, 0, port)) {
        add_links(&climb, path);
    } else {
        ar_path_fail(climb.blocked, path);
    }
}

void ar_tree_route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                   struct ar_path *path)
{
    uint32_t a = ar_tree_leaf(&cluster->tree, from), b = ar_tree_leaf(&cluster->tree, to);
    if (a == b) {
        return;
    }
    path->tier = AR_TIER_SPINE;
    if (cluster->routes == AR_ROUTES_IDEAL) {
        route_ideal(cluster, 0, a, b, path);
    } else {
        route_cables(cluster, from, to, path);
    }
}
