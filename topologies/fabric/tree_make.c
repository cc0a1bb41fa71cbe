/* The levels of a fat tree from the values of a cluster file. */
#include "fabric.h"

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

static enum ar_status check_rails(const struct ar_cluster *cluster, struct ar_error *err)
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

/* What is left of one group is a group, too. Rails that are joined above are groups even in one
 * rack. */
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
static enum ar_status record_switches(struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    char text[16 * AR_TREE_LEVELS_MAX] = "";
    size_t used = 0;
    if (cluster->routes == AR_ROUTES_IDEAL || tree->levels_count == 0 ||
        cluster->values.is_given[TOPO_TREE_SWITCHES]) {
        return AR_OK;
    }
    for (uint32_t i = 0; i < tree->levels_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? "x" : "",
                                 tree->levels[i].switches);
    }
    const char *copy = ar_arena_text(cluster->arena, text);
    AR_NEED(copy, err, "the cluster");
    ar_topo_entries_store((struct ar_topo_entry){TOPO_TREE_SWITCHES, copy, "assumed",
                                                 cluster->entries.path, AR_BAD_DATA},
                          &cluster->entries);
    return AR_OK;
}

enum ar_status ar_tree_make(struct ar_cluster *cluster, uint64_t *links_count, struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    struct ar_fat_tree *tree = &cluster->tree;
    AR_TRY(check_lists(cluster, err));
    AR_TRY(check_rails(cluster, err));
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
    return record_switches(cluster, err);
}
