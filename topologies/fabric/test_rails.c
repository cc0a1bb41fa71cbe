/* Rails and NVLink domains: HCAs of a node that hang on different switches, NVLinks beyond it. */
#include <criterion/criterion.h>
#include <string.h>

#include "fabric.h"
#include "test_cluster_load.h"
#include "test_setting.h"

Test(rails, a_message_between_unlike_rails_goes_over_nvlink_first)
{
    const char *settings[] = {"tree.rails=nvlink", "rack.nodes=0", NULL};
    struct ar_cluster *cluster = test_load_small(settings);
    char text[TEST_NAMES_SIZE];
    cr_expect_eq(cluster->fabric_links_count, 0, "rails alone");
    cr_expect_str_eq(test_link_names(cluster, 0, 4, text),
                     "node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in node-1.pcie-0.down");
    cr_expect_str_eq(test_link_names(cluster, 1, 6, text),
                     "node-0.nvlink-1-3 node-0.pcie-1.up node-0.hca-1.out node-1.hca-1.in "
                     "node-1.pcie-1.down");
    const char *racks[] = {"tree.rails=nvlink", NULL};
    cluster = test_load_small(racks);
    cr_expect_str_eq(test_link_names(cluster, 0, 10, text),
                     "node-0.nvlink-0-2 node-0.pcie-1.up node-0.hca-1.out rack-0.rail-1.up "
                     "rack-1.rail-1.down node-2.hca-1.in node-2.pcie-1.down");
    struct ar_path path;
    cr_expect_eq(ar_cluster_path(cluster, 0, 10, &path)->latency_s, 8e-6);
}

Test(rails, a_message_between_unlike_rails_may_go_over_the_spine)
{
    const char *settings[] = {"tree.rails=spine", "rack.nodes=3", NULL};
    struct ar_cluster *cluster = test_load_small(settings);
    char text[TEST_NAMES_SIZE];
    cr_expect_str_eq(test_link_names(cluster, 0, 4, text),
                     "node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in node-1.pcie-0.down");
    cr_expect_str_eq(test_link_names(cluster, 0, 6, text),
                     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.up rack-0.rail-1.down "
                     "node-1.hca-1.in node-1.pcie-1.down");
    cr_expect_str_eq(test_link_names(cluster, 0, 14, text),
                     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.up rack-1.rail-1.down "
                     "node-3.hca-1.in node-3.pcie-1.down");
    const char *one_rack[] = {"tree.rails=spine", "rack.nodes=0", "fabric.routes=dmodk",
                              "rack.uplinks=3", NULL};
    cluster = test_load_small(one_rack);
    cr_expect_str_eq(test_link_names(cluster, 0, 6, text),
                     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.cable-1.up "
                     "rack-0.rail-1.cable-1.down node-1.hca-1.in node-1.pcie-1.down");
}

Test(rails, a_message_takes_a_rail_whose_hcas_are_both_up)
{
    const char *settings[] = {"tree.rails=nvlink", "rack.nodes=0", NULL};
    static const char *const down[] = {"node-1.hca-1", "node-2.hca-0"};
    struct ar_cluster *cluster;
    struct ar_error err;
    char text[TEST_NAMES_SIZE];
    cr_assert_eq(test_load_down(settings, down, 1, &cluster, &err), AR_OK, "%s", err.text);
    cr_expect_str_eq(test_link_names(cluster, 3, 6, text),
                     "node-0.nvlink-3-1 node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in "
                     "node-1.pcie-1.down");
    cr_expect_eq(test_load_down(settings, down, 2, &cluster, &err), AR_USAGE, "nodes 1 and 2");
    cr_expect(strstr(err.text, "GPUs 4 and 8 cannot reach each other") != NULL, "%s", err.text);
    const char *spine[] = {"tree.rails=spine", "rack.nodes=0", NULL};
    cr_expect_eq(test_load_down(spine, down, 2, &cluster, &err), AR_OK, "%s", err.text);
    cr_expect_str_eq(test_link_names(cluster, 4, 8, text),
                     "node-1.pcie-0.up node-1.hca-0.out rack-0.rail-0.up rack-0.rail-1.down "
                     "node-2.hca-1.in node-2.pcie-0.down");
}

Test(rails, gpus_of_unlike_rails_and_nodes_that_lost_their_leaf_are_found)
{
    const char *settings[] = {"tree.rails=spine", NULL};
    static const char *const down[] = {"rack-0.rail-0.up"};
    struct ar_cluster *cluster;
    struct ar_error err;
    cr_expect_eq(test_load_down(settings, down, 1, &cluster, &err), AR_USAGE);
    cr_expect_eq(ar_cluster_check_reach(cluster, 4, &err), AR_OK, "one node");
    cr_expect_eq(ar_cluster_check_reach(cluster, 5, &err), AR_USAGE, "GPU 4 to GPU 2");
    const char *over_nvlink[] = {"tree.rails=nvlink", NULL};
    cr_expect_eq(test_load_down(over_nvlink, down, 1, &cluster, &err), AR_USAGE);
    cr_expect_eq(ar_cluster_check_reach(cluster, 8, &err), AR_OK, "one rack");
    cr_expect_eq(ar_cluster_check_reach(cluster, 9, &err), AR_USAGE, "GPU 0 to GPU 8");
}

static bool takes_link(const struct ar_cluster *cluster, uint32_t ranks, uint32_t link)
{
    for (uint32_t pair = 0; pair < ranks * ranks; pair++) {
        struct ar_path path;
        if (pair / ranks == pair % ranks) {
            continue;
        }
        ar_cluster_path(cluster, pair / ranks, pair % ranks, &path);
        for (uint32_t i = 0; i < path.links_count; i++) {
            if (path.links[i] == link) {
                return true;
            }
        }
    }
    return false;
}

/* A message may pass by a GPU that is no rank. */
Test(rails, no_link_that_a_message_between_rails_takes_is_called_idle)
{
    static const char *const settings[][4] = {
        {"tree.rails=nvlink", NULL},
        {"tree.rails=nvlink", "nvlink.pairs=switch", "hcas=4", NULL},
        {"tree.rails=spine", NULL},
    };
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        uint32_t links = ar_cluster_links_count(test_load_small(settings[s]));
        for (uint32_t link = 0; link < links; link++) {
            struct ar_cluster *cluster = test_load_small(settings[s]);
            char text[70] = "";
            struct ar_setting slow = {text, "--slow-link", AR_USAGE};
            struct ar_link_settings changes = {.slow = {&slow, 1}};
            struct ar_error err;
            ar_cluster_link_name(cluster, link, text, 64);
            strcat(text, ":2");
            cr_assert_eq(ar_cluster_change_links(cluster, &changes, &err), AR_OK, "%s", err.text);
            for (uint32_t ranks = 2; ranks <= 11; ranks += 3) {
                cr_expect(!takes_link(cluster, ranks, link) ||
                              ar_cluster_idle_change(cluster, 0, ranks, false) == NULL,
                          "%s of %u ranks", text, ranks);
            }
        }
    }
}

/* --- NVLink domains --------------------------------------------------------------------------- */

Test(rails, nodes_of_an_nvlink_domain_reach_each_other_by_ports)
{
    const char *settings[] = {"nvlink.pairs=switch", "nvlink.domain_nodes=3", NULL};
    struct ar_cluster *cluster = test_load_small(settings);
    char text[TEST_NAMES_SIZE];
    struct ar_path path;
    cr_expect_str_eq(test_link_names(cluster, 1, 10, text), "node-0.port-1.out node-2.port-2.in");
    cr_expect_str_eq(test_link_names(cluster, 11, 12, text),
                     "node-2.pcie-1.up node-2.hca-1.out node-3.hca-0.in "
                     "node-3.pcie-0.down");
    ar_cluster_path(cluster, 1, 10, &path);
    cr_expect_eq(path.tier, AR_TIER_NVLINK);
    cr_expect_eq(path.latency_s, 2e-6);
    const char *alone[] = {"nvlink.pairs=switch", "nvlink.domain_nodes=6", "hcas=0", NULL};
    cluster = test_load_small(alone);
    cr_expect_str_eq(test_link_names(cluster, 0, 23, text), "node-0.port-0.out node-5.port-3.in");
}

Test(rails, a_port_of_a_domain_that_is_down_parts_its_gpu_from_the_others)
{
    const char *settings[] = {"nvlink.pairs=switch",
                              "nvlink.domain_nodes=2",
                              "gpus_per_node=1",
                              "pcie.switches=0",
                              "hcas=1",
                              NULL};
    static const char *const down[] = {"node-3.port-0.in"};
    struct ar_cluster *cluster;
    struct ar_error err;
    cr_expect_eq(test_load_down(settings, down, 1, &cluster, &err), AR_USAGE);
    cr_expect_str_eq(err.text, "--down-link: GPUs 2 and 3 cannot reach each other: "
                               "node-3.port-0.in is down, and there is no other way");
}
