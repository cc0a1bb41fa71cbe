/* Moves of all ranks that move every path along. */
#include <criterion/criterion.h>

#include "test_cluster_load.h"
#include "test_machines.h"

/* A flow and the one that is a period further on take links that come from the same ones. */
static void expect_moved(const struct ar_cluster *cluster, uint32_t ranks, uint32_t period,
                         const struct ar_flow *flow)
{
    struct ar_path path, moved;
    uint32_t periods = ranks / period;
    ar_cluster_path(cluster, flow->source, flow->destination, &path);
    ar_cluster_path(cluster, (flow->source + period) % ranks, (flow->destination + period) % ranks,
                    &moved);
    cr_assert_eq(path.links_count, moved.links_count);
    cr_expect_eq(path.latency_s, moved.latency_s);
    cr_expect_eq(path.tier, moved.tier);
    for (uint32_t i = 0; i < path.links_count; i++) {
        uint32_t turns, moved_turns;
        uint32_t link = path.links[i];
        uint32_t first = ar_cluster_first_link(cluster, period, link, &turns);
        uint32_t other = ar_cluster_first_link(cluster, period, moved.links[i], &moved_turns);
        cr_expect_eq(first, other, "link %u of %u ranks, period %u", link, ranks, period);
        cr_expect_eq((turns + 1) % periods, moved_turns, "link %u of %u ranks", link, ranks);
        cr_expect_eq(ar_cluster_link_bandwidth(cluster, link),
                     ar_cluster_link_bandwidth(cluster, first));
    }
}

Test(symmetry, every_path_moves_along_with_its_ends)
{
    uint32_t moved = 0;
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *cluster = test_load_small(test_machines[m]);
        uint32_t all = (uint32_t)ar_cluster_gpus_count(cluster);
        for (uint32_t ranks = 2; ranks <= all && ranks <= 64; ranks++) {
            uint32_t period = ar_cluster_period(cluster, ranks);
            cr_assert(period > 0 && ranks % period == 0);
            for (uint32_t i = 0; period < ranks && i < ranks * ranks; i++) {
                struct ar_flow flow = {i / ranks, i % ranks};
                if (flow.source != flow.destination) {
                    expect_moved(cluster, ranks, period, &flow);
                }
            }
            moved += period < ranks;
        }
    }
    cr_expect_gt(moved, 10);
}

Test(symmetry, a_fat_tree_repeats_by_its_largest_groups_of_which_there_are_several)
{
    struct ar_cluster *cluster = test_load_small(TEST_SETTINGS(TEST_TREE, TEST_ONE_GPU));
    struct ar_cluster *slow =
        test_load_small(TEST_SETTINGS(TEST_TREE, TEST_ONE_GPU, "fabric.routes=hash:1"));
    cr_expect_eq(ar_cluster_period(cluster, 2), 1, "one rack");
    cr_expect_eq(ar_cluster_period(cluster, 4), 2, "two racks");
    cr_expect_eq(ar_cluster_period(cluster, 8), 4, "two pods");
    cr_expect_eq(ar_cluster_period(cluster, 6), 6, "a pod and a half");
    cr_expect_eq(ar_cluster_period(slow, 8), 8, "uneven routes");
}

/* Every path is like that between the first GPUs of its nodes, or the first two of a node. */
Test(symmetry, paths_between_equal_gpus_take_links_like_those_of_the_first_ones)
{
    static const char *const equal[][6] = {
        {TEST_NO_RACKS, "nvlink.pairs=switch", "pcie.switches=4", "hcas=4", "hca.attached=switch"},
        {TEST_NO_RACKS, "nvlink.pairs=switch", "pcie.switches=0", "hcas=4"},
        {TEST_NO_RACKS, "nvlink.pairs=switch", "pcie.switches=0", "hcas=4",
         "nvlink.domain_nodes=2"}};
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        cr_expect_not(ar_cluster_has_equal_gpus(test_load_small(test_machines[m])), "%zu", m);
    }
    for (size_t m = 0; m < sizeof equal / sizeof equal[0]; m++) {
        struct ar_cluster *cluster = test_load_small(equal[m]);
        uint32_t all = (uint32_t)ar_cluster_gpus_count(cluster);
        uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node;
        cr_expect(ar_cluster_has_equal_gpus(cluster), "%zu", m);
        for (uint32_t i = 0; i < all * all; i++) {
            uint32_t from = i / all, to = i % all;
            uint32_t first = from / gpus * gpus, second = to / gpus * gpus;
            struct ar_path path, expected;
            if (from == to) {
                continue;
            }
            ar_cluster_path(cluster, from, to, &path);
            ar_cluster_path(cluster, first, first == second ? second + 1 : second, &expected);
            cr_assert_eq(path.links_count, expected.links_count);
            cr_expect(path.latency_s == expected.latency_s && path.tier == expected.tier &&
                      path.bandwidth_Bps == expected.bandwidth_Bps);
            for (uint32_t j = 0; j < path.links_count; j++) {
                cr_expect_eq(ar_cluster_link_of_first_gpu(cluster, path.links[j]),
                             ar_cluster_link_of_first_gpu(cluster, expected.links[j]));
            }
        }
    }
}
