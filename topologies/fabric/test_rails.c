/* Rails and NVLink domains: HCAs of a node that hang on different switches, NVLinks beyond it. */
#include <criterion/criterion.h>
#include <string.h>

#include "fabric.h"
#include "test_cluster_load.h"
#include "test_setting.h"

Test(rails, nodes_without_a_rail_whose_hcas_are_both_up_cannot_reach_each_other)
{
    static const char *const down[] = {"node-1.hca-1", "node-2.hca-0"};
    const char *nvlink[] = {"tree.rails=nvlink", "rack.nodes=0", NULL};
    const char *spine[] = {"tree.rails=spine", "rack.nodes=0", NULL};
    struct ar_cluster *cluster;
    struct ar_error err;
    cr_expect_eq(test_load_down(nvlink, down, 1, &cluster, &err), AR_OK, "%s", err.text);
    cr_expect_eq(cluster->fabric_links_count, 0, "rails alone");
    cr_expect_eq(test_load_down(nvlink, down, 2, &cluster, &err), AR_USAGE, "nodes 1 and 2");
    cr_expect(strstr(err.text, "GPUs 4 and 8 cannot reach each other") != NULL, "%s", err.text);
    cr_expect_eq(test_load_down(spine, down, 2, &cluster, &err), AR_OK, "%s", err.text);
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
