#include <criterion/criterion.h>
#include <stdlib.h>

#include "fabric.h"
#include "test_cluster_load.h"

/* Nodes of one GPU and one HCA, 4 in a rack with 4 cables, 4 racks in a pod with 16, 4 pods: every
 * switch has as many cables up as down. */
#define FULL_TREE                                                                                  \
    "gpus_per_node=1", "pcie.switches=0", "hcas=1", "nodes=64", "rack.nodes=4", "rack.uplinks=4",  \
        "tree.groups=4", "tree.uplinks=16", "tree.uplink_bandwidth=100Gbps"

enum { FULL_NODES = 64 };

/* Links that were added after the first of a path, and before its last: those of the tree. */
static uint32_t tree_link(const struct ar_cluster *cluster, const struct ar_path *path, uint32_t i)
{
    return path->links[i + 1] - cluster->first_fabric_link;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* The most flows on a link when every node sends to the one `shift` further. */
static uint32_t most_flows(const struct ar_cluster *cluster, uint32_t shift)
{
    uint32_t most = 0;
    uint32_t *flows = calloc(ar_cluster_links_count(cluster), sizeof *flows);
    for (uint32_t a = 0; a < FULL_NODES; a++) {
        struct ar_path path;
        ar_cluster_path(cluster, a, (a + shift) % FULL_NODES, &path);
        for (uint32_t i = 0; i < path.links_count; i++) {
            uint32_t count = ++flows[path.links[i]];
            most = count > most ? count : most;
        }
    }
    free(flows);
    return most;
}

/* Zahavi: D-Mod-K routing for real life fat trees is free of contention for shifts. */
Test(fat_tree, dmodk_gives_every_flow_of_a_shift_links_of_its_own)
{
    struct ar_cluster *cluster = test_load_small(TEST_SETTINGS(FULL_TREE, "fabric.routes=dmodk"));
    for (uint32_t shift = 1; shift < FULL_NODES; shift++) {
        cr_expect_eq(most_flows(cluster, shift), 1, "shift by %u", shift);
    }
}

Test(fat_tree, a_hash_makes_flows_meet_and_another_seed_makes_others_meet)
{
    uint32_t different = 0, most = 0;
    struct ar_cluster *one = test_load_small(TEST_SETTINGS(FULL_TREE, "fabric.routes=hash:1"));
    struct ar_cluster *two = test_load_small(TEST_SETTINGS(FULL_TREE, "fabric.routes=hash:2"));
    uint32_t uses[4] = {0}; /* of the cables of rack 0 */
    for (uint32_t shift = 4; shift < FULL_NODES; shift++) {
        uint32_t flows = most_flows(one, shift);
        most = flows > most ? flows : most;
        for (uint32_t a = 0; a < 4; a++) {
            struct ar_path first, second, again;
            uint32_t b = (a + shift) % FULL_NODES;
            if (b < 4) {
                continue;
            }
            ar_cluster_path(one, a, b, &first);
            ar_cluster_path(one, a, b, &again);
            ar_cluster_path(two, a, b, &second);
            cr_expect_eq(tree_link(one, &first, 0), tree_link(one, &again, 0));
            different += tree_link(one, &first, 0) != tree_link(two, &second, 0);
            uses[tree_link(one, &first, 0) / 2]++;
        }
    }
    cr_expect_geq(most, 3, "a random choice among 4 cables");
    cr_expect_geq(different, 60, "of 240 pairs, 180 expected");
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect(uses[i] > 30 && uses[i] < 90, "cable %u: %u of 240", i, uses[i]);
    }
}

/* Links of neighbouring levels meet at a switch; at the top up and down do. */
static void expect_joined(const struct ar_cluster *cluster, uint32_t a, uint32_t b)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    struct ar_path path;
    ar_cluster_path(cluster, a, b, &path);
    uint32_t ups = (path.links_count - 2) / 2;
    for (uint32_t i = 0; i < ups; i++) {
        const struct ar_tree_level *level = &tree->levels[i];
        uint32_t up = tree_link(cluster, &path, i) - level->first_link;
        uint32_t down = tree_link(cluster, &path, 2 * ups - 1 - i) - level->first_link;
        uint32_t up_link = up / 2 % level->links, down_link = down / 2 % level->links;
        cr_expect(up % 2 == 0 && down % 2 == 1);
        if (i + 1 == ups) {
            cr_expect_eq(up_link % level->switches, down_link % level->switches);
            break;
        }
        const struct ar_tree_level *above = &tree->levels[i + 1];
        uint32_t above_up = (tree_link(cluster, &path, i + 1) - above->first_link) / 2;
        uint32_t above_down = (tree_link(cluster, &path, 2 * ups - 2 - i) - above->first_link) / 2;
        cr_expect_eq(up_link % level->switches, above_up % above->links % level->switches);
        cr_expect_eq(down_link % level->switches, above_down % above->links % level->switches);
    }
}

Test(fat_tree, links_on_a_way_meet_at_switches)
{
    static const char *const rest[][3] = {
        {"fabric.routes=dmodk", NULL},
        {"fabric.routes=hash:3", NULL},
        {"fabric.routes=hash:3", "tree.switches=2x4", NULL},
        {"fabric.routes=dmodk", "tree.switches=1x2", NULL},
        {"fabric.routes=hash:9", "tree.switches=4x2", NULL},
    };
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) {
        struct ar_cluster *cluster =
            test_load_small(TEST_SETTINGS(FULL_TREE, rest[i][0], rest[i][1]));
        for (uint32_t pair = 0; pair < FULL_NODES * FULL_NODES; pair++) {
            if (pair / FULL_NODES / 4 != pair % FULL_NODES / 4) {
                expect_joined(cluster, pair / FULL_NODES, pair % FULL_NODES);
            }
        }
    }
}

/* --- slow links ------------------------------------------------------------------------------- */

Test(fat_tree, the_name_of_a_rack_means_all_its_cables)
{
    struct ar_cluster *cluster =
        test_load_small(TEST_SETTINGS("fabric.routes=hash:1", "rack.uplinks=2"));
    struct ar_path path;
    test_slow_links(cluster, "rack-1:4");
    for (uint32_t b = 8; b < 16; b++) {
        cr_expect_eq(ar_cluster_path(cluster, 0, b, &path)->bandwidth_Bps, 12.5e9 / 4);
        cr_expect_eq(ar_cluster_path(cluster, b, 0, &path)->bandwidth_Bps, 12.5e9 / 4);
    }
    cr_expect_eq(ar_cluster_path(cluster, 0, 16, &path)->bandwidth_Bps, 10e9);
    /* Routes change nothing within a rack. */
    cluster = test_load_small(TEST_SETTINGS("fabric.routes=hash:1"));
    cr_expect_str_eq(ar_cluster_idle_routes(cluster, 8), "hash:1");
    cr_expect_null(ar_cluster_idle_routes(cluster, 9));
    cr_expect_null(ar_cluster_idle_routes(test_load_small(NULL), 8));
}
