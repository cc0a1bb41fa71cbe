#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fabric.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_outcome.h"
#include "test_setting.h"

static bool is_expected_tier(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                             enum ar_tier tier)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    uint32_t a_node = a / facts->gpus_per_node, b_node = b / facts->gpus_per_node;
    uint32_t rack = cluster->values.count[TOPO_RACK_NODES], domain = cluster->domain_nodes;
    if (cluster->tree.rails > 1 && a_node != b_node) {
        return tier == AR_TIER_RACK || tier == AR_TIER_SPINE; /* see test_fat_tree.c */
    }
    if (a_node / domain == b_node / domain) {
        return tier == AR_TIER_NVLINK || tier == AR_TIER_PCIE;
    }
    return tier == (rack == 0 || a_node / rack == b_node / rack ? AR_TIER_RACK : AR_TIER_SPINE);
}

static void check_path(const struct ar_cluster *cluster, uint32_t a, uint32_t b)
{
    struct ar_path path;
    ar_cluster_path(cluster, a, b, &path);
    struct ar_path back;
    ar_cluster_path(cluster, b, a, &back);
    cr_assert(is_expected_tier(cluster, a, b, path.tier), "%u to %u", a, b);
    cr_assert_eq(path.tier, back.tier);
    cr_assert_eq(path.latency_s, back.latency_s);
    cr_assert_eq(path.bandwidth_Bps, back.bandwidth_Bps);
    cr_assert(path.links_count >= 1 && path.links_count <= AR_PATH_LINKS_MAX);
    double narrowest_Bps = INFINITY;
    for (uint32_t i = 0; i < path.links_count; i++) {
        cr_assert(path.links[i] < ar_cluster_links_count(cluster));
        narrowest_Bps = fmin(narrowest_Bps, ar_cluster_link_bandwidth(cluster, path.links[i]));
        for (uint32_t j = 0; j < i; j++) {
            cr_assert_neq(path.links[i], path.links[j], "%u to %u repeats a link", a, b);
        }
        for (uint32_t j = 0; j < back.links_count; j++) {
            cr_assert_neq(path.links[i], back.links[j], "%u and %u share a direction", a, b);
        }
    }
    cr_assert_eq(path.bandwidth_Bps, narrowest_Bps);
}

Test(path, every_pair_of_every_wiring_has_a_sound_path)
{
    for (size_t w = 0; w < TEST_WIRINGS_COUNT; w++) {
        struct ar_cluster *cluster = test_load_small(test_wirings[w]);
        uint32_t gpus = (uint32_t)ar_cluster_gpus_count(cluster);
        for (uint32_t a = 0; a < gpus; a++) {
            for (uint32_t b = 0; b < gpus; b++) {
                if (a != b) {
                    check_path(cluster, a, b);
                }
            }
        }
    }
}

/* The halves of a path are the path. */
static void check_halves(const struct ar_cluster *cluster, uint32_t a, uint32_t b)
{
    struct ar_path whole, up, down;
    ar_cluster_path(cluster, a, b, &whole);
    ar_cluster_path(cluster, a, AR_SWITCH | b, &up);
    ar_cluster_path(cluster, AR_SWITCH | a, b, &down);
    cr_assert_eq(up.links_count + down.links_count, whole.links_count, "%u to %u", a, b);
    cr_assert(up.links_count > 0 && down.links_count > 0);
    for (uint32_t i = 0; i < whole.links_count; i++) {
        uint32_t link = i < up.links_count ? up.links[i] : down.links[i - up.links_count];
        cr_assert_eq(link, whole.links[i], "%u to %u", a, b);
    }
    cr_assert_eq(fmin(up.bandwidth_Bps, down.bandwidth_Bps), whole.bandwidth_Bps);
    cr_assert(up.latency_s == whole.latency_s && down.latency_s == whole.latency_s);
}

Test(path, halves_meet_at_the_switch_in_the_middle)
{
    const char *const trees[][7] = {
        /* settings, ended by NULL */
        {"nvlink.pairs=switch"},
        {"nodes=13", "tree.groups=2x2", "tree.uplinks=2x1", "tree.uplink_bandwidth=3GB/s 4GB/s"},
        {"nodes=9", "fabric.routes=hash:1", "rack.uplinks=4", "tree.groups=2", "tree.uplinks=8",
         "tree.uplink_bandwidth=4GB/s"},
    };
    for (size_t w = 0; w < sizeof trees / sizeof trees[0]; w++) {
        struct ar_cluster *cluster = test_load_small(trees[w]);
        uint32_t gpus = (uint32_t)ar_cluster_gpus_count(cluster);
        uint32_t step = w == 0 ? 1 : 4; /* neighbours of a node, or the same GPU of each */
        for (uint32_t a = 0; a < gpus; a += step) {
            for (uint32_t b = 0; b < gpus; b += step) {
                if (a != b && (w > 0 || a / 4 == b / 4)) {
                    check_halves(cluster, a, b);
                }
            }
        }
    }
}

/* Racks of two nodes, pods of two racks: of the nodes in order, no link twice, and each up with the
 * same one down. */
Test(path, first_halves_around_a_ring_are_a_tree)
{
    struct ar_cluster *cluster = test_load_small(TEST_SETTINGS(
        "nodes=13", "tree.groups=2x2", "tree.uplinks=2x1", "tree.uplink_bandwidth=3GB/s 4GB/s"));
    uint32_t count = ar_cluster_links_count(cluster), gpus = 4, fabric = 0;
    uint32_t *up = calloc(2 * (size_t)count, sizeof *up), *down = up + count;
    for (uint32_t i = 0; i < 2 * 13; i++) {
        struct ar_path half;
        bool is_up = i < 13;
        uint32_t from = i % 13 * gpus, to = (i + 1) % 13 * gpus;
        ar_cluster_path(cluster, is_up ? from : AR_SWITCH | from, is_up ? AR_SWITCH | to : to,
                        &half);
        for (uint32_t k = 0; k < half.links_count; k++) {
            cr_expect_eq(++(is_up ? up : down)[half.links[k]], 1);
        }
    }
    for (uint32_t link = cluster->first_fabric_link; link < count; link += 2) {
        cr_expect_eq(up[link], down[link + 1]);
        fabric += up[link];
    }
    cr_expect_eq(fabric, 7 + 4 + 2, "racks, pods, pairs of pods");
    free(up);
}

/* --- ways ------------------------------------------------------------------------------------- */

enum { SETTINGS_MAX = 16 };

static struct ar_arena arena; /* of a test, which is a process */

/* A message on the small cluster (test_cluster_load.h) with settings and slow links, and its
 * path: latency and bandwidth unless 0, links unless "". Settings are separated by commas, links by
 * blanks. */
struct way {
    const char *settings, *slow;
    uint32_t from, to;
    double latency_s, bandwidth_Bps;
    const char *links;
};

#define TREE    "nodes=16,tree.groups=2x2,tree.uplinks=2x1,tree.uplink_bandwidth=3GB/s 4GB/s"
#define ONE_GPU "rack.nodes=0,gpus_per_node=1,nvlink.pairs=none,pcie.switches=0,hcas=1,"
#define TORUS   ONE_GPU "fabric=torus,torus.lengths=2x5,nodes=10,torus.link_bandwidth=7GB/s"
#define DRAGONFLY                                                                                  \
    ONE_GPU "fabric=dragonfly,dragonfly.groups=3,dragonfly.routers=2,dragonfly.global_links=2,"    \
            "dragonfly.local_bandwidth=6GB/s,dragonfly.global_bandwidth=4GB/s,nodes=6"

static const struct way ways[] = {
    /* A message between nodes takes the switches, HCAs and racks of its ends. */
    {"", "", 1, 4, 0, 0, "node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in node-1.pcie-0.down"},
    {"", "", 2, 21, 0, 0,
     "node-0.pcie-1.up node-0.hca-1.out rack-0.up rack-2.down node-5.hca-0.in node-5.pcie-0.down"},
    {"", "", 7, 5, 0, 0, "node-1.nvlink-3-1"},
    /* A message climbs a tree to the first group that holds both nodes. */
    {TREE, "", 2, 14, 0, 0,
     "node-0.pcie-1.up node-0.hca-1.out rack-0.up rack-1.down node-3.hca-1.in node-3.pcie-1.down"},
    {TREE, "", 2, 22, 0, 6e9,
     "node-0.pcie-1.up node-0.hca-1.out rack-0.up pod-0.up pod-1.down rack-2.down node-5.hca-1.in "
     "node-5.pcie-1.down"},
    {TREE, "", 60, 2, 0, 4e9,
     "node-15.pcie-0.up node-15.hca-0.out rack-7.up pod-3.up pod3-1.up pod3-0.down pod-0.down "
     "rack-0.down node-0.hca-1.in node-0.pcie-1.down"},
    /* A message from an HCA on the switch of its GPU stays below the uplink. */
    {"hca.attached=switch,nvlink.pairs=0-1", "", 2, 21, 0, 0,
     "node-0.hca-1.out rack-0.up rack-2.down node-5.hca-0.in"},
    /* A pair without NVLink goes over PCIe. */
    {"nvlink.pairs=0-1", "", 0, 1, 0, 0, "node-0.nvlink-0-1"},
    {"nvlink.pairs=0-1", "", 2, 3, 0, 0, "node-0.port-2.out node-0.port-3.in"},
    {"nvlink.pairs=0-1", "", 0, 2, 4e-6, 16e9,
     "node-0.port-0.out node-0.pcie-0.up node-0.pcie-1.down node-0.port-2.in"},
    /* A weighted pair has that many times the bandwidth. */
    {"nvlink.pairs=0-1 2-1:3", "", 1, 2, 0, 120e9, ""},
    /* An NVLink switch gives every GPU one port, also to other nodes of its domain. */
    {"nvlink.pairs=switch", "", 0, 3, 2e-6, 40e9, "node-0.port-0.out node-0.port-3.in"},
    {"nvlink.pairs=switch,nvlink.domain_nodes=3", "", 1, 10, 2e-6, 0,
     "node-0.port-1.out node-2.port-2.in"},
    {"nvlink.pairs=switch,nvlink.domain_nodes=3", "", 11, 12, 0, 0,
     "node-2.pcie-1.up node-2.hca-1.out node-3.hca-0.in node-3.pcie-0.down"},
    {"nvlink.pairs=switch,nvlink.domain_nodes=6,hcas=0", "", 0, 23, 0, 0,
     "node-0.port-0.out node-5.port-3.in"},
    /* A message between unlike rails goes over NVLink first, or over the spine. */
    {"tree.rails=nvlink,rack.nodes=0", "", 0, 4, 0, 0,
     "node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in node-1.pcie-0.down"},
    {"tree.rails=nvlink,rack.nodes=0", "", 1, 6, 0, 0,
     "node-0.nvlink-1-3 node-0.pcie-1.up node-0.hca-1.out node-1.hca-1.in node-1.pcie-1.down"},
    {"tree.rails=nvlink", "", 0, 10, 8e-6, 0,
     "node-0.nvlink-0-2 node-0.pcie-1.up node-0.hca-1.out rack-0.rail-1.up rack-1.rail-1.down "
     "node-2.hca-1.in node-2.pcie-1.down"},
    {"tree.rails=spine,rack.nodes=3", "", 0, 4, 0, 0,
     "node-0.pcie-0.up node-0.hca-0.out node-1.hca-0.in node-1.pcie-0.down"},
    {"tree.rails=spine,rack.nodes=3", "", 0, 6, 0, 0,
     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.up rack-0.rail-1.down node-1.hca-1.in "
     "node-1.pcie-1.down"},
    {"tree.rails=spine,rack.nodes=3", "", 0, 14, 0, 0,
     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.up rack-1.rail-1.down node-3.hca-1.in "
     "node-3.pcie-1.down"},
    {"tree.rails=spine,rack.nodes=0,fabric.routes=dmodk,rack.uplinks=3", "", 0, 6, 0, 0,
     "node-0.pcie-0.up node-0.hca-0.out rack-0.rail-0.cable-1.up rack-0.rail-1.cable-1.down "
     "node-1.hca-1.in node-1.pcie-1.down"},
    /* On a torus a message corrects its last coordinate first; a ring has another way round. */
    {TORUS, "", 1, 9, 0, 0,
     "node-1.hca-0.out router-0-0.y.down router-0-4.y.down router-0-4.x.up node-9.hca-0.in"},
    {TORUS, "", 5, 0, 0, 0, "node-5.hca-0.out router-0-0.x.down node-0.hca-0.in"},
    {TORUS ",fabric=mesh", "", 1, 4, 0, 0,
     "node-1.hca-0.out router-0-1.y.up router-0-2.y.up router-0-3.y.up node-4.hca-0.in"},
    /* In a dragonfly it goes local, global, local. */
    {DRAGONFLY, "", 0, 1, 0, 0, "node-0.hca-0.out group-0.local-0-1.up node-1.hca-0.in"},
    {DRAGONFLY, "", 0, 2, 0, 8e9, "node-0.hca-0.out global-0-1.up node-2.hca-0.in"},
    {DRAGONFLY, "", 0, 3, 0, 0,
     "node-0.hca-0.out group-0.local-0-1.up global-0-1.up node-3.hca-0.in"},
    /* A slow link: a name without direction means both; an NVLink has two names. */
    {"", "node-3.hca-0.out:4", 12, 0, 0, 2.5e9, ""},
    {"", "node-3.hca-0.out:4", 0, 12, 0, 10e9, ""},
    {"", "node-3.hca-0:4", 12, 0, 0, 2.5e9, ""},
    {"", "node-3.hca-0:4", 0, 12, 0, 2.5e9, ""},
    {"", "node-1.pcie-1:16", 6, 0, 0, 1e9, ""},
    {"", "node-5.nvlink-0-3:2", 20, 23, 0, 20e9, ""},
    {"", "node-5.nvlink-0-3:2", 23, 20, 0, 40e9, ""},
    {"", "node-0.nvlink-0-1:0.5", 0, 1, 0, 80e9, ""},
};

Test(path, every_message_takes_the_links_that_are_named)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const struct way *way = &ways[i];
        struct ar_settings settings = test_settings("--set", way->settings, ",", &arena);
        const char *texts[SETTINGS_MAX + 1] = {NULL};
        for (size_t k = 0; k < settings.count; k++) {
            texts[k] = settings.list[k].text;
        }
        struct ar_cluster *cluster = test_load_small(texts);
        struct ar_path path;
        char text[TEST_NAMES_SIZE];
        TEST_OK(ar_cluster_slow_links(cluster, test_settings("--slow-link", way->slow, " ", &arena),
                                      &why));
        ar_cluster_path(cluster, way->from, way->to, &path);
        test_link_names(cluster, way->from, way->to, text);
        cr_expect(*way->links == '\0' || strcmp(text, way->links) == 0, "row %zu: %s; expected %s",
                  i, text, way->links);
        cr_expect(way->latency_s == 0 || path.latency_s == way->latency_s, "row %zu: %g s", i,
                  path.latency_s);
        cr_expect(way->bandwidth_Bps == 0 || path.bandwidth_Bps == way->bandwidth_Bps,
                  "row %zu: %g B/s", i, path.bandwidth_Bps);
    }
}
