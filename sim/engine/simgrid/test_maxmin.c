/* Max-min sharing against SimGrid: flows whose sizes are proportional to their rates must all take
 * the same time. */
#include <math.h>
#include <stdio.h>

#include "ar_maxmin.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_outcome.h"
#include "test_platform.h"

enum { FLOWS_MAX = 300 };

static const double duration_s = 0.01;

static struct ar_arena arena; /* of a test, which is a process */

static struct ar_cluster *load(const char *name)
{
    struct ar_cluster *cluster;
    char path[512];
    snprintf(path, sizeof path, "%s/topologies/machines/%s.topo", AR_TEST_SOURCE_DIR, name);
    TEST_OK(ar_cluster_load(path, (struct ar_settings){.count = 0}, &arena, &cluster, &why));
    return cluster;
}

/* A generator of its own, so that the patterns are the same everywhere. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void check_pattern(const struct ar_cluster *cluster, uint32_t nodes, size_t count,
                          uint32_t seed)
{
    struct ar_flow flows[FLOWS_MAX];
    struct test_flow transfers[FLOWS_MAX];
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_maxmin maxmin;
    uint32_t ranks = nodes * ar_cluster_facts(cluster)->gpus_per_node;
    for (size_t i = 0; i < count; i++) {
        flows[i].source = next_random(&seed) % ranks;
        flows[i].destination = (flows[i].source + 1 + next_random(&seed) % (ranks - 1)) % ranks;
    }
    ar_maxmin_create(&scratch, cluster, ar_cluster_links_count(cluster),
                     ar_cluster_links_taken(cluster, ranks), &maxmin);
    ar_maxmin_find_paths(&maxmin, flows, count, 0);
    ar_maxmin_share(&maxmin);
    for (size_t i = 0; i < count; i++) {
        transfers[i] = (struct test_flow){.source = flows[i].source,
                                          .destination = flows[i].destination,
                                          .bytes = lround(maxmin.rates_Bps[i] * duration_s)};
    }
    test_platform_transfer(cluster, nodes, transfers, count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_float_eq(transfers[i].finish_s, duration_s, 1e-6 * duration_s,
                           "seed %u, flow %zu: %.9g s, expected %.9g s", seed, i,
                           transfers[i].finish_s, duration_s);
    }
}

Test(maxmin, random_flows_share_as_in_simgrid)
{
    static const struct {
        const char *cluster;
        uint32_t nodes, first_seed, last_seed;
        size_t flows; /* 0: a few, by the seed */
    } cases[] = {{"abci-v100", 70, 1, 20, FLOWS_MAX},
                 {"abci-v100", 2, 100, 139, 0},
                 {"flat", 24, 200, 219, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_cluster *cluster = load(cases[i].cluster);
        for (uint32_t seed = cases[i].first_seed; seed <= cases[i].last_seed;
             seed += AR_TEST_STRIDE) {
            size_t flows = cases[i].flows > 0 ? cases[i].flows : 1 + seed % 24;
            check_pattern(cluster, cases[i].nodes, flows, seed);
        }
    }
}

Test(maxmin, random_flows_between_routers_share_as_in_simgrid)
{
    for (uint32_t m = 0; m < TEST_ROUTERS_COUNT; m++) {
        struct ar_cluster *cluster = test_load_small(test_machines[m]);
        uint32_t nodes = ar_cluster_facts(cluster)->nodes_count;
        check_pattern(cluster, nodes, 40, 300 + m);
        check_pattern(cluster, nodes, FLOWS_MAX, 400 + m);
    }
}
