#include <criterion/criterion.h>

#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_platform.h"

/* --- the platform ----------------------------------------------------------------------------- */

Test(fabrics, every_pair_of_every_machine_has_the_links_and_the_rate_of_its_path_in_simgrid)
{
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *cluster = test_load_small(test_machines[m]);
        test_platform_check_routes(cluster, ar_cluster_facts(cluster)->nodes_count);
    }
    /* A platform of the first nodes has the routers that their messages cross. */
    test_platform_check_routes(test_load_small(test_machines[2]), 7);
}

Test(fabrics, the_latency_of_a_route_grows_with_its_links_between_routers)
{
    struct ar_cluster *cluster = test_load_small(TEST_SETTINGS(
        TEST_TORUS("4x3"), "nodes=12", "torus.link_bandwidth=7GB/s", "switch.latency=250ns"));
    struct ar_path path;
    test_platform_check_routes(cluster, 12);
    cr_expect_float_eq(ar_cluster_path(cluster, 0, 4 * 8, &path)->latency_s, 8e-6 + 3 * 250e-9,
                       1e-15); /* (0,0) to (2,2): 1 and 2 links */
    cluster = test_load_small(TEST_SETTINGS(TEST_DRAGONFLY("dragonfly+", "3", "2", "2"), "nodes=6",
                                            "dragonfly.spines=2", "switch.latency=250ns"));
    test_platform_check_routes(cluster, 6);
    cr_expect_float_eq(ar_cluster_path(cluster, 0, 4, &path)->latency_s, 8e-6 + 2 * 250e-9, 1e-15);
    cr_expect_float_eq(ar_cluster_path(cluster, 0, 8, &path)->latency_s, 8e-6 + 3 * 250e-9, 1e-15);
}
