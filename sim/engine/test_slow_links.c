/* Slow links change an all-reduce by what a hand calculation says. */

#include "test_outcome.h"
#include "test_trials.h"

enum { LARGE = 16000000 };

static struct ar_cluster *cluster_with_links(const char *name, const char *settings,
                                             const char *slow)
{
    struct ar_cluster *cluster = support_cluster(name, settings);
    const struct ar_setting setting = {slow, "--slow-link", AR_USAGE};
    TEST_OK(ar_cluster_slow_links(cluster, (struct ar_settings){&setting, 1}, &why));
    return cluster;
}

/* The link that is four times slower never rests: 2(N-1) messages of n/N bytes, then one latency.
 * The other way of its cable is not used by a ring of one channel, and nobody is in its way. */
Test(slow_links, a_ring_takes_the_time_of_its_slow_link)
{
    struct ar_cluster *cluster =
        cluster_with_links("flat", "hca.bandwidth=10GB/s net.latency=10us", "node-3.hca-0.out:4");
    struct ar_collective ring = support_collective(cluster, "ring", 8, 1);
    double expected_s = 14 * (LARGE / 8 * 4.0) / (10e9 / 4) + 10e-6;
    TRIALS_EACH(engine)
    {
        SUPPORT_NEAR(trials_time(&ring, engine, LARGE), expected_s, 1e-6, "%s", engine->name);
    }
}

/* Every link of one node is slow in turn, on rings whose links are not shared. */
Test(slow_links, recurrence_and_simulation_agree_on_rings_with_a_slow_link)
{
    static const char *const slow[] = {"node-1.hca-0:4", "node-2.hca-1.in:3", "rack-0.up:40",
                                       "node-0.nvlink-1-2:20", "node-1.pcie-1:9"};
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        struct ar_cluster *cluster = cluster_with_links("abci-v100", "rack.nodes=2", slow[i]);
        struct ar_collective ring = support_collective(cluster, "ring", 16, 1);
        for (uint64_t elements = 1000; elements <= LARGE; elements *= 100) {
            trials_agree(&ring, elements, 1e-6);
        }
    }
}

Test(slow_links, the_closed_form_names_the_slow_link)
{
    struct ar_cluster *cluster = cluster_with_links("abci-v100", NULL, "node-2.hca-1.out:4");
    struct ar_collective ring = support_collective(cluster, "ring", 16, 1);
    ring.channels = 2;
    struct ar_closed_time time = support_closed(&ring, LARGE);
    char name[64];
    ar_cluster_link_name(cluster, time.phases[0].slowest_link, name, sizeof name);
    cr_expect_str_eq(name, "node-2.hca-1.out");
    SUPPORT_NEAR(time.phases[0].slowest_Bps, 10.227e9 / 4, 1e-12);
}
