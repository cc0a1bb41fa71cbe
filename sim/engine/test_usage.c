/* The use of links and GPUs in a simulation: all bytes are there, where they were. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "test_outcome.h"
#include "test_trials.h"

static struct test_trial test;
static struct ar_arena arena;

static struct ar_usage *usage_for(const struct ar_cluster *cluster, uint32_t ranks)
{
    struct ar_usage *usage = NULL;
    TEST_OK(ar_usage_create(cluster, ranks, &arena, &usage, &why));
    return usage;
}

static void expect_sent_bytes(const struct ar_collective *collective, const char *what)
{
    static const struct ar_call calls[] = {{.ready_s = 1e-3, .elements = 1000003},
                                           {.ready_s = 2e-3, .elements = 70001}};
    const uint64_t elements[] = {calls[0].elements, calls[1].elements};
    uint32_t ranks = ar_collective_ranks(collective);
    struct ar_link_load *loads = support_loads(collective, elements, 2);
    trials_prepare(collective, calls, 2, &test);
    trials_scatter(1e-3, &test);
    test.trial.usage = usage_for(collective->cluster, ranks);
    TEST_OK(ar_trial_run(&test.trial, &ar_engine_simgrid, &why));
    for (uint32_t link = 0; link < ar_cluster_links_count(collective->cluster); link++) {
        SUPPORT_NEAR(ar_usage_total(test.trial.usage, link), (double)loads[link].bytes, 1e-5,
                     "%s, link %u", what, link);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double busy_s = ar_usage_total(test.trial.usage, test.trial.usage->links_count + rank);
        SUPPORT_NEAR(busy_s, 2e-3 * test.rank_factor[rank], 1e-5, "%s, GPU %u", what, rank);
    }
    free(loads);
}

Test(usage, has_the_bytes_that_cross_each_link_and_the_time_that_each_gpu_computes)
{
    static const struct {
        const char *algorithm;
        uint32_t x, y;
    } rows[] = {{"ring", 8, 1},
                {"torus2d", 4, 2},
                {"tree", 8, 1},
                {"hierarchical", 4, 2},
                {"recursive-doubling", 8, 1}};
    struct ar_cluster *abci = support_cluster("abci-v100", "nodes=4");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_collective collective =
            support_collective(abci, rows[i].algorithm, rows[i].x, rows[i].y);
        expect_sent_bytes(&collective, rows[i].algorithm);
    }
    struct ar_collective sums = support_on("dgx-h100", "in-network", 8, 1);
    expect_sent_bytes(&sums, "in-network");
}

Test(usage, keeps_amounts_in_their_time_when_its_intervals_become_longer)
{
    struct ar_usage *usage = usage_for(support_cluster("flat", "nodes=2"), 2);
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
