/* Engines beside each other, and beside a calculation, where switches sum. */

#include "blocks.h"
#include "test_outcome.h"
#include "test_trials.h"

static const struct ar_call calls[TRIALS_PARTS] = TRIALS_CALLS_OF_PARTS;

/* Every GPU has a port of its own, and one switch sums. */
Test(sums_engines, agree_where_no_link_is_shared)
{
    static const uint32_t windows[] = {1, 3, 8};
    struct ar_cluster *flat = support_textbook();
    for (uint32_t ranks = 2; ranks <= 12; ranks += 5) {
        struct ar_collective sums = support_collective(flat, "in-network", 1, ranks);
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            sums.window = windows[i];
            trials_compare(&sums, calls, TRIALS_PARTS, 0, 1e-6);
            trials_compare(&sums, calls, TRIALS_PARTS, 0.002, 1e-6);
        }
    }
}

/* Where a rack has one cable up for four ports, the sum of the rack goes over it once. */
Test(sums_engines, a_tree_of_switches_carries_each_sum_once)
{
    struct ar_cluster *racks = support_cluster(
        "flat", "fabric.sums=yes rack.nodes=4 rack.uplinks=1 rack.uplink_bandwidth=10GB/s");
    struct ar_cluster *flat = support_cluster("flat", "fabric.sums=yes");
    for (uint32_t ranks = 8; ranks <= 32; ranks += 12) {
        struct ar_collective sums = support_collective(racks, "in-network", 1, ranks);
        trials_agree(&sums, 1 << 20, 1e-6);
        double time_s = trials_time(&sums, &ar_engine_recurrence, 1 << 20);
        sums.cluster = flat;
        cr_expect_eq(time_s, trials_time(&sums, &ar_engine_recurrence, 1 << 20), "%u", ranks);
    }
}

#define NODES                                                                                      \
    "gpus_per_node=4 nodes=16 hcas=4 nvlink.pairs=switch nvlink.sums=yes fabric.sums=yes "         \
    "nvlink.bandwidth=100GB/s nvlink.latency=3us"
#define RACKS NODES " rack.nodes=4 rack.uplinks=4 rack.uplink_bandwidth=10GB/s"

/* The link from a GPU to the switch of its node is busy the longest, with all and with its part of
 * the sum: n/B (1 + 1/X), and the first and the last part come on top. */
Test(sums_engines, a_node_sums_at_the_rate_of_its_ports)
{
    struct ar_cluster *nodes = support_cluster("flat", NODES);
    struct ar_collective sums = support_collective(nodes, "in-network", 4, 1);
    uint64_t elements = 1 << 26;
    double port_s = (double)elements * sums.element_bytes / 100e9;
    double expected_s = 2 * 3e-6 + port_s * (2 + 7 * 1.25) / 8;
    double simulated_s = trials_agree(&sums, elements, 1e-3);
    SUPPORT_NEAR(simulated_s, expected_s, 1e-3);
    SUPPORT_NEAR(support_closed(&sums, elements).time_s, simulated_s, 1e-3);
}

/* Shards of the nodes' sums go to the network by all HCAs: n/4 up and n/4 down each. */
Test(sums_engines, nodes_and_network_are_a_pipeline)
{
    for (size_t i = 0; i < 2; i++) {
        struct ar_cluster *nodes = support_cluster("flat", i == 0 ? NODES : RACKS);
        struct ar_collective sums = support_collective(nodes, "in-network", 4, 16);
        for (uint32_t channels = 1; channels <= 4; channels *= 4) {
            sums.channels = channels;
            uint64_t elements = 1 << 26;
            double port_s = (double)elements * sums.element_bytes / 4 / 10e9;
            double simulated_s = trials_simulate(&sums, elements);
            cr_expect(simulated_s > port_s && simulated_s < 1.12 * port_s, "%.9g s, port %.9g s",
                      simulated_s, port_s);
            trials_compare(&sums, calls, TRIALS_PARTS, 0, 0.03);
        }
    }
}

Test(sums_engines, switches_that_do_not_sum_or_do_not_reach_are_refused)
{
    struct ar_cluster *nodes = support_cluster("flat", NODES);
    struct ar_cluster *racks = support_cluster("flat", RACKS " nvlink.sums=no");
    struct ar_collective sums = support_on("abci-v100", "in-network", 4, 2);
    TEST_FAILS(AR_USAGE, "GPUs 0 and 1 of cluster abci-v100: found no NVLink switch that sums",
               ar_collective_check(&sums, &why));
    sums.cluster = nodes;
    sums.shape = (struct ar_shape){.x = 2, .y = 4};
    TEST_FAILS(AR_USAGE, "expected one GPU of each node in a column",
               ar_collective_check(&sums, &why));
    sums.shape = (struct ar_shape){.x = 8, .y = 1};
    TEST_FAILS(AR_USAGE, "in one NVLink domain", ar_collective_check(&sums, &why));
    sums.cluster = racks;
    sums.shape = (struct ar_shape){.x = 4, .y = 4};
    TEST_FAILS(AR_USAGE, "found no NVLink switch that sums", ar_collective_check(&sums, &why));
}

/* Channels and groups share HCAs and ports evenly, one stage has them to itself. */
Test(sums_engines, alike_lines_that_share_links_are_exact)
{
    struct ar_cluster *nodes = support_cluster("flat", NODES);
    struct ar_collective all[] = {
        support_collective(nodes, "in-network", 1, 8),
        support_collective_of(nodes, &ar_algorithm_all_gather_in_network, 4, 1),
        support_collective_of(nodes, &ar_algorithm_reduce_scatter_in_network, 4, 1),
        support_collective(nodes, "collnet-direct", 4, 4),
    };
    TEST_OK(ar_mesh_parse("mesh", "dp=8,tp=4", &all[0].mesh, &why));
    TEST_OK(ar_mesh_set_along("along", "dp", &all[0].mesh, &why));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        all[i].channels = 4;
        struct ar_closed_time closed = support_closed(&all[i], 96 * 25600);
        double simulated_s = trials_agree(&all[i], 96 * 25600, 1e-6);
        cr_expect(closed.exact, "%zu: %s", i, closed.why);
        SUPPORT_NEAR(closed.time_s, simulated_s, 1e-6, "%zu", i);
    }
}
