/* The simulation reacts to every parameter, in the right direction, and to nothing else. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_trials.h"

/* Time with one setting of abci-v100 changed; NULL changes none. */
static double time_with(const char *setting, const char *name, uint32_t x, uint32_t y,
                        uint64_t elements)
{
    struct ar_cluster *abci = support_cluster("abci-v100", setting);
    struct ar_collective collective = support_collective(abci, name, x, y);
    double time_s = trials_simulate(&collective, elements);
    return time_s;
}

enum { SMALL = 1000, LARGE = 10000000 };

Test(reaction, faster_links_make_a_large_all_reduce_faster, .disabled = AR_TEST_STRIDE > 1)
{
    double before_s = time_with(NULL, "ring", 16, 1, LARGE);
    double ring_s = time_with("hca.bandwidth=12.5GB/s", "ring", 16, 1, LARGE);
    cr_expect_lt(ring_s, 0.9 * before_s);
    double group_s = time_with(NULL, "hierarchical", 4, 4, LARGE);
    double faster_s = time_with("nvlink.bandwidth=150GB/s", "hierarchical", 4, 4, LARGE);
    cr_expect_lt(faster_s, 0.95 * group_s);
}

Test(reaction, fewer_uplinks_of_a_rack_make_a_torus_slower, .disabled = AR_TEST_STRIDE > 1)
{
    double wide_s = time_with("rack.nodes=4", "torus2d", 4, 8, LARGE);
    double narrow_s = time_with("rack.nodes=4 rack.uplinks=1", "torus2d", 4, 8, LARGE);
    cr_expect_gt(narrow_s, 1.05 * wide_s);
}

Test(reaction, more_latency_makes_a_small_all_reduce_slower_by_its_hops,
     .disabled = AR_TEST_STRIDE > 1)
{
    double before_s = time_with(NULL, "ring", 16, 1, SMALL);
    double net_s = time_with("net.latency=19.6us", "ring", 16, 1, SMALL);
    double nvlink_s = time_with("nvlink.latency=4.4us", "ring", 16, 1, SMALL);
    /* 30 hops in turn: 8 between nodes, 22 within. */
    cr_expect(support_near(net_s - before_s, 8 * 10e-6, 1e-3), "%.9g s", net_s - before_s);
    cr_expect(support_near(nvlink_s - before_s, 22 * 1e-6, 0.05), "%.9g s", nvlink_s - before_s);
}

Test(reaction, a_dearer_reduction_delays_a_part_once_for_every_rank_that_adds_to_it,
     .disabled = AR_TEST_STRIDE > 1)
{
    double before_s = time_with("gpu.reduce_cost=0s/B", "torus2d", 4, 4, 16 * SMALL);
    double dearer_s = time_with("gpu.reduce_cost=1ns/B", "torus2d", 4, 4, 16 * SMALL);
    double expected_s = 3 * 1e-9 * 16000 + 3 * 1e-9 * 4000;
    cr_expect(support_near(dearer_s - before_s, expected_s, 1e-6), "%.9g s", dearer_s - before_s);
}

Test(reaction, a_longer_setup_is_paid_once_by_every_all_reduce)
{
    double before_s = time_with(NULL, "torus2d", 4, 4, SMALL);
    double after_s = time_with("collective.setup=108.4us", "torus2d", 4, 4, SMALL);
    cr_expect(support_near(after_s - before_s, 100e-6, 1e-6), "%.9g s", after_s - before_s);
}

Test(reaction, a_wider_window_helps_where_hops_differ)
{
    struct ar_collective ring = support_on("abci-v100", "ring", 16, 1);
    double wide_s = trials_simulate(&ring, SMALL);
    ring.window = 1;
    cr_expect_gt(trials_simulate(&ring, SMALL), 1.5 * wide_s);
}

Test(reaction, a_second_channel_uses_the_second_hca)
{
    struct ar_collective ring = support_on("abci-v100", "ring", 16, 1);
    double one_s = trials_simulate(&ring, LARGE);
    ring.channels = 2;
    double two_s = trials_simulate(&ring, LARGE);
    cr_expect(two_s < 0.55 * one_s && two_s > 0.45 * one_s, "%.9g s and %.9g s", one_s, two_s);
}

Test(reaction, what_a_collective_does_not_use_does_not_change_its_time,
     .disabled = AR_TEST_STRIDE > 1)
{
    double before_s = time_with(NULL, "ring", 4, 1, LARGE);
    cr_expect_eq(time_with("hca.bandwidth=1GB/s", "ring", 4, 1, LARGE), before_s);
    cr_expect_eq(time_with("net.latency=1s", "ring", 4, 1, LARGE), before_s);
    cr_expect_eq(time_with("pcie.bandwidth=11GB/s", "ring", 4, 1, LARGE), before_s);
    cr_expect_eq(time_with("nodes=7", "ring", 4, 1, LARGE), before_s);
}

/* --- properties ------------------------------------------------------------------------------ */

static void expect_scaled(const struct ar_cluster *cluster, const struct ar_cluster *slower,
                          const char *name, uint32_t x, uint32_t y, uint64_t elements)
{
    struct ar_collective collective = support_collective(cluster, name, x, y);
    for (collective.channels = 1; collective.channels <= 2; collective.channels++) {
        collective.cluster = cluster;
        double time_s = trials_simulate(&collective, elements);
        collective.cluster = slower;
        double scaled_s = trials_simulate(&collective, elements);
        cr_expect(support_near(scaled_s, 4 * time_s, 1e-6), "%s %ux%u: %.9g s, four times %.9g s",
                  name, x, y, scaled_s, time_s);
    }
}

Test(reaction, costs_times_k_and_rates_over_k_make_the_time_k_times_as_long)
{
    static const char *const names[] = {"abci-v100", "flat"};
    for (size_t i = 0; i < 2; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(names[i], NULL);
        struct ar_cluster *slower = support_slower(cluster, 4);
        for (uint64_t elements = 1; elements < 20000000; elements = elements * 1000 + 7) {
            expect_scaled(cluster, slower, "ring", 12, 1, elements);
            expect_scaled(cluster, slower, "torus2d", 4, 4, elements);
            expect_scaled(cluster, slower, "torus2d", 6, 3, elements);
            expect_scaled(cluster, slower, "hierarchical", 8, 3, elements);
        }
    }
}

Test(reaction, a_torus_of_one_row_or_one_column_takes_as_long_as_the_ring,
     .disabled = AR_TEST_STRIDE > 1)
{
    static const uint32_t ranks[] = {2, 4, 9, 16, 22};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += AR_TEST_STRIDE) {
        for (uint64_t elements = 5; elements < 5000000; elements = elements * 900 + 1) {
            struct ar_collective ring = support_collective(abci, "ring", ranks[i], 1);
            struct ar_collective row = support_collective(abci, "torus2d", ranks[i], 1);
            struct ar_collective column = support_collective(abci, "torus2d", 1, ranks[i]);
            double ring_s = trials_simulate(&ring, elements);
            cr_expect(support_near(trials_simulate(&row, elements), ring_s, 1e-12));
            cr_expect(support_near(trials_simulate(&column, elements), ring_s, 1e-12));
        }
    }
}

static void expect_identical(const struct ar_engine *engine, const struct ar_collective *collective)
{
    static struct test_trial first;
    static struct test_trial second;
    static const struct ar_call calls[] = {{.ready_s = 0, .elements = 123457},
                                           {.ready_s = 1e-5, .elements = 7},
                                           {.ready_s = 2e-3, .elements = 4000000}};
    trials_run(collective, engine, calls, 3, &first);
    trials_run(collective, engine, calls, 3, &second);
    cr_expect_eq(memcmp(first.times, second.times, sizeof first.times), 0);
    cr_expect_eq(memcmp(first.rank_finish_s, second.rank_finish_s, sizeof first.rank_finish_s), 0);
    cr_expect_eq(first.trial.messages_count, second.trial.messages_count);
    cr_expect_str_eq(first.trial.options, second.trial.options);
}

Test(reaction, the_same_trial_twice_is_identical_to_the_last_bit)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (const struct ar_engine *engine = trials_next(NULL); engine != NULL;
         engine = trials_next(engine)) {
        struct ar_collective torus = support_collective(abci, "torus2d", 6, 6);
        torus.channels = 2;
        expect_identical(engine, &torus);
        struct ar_collective ring = support_collective(abci, "ring", 38, 1);
        expect_identical(engine, &ring);
    }
}
