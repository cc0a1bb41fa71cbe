/* Fat trees: racks, pods of racks, and so on, each with links of its own to the level above, whose
 * switches never limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/* --- levels ----------------------------------------------------------------------------------- */

static enum ar_status refuse_items(const struct ar_cluster *cluster, enum ar_topo_key key,
                                   uint32_t expected_count, const char *why, struct ar_error *err)
{
    char expected[160];
    snprintf(expected, sizeof expected, "%u item%s, %s", expected_count,
             expected_count == 1 ? "" : "s", why);
    return cluster->values.is_given[key]
               ? ar_topo_refuse(&cluster->entries, key, expected, err)
               : ar_error_set(err, AR_BAD_DATA, "%.200s: key \"%s\": found nowhere; expected %s",
                              cluster->entries.path, ar_topo_keys[key].name, expected);
}

/* Lists have an item for each kind of group above racks, switches one for racks, too. */
static enum ar_status check_lists(const struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    const uint32_t *count = values->count;
    uint32_t groups = count[TOPO_TREE_GROUPS];
    if (groups > 0 && count[TOPO_RACK_NODES] == 0) {
        return ar_topo_refuse(&cluster->entries, TOPO_TREE_GROUPS,
                              "none, or rack.nodes, since groups are of racks", err);
    }
    if (count[TOPO_TREE_UPLINKS] != groups) {
        return refuse_items(cluster, TOPO_TREE_UPLINKS, groups, "as many as tree.groups has", err);
    }
    if (count[TOPO_TREE_UPLINK_BANDWIDTH] != groups) {
        return refuse_items(cluster, TOPO_TREE_UPLINK_BANDWIDTH, groups,
                            "as many as tree.groups has", err);
    }
    return values->is_given[TOPO_TREE_SWITCHES] && count[TOPO_TREE_SWITCHES] != groups + 1
               ? refuse_items(cluster, TOPO_TREE_SWITCHES, groups + 1,
                              "one for racks and one for each of tree.groups", err)
               : AR_OK;
}

static enum ar_status tree_check_rails(const struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    const char *expected = NULL;
    if (values->count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK && values->count[TOPO_GPUS] > 1 &&
        (!ar_topo_has_nvlink(values) || ar_topo_needs_pcie(values))) {
        expected = "none or spine, since some pairs of GPUs have no NVLink";
    }
    if (values->count[TOPO_TREE_RAILS] != AR_RAILS_NONE && values->count[TOPO_HCAS] == 1) {
        expected = "none, since nodes have one HCA";
    }
    return expected == NULL ? AR_OK
                            : ar_topo_refuse(&cluster->entries, TOPO_TREE_RAILS, expected, err);
}

static uint32_t cables_at(const struct ar_topo_values *values, uint32_t level)
{
    return level == 0 ? values->count[TOPO_RACK_UPLINKS]
                      : (uint32_t)values->list[TOPO_TREE_UPLINKS][level - 1];
}

/* Switches above a level: as many as its cables, and those of the next level, spread over evenly.
 */
static uint32_t switches_at(const struct ar_cluster *cluster, uint32_t level)
{
    const struct ar_topo_values *values = &cluster->values;
    if (values->is_given[TOPO_TREE_SWITCHES]) {
        return (uint32_t)values->list[TOPO_TREE_SWITCHES][level];
    }
    uint32_t divisor = cables_at(values, level);
    uint32_t rest = level + 1 < cluster->tree.levels_count ? cables_at(values, level + 1) : 0;
    while (rest > 0) {
        uint32_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return divisor;
}

/* Links of a level: its cables, spread evenly over the switches at both ends; or one of their sum.
 */
static enum ar_status lay_cables(struct ar_cluster *cluster, uint32_t index, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    struct ar_tree_level *level = &tree->levels[index];
    uint32_t cables = cables_at(values, index);
    uint32_t switches = switches_at(cluster, index);
    uint32_t below = index > 0 ? tree->levels[index - 1].switches : 1;
    char expected[160];
    level->bandwidth_Bps = index == 0 ? values->number[TOPO_RACK_UPLINK_BANDWIDTH]
                                      : values->list[TOPO_TREE_UPLINK_BANDWIDTH][index - 1];
    if (cables % switches != 0 || cables % below != 0) {
        uint32_t divisor = cables % switches != 0 ? switches : below;
        snprintf(expected, sizeof expected,
                 "divisors of the uplinks on both sides: those of level %u are %u, not a multiple "
                 "of %u",
                 index + 1, cables, divisor);
        return ar_topo_refuse(&cluster->entries, TOPO_TREE_SWITCHES, expected, err);
    }
    if (cluster->routes == AR_ROUTES_IDEAL) {
        level->links = level->switches = 1;
        level->cables = cables;
        level->bandwidth_Bps *= cables;
        return AR_OK;
    }
    level->links = cables;
    level->cables = 1;
    level->switches = switches;
    return AR_OK;
}

/* Adds a level of groups of so many of the level below; false if one group would hold all. */
static bool add_level(struct ar_fat_tree *tree, uint32_t children, uint32_t *count)
{
    if (children == 0 || children >= *count) {
        return false;
    }
    struct ar_tree_level *level = &tree->levels[tree->levels_count++];
    level->children = children;
    level->count = *count = (*count - 1) / children + 1;
    return true;
}

/* Nodes that do not fill a group are a group, too. Rails that are joined above are groups even in
 * one rack. */
static void group_nodes(struct ar_cluster *cluster)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    uint32_t count = values->count[TOPO_NODES];
    uint32_t rack_nodes = values->count[TOPO_RACK_NODES];
    bool has_level = add_level(tree, rack_nodes, &count);
    if (!has_level && values->count[TOPO_TREE_RAILS] == AR_RAILS_SPINE && tree->rails > 1) {
        tree->levels[tree->levels_count++] =
            (struct ar_tree_level){.children = count, .count = tree->rails};
        return;
    }
    for (uint32_t i = 0; has_level && i < values->count[TOPO_TREE_GROUPS]; i++) {
        has_level = add_level(tree, (uint32_t)values->list[TOPO_TREE_GROUPS][i], &count);
    }
    if (tree->levels_count > 0) {
        tree->levels[0].count *= tree->rails;
    }
    if (tree->levels_count > 1) {
        tree->levels[1].children *= tree->rails;
    }
}

/* Says what was taken for switches that nobody counted, where it matters. */
static void record_switches(struct ar_cluster *cluster)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    char text[16 * AR_TREE_LEVELS_MAX] = "";
    size_t used = 0;
    if (cluster->routes == AR_ROUTES_IDEAL || tree->levels_count == 0 ||
        cluster->values.is_given[TOPO_TREE_SWITCHES]) {
        return;
    }
    for (uint32_t i = 0; i < tree->levels_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? "x" : "",
                                 tree->levels[i].switches);
    }
    ar_topo_entries_store((struct ar_topo_entry){TOPO_TREE_SWITCHES,
                                                 ar_arena_text(cluster->arena, text), "assumed",
                                                 cluster->entries.path, AR_BAD_DATA},
                          &cluster->entries);
}

static enum ar_status tree_make(struct ar_cluster *cluster, uint64_t *links_count,
                                struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    AR_TRY(check_lists(cluster, err));
    AR_TRY(tree_check_rails(cluster, err));
    tree->levels_count = 0;
    tree->rails = 1;
    if (values->count[TOPO_TREE_RAILS] != AR_RAILS_NONE && values->count[TOPO_HCAS] > 1) {
        tree->rails = values->count[TOPO_HCAS];
    }
    group_nodes(cluster);
    *links_count = 0;
    for (uint32_t i = 0; i < tree->levels_count; i++) {
        AR_TRY(lay_cables(cluster, i, err));
        tree->levels[i].first_link = (uint32_t)*links_count;
        *links_count += 2 * (uint64_t)tree->levels[i].count * tree->levels[i].links;
        if (*links_count > INT32_MAX) {
            break; /* refused by the caller */
        }
    }
    record_switches(cluster);
    return AR_OK;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* The way of a message through a fat tree: at each level the link up, at the top the switch where
 * it turns, from there the links down.
 *
 * dmodk: with d the number of the destination among the ports that groups at level 0 can tell
 * apart, the link up is d modulo the links there are, at the next level what d / links leaves, and
 * so on; the way down takes the same numbers. Messages to different destinations so meet as late as
 * can be. hash: at each level a hash of seed, source, destination and level. Where a link is down,
 * the next one of the same switches is taken; if none leads on, the next switch below is. */
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
static bool descend_tree(struct climb *climb, uint32_t level, uint32_t from)
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
            (level == 0 ||
             descend_tree(climb, level - 1, link % tree->levels[level - 1].switches))) {
            return true;
        }
    }
    return false;
}

/* From one of the switches of a group up; `rest` is what is left of d. */
static bool ascend_tree(struct climb *climb, uint32_t level, uint32_t from, uint32_t rest)
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
                 ? descend_tree(climb, level, link % at->switches)
                 : ascend_tree(climb, level + 1, link % at->switches, rest / choices))) {
            return true;
        }
    }
    return false;
}

static void tree_add_links(const struct climb *climb, struct ar_path *path)
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

/* As tree_route(), between different groups. */
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
    if (ascend_tree(&climb, 0, 0, port)) {
        tree_add_links(&climb, path);
    } else {
        ar_path_fail(climb.blocked, path);
    }
}

static void tree_route(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
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

/* --- links ------------------------------------------------------------------------------------ */

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

/* --- reach ------------------------------------------------------------------------------------ */

/* Racks. */
struct part {
    uint64_t first, count;
};

/* The racks in the group that has a link. */
static struct part tree_part_of(const struct ar_fat_tree *tree, uint32_t index)
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
    struct part part = tree_part_of(tree, index);
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
    struct part part = tree_part_of(tree, index);
    uint64_t rack_gpus = (uint64_t)tree->levels[0].children * cluster->facts.gpus_per_node;
    bool has_inside = tree->rails > 1 && part.count == 1;
    return ranks <= part.first * rack_gpus ||
           (!has_inside && part.first == 0 && ranks <= part.count * rack_gpus);
}

const struct ar_fabric ar_fabric_fat_tree = {
    .make = tree_make,
    .route = tree_route,
    .bandwidth = tree_link_bandwidth,
    .name = tree_name,
    .cables = tree_cables,
    .candidates = tree_candidates,
    .check_reach = tree_check_reach,
    .is_idle = tree_is_idle,
};
