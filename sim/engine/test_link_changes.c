/* Slow and down links change an all-reduce by what a hand calculation says. */
#include <criterion/criterion.h>

#include "test_trials.h"

enum { LARGE = 16000000 };

static struct ar_cluster *cluster_with_links(const char *name, const char *const *settings,
                                             const char *slow, const char *down)
{
    struct ar_cluster *cluster = support_cluster(name, settings);
    struct ar_error err;
    const struct ar_setting slow_setting = {slow, "--slow-link", AR_USAGE};
    const struct ar_setting down_setting = {down, "--down-link", AR_USAGE};
    const struct ar_link_settings links = {.slow = {&slow_setting, slow != NULL},
                                           .down = {&down_setting, down != NULL}};
    cr_assert_eq(ar_cluster_change_links(cluster, &links, &err), AR_OK, "%s", err.text);
    return cluster;
}

/* The link that is four times slower never rests: 2(N-1) messages of n/N bytes, then one latency.
 * The other way of its cable is not used by a ring of one channel, and nobody else is in its way.
 */
Test(link_changes, a_ring_takes_the_time_of_its_slow_link)
{
    const char *settings[] = {"hca.bandwidth=10GB/s", "net.latency=10us", NULL};
    struct ar_cluster *cluster = cluster_with_links("flat", settings, "node-3.hca-0.out:4", NULL);
    struct ar_collective ring = support_collective(cluster, "ring", 8, 1);
    double expected_s = 14 * (LARGE / 8 * 4.0) / (10e9 / 4) + 10e-6;
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i])) {
            continue;
        }
        double time_s = trials_time(&ring, ar_engines[i], LARGE);
        cr_expect(support_near(time_s, expected_s, 1e-6), "%s: %.9g s, expected %.9g s",
                  ar_engines[i]->name, time_s, expected_s);
    }
}

/* Every link of one node is slow in turn, on rings whose links are not shared. */
Test(link_changes, recurrence_and_simulation_agree_on_rings_with_a_slow_link)
{
    static const char *const slow[] = {"node-1.hca-0:4", "node-2.hca-1.in:3", "rack-0.up:40",
                                       "node-0.nvlink-1-2:20", "node-1.pcie-1:9"};
    const char *settings[] = {"rack.nodes=2", NULL};
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        struct ar_cluster *cluster = cluster_with_links("abci-v100", settings, slow[i], NULL);
        struct ar_collective ring = support_collective(cluster, "ring", 16, 1);
        for (uint64_t elements = 1000; elements <= LARGE; elements *= 100) {
            double simulated_s = trials_simulate(&ring, elements);
            double time_s = trials_time(&ring, &ar_engine_recurrence, elements);
            cr_expect(support_near(time_s, simulated_s, 1e-6), "%s: %.9g s and %.9g s", slow[i],
                      time_s, simulated_s);
        }
    }
}

Test(link_changes, both_channels_of_a_node_with_one_hca_left_get_half_of_it)
{
    struct ar_cluster *whole = cluster_with_links("abci-v100", NULL, NULL, NULL);
    struct ar_cluster *down = cluster_with_links("abci-v100", NULL, NULL, "node-1.hca-0");
    struct ar_collective ring = support_collective(whole, "ring", 16, 1);
    ring.channels = 2;
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i])) {
            continue;
        }
        ring.cluster = whole;
        double whole_s = trials_time(&ring, ar_engines[i], LARGE);
        ring.cluster = down;
        double down_s = trials_time(&ring, ar_engines[i], LARGE);
        /* The simulation also has flows wait for each other on the link they share. */
        cr_expect(down_s > 1.99 * whole_s && down_s < 2.12 * whole_s, "%s: %.9g s and %.9g s",
                  ar_engines[i]->name, whole_s, down_s);
    }
}

/* The pair pays the latency of PCIe instead of NVLink: a part of the buffer makes 6 hops around 4
 * GPUs, and the one that waits longest passes the pair twice. */
Test(link_changes, a_ring_over_a_down_nvlink_pays_the_latency_of_pcie)
{
    const char *settings[] = {"pcie.latency=103.4us", NULL};
    struct ar_cluster *whole = cluster_with_links("abci-v100", settings, NULL, NULL);
    struct ar_cluster *down = cluster_with_links("abci-v100", settings, NULL, "node-0.nvlink-0-1");
    struct ar_collective ring = support_collective(whole, "ring", 4, 1);
    double whole_s = trials_simulate(&ring, 4);
    ring.cluster = down;
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i])) {
            continue;
        }
        double down_s = trials_time(&ring, ar_engines[i], 4);
        cr_expect(support_near(down_s - whole_s, 2 * 100e-6, 1e-4), "%s: %.9g s and %.9g s",
                  ar_engines[i]->name, whole_s, down_s);
    }
}

Test(link_changes, the_closed_form_names_the_slow_link)
{
    struct ar_cluster *cluster = cluster_with_links("abci-v100", NULL, "node-2.hca-1.out:4", NULL);
    struct ar_collective ring = support_collective(cluster, "ring", 16, 1);
    ring.channels = 2;
    struct ar_closed_time time = support_closed(&ring, LARGE);
    char name[64];
    ar_cluster_link_name(cluster, time.phases[0].slowest_link, name, sizeof name);
    cr_expect_str_eq(name, "node-2.hca-1.out");
    cr_expect(support_near(time.phases[0].slowest_Bps, 10.227e9 / 4, 1e-12));
}

Test(link_changes, a_cluster_cut_in_two_is_refused_before_it_runs)
{
    struct ar_cluster *cluster = cluster_with_links("flat", NULL, NULL, "node-5.hca-0.in");
    static struct test_trial test;
    const struct ar_call job = {.ready_s = 0, .elements = 1000};
    for (uint32_t ranks = 5; ranks <= 6; ranks++) {
        struct ar_collective ring = support_collective(cluster, "ring", ranks, 1);
        for (size_t i = 0; i < ar_engines_count; i++) {
            if (ar_engine_times_calls(ar_engines[i])) {
                continue;
            }
            struct ar_error err = {.text = ""};
            trials_prepare(&ring, &job, 1, &test);
            enum ar_status status = ar_trial_run(&test.trial, ar_engines[i], &err);
            cr_expect_eq(status, ranks == 5 ? AR_OK : AR_USAGE, "%s", err.text);
        }
    }
}
