#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_cluster_load.h"
#include "test_platform.h"
#include "test_setting.h"

/* One small machine of each kind; each row changes the small cluster of test_topo_files.h. */
#define NO_RACKS       "rack.nodes=0"
#define ONE_GPU        "gpus_per_node=1", "nvlink.pairs=none", "pcie.switches=0", "hcas=1"
#define TORUS(lengths) NO_RACKS, "fabric=torus", "torus.lengths=" lengths
#define DRAGONFLY(kind, groups, routers, cables)                                                   \
    NO_RACKS, "fabric=" kind, "dragonfly.groups=" groups, "dragonfly.routers=" routers,            \
        "dragonfly.global_links=" cables, "dragonfly.local_bandwidth=6GB/s",                       \
        "dragonfly.global_bandwidth=4GB/s"

/* Racks of 2, pods of 2 racks, pairs of pods. */
#define TREE                                                                                       \
    "nodes=13", "rack.uplinks=4", "tree.groups=2x2", "tree.uplinks=4x2",                           \
        "tree.uplink_bandwidth=3GB/s 4GB/s"

static const char *const machines[][16] = {
    {TORUS("8"), "torus.link_bandwidth=7GB/s", "nodes=8"},
    {TORUS("2x3"), "torus.link_bandwidth=7GB/s", "switch.latency=250ns"},
    {TORUS("4x3x4"), "torus.link_bandwidth=7GB/s", "nodes=48", ONE_GPU},
    {TORUS("3x2x2x1x3x2"), "torus.link_bandwidth=7GB/s", "nodes=72", "torus.wraps=1x0x1x0x1x1",
     ONE_GPU},
    {NO_RACKS, "fabric=mesh", "torus.lengths=5x3", "torus.link_bandwidth=30GB/s", "nodes=15"},
    {NO_RACKS, "fabric=mesh", "torus.lengths=3x2", "torus.link_bandwidth=30GB/s", "nodes=12",
     "router.nodes=2"},
    {DRAGONFLY("dragonfly", "5", "2", "1"), "nodes=10"},
    {DRAGONFLY("dragonfly", "4", "3", "2"), "nodes=24", "router.nodes=2",
     "dragonfly.arrangement=consecutive", "switch.latency=250ns"},
    {DRAGONFLY("dragonfly+", "3", "2", "2"), "nodes=12", "router.nodes=2", "dragonfly.spines=2",
     "switch.latency=250ns"},
    {DRAGONFLY("dragonfly+", "1", "4", "1"), "nodes=8", "router.nodes=2", "dragonfly.spines=3"},
    {TREE},
    {TREE, ONE_GPU},
    {TREE, "fabric.routes=dmodk"},
    {TREE, "fabric.routes=hash:1", "tree.switches=2x2x1", ONE_GPU},
    {TREE, "fabric.routes=hash:2", "tree.switches=4x2x2", "hcas=4"},
    {"tree.rails=nvlink", "net.latency=1us"},
    {"tree.rails=nvlink", "rack.nodes=0", "nvlink.pairs=switch", "hcas=4"},
    {TREE, "tree.rails=nvlink", "fabric.routes=dmodk"},
    {"tree.rails=spine", "nvlink.pairs=0-1"},
    {TREE, "tree.rails=spine", "fabric.routes=hash:3"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=4"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=2", "fabric.routes=hash:4", "rack.uplinks=3"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=6", "hcas=0"},
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

/* --- the platform ---------------------------------------------------------------------------- */

static void check_route(const struct ar_cluster *cluster, const struct test_route *route)
{
    struct ar_path path;
    ar_cluster_path(cluster, route->source, route->destination, &path);
    cr_assert(route->has_links_of_path, "gpu-%u to gpu-%u", route->source, route->destination);
    cr_assert_eq(route->bandwidth_Bps, path.bandwidth_Bps, "gpu-%u to gpu-%u: %.17g", route->source,
                 route->destination, route->bandwidth_Bps);
    cr_assert_float_eq(route->latency_s, path.latency_s, 1e-18, "gpu-%u to gpu-%u: %.17g",
                       route->source, route->destination, route->latency_s);
}

/* All pairs of GPUs of the first nodes. */
static void check_routes(const struct ar_cluster *cluster, uint32_t nodes)
{
    uint32_t gpus = nodes * ar_cluster_facts(cluster)->gpus_per_node;
    struct test_route *routes = calloc((size_t)gpus * gpus, sizeof *routes);
    size_t count = 0, hosts, links;
    for (uint32_t pair = 0; pair < gpus * gpus; pair++) {
        if (pair / gpus != pair % gpus) {
            routes[count++] =
                (struct test_route){.source = pair / gpus, .destination = pair % gpus};
        }
    }
    test_platform_look_up(cluster, nodes, routes, count, &hosts, &links);
    cr_assert_eq(hosts, gpus);
    for (size_t i = 0; i < count; i++) {
        check_route(cluster, &routes[i]);
    }
    free(routes);
}

Test(fabrics, every_pair_of_every_machine_has_the_links_and_the_rate_of_its_path_in_simgrid)
{
    for (size_t m = 0; m < MACHINES; m++) {
        struct ar_cluster *cluster = test_load_small(machines[m]);
        check_routes(cluster, ar_cluster_facts(cluster)->nodes_count);
    }
}

Test(fabrics, a_platform_of_the_first_nodes_has_the_routers_that_their_messages_cross)
{
    struct ar_cluster *cluster = test_load_small(machines[2]);
    check_routes(cluster, 7);
}
