/* Fabrics beside SimGrid's own zones of their kind, an oracle that shares nothing with them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cluster_load.h"
#include "test_platform.h"

enum { LINKS_MAX = 4096 };

/* For each link of one cluster that of the other, as far as routes have shown it; 0: not yet. */
static uint32_t zone_link_of[LINKS_MAX], our_link_of[LINKS_MAX];

/* Notes that two links are the same one; false if one of them is another one's. */
static bool note_same(uint32_t *known, uint32_t link, uint32_t other)
{
    bool is_same = known[link] == 0 || known[link] == other + 1;
    known[link] = other + 1;
    return is_same;
}

/* Expects that all routes, ours without so many links at each end, have as many links, and that two
 * meet on a link in one cluster where they do in the other. */
static void expect_same_routes(const char *const *settings, const char *kind,
                               const char *parameters, uint32_t ends)
{
    char platform[1000];
    struct ar_cluster *ours = test_load_shipped("flat", settings);
    uint32_t hosts = (uint32_t)ar_cluster_gpus_count(ours);
    struct test_zone_route *routes = calloc((size_t)hosts * hosts, sizeof *routes);
    size_t count = 0;
    memset(zone_link_of, 0, sizeof zone_link_of);
    memset(our_link_of, 0, sizeof our_link_of);
    for (uint32_t i = 0; i < hosts * hosts; i++) {
        if (i / hosts != i % hosts) {
            routes[count++] =
                (struct test_zone_route){.source = i / hosts, .destination = i % hosts};
        }
    }
    /* SimGrid 4.0 stops at a <cluster> outside of a <zone>. */
    snprintf(platform, sizeof platform,
             "<?xml version='1.0'?>\n"
             "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
             "<platform version=\"4.1\"><zone id=\"world\" routing=\"Full\">"
             "<cluster id=\"c\" prefix=\"gpu-\" suffix=\"\" radical=\"0-%u\" speed=\"1Gf\" "
             "bw=\"1GBps\" lat=\"5us\" topology=\"%s\" topo_parameters=\"%s\"/>"
             "</zone></platform>\n",
             hosts - 1, kind, parameters);
    test_zone_look_up(platform, routes, count);
    for (size_t i = 0; i < count; i++) {
        struct ar_path own;
        ar_cluster_path(ours, routes[i].source, routes[i].destination, &own);
        cr_assert_eq(own.links_count, routes[i].links_count + 2 * ends, "%u to %u",
                     routes[i].source, routes[i].destination);
        for (uint32_t j = 0; j < routes[i].links_count; j++) {
            uint32_t link = own.links[j + ends], other = routes[i].links[j];
            cr_assert(link < LINKS_MAX && other < LINKS_MAX);
            cr_expect(note_same(zone_link_of, link, other) && note_same(our_link_of, other, link),
                      "%u to %u: link %u", routes[i].source, routes[i].destination, j);
        }
    }
    free(routes);
}

#define TREE(zone, ...)                                                                            \
    expect_same_routes(                                                                            \
        TEST_SETTINGS("fabric.routes=dmodk", "rack.uplink_bandwidth=1GB/s", __VA_ARGS__),          \
        "FAT_TREE", zone, 0)
#define TORUS(zone, ...)                                                                           \
    expect_same_routes(TEST_SETTINGS("fabric=torus", "torus.link_bandwidth=1GB/s", __VA_ARGS__),   \
                       "TORUS", zone, 1)

/* SimGrid routes fat trees by D-Mod-K, too; switches of a level have one cable to each above. */
Test(simgrid_zones, dmodk_takes_the_cables_of_simgrids_fat_tree)
{
    TREE("2;6,4;1,3;1,1", "nodes=24", "rack.nodes=6", "rack.uplinks=3");
    TREE("3;4,4,4;1,4,4;1,1,1", "nodes=64", "rack.nodes=4", "rack.uplinks=4", "tree.groups=4",
         "tree.uplinks=16", "tree.uplink_bandwidth=1GB/s", "tree.switches=4x16");
    TREE("3;5,4,3;1,2,3;1,1,1", "nodes=60", "rack.nodes=5", "rack.uplinks=2", "tree.groups=4",
         "tree.uplinks=6", "tree.uplink_bandwidth=1GB/s", "tree.switches=2x6");
}

/* SimGrid counts the first dimension fastest and corrects it first, as we do our last. Lengths are
 * odd, so that no two ways are equally short. Its zone has no links between node and router. */
Test(simgrid_zones, a_torus_takes_the_links_of_simgrids_torus)
{
    TORUS("9", "torus.lengths=9", "nodes=9");
    TORUS("5,7,3", "torus.lengths=3x7x5", "nodes=105");
    TORUS("3,5,3,3", "torus.lengths=3x3x5x3", "nodes=135");
}
