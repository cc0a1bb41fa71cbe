/* Engines beside each other, and beside a calculation, on machines of eight and sixteen GPUs. */

#include "test_trials.h"

static const uint64_t elements = 25557032; /* of 2 bytes */

static struct ar_collective case_make(const struct ar_cluster *cluster, const char *algorithm,
                                      uint32_t x, uint32_t y)
{
    struct ar_collective collective = support_collective(cluster, algorithm, x, y);
    collective.channels =
        ar_cluster_facts(cluster)->hcas_per_node * ar_algorithm_channels(collective.algorithm);
    collective.element_bytes = 2;
    return collective;
}

/* One channel for each HCA, so that a buffer of n bytes leaves a node by all of them: the slowest
 * link needs 2 n (N - 1) / N / (hcas * rate), which is most of the time. */
Test(machines, rings_of_two_nodes_run_at_the_rate_of_all_hcas)
{
    static const char *const names[] = {"dgx1-v100", "dgx2-v100", "v100-8gpu-1edr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(names[i], NULL);
        const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
        uint32_t ranks = 2 * facts->gpus_per_node;
        struct ar_collective ring = case_make(cluster, "ring", ranks, 1);
        double simulated_s = trials_agree(&ring, elements, 1e-6);
        double min_s =
            2.0 * (double)elements * 2 * (ranks - 1) / ranks / (facts->hcas_per_node * 10.227e9);
        cr_expect(simulated_s > min_s && simulated_s < 1.05 * min_s,
                  "%s: simulated %.9g s, at least %.9g s", names[i], simulated_s, min_s);
    }
}

/* Six rings of one brick each. */
Test(machines, a_ring_of_a_dgx1_runs_at_the_rate_of_six_bricks)
{
    struct ar_collective ring = case_make(support_cluster("dgx1-v100", NULL), "ring", 8, 1);
    ring.channels = 6;
    double bricks_s = 2.0 * (double)elements * 2 * 7 / 8 / (6 * 24.24e9);
    double reduction_s = (double)elements * 2 * 7 / 8 / 6 * 3.846e-12;
    double expected_s = 8.4e-6 + 14 * 3.4e-6 + bricks_s + reduction_s;
    SUPPORT_NEAR(trials_simulate(&ring, elements), expected_s, 1e-3);
}

/* Rings are equal, as above. In grids and groups ranks drift apart at the border of the nodes, and
 * phases of different ranks then share links: up to 6.6 % in grids. In groups of 16, the hops of a
 * chain are taken to be under way in the pauses that a slow one leaves them: up to 20 %. */
Test(machines, recurrence_is_near_the_simulation_on_two_nodes)
{
    static const char *const names[] = {"dgx1-v100", "dgx2-v100"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(names[i], NULL);
        uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node;
        struct ar_collective torus = case_make(cluster, "torus2d", gpus, 2);
        struct ar_collective groups = case_make(cluster, "hierarchical", gpus, 2);
        trials_agree(&torus, elements, 0.07);
        trials_agree(&groups, elements, 0.20);
    }
}
