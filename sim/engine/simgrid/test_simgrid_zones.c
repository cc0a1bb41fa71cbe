/* Fabrics beside SimGrid's own zones of their kind, an oracle that shares nothing with them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "test_platform_text.h"
#include "test_trials.h"

/* A link of one cluster for each of the other, as far as routes have shown it. */
struct match {
    uint32_t *of; /* by link; UINT32_MAX: none so far */
    uint32_t count;
};

static struct match match_begin(const struct ar_cluster *cluster)
{
    struct match match = {.count = ar_cluster_links_count(cluster)};
    match.of = malloc(match.count * sizeof *match.of);
    for (uint32_t i = 0; i < match.count; i++) {
        match.of[i] = UINT32_MAX;
    }
    return match;
}

/* Notes that two links are one; false if one of them is another one's. */
static bool match_add(struct match *match, uint32_t link, uint32_t other)
{
    bool is_same = match->of[link] == UINT32_MAX || match->of[link] == other;
    match->of[link] = other;
    return is_same;
}

/* Expects that all routes, ours without so many links at each end, have as many links, and that two
 * meet on a link in one cluster where they do in the other. */
static void expect_same_routes(const struct ar_cluster *ours, const struct ar_cluster *zone,
                               uint32_t ends)
{
    uint32_t ranks = (uint32_t)ar_cluster_gpus_count(ours);
    size_t pairs_count = 0;
    struct ar_flow *pairs = malloc((size_t)ranks * ranks * sizeof *pairs);
    struct match there = match_begin(ours), back = match_begin(zone);
    struct ar_error err;
    for (uint32_t i = 0; i < ranks * ranks; i++) {
        if (i / ranks != i % ranks) {
            pairs[pairs_count++] = (struct ar_flow){i / ranks, i % ranks};
        }
    }
    cr_assert_eq(ar_cluster_gpus_count(zone), ranks);
    cr_assert_eq(ar_cluster_prepare_paths(zone, pairs, pairs_count, &err), AR_OK, "%s", err.text);
    for (size_t i = 0; i < pairs_count; i++) {
        struct ar_path a, b;
        ar_cluster_path(ours, pairs[i].source, pairs[i].destination, &a);
        ar_cluster_path(zone, pairs[i].source, pairs[i].destination, &b);
        cr_assert_eq(a.links_count, b.links_count + 2 * ends, "%u to %u", pairs[i].source,
                     pairs[i].destination);
        for (uint32_t j = 0; j < b.links_count; j++) {
            uint32_t link = ar_path_link(&a, j + ends), other = ar_path_link(&b, j);
            cr_expect(match_add(&there, link, other) && match_add(&back, other, link),
                      "%u to %u: link %u", pairs[i].source, pairs[i].destination, j);
        }
    }
    free(there.of);
    free(back.of);
    free(pairs);
}

/* SimGrid routes fat trees by D-Mod-K, too; switches of a level have one cable to each above. */
Test(simgrid_zones, dmodk_takes_the_cables_of_simgrids_fat_tree)
{
    static const struct {
        const char *settings[10], *hosts, *zone;
    } trees[] = {
        {{"nodes=24", "rack.nodes=6", "rack.uplinks=3"}, "23", "2;6,4;1,3;1,1"},
        {{"nodes=64", "rack.nodes=4", "rack.uplinks=4", "tree.groups=4", "tree.uplinks=16",
          "tree.uplink_bandwidth=1GB/s", "tree.switches=4x16"},
         "63",
         "3;4,4,4;1,4,4;1,1,1"},
        {{"nodes=60", "rack.nodes=5", "rack.uplinks=2", "tree.groups=4", "tree.uplinks=6",
          "tree.uplink_bandwidth=1GB/s", "tree.switches=2x6"},
         "59",
         "3;5,4,3;1,2,3;1,1,1"},
    };
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        const char *settings[12] = {"fabric.routes=dmodk", "rack.uplink_bandwidth=1GB/s"};
        char text[1000], path[PATH_SIZE];
        for (size_t j = 0; j < 10; j++) {
            settings[2 + j] = trees[i].settings[j];
        }
        snprintf(text, sizeof text,
                 HEAD ZONE "<cluster id=\"c\" prefix=\"gpu-\" suffix=\"\" radical=\"0-%s\" "
                           "speed=\"1Gf\" bw=\"10GBps\" lat=\"5us\" topology=\"FAT_TREE\" "
                           "topo_parameters=\"%s\"/></zone>\n" FOOT,
                 trees[i].hosts, trees[i].zone);
        struct ar_cluster *zone = platform_text_load(text, NULL, path);
        expect_same_routes(support_cluster("flat", settings), zone, 0);
        platform_text_unload(path);
    }
}

/* SimGrid counts the first dimension fastest and corrects it first, as we do our last. Lengths are
 * odd, so that no two ways are equally short. Its zone has no links between node and router. */
Test(simgrid_zones, a_torus_takes_the_links_of_simgrids_torus)
{
    static const struct {
        const char *lengths, *nodes, *hosts, *zone;
    } tori[] = {
        {"torus.lengths=9", "nodes=9", "8", "9"},
        {"torus.lengths=3x7x5", "nodes=105", "104", "5,7,3"},
        {"torus.lengths=3x3x5x3", "nodes=135", "134", "3,5,3,3"},
    };
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++) {
        const char *settings[] = {"fabric=torus", "torus.link_bandwidth=1GB/s", tori[i].lengths,
                                  tori[i].nodes, NULL};
        char text[1000], path[PATH_SIZE];
        snprintf(text, sizeof text,
                 HEAD ZONE "<cluster id=\"c\" prefix=\"gpu-\" suffix=\"\" radical=\"0-%s\" "
                           "speed=\"1Gf\" bw=\"1GBps\" lat=\"5us\" topology=\"TORUS\" "
                           "topo_parameters=\"%s\"/></zone>\n" FOOT,
                 tori[i].hosts, tori[i].zone);
        struct ar_cluster *zone = platform_text_load(text, NULL, path);
        expect_same_routes(support_cluster("flat", settings), zone, 1);
        platform_text_unload(path);
    }
}
