/* Engines beside each other where a message costs something besides its path. */

#include "test_outcome.h"
#include "test_trials.h"

/* Even parts, parts that differ by an element, few elements, and a large buffer. */
static const struct ar_call calls[] = {{.ready_s = 0, .elements = 96 * 2520},
                                       {.ready_s = 0.1, .elements = 25557},
                                       {.ready_s = 0.2, .elements = 5},
                                       {.ready_s = 0.3, .elements = 7 * 2520 * 1024}};

enum { COUNTS = sizeof calls / sizeof calls[0] };

#define COSTS                                                                                      \
    "net.message_gap=0.12us net.latency_1KiB=1us net.latency_8KiB=2us net.latency_64KiB=3us "      \
    "net.latency_512KiB=5us gpu.reduce_cost_large=9ps/B gpu.copy_cost=6ps/B gpu.fresh_cost=80ps/B"

static void expect_equal(const struct ar_collective *collective)
{
    static struct test_trial tests[2];
    struct ar_phase phases[AR_PHASES_MAX];
    ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    trials_run_both(collective, calls, COUNTS, 0, tests);
    for (uint32_t i = 0; i < COUNTS; i++) {
        double simulated_s = tests[0].times[i].finish_s - tests[0].times[i].start_s;
        struct ar_closed_time closed = support_closed(collective, calls[i].elements);
        /* Where messages of unlike sizes go at once, the largest stands for all. */
        bool is_even = calls[i].elements % ar_shape_ranks(&collective->shape) == 0;
        double near = phases[0].is_at_once && !is_even ? 2e-4 : 1e-6;
        SUPPORT_NEAR(tests[1].times[i].finish_s - tests[1].times[i].start_s, simulated_s, near,
                     "%s, call %u", support_name(collective), i);
        SUPPORT_NEAR(closed.exact ? closed.time_s : simulated_s, simulated_s, near, "%s, call %u",
                     support_name(collective), i);
    }
}

Test(message_costs, are_the_same_for_every_engine_and_algorithm)
{
    static const uint32_t ranks[] = {3, 8};
    struct ar_cluster *flat =
        support_cluster("flat", "fabric.sums=yes net.latency=5us hca.bandwidth=25GB/s "
                                "gpu.reduce_cost=4ps/B " COSTS);
    for (size_t i = 0; i < ar_algorithms_count; i += AR_TEST_STRIDE) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            struct ar_collective collective;
            struct ar_phase phases[AR_PHASES_MAX];
            if (!support_default(flat, ar_algorithms[i], ranks[j], 1, &collective)) {
                continue;
            }
            uint32_t phases_count =
                ar_algorithm_phases(ar_algorithms[i], &collective.shape, phases);
            bool has_tree = false; /* in which children share a port */
            for (uint32_t k = 0; k < phases_count; k++) {
                has_tree |= phases[k].kind == AR_PHASE_TREE && phases[k].steps > 0;
            }
            for (collective.window = 1; !has_tree && collective.window <= 8;
                 collective.window += 7) {
                expect_equal(&collective);
            }
        }
    }
}

/* Exact times on machines of several GPUs, channels and cables are compared with the simulation in
 * sim/api/test_laws.c. */
Test(message_costs, of_all_channels_add_up_at_an_hca)
{
    struct ar_collective ring =
        support_collective(support_cluster("flat", "net.message_gap=2us"), "ring", 2, 1);
    ring.channels = 8;
    double time_s = trials_time(&ring, &ar_engine_recurrence, 1024);
    ring.cluster = support_cluster("flat", NULL);
    SUPPORT_NEAR(time_s - trials_time(&ring, &ar_engine_recurrence, 1024), 2 * 16e-6, 1e-6);
}

/* A fit changes the gap, and keeps the flows that it has. */
Test(message_costs, are_no_part_of_flows)
{
    static const char *const names[] = {"ring", "tree", "direct", "recursive-doubling"};
    struct ar_cluster *flat = support_cluster("flat", NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ar_collective collective = support_collective(flat, names[i], 8, 1);
        struct ar_flows *flows;
        struct ar_closed_time time;
        TEST_OK(ar_cluster_set_link_cost(flat, AR_LINK_MESSAGE_GAP, 1e-9, &why));
        TEST_OK(ar_flows_create(&collective, &flows, &why));
        TEST_OK(ar_cluster_set_link_cost(flat, AR_LINK_MESSAGE_GAP, 2e-6, &why));
        ar_closed_evaluate(flows, 1024, &time);
        cr_expect_eq(time.time_s, support_closed(&collective, 1024).time_s, "%s", names[i]);
        ar_flows_destroy(flows);
    }
}

/* The gaps of HCAs are no load of the cables between them. */
Test(message_costs, do_not_grow_with_the_bandwidth_of_an_hca)
{
#define ONE_CABLE "rack.nodes=2 rack.uplinks=1 rack.uplink_bandwidth=9GB/s net.message_gap=2us "
    struct ar_collective direct = support_on("flat", "direct", 8, 1);
    TRIALS_EACH(engine)
    {
        direct.cluster = support_cluster("flat", ONE_CABLE "hca.bandwidth=12GB/s");
        double slow_s = trials_time(&direct, engine, 8 * 256);
        direct.cluster = support_cluster("flat", ONE_CABLE "hca.bandwidth=99GB/s");
        cr_expect_leq(trials_time(&direct, engine, 8 * 256), slow_s * (1 + 1e-9), "%s",
                      engine->name);
    }
}

Test(message_costs, are_those_of_messages_between_nodes)
{
    struct ar_cluster *dear = support_cluster("abci-v100", COSTS);
    struct ar_collective collective = support_collective(dear, "ring", 4, 1);
    double within_s = trials_time(&collective, &ar_engine_recurrence, 80000);
    collective.cluster = support_cluster("abci-v100", NULL);
    cr_expect_eq(trials_time(&collective, &ar_engine_recurrence, 80000), within_s);
    collective = support_collective(dear, "ring", 8, 1);
    collective.channels = 1;
    double simulated_s = trials_agree(&collective, 80000, 1e-6);
    collective.cluster = support_cluster("abci-v100", NULL);
    cr_expect_gt(simulated_s, trials_time(&collective, &ar_engine_recurrence, 80000) + 5e-6);
}
