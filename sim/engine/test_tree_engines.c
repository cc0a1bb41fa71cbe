/* Engines beside each other on trees: several connections at a time, each with a window. */

#include "test_outcome.h"
#include "test_trials.h"

static const struct ar_call calls[] = {{.ready_s = 0, .elements = 5},
                                       {.ready_s = 0.0002, .elements = 25557},
                                       {.ready_s = 0.0004, .elements = 1048576},
                                       {.ready_s = 0.0006, .elements = 25557032},
                                       {.ready_s = 0.0008, .elements = 2049}};

/* On ranks that start together, and at different times. */
static void expect_equal_windows(const struct ar_cluster *cluster, uint32_t x, uint32_t y,
                                 uint32_t channels)
{
    static const uint32_t windows[] = {1, 2, 8};
    static const uint32_t parts[] = {0, 3, 11}; /* 0: 8 */
    struct ar_collective tree = support_collective(cluster, "tree", x, y);
    tree.channels = channels;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        tree.window = windows[i];
        tree.shape.parts = parts[i];
        for (double spread_s = 0; spread_s <= 0.002; spread_s += 0.002) {
            bool exact =
                trials_compare(&tree, calls, sizeof calls / sizeof calls[0], spread_s, 1e-6);
            cr_expect_not(exact, "never claimed for a tree");
        }
    }
}

/* The root sends to its chain and to the other group in turn, each message for as long as its
 * connection takes: a rank with but one connection would not wait for it, or wait for both. */
Test(tree_engines, agree_where_no_link_is_shared)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_cluster *flat = support_cluster("flat", NULL);
    expect_equal_windows(abci, 3, 1, 1);
    expect_equal_windows(abci, 4, 1, 1);
    expect_equal_windows(abci, 4, 2, 1);
    expect_equal_windows(abci, 8, 2, 1);
    for (uint32_t ranks = 2; ranks <= 9; ranks++) {
        expect_equal_windows(flat, ranks, 1, 1);
    }
}

/* Links so fast that nobody shares them: what is left is who waits for whom. */
Test(tree_engines, agree_on_who_waits_for_whom_in_trees_of_every_form)
{
    struct ar_cluster *flat =
        support_cluster("flat", "hca.bandwidth=1e9GB/s net.latency=5us gpu.reduce_cost=40ps/B "
                                "collective.setup=7us");
    for (uint32_t y = 2; y <= 13; y += AR_TEST_STRIDE) {
        expect_equal_windows(flat, 1, y, 1 + y / 2 % 2);
    }
    expect_equal_windows(flat, 3, 11, 2);
    expect_equal_windows(flat, 13, 3, 2);
    expect_equal_windows(flat, 2, 32, 3);
}

/* At time 0 a rank may send before its peer has run at all: its message starts then, not when the
 * peer asks for it. */
Test(tree_engines, agree_when_all_ranks_start_at_once)
{
    static const uint32_t ranks[] = {2, 3, 4, 5, 8, 16, 64};
    struct ar_cluster *flat = support_cluster("flat", "hca.bandwidth=1e9GB/s");
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            struct ar_collective tree;
            struct ar_phase phases[AR_PHASES_MAX];
            bool can_run = support_default(flat, ar_algorithms[i], ranks[j], 1, &tree);
            ar_algorithm_phases(ar_algorithms[i], &tree.shape, phases);
            if (can_run && phases[0].kind == AR_PHASE_TREE) {
                trials_agree(&tree, 1024, 1e-6);
            }
        }
    }
}

/* The second message of a window arrives when the first one has been asked for: SimGrid then knows
 * no time at which it ended. */
Test(tree_engines, agree_where_messages_end_as_their_receives_are_posted)
{
    struct ar_cluster *flat =
        support_cluster("flat", "hca.bandwidth=17.886GB/s net.latency=6.473us");
    const struct ar_algorithm *algorithm = NULL;
    TEST_OK(ar_algorithm_find("", &ar_operation_broadcast, "chain", &algorithm, &why));
    struct ar_collective chain = support_collective_of(flat, algorithm, 2, 1);
    chain.window = 2;
    for (uint64_t elements = 256; elements <= 4096; elements *= 2) {
        trials_agree(&chain, elements, 1e-6);
    }
}

/* Up or down alone: which hops are under way together is followed from event to event. */
Test(tree_engines, are_exact_on_shared_links_where_parts_go_one_way)
{
    static const char *const clusters[] = {"abci-v100", "dgx2-v100", "dgx1-v100"};
    uint32_t tried = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        struct ar_phase phases[AR_PHASES_MAX];
        struct ar_shape shape = ar_algorithm_default_shape(ar_algorithms[i], 16, 4);
        uint32_t count = ar_algorithm_phases(ar_algorithms[i], &shape, phases);
        for (size_t j = 0; j < 3 && count == 1 && phases[0].kind == AR_PHASE_TREE; j++) {
            struct ar_collective tree = support_collective_of(support_cluster(clusters[j], NULL),
                                                              ar_algorithms[i], shape.x, shape.y);
            tree.channels = 4;
            for (tree.window = 1; tree.window <= 9; tree.window += 4) {
                struct ar_call call = {.elements = 1 << (10 + 2 * tree.window)};
                cr_expect(trials_compare(&tree, &call, 1, 0, 1e-6), "%s by %s on %s is exact",
                          tree.operation->name, tree.algorithm->name, clusters[j]);
                call.elements++;
                struct test_trial uneven;
                trials_run(&tree, &ar_engine_recurrence, &call, 1, &uneven);
                cr_expect_not(uneven.trial.exact, "parts of unlike sizes");
                tried++;
            }
        }
    }
    cr_expect_geq(tried, 4 * 9, "chains and trees, up and down");
}

/* With a window of 1 every message waits for the one before to arrive; what is left is who is under
 * way together at the ports that children and the two trees share. */
Test(tree_engines, agree_on_shared_ports_where_messages_do_not_overlap)
{
    static const struct ar_shape shapes[] = {{.x = 1, .y = 4}, {.x = 1, .y = 5}, {.x = 1, .y = 8},
                                             {.x = 1, .y = 9}, {.x = 4, .y = 2}, {.x = 4, .y = 8},
                                             {.x = 4, .y = 18}};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_cluster *flat = support_cluster("flat", NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct ar_cluster *cluster = shapes[i].x == 1 ? flat : abci;
        struct ar_collective tree = support_collective(cluster, "tree", shapes[i].x, shapes[i].y);
        tree.window = 1;
        for (tree.channels = 2; tree.channels <= 4; tree.channels += 2) {
            for (uint64_t elements = 1600; elements < 30000000; elements *= 24) {
                trials_agree(&tree, elements, 1e-6);
            }
        }
    }
}

/* No more than 8 of 15 hops of a chain carry one of the 8 parts. If all of them shared the ports,
 * large payloads would take 2.8 times as long on one node. On abci children share the port of their
 * parent. */
Test(tree_engines, stay_near_the_simulation_on_long_chains_and_where_children_share_a_port)
{
    static const struct {
        const char *cluster;
        uint32_t x, nodes_max, nodes_step, nodes_min;
        double max;
    } cases[] = {{"dgx2-v100", 16, 2, 1, 1, 0.25}, {"abci-v100", 4, 24, 7, 3, 0.1}};
    for (size_t i = 0; i < 2; i++) {
        struct ar_cluster *cluster = support_cluster(cases[i].cluster, NULL);
        for (uint32_t nodes = cases[i].nodes_min; nodes <= cases[i].nodes_max;
             nodes += cases[i].nodes_step) {
            for (uint64_t elements = 1000; elements < 30000000; elements *= 30) {
                struct ar_collective tree = support_collective(cluster, "tree", cases[i].x, nodes);
                tree.channels = cases[i].x;
                double simulated_s = trials_simulate(&tree, elements);
                TRIALS_EACH(engine)
                {
                    double off = trials_time(&tree, engine, elements) / simulated_s - 1;
                    cr_expect(off > -0.01 && off < cases[i].max, "%s: %s off by %g",
                              support_name(&tree), engine->name, off);
                }
            }
        }
    }
}

/* 8.4 us of setup, then 3 hops of 3.4 us and log2 Y of 9.6 us, up and down. */
Test(tree_engines, give_a_small_payload_the_sum_of_the_hops)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t logarithm = 0; logarithm <= 5; logarithm++) {
        struct ar_collective tree = support_collective(abci, "tree", 4, 1u << logarithm);
        double expected_s = 8.4e-6 + 2 * (3 * 3.4e-6 + logarithm * 9.6e-6);
        tree.channels = 4;
        TRIALS_EACH(engine)
        {
            SUPPORT_NEAR(trials_time(&tree, engine, 32), expected_s, 1e-3, "%s, %u nodes",
                         engine->name, 1u << logarithm);
        }
    }
}

/* More messages in flight than a connection needs would only take bandwidth from each other. */
Test(tree_engines, do_not_slow_down_with_the_window)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    TRIALS_EACH(engine)
    {
        for (uint64_t elements = 250; elements < 30000000; elements *= 40) {
            struct ar_collective tree = support_collective(abci, "tree", 4, 17);
            tree.channels = 4;
            tree.window = 2;
            double narrow_s = trials_time(&tree, engine, elements);
            tree.window = 8;
            double wide_s = trials_time(&tree, engine, elements);
            cr_expect_leq(wide_s, narrow_s * (1 + 1e-3), "%s, %lu elements: %.9g s, not %.9g s",
                          engine->name, (unsigned long)elements, wide_s, narrow_s);
        }
    }
}
