/* The use of links and GPUs in a simulation: all bytes are there, where they were. */
#include <stdlib.h>

#include "test_outcome.h"
#include "test_trials.h"

static struct test_trial test;
static struct ar_arena arena;

Test(usage, has_the_bytes_that_cross_each_link_and_the_time_that_each_gpu_computes)
{
    static const struct {
        const char *cluster, *algorithm;
        uint32_t x, y;
    } rows[] = {{"abci-v100", "ring", 8, 1},
                {"abci-v100", "torus2d", 4, 2},
                {"abci-v100", "tree", 8, 1},
                {"abci-v100", "hierarchical", 4, 2},
                {"abci-v100", "recursive-doubling", 8, 1},
                {"dgx-h100", "in-network", 8, 1}};
    static const struct ar_call calls[] = {{.ready_s = 1e-3, .elements = 1000003},
                                           {.ready_s = 2e-3, .elements = 70001}};
    const uint64_t elements[] = {calls[0].elements, calls[1].elements};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_cluster *cluster = support_cluster(rows[i].cluster, "nodes=2");
        struct ar_collective collective =
            support_collective(cluster, rows[i].algorithm, rows[i].x, rows[i].y);
        struct ar_link_load *loads = support_loads(&collective, elements, 2);
        trials_prepare(&collective, calls, 2, &test);
        trials_scatter(1e-3, &test);
        struct ar_usage *usage = test.trial.usage = ar_usage_create(cluster, 8, &arena);
        TEST_OK(ar_trial_run(&test.trial, &ar_engine_simgrid, &why));
        for (uint32_t link = 0; link < ar_cluster_links_count(cluster); link++) {
            SUPPORT_NEAR(ar_usage_total(usage, link), (double)loads[link].bytes, 1e-5,
                         "%s, link %u", rows[i].algorithm, link);
        }
        for (uint32_t rank = 0; rank < 8; rank++) {
            SUPPORT_NEAR(ar_usage_total(usage, usage->links_count + rank),
                         2e-3 * test.rank_factor[rank], 1e-5, "%s, GPU %u", rows[i].algorithm,
                         rank);
        }
        free(loads);
    }
}

Test(usage, keeps_amounts_in_their_time_when_its_intervals_become_longer)
{
    struct ar_usage *usage = ar_usage_create(support_cluster("flat", "nodes=2"), 2, &arena);
    ar_usage_add(usage, 0, 0, 1e-7, 8);
    ar_usage_add(usage, 1, 2, 4, 10);
    ar_usage_add(usage, 0, 3, 3, 5);
    cr_expect_geq(usage->bin_s * AR_USAGE_BINS, 4);
    cr_expect_leq(usage->bin_s * AR_USAGE_BINS, 8);
    cr_expect_float_eq(usage->amounts[0][0], 8, 1e-6);
    cr_expect_float_eq(usage->amounts[0][(size_t)(3 / usage->bin_s)], 5, 1e-6);
    cr_expect_float_eq(usage->amounts[1][(size_t)(3 / usage->bin_s)], 5 * usage->bin_s, 1e-6);
    cr_expect_eq(usage->amounts[1][(size_t)(1.9 / usage->bin_s)], 0);
    SUPPORT_NEAR(ar_usage_total(usage, 1), 10, 1e-6);
    ar_usage_clear(usage);
    cr_expect_eq(ar_usage_total(usage, 0) + ar_usage_total(usage, 1), 0);
}
