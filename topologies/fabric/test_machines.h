/** \file test_machines.h
 * One small machine of each kind.
 */
#pragma once

#define TEST_NO_RACKS       "rack.nodes=0"
#define TEST_ONE_GPU        "gpus_per_node=1", "nvlink.pairs=none", "pcie.switches=0", "hcas=1"
#define TEST_TORUS(lengths) TEST_NO_RACKS, "fabric=torus", "torus.lengths=" lengths
#define TEST_DRAGONFLY(kind, groups, routers, cables)                                              \
    TEST_NO_RACKS, "fabric=" kind, "dragonfly.groups=" groups, "dragonfly.routers=" routers,       \
        "dragonfly.global_links=" cables, "dragonfly.local_bandwidth=6GB/s",                       \
        "dragonfly.global_bandwidth=4GB/s"

/* Racks of 2, pods of 2 racks, pairs of pods. */
#define TEST_TREE                                                                                  \
    "nodes=13", "rack.uplinks=4", "tree.groups=2x2", "tree.uplinks=4x2",                           \
        "tree.uplink_bandwidth=3GB/s 4GB/s"

/** Routers with cables between them, and fat trees. Each changes the small cluster of
 * test_cluster_load.h; all latencies between nodes of one are the same. */
static const char *const test_machines[][16] = {
    {TEST_TORUS("8"), "torus.link_bandwidth=7GB/s", "nodes=8"},
    {TEST_TORUS("2x3"), "torus.link_bandwidth=7GB/s", "fabric.routes=dmodk"},
    {TEST_TORUS("4x3x4"), "torus.link_bandwidth=7GB/s", "nodes=48", TEST_ONE_GPU},
    {TEST_TORUS("4x4"), "torus.link_bandwidth=7GB/s", "nodes=16", "fabric.routes=hash:5"},
    {TEST_TORUS("3x2x2x1x3x2"), "torus.link_bandwidth=7GB/s", "nodes=72", "torus.wraps=1x0x1x0x1x1",
     TEST_ONE_GPU},
    {TEST_NO_RACKS, "fabric=mesh", "torus.lengths=5x3", "torus.link_bandwidth=30GB/s", "nodes=15"},
    {TEST_NO_RACKS, "fabric=mesh", "torus.lengths=3x2", "torus.link_bandwidth=30GB/s", "nodes=12",
     "router.nodes=2"},
    {TEST_DRAGONFLY("dragonfly", "5", "2", "1"), "nodes=10"},
    {TEST_DRAGONFLY("dragonfly", "4", "3", "2"), "nodes=24", "router.nodes=2",
     "dragonfly.arrangement=consecutive"},
    {TEST_DRAGONFLY("dragonfly", "4", "3", "2"), "nodes=24", "router.nodes=2",
     "fabric.routes=hash:7"},
    {TEST_DRAGONFLY("dragonfly+", "3", "2", "2"), "nodes=12", "router.nodes=2",
     "dragonfly.spines=2"},
    {TEST_DRAGONFLY("dragonfly+", "3", "2", "2"), "nodes=12", "router.nodes=2",
     "dragonfly.spines=2", "fabric.routes=dmodk"},
    {TEST_DRAGONFLY("dragonfly+", "1", "4", "1"), "nodes=8", "router.nodes=2", "dragonfly.spines=3",
     "fabric.routes=hash:1"},
    {TEST_TREE},
    {TEST_TREE, TEST_ONE_GPU},
    {TEST_TREE, "fabric.routes=dmodk"},
    {TEST_TREE, "fabric.routes=hash:1", "tree.switches=2x2x1", TEST_ONE_GPU},
    {TEST_TREE, "fabric.routes=hash:2", "tree.switches=4x2x2", "hcas=4"},
    {"tree.rails=nvlink", "net.latency=1us"},
    {"tree.rails=nvlink", "rack.nodes=0", "nvlink.pairs=switch", "hcas=4"},
    {TEST_TREE, "tree.rails=nvlink", "fabric.routes=dmodk"},
    {"tree.rails=spine", "nvlink.pairs=0-1"},
    {TEST_TREE, "tree.rails=spine", "fabric.routes=hash:3"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=4"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=2", "fabric.routes=hash:4", "rack.uplinks=3"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=6", "hcas=0"},
};

/** The fat trees come last. */
enum {
    TEST_MACHINES_COUNT = sizeof test_machines / sizeof test_machines[0],
    TEST_ROUTERS_COUNT = 13
};

/** Nodes wired in all ways, as settings of the small cluster: properties of paths hold for each. */
static const char *const test_wirings[][8] = {
    {NULL},
    {"nvlink.pairs=none"},
    {"nvlink.pairs=switch"},
    {"nvlink.pairs=0-1 2-3:2"},
    {"pcie.switches=0", "rack.nodes=0"},
    {"pcie.switches=4", "hcas=1", "nvlink.pairs=none"},
    {"pcie.switches=1", "hcas=4", "rack.nodes=4"},
    {"hca.attached=switch"},
    {"hca.attached=switch", "hcas=4", "nvlink.pairs=0-1 2-3", "rack.nodes=0"},
    {"gpus_per_node=8", "hcas=4", "pcie.switches=4", "nvlink.pairs=0-1 0-2:2 1-3:2 4-5 3-7"},
    {"gpus_per_node=1", "pcie.switches=0", "hcas=1"},
    {"gpus_per_node=1", "pcie.switches=1", "hcas=1", "rack.nodes=5"},
    {"nodes=1", "hcas=0"},
    {"nodes=2", "rack.uplinks=0"},
    {"nodes=1", "hcas=0", "gpus_per_node=1", "pcie.switches=0"},
    {"pcie.switches=0", "net.latency=0us"},
    {"tree.groups=2", "tree.uplinks=1", "tree.uplink_bandwidth=4GB/s"},
    {"fabric.routes=dmodk", "rack.uplinks=4"},
    {"nodes=9", "fabric.routes=hash:1", "rack.uplinks=4", "tree.groups=2", "tree.uplinks=8",
     "tree.uplink_bandwidth=4GB/s"},
    {"tree.rails=spine"},
    {"tree.rails=nvlink", "fabric.routes=hash:2", "hcas=4"},
    {"tree.rails=spine", "rack.nodes=0", "fabric.routes=dmodk"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=4"},
    {"nvlink.pairs=switch", "nvlink.domain_nodes=3", "gpus_per_node=1", "pcie.switches=0",
     "hcas=1"},
    {"nodes=13", "tree.groups=2x2", "tree.uplinks=2x1", "tree.uplink_bandwidth=3GB/s 4GB/s"},
};

enum { TEST_WIRINGS_COUNT = sizeof test_wirings / sizeof test_wirings[0] };
