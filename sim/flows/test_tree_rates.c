/* Which hops of a tree share links, and when. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ar_link_load.h"
#include "flows.h"
#include "test_support.h"

/* The first phase of a tree, with as many parts as asked for. */
struct bed {
    struct ar_flows *flows;
    struct ar_phase phase;
    const struct ar_pattern *pattern;
    struct ar_tree_rates *rates;
    struct ar_arena arena;
};

static struct bed tree_make(const struct ar_collective *tree, uint32_t parts)
{
    struct ar_error err = {.text = ""};
    struct bed bed = {.arena = {NULL}};
    cr_assert(ar_flows_create(tree, &bed.flows, &err) == AR_OK, "%s", err.text);
    bed.pattern = bed.flows->patterns;
    bed.phase = bed.flows->phases[0];
    bed.phase.parts = parts;
    bed.rates = flows_tree_create(&bed.arena, bed.flows, &bed.phase, bed.pattern);
    return bed;
}

static void drop(struct bed *bed)
{
    ar_arena_end(&bed->arena);
    ar_flows_destroy(bed->flows);
}

static void path_of(const struct ar_collective *tree, const struct ar_pattern *pattern,
                    uint32_t hop, struct ar_path *path)
{
    struct ar_order order = ar_collective_order(tree);
    uint32_t channel = 0;
    while (hop >= pattern->lane_hops[channel + 1]) {
        channel++;
    }
    ar_cluster_path(tree->cluster, ar_order_rank(&order, channel, pattern->hops[hop].from),
                    ar_order_rank(&order, channel, pattern->hops[hop].to), path);
}

/* The bandwidth that a hop has left if it shares with the hops of all channels that start at its
 * position. */
static double share_by_hand(const struct ar_collective *tree, const struct ar_pattern *pattern,
                            uint32_t hop, uint32_t *on_link)
{
    double share_Bps = 1e300;
    struct ar_path own;
    path_of(tree, pattern, hop, &own);
    for (uint32_t i = 0; i < own.links_count; i++) {
        on_link[own.links[i]] = 0;
    }
    for (uint32_t other = 0; other < pattern->hops_count; other++) {
        struct ar_path path;
        path_of(tree, pattern, other, &path);
        bool is_beside = pattern->hops[other].from == pattern->hops[hop].from;
        for (uint32_t i = 0; is_beside && i < path.links_count; i++) {
            on_link[path.links[i]]++;
        }
    }
    for (uint32_t i = 0; i < own.links_count; i++) {
        uint32_t link = own.links[i];
        double each_Bps = ar_cluster_link_bandwidth(tree->cluster, link) / on_link[link];
        share_Bps = each_Bps < share_Bps ? each_Bps : share_Bps;
    }
    return share_Bps;
}

/* While the only part is on one hop of a chain, no other hop of the chain is busy. */
Test(tree_rates, let_hops_of_a_chain_with_one_part_share_with_other_chains_only)
{
    struct ar_cluster *dgx2 = support_cluster("dgx2-v100", NULL);
    struct ar_collective tree = support_collective(dgx2, "tree", 16, 1);
    uint32_t *on_link = calloc(ar_cluster_links_count(dgx2), sizeof *on_link);
    for (tree.channels = 1; tree.channels <= 16; tree.channels += 5) {
        struct bed bed = tree_make(&tree, 1);
        const struct ar_tree_shares *shares = flows_tree_find(bed.rates, 64);
        for (uint32_t hop = 0; hop < bed.pattern->hops_count; hop++) {
            double expected_Bps = share_by_hand(&tree, bed.pattern, hop, on_link);
            /* A rate is a size over a difference of two times. */
            cr_expect(support_near(shares->rates_Bps[hop], expected_Bps, 1e-9),
                      "%u channels, hop %u: %g B/s, by hand %g B/s", tree.channels, hop,
                      shares->rates_Bps[hop], expected_Bps);
        }
        drop(&bed);
    }
    free(on_link);
}

Test(tree_rates, are_those_of_the_paths_where_no_link_is_shared)
{
    struct ar_collective tree = support_on("abci-v100", "tree", 4, 2);
    struct bed bed = tree_make(&tree, 8);
    for (double bytes = 0; bytes < 1e9; bytes = 40 * bytes + 1) {
        const struct ar_tree_shares *shares = flows_tree_find(bed.rates, bytes);
        for (uint32_t i = 0; i < 8 * bed.pattern->hops_count; i++) {
            struct ar_path path;
            path_of(&tree, bed.pattern, i % bed.pattern->hops_count, &path);
            cr_expect(support_near(shares->rates_Bps[i], path.bandwidth_Bps, 1e-12), "%g bytes",
                      bytes);
        }
    }
    drop(&bed);
}

/* Large messages fill the pipeline, small ones travel alone. */
Test(tree_rates, leave_more_to_small_messages_and_mix_up_no_sizes)
{
    struct ar_collective tree = support_on("dgx2-v100", "tree", 16, 1);
    tree.channels = 16;
    struct bed bed = tree_make(&tree, 8);
    double small_Bps = flows_tree_find(bed.rates, 100)->slowest_Bps;
    double large_Bps = flows_tree_find(bed.rates, 1e6)->slowest_Bps;
    cr_expect_gt(small_Bps, 1.5 * large_Bps);
    for (double bytes = 200; bytes < 1e5; bytes *= 1.3) {
        cr_expect_eq(flows_tree_find(bed.rates, 100)->slowest_Bps, small_Bps);
        const struct ar_tree_shares *shares = flows_tree_find(bed.rates, bytes);
        cr_expect_geq(shares->slowest_Bps, large_Bps);
        cr_expect_eq(shares, flows_tree_find(bed.rates, bytes), "the same answer again");
    }
    cr_expect_eq(flows_tree_find(bed.rates, 1e6)->slowest_Bps, large_Bps);
    drop(&bed);
}

Test(tree_rates, are_not_more_than_links_have)
{
    static const char *const names[] = {"abci-v100", "dgx1-v100", "dgx2-v100", "flat"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(names[i], NULL);
        uint32_t x = ar_cluster_facts(cluster)->gpus_per_node;
        for (uint32_t y = x > 1 ? 1 : 2; y <= 8; y++) {
            struct ar_collective tree = support_collective(cluster, "tree", x, y);
            for (tree.channels = 2; tree.channels <= 16; tree.channels *= 2) {
                double min_s = support_busiest_s(&tree, &(uint64_t){100000000}, 1);
                double time_s = support_closed(&tree, 100000000).time_s;
                cr_expect_gt(time_s, min_s, "%s, %ux%u, %u channels: %g s, bytes take %g s",
                             names[i], x, y, tree.channels, time_s, min_s);
            }
        }
    }
}
