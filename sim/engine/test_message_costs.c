/* Engines beside each other where a message costs something besides its path. */
#include <criterion/criterion.h>

#include "test_trials.h"

/* Even parts, parts that differ by an element, few elements, and a large buffer. */
static const struct ar_call calls[] = {{.ready_s = 0, .elements = 96 * 2520},
                                       {.ready_s = 0.1, .elements = 25557},
                                       {.ready_s = 0.2, .elements = 5},
                                       {.ready_s = 0.3, .elements = 7 * 2520 * 1024}};

enum { COUNTS = sizeof calls / sizeof calls[0] };

#define COSTS                                                                                      \
    "net.message_gap=0.12us", "net.latency_1KiB=1us", "net.latency_8KiB=2us",                      \
        "net.latency_64KiB=3us", "net.latency_512KiB=5us", "gpu.reduce_cost_large=9ps/B",          \
        "gpu.copy_cost=6ps/B", "gpu.fresh_cost=80ps/B"

/* Where messages of unlike sizes go at once, the largest stands for all. */
static double tolerance(const struct ar_collective *collective, uint64_t elements)
{
    struct ar_phase phases[AR_PHASES_MAX];
    ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    bool is_even = elements % ar_shape_ranks(&collective->shape) == 0;
    return phases[0].is_at_once && !is_even ? 2e-4 : 1e-6;
}

static void expect_equal(const struct ar_collective *collective)
{
    static struct test_trial tests[2];
    trials_run_both(collective, calls, COUNTS, 0, tests);
    for (uint32_t i = 0; i < COUNTS; i++) {
        double simulated_s = tests[0].times[i].finish_s - tests[0].times[i].start_s;
        double time_s = tests[1].times[i].finish_s - tests[1].times[i].start_s;
        struct ar_closed_time closed = support_closed(collective, calls[i].elements);
        double near = tolerance(collective, calls[i].elements);
        cr_expect(support_near(time_s, simulated_s, near),
                  "%s %s %ux%u, window %u, %lu elements: %.9g s, simulated %.9g s",
                  collective->operation->name, collective->algorithm->name, collective->shape.x,
                  collective->shape.y, collective->window, (unsigned long)calls[i].elements, time_s,
                  simulated_s);
        cr_expect(!closed.exact || support_near(closed.time_s, simulated_s, near),
                  "%s %s %ux%u, window %u, %lu elements: closed %.9g s, simulated %.9g s",
                  collective->operation->name, collective->algorithm->name, collective->shape.x,
                  collective->shape.y, collective->window, (unsigned long)calls[i].elements,
                  closed.time_s, simulated_s);
    }
}

Test(message_costs, are_the_same_for_every_engine_and_algorithm)
{
    static const uint32_t ranks[] = {3, 8};
    const char *settings[] = {"fabric.sums=yes",
                              "net.latency=5us",
                              "hca.bandwidth=25GB/s",
                              "gpu.reduce_cost=4ps/B",
                              COSTS,
                              NULL};
    struct ar_cluster *flat = support_cluster("flat", settings);
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            struct ar_shape shape = ar_algorithm_default_shape(ar_algorithms[i], ranks[j], 1);
            struct ar_phase phases[AR_PHASES_MAX];
            struct ar_error err;
            if (ar_algorithm_check_shape(ar_algorithms[i], &shape, &err) != AR_OK) {
                continue;
            }
            struct ar_collective collective =
                support_collective_of(flat, ar_algorithms[i], shape.x, shape.y);
            uint32_t phases_count = ar_algorithm_phases(ar_algorithms[i], &shape, phases);
            bool has_tree = false; /* in which children share a port */
            for (uint32_t k = 0; k < phases_count; k++) {
                has_tree |= phases[k].kind == AR_PHASE_TREE && phases[k].steps > 0;
            }
            collective.channels = 1;
            for (collective.window = 1; !has_tree && collective.window <= 8;
                 collective.window += 7) {
                expect_equal(&collective);
            }
        }
    }
}

/* A byte takes 1 ns, a latency 100 ns; most parts of these buffers are empty. */
Test(message_costs, of_a_message_without_bytes_are_its_latency)
{
    static const uint64_t elements[] = {1, 3};
    const char *settings[] = {"fabric.sums=yes", "net.latency=100ns", "hca.bandwidth=1GB/s", NULL};
    struct ar_cluster *flat = support_cluster("flat", settings);
    uint32_t exact = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        struct ar_shape shape = ar_algorithm_default_shape(ar_algorithms[i], 8, 1);
        struct ar_collective collective =
            support_collective_of(flat, ar_algorithms[i], shape.x, shape.y);
        for (size_t j = 0; j < sizeof elements / sizeof elements[0]; j++) {
            struct ar_call call = {.ready_s = 0, .elements = elements[j]};
            static struct test_trial tests[2];
            trials_run_both(&collective, &call, 1, 0, tests);
            double simulated_s = tests[0].times[0].finish_s, time_s = tests[1].times[0].finish_s;
            exact += tests[1].trial.exact;
            cr_expect(!tests[1].trial.exact || support_near(time_s, simulated_s, 1e-6),
                      "%s by %s, %lu elements: %.9g s, simulated %.9g s",
                      collective.operation->name, collective.algorithm->name,
                      (unsigned long)elements[j], time_s, simulated_s);
        }
    }
    cr_expect_gt(exact, 20);
}

Test(message_costs, are_those_of_messages_between_nodes)
{
    const char *settings[] = {COSTS, NULL};
    struct ar_collective collective =
        support_collective(support_cluster("abci-v100", settings), "ring", 4, 1);
    double within_s = trials_time(&collective, &ar_engine_recurrence, 80000);
    collective.cluster = support_cluster("abci-v100", NULL);
    cr_expect_eq(trials_time(&collective, &ar_engine_recurrence, 80000), within_s);
    collective = support_collective(support_cluster("abci-v100", settings), "ring", 8, 1);
    collective.channels = 1;
    double simulated_s = trials_simulate(&collective, 80000);
    cr_expect(
        support_near(trials_time(&collective, &ar_engine_recurrence, 80000), simulated_s, 1e-6));
    collective.cluster = support_cluster("abci-v100", NULL);
    cr_expect_gt(simulated_s, trials_time(&collective, &ar_engine_recurrence, 80000) + 5e-6);
}

Test(message_costs, make_many_small_messages_dearer_than_few)
{
    const char *free_settings[] = {"net.latency=2us", "hca.bandwidth=25GB/s", NULL};
    const char *settings[] = {"net.latency=2us", "hca.bandwidth=25GB/s", "net.message_gap=0.4us",
                              NULL};
    struct ar_collective direct =
        support_collective(support_cluster("flat", settings), "direct", 64, 1);
    struct ar_collective doubling =
        support_collective(support_cluster("flat", settings), "recursive-doubling", 64, 1);
    /* 63 messages of 10 kB and 4 bytes each way, twice; six in turn */
    double direct_s = 2 * (2e-6 + 63 * 10004 / 25e9);
    double doubling_s = 6 * (2e-6 + 10256 / 25e9);
    cr_expect(support_near(trials_time(&direct, &ar_engine_recurrence, 64), direct_s, 1e-9));
    cr_expect(support_near(trials_time(&doubling, &ar_engine_recurrence, 64), doubling_s, 1e-9));
    cr_expect_gt(direct_s, doubling_s);
    direct.cluster = doubling.cluster = support_cluster("flat", free_settings);
    cr_expect_lt(trials_time(&direct, &ar_engine_recurrence, 64),
                 trials_time(&doubling, &ar_engine_recurrence, 64));
}
