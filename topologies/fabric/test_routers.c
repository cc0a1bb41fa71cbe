/* Machines of all fabrics: links at once, names of links, links that are idle. */
#include <criterion/criterion.h>
#include <string.h>

#include "fabric.h"
#include "test_cluster_load.h"
#include "test_machines.h"

/* --- routes ----------------------------------------------------------------------------------- */

Test(routers, links_at_once_give_the_hcas_of_a_node_so_many_links_together)
{
    const char text[] = "name = x ; t\nnodes = 6 ; t\ngpus_per_node = 2 ; t\nhcas = 2 ; t\n"
                        "net.latency = 1us ; t\nnvlink.pairs = all ; t\nnvlink.latency = 1us ; t\n"
                        "nvlink.bandwidth = 10GB/s ; t\ntorus.links_at_once = 3 ; t\n";
    struct ar_cluster *cluster =
        test_load_text(text, TEST_SETTINGS(TEST_TORUS("6"), "torus.link_bandwidth=7GB/s"));
    cr_expect_eq(ar_cluster_link_bandwidth(cluster, cluster->node.hca[0]), 3 * 7e9 / 2);
}

/* --- slow links ------------------------------------------------------------------------------- */

/* A link is meant by its name, and with its other direction by the name without direction. */
Test(routers, every_link_is_found_by_its_name)
{
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *file = test_load_small(test_machines[m]);
        uint32_t links = ar_cluster_links_count(file), first = file->first_fabric_link;
        for (uint32_t link = first; link < links; link += links / 60 + 1) {
            for (int has_direction = 0; has_direction < 2; has_direction++) {
                struct ar_cluster *cluster = test_load_small(test_machines[m]);
                char name[AR_LINK_NAME_SIZE + 2];
                ar_cluster_link_name(file, link, name, AR_LINK_NAME_SIZE);
                strcpy(has_direction ? name + strlen(name) : strrchr(name, '.'), ":3");
                test_slow_links(cluster, name);
                for (uint32_t other = 0; other < links; other++) {
                    bool is_meant =
                        has_direction ? other == link
                                      : other >= first && (other - first) / 2 == (link - first) / 2;
                    cr_assert_eq(cluster->factors[other], is_meant ? 3 : 1, "%s", name);
                }
            }
        }
    }
}

/* Whether a message among the first ranks takes a link. */
static bool takes_link(const struct ar_cluster *cluster, uint32_t ranks, uint32_t link)
{
    for (uint32_t pair = 0; pair < ranks * ranks; pair++) {
        struct ar_path path = {.links_count = 0};
        if (pair / ranks != pair % ranks) {
            ar_cluster_path(cluster, pair / ranks, pair % ranks, &path);
        }
        for (uint32_t i = 0; i < path.links_count; i++) {
            if (path.links[i] == link) {
                return true;
            }
        }
    }
    return false;
}

Test(routers, no_message_takes_a_link_that_is_called_idle)
{
    uint32_t idle = 0;
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *file = test_load_small(test_machines[m]);
        uint32_t links = ar_cluster_links_count(file), gpus = file->facts.gpus_per_node;
        uint32_t all = (uint32_t)ar_cluster_gpus_count(file);
        for (uint32_t link = 0; link < links; link += links / 40 + 1) {
            struct ar_cluster *cluster = test_load_small(test_machines[m]);
            char text[AR_LINK_NAME_SIZE + 2];
            ar_cluster_link_name(cluster, link, text, AR_LINK_NAME_SIZE);
            test_slow_links(cluster, strcat(text, ":2"));
            for (uint32_t ranks = 1; ranks <= all; ranks += all / 4 / gpus * gpus + 1) {
                bool is_idle = ar_cluster_idle_link(cluster, 0, ranks) != NULL;
                cr_expect(!is_idle || !takes_link(cluster, ranks, link), "%s of %u", text, ranks);
                idle += is_idle;
            }
        }
    }
    cr_expect(idle > 500, "%u", idle);
}
