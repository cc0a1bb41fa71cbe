/* Engines beside each other on exchanges: peers change from step to step. */

#include "test_outcome.h"
#include "test_trials.h"

static const struct ar_call calls[TRIALS_PARTS] = TRIALS_CALLS_OF_PARTS;

Test(exchange_engines, agree_on_every_algorithm_where_no_link_is_shared)
{
    static const uint32_t ranks[] = {2, 3, 5, 8, 12};
    struct ar_cluster *flat = support_textbook();
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        size_t first = i * (AR_TEST_STRIDE - 1) % 5; /* under sanitizers one number, in turn */
        for (size_t j = first; j < sizeof ranks / sizeof ranks[0]; j += AR_TEST_STRIDE) {
            struct ar_collective collective;
            struct ar_phase phases[AR_PHASES_MAX];
            bool has_exchanges = false, goes_at_once = false; /* which share the links of a rank */
            if (!support_default(flat, ar_algorithms[i], ranks[j], 4, &collective)) {
                continue;
            }
            uint32_t phases_count =
                ar_algorithm_phases(ar_algorithms[i], &collective.shape, phases);
            AR_EACH(const struct ar_phase, phase, phases, phases_count) {
                has_exchanges |= phase->kind == AR_PHASE_EXCHANGE && phase->steps > 0;
                goes_at_once |= phase->is_at_once && phase->steps > 0;
            }
            if (!has_exchanges) {
                continue;
            }
            trials_compare(&collective, calls, TRIALS_PARTS, 0, 1e-6);
            double time_s = trials_time(&collective, &ar_engine_recurrence, calls[0].elements);
            cr_expect_geq(support_closed(&collective, calls[0].elements).time_s,
                          time_s * (1 - 1e-9), "its steps do not overlap");
            collective.window = 1;
            trials_compare(&collective, calls, TRIALS_PARTS, goes_at_once ? 0 : 0.002, 1e-6);
            collective.channels = 2;
            trials_compare(&collective, calls, TRIALS_PARTS, 0, 1e-6);
        }
    }
}

static struct ar_collective in_groups(const struct ar_cluster *cluster,
                                      const struct ar_algorithm *algorithm, const char *mesh)
{
    struct ar_collective collective = support_collective_of(cluster, algorithm, 1, 1);
    TEST_OK(ar_mesh_parse("mesh", mesh, &collective.mesh, &why));
    TEST_OK(ar_mesh_set_along("along", "dp", &collective.mesh, &why));
    collective.shape = ar_algorithm_default_shape(
        algorithm, ar_mesh_group_ranks(&collective.mesh),
        ar_mesh_node_members(&collective.mesh, ar_cluster_facts(cluster)->gpus_per_node));
    return collective;
}

Test(exchange_engines, agree_in_the_groups_of_a_mesh_and_from_every_root)
{
    static const char *const meshes[] = {"dp=6,tp=2", "pp=2,dp=4"};
    struct ar_cluster *flat = support_textbook();
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        struct ar_collective collective = in_groups(flat, ar_algorithms[i], meshes[i % 2]);
        trials_compare(&collective, calls, TRIALS_PARTS, 0, 1e-6);
        if (ar_algorithms[i]->operation->has_root) {
            collective.root = 3;
            trials_compare(&collective, calls, TRIALS_PARTS, 0, 1e-6);
        }
    }
}

/* Groups of 12 on nodes of 8: their rings go through the HCAs of all GPUs, at least 4. */
Test(exchange_engines, groups_that_lie_unevenly_on_nodes_use_the_hcas_of_all_gpus)
{
    struct ar_cluster *dgx = support_cluster("dgx-a100", NULL);
    struct ar_collective uneven = in_groups(dgx, &ar_algorithm_ring, "pp=2,dp=12");
    struct ar_collective even = in_groups(dgx, &ar_algorithm_ring, "pp=2,dp=16");
    uneven.channels = even.channels = 8;
    cr_expect_lt(trials_agree(&uneven, 1 << 26, 1e-6),
                 2.2 * trials_time(&even, &ar_engine_recurrence, 1 << 26));
}

/* Where groups share HCAs: a step of all of them is one pattern. */
Test(exchange_engines, groups_of_a_mesh_share_the_links_of_a_node)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    const struct ar_algorithm *pairwise = NULL;
    TEST_OK(ar_algorithm_find("", &ar_operation_all_to_all, "pairwise", &pairwise, &why));
    struct ar_collective groups = in_groups(abci, pairwise, "dp=4,tp=4");
    struct ar_collective one = in_groups(abci, pairwise, "dp=4,tp=1");
    cr_expect_gt(trials_agree(&groups, 1 << 22, 1e-3),
                 1.5 * trials_time(&one, &ar_engine_recurrence, 1 << 22));
}
