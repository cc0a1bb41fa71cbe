/* The short cuts of fast_*.c beside the same flows without them: all algorithms, on machines where
 * each short cut is taken. Sums in another order may differ in the last digits, by 1e-12. */

#include "ar_trial.h"
#include "test_outcome.h"
#include "test_support.h"

enum { RANKS_MAX = 512, STARTS = 2 };

/* One collective by the recurrence, on flows that are known; returns when the last rank ends. */
static double run_on(const struct ar_flows *flows, uint64_t elements, const double *rank_start_s,
                     double rank_finish_s[RANKS_MAX])
{
    const struct ar_call call = {.elements = elements};
    struct ar_call_time time;
    struct ar_trial trial = {.collective = flows->collective,
                             .calls = &call,
                             .calls_count = 1,
                             .flows = flows,
                             .rank_start_s = rank_start_s,
                             .rank_factor = rank_start_s, /* any: the call is ready at 0 */
                             .times = &time,
                             .rank_finish_s = rank_finish_s};
    TEST_OK(ar_trial_run(&trial, &ar_engine_recurrence, &why));
    return time.finish_s;
}

static void expect_same(const struct ar_flows *fast, const struct ar_flows *plain,
                        uint64_t elements, const char *name)
{
    static const double starts_s[RANKS_MAX] = {[3] = 1e-4, [7] = 3e-5};
    struct ar_closed_time closed[2];
    ar_closed_evaluate(fast, elements, &closed[0]);
    ar_closed_evaluate(plain, elements, &closed[1]);
    SUPPORT_NEAR(closed[0].time_s, closed[1].time_s, 1e-12, "%s", name);
    cr_expect_str_eq(closed[0].why, closed[1].why, "%s", name);
    for (uint32_t i = 0; i < fast->phases_count; i++) {
        const struct ar_exchange *own = fast->patterns[i].exchange;
        const struct ar_exchange *all = plain->patterns[i].exchange;
        cr_expect(own == NULL || own->is_private == all->is_private, "%s", name);
    }
    for (int i = 0; i < STARTS; i++) {
        double finish_s[2][RANKS_MAX], again_s[RANKS_MAX];
        const double *rank_start_s = i == 0 ? NULL : starts_s;
        double fast_s = run_on(fast, elements, rank_start_s, finish_s[0]);
        double plain_s = run_on(plain, elements, rank_start_s, finish_s[1]);
        SUPPORT_NEAR(fast_s, plain_s, 1e-12, "%s", name);
        /* Again, with the times of messages of fast_pairs.c: the same digits. */
        cr_expect_eq(run_on(fast, elements, rank_start_s, again_s), fast_s, "%s", name);
        size_t size = ar_collective_ranks(&fast->collective) * sizeof again_s[0];
        cr_expect_eq(memcmp(again_s, finish_s[0], size), 0, "%s", name);
        for (uint32_t rank = 0; rank < ar_collective_ranks(&fast->collective); rank++) {
            SUPPORT_NEAR(finish_s[0][rank], finish_s[1][rank], 1e-12, "%s: rank %u", name, rank);
        }
    }
    double plain_s = run_on(plain, elements, NULL, NULL);
    SUPPORT_NEAR(run_on(fast, elements, NULL, NULL), plain_s, 1e-12, "%s", name);
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t links = ar_cluster_links_count(fast->collective.cluster);
    struct ar_link_load *loads = ar_arena_alloc(&arena, 2 * (size_t)links, sizeof *loads);
    ar_link_load_add_flows(fast, elements, loads);
    ar_link_load_add_flows(plain, elements, loads + links);
    cr_expect_eq(memcmp(loads, loads + links, links * sizeof *loads), 0, "%s", name);
}

/* Returns how many algorithms run on so many ranks, or, in groups of a mesh, on each. */
static uint32_t compare_all(struct ar_cluster *cluster, const struct ar_mesh *mesh, uint32_t ranks,
                            uint32_t channels, uint32_t lanes_each, uint32_t copies)
{
    uint32_t count = 0, gpus = ar_cluster_facts(cluster)->gpus_per_node;
    for (size_t i = 0; i < ar_algorithms_count; i += AR_TEST_STRIDE) {
        const struct ar_algorithm *algorithm = ar_algorithms[i];
        struct ar_flows *fast, *plain;
        struct ar_shape shape = ar_algorithm_default_shape(
            algorithm, ranks, mesh != NULL ? ar_mesh_node_members(mesh, gpus) : gpus);
        struct ar_collective collective =
            support_collective_of(cluster, algorithm, shape.x, shape.y);
        collective.shape = shape;
        collective.mesh = mesh != NULL ? *mesh : collective.mesh;
        collective.channels = channels * ar_algorithm_channels(algorithm);
        if (ar_flows_create(&collective, &fast, AR_IGNORED) != AR_OK) {
            continue; /* a shape that the algorithm does not run, or switches that do not sum */
        }
        TEST_OK(ar_flows_create_plain(&collective, &plain, &why));
        cr_expect(plain->is_plain && !fast->is_plain);
        bool has_lanes_alike = !algorithm->wants_sums && !algorithm->operation->has_root &&
                               !algorithm->operation->is_in_order;
        cr_expect_eq(fast->lanes_each, has_lanes_alike ? lanes_each : 1, "%s", algorithm->name);
        cr_expect_eq(ar_collective_groups(&fast->resolved) * copies,
                     ar_collective_groups(&collective), "%s", algorithm->name);
        expect_same(fast, plain, 45 << 15, algorithm->name); /* messages have equal sizes */
        /* With paths that were kept from flows on links of another rate. */
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        struct flows_scratch *kept = NULL;
        bool is_torus = ar_cluster_link_cost(cluster, AR_LINK_HCA_BANDWIDTH) == 0;
        enum ar_link_cost rate = is_torus ? AR_LINK_TORUS_BANDWIDTH : AR_LINK_HCA_BANDWIDTH;
        double value_Bps = ar_cluster_link_cost(cluster, rate);
        for (int times = 4; times > 0; times /= 4) {
            ar_flows_destroy(fast);
            TEST_OK(ar_cluster_set_link_cost(cluster, rate, times * value_Bps, &why));
            TEST_OK(ar_flows_create_kept(&collective, &arena, &kept, &fast, &why));
        }
        expect_same(fast, plain, 1001, algorithm->name);
        ar_flows_destroy(fast);
        ar_flows_destroy(plain);
        count++;
    }
    return count;
}

Test(fast, paths_that_move_along_and_steps_that_are_alike_or_mirrored_change_no_time)
{
    static const struct {
        const char *machine, *settings;
        uint32_t ranks, channels;
    } cases[] = {{"abci-v100", "nodes=68", 64, 2},
                 {"abci-v100", "nodes=68", 68, 2},
                 {"abci-v100", "nodes=68", 180, 2}, /* 34 and 11 nodes */
                 {"abci-v100", "nodes=68 net.message_gap=1us", 180, 2},
                 {"abci-v100", "nodes=12 rack.nodes=2 rack.uplinks=1", 48, 2}, /* rows of 3 nodes */
                 {"abci-v100", "nodes=12 rack.nodes=2 rack.uplinks=1", 44, 2}, /* 5 racks, a node */
                 {"dgx2-v100", "nodes=8", 128, 2},
                 {"fugaku", "torus.lengths=24x3x24x2x3x2", 48, 2},
                 {"lumi", NULL, 128, 2},
                 {"flat", "nodes=31", 31, 2},
                 {"flat", "nodes=31", 31, 1}}; /* shifts have one path */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t count = compare_all(support_cluster(cases[i].machine, cases[i].settings), NULL,
                                     cases[i].ranks, cases[i].channels, 1, 1);
        cr_expect(count > 10 / AR_TEST_STRIDE, "%s", cases[i].machine);
    }
}

Test(fast, lanes_that_are_resolved_once_change_no_time)
{
    static const struct {
        const char *machine;
        uint32_t ranks, lanes_each;
    } cases[] = {
        {"dgx-h100", 64, 8}, {"dgx-a100", 24, 8}, {"gcp-a3high", 32, 1}, {"dgx-h100", 20, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect(compare_all(support_cluster(cases[i].machine, "nodes=8"), NULL, cases[i].ranks, 8,
                              cases[i].lanes_each, 1) > 10 / AR_TEST_STRIDE,
                  "%s", cases[i].machine);
    }
}

Test(fast, groups_that_are_resolved_once_change_no_time)
{
    static const struct {
        const char *machine, *mesh, *along;
        uint32_t copies;
    } cases[] = {{"dgx-h100", "pp=2,dp=4,tp=8", "tp", 8},   {"dgx-h100", "pp=2,dp=4,tp=8", "dp", 2},
                 {"dgx-h100", "pp=2,dp=4,tp=8", "pp", 4},   {"dgx-h100", "pp=4,dp=4,tp=4", "dp", 4},
                 {"dgx-h100", "dp=4,tp=6", "tp", 1},        {"gb200-nvl72", "dp=4,tp=72", "tp", 4},
                 {"abci-v100", "pp=2,dp=17,tp=8", "dp", 2}, {"abci-v100", "dp=17,tp=16", "tp", 1},
                 {"abci-v100", "pp=2,dp=4,tp=8", "tp", 8},  {"flat", "dp=3,pp=3,tp=3", "pp", 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_cluster *cluster = support_cluster(cases[i].machine, "nodes=72");
        struct ar_mesh mesh;
        TEST_OK(ar_mesh_parse("mesh", cases[i].mesh, &mesh, &why));
        TEST_OK(ar_mesh_set_along("along", cases[i].along, &mesh, &why));
        cr_expect(compare_all(cluster, &mesh, ar_mesh_group_ranks(&mesh), 2 - i % 2, 1,
                              cases[i].copies) > 10 / AR_TEST_STRIDE,
                  "%s, %s along %s", cases[i].machine, cases[i].mesh, cases[i].along);
    }
}

/* The rates of all parts, up and down; a tree of 1025 nodes is ragged. */
Test(fast, ranks_of_a_tree_that_are_followed_as_a_class_have_the_rates_of_each)
{
    static const struct {
        const char *machine;
        uint32_t x, y, channels;
        double bytes;
    } cases[] = {{"dgx-h100", 8, 512, 16, 3e5}, {"abci-v100", 4, 1025, 2, 1e6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_cluster *cluster = support_cluster(cases[i].machine, NULL);
        struct ar_collective tree = support_collective(cluster, "tree", cases[i].x, cases[i].y);
        struct ar_flows *fast, *plain;
        tree.channels = cases[i].channels;
        TEST_OK(ar_flows_create(&tree, &fast, &why));
        TEST_OK(ar_flows_create_plain(&tree, &plain, &why));
        for (uint32_t phase = 0; phase < 2; phase++) {
            const struct ar_pattern *own = &fast->patterns[phase], *all = &plain->patterns[phase];
            const struct ar_tree_shares *shares = ar_flows_tree_shares(fast, phase, cases[i].bytes);
            const struct ar_tree_shares *each = ar_flows_tree_shares(plain, phase, cases[i].bytes);
            cr_expect_lt(shares->followed, cases[i].x * cases[i].y / 2, "%u", shares->followed);
            for (uint32_t lane = 0; lane < tree.channels; lane++) {
                uint32_t first = own->lane_hops[lane / fast->lanes_each];
                for (uint32_t hop = 0; hop < all->lane_hops[1]; hop++) {
                    for (uint32_t part = 0; part < plain->phases[phase].parts; part++) {
                        double rate_Bps = ar_tree_rate_Bps(shares, part, first + hop);
                        double expected = ar_tree_rate_Bps(each, part, all->lane_hops[lane] + hop);
                        SUPPORT_NEAR(rate_Bps, expected, 1e-10, "hop %u", hop);
                    }
                }
            }
        }
        ar_flows_destroy(fast);
        ar_flows_destroy(plain);
    }
}
