/* Rows of scenarios, by hand on a textbook cluster: 10 us per hop, 10 GB/s per GPU. */
#include "ar_kind.h"
#include "test_outcome.h"
#include "test_scenarios.h"

TestSuite(run, .init = scenarios_enter, .fini = scenarios_leave);

static struct ar_row row_of(const char *text)
{
    struct ar_scenario scenario = scenarios_loaded(text);
    struct ar_row row;
    TEST_OK(ar_run(&scenario, &row, &why));
    return row;
}

/* The ring takes 2 (N-1) hops of n/N bytes; every one of the first N-1 reduces what came in. */
#define RING                                                                                       \
    "cluster=flat;gpus=5;algorithm=ring;precision=fp32;window=8;channels=1;payload=40MB;"          \
    "set=gpu.reduce_cost=4ps/B;set=collective.setup=7us;engine="

Test(run, the_parts_of_a_ring_are_those_by_hand_and_add_up)
{
    static const char *const engines[] = {"closed", "recurrence"};
    for (size_t i = 0; i < 2; i++) {
        struct ar_row row = row_of(ar_arena_format(&scenarios_arena, RING "%s", engines[i]));
        cr_expect_eq(row.exact, 1, "%s", engines[i]);
        SCENARIOS_NEAR(row.setup_s, 7e-6);
        SCENARIOS_NEAR(row.latency_s, 8 * 10e-6);
        SCENARIOS_NEAR(row.bandwidth_s, 8 * 8e6 / 10e9);
        SCENARIOS_NEAR(row.reduction_s, 4 * 8e6 * 4e-12);
        SCENARIOS_NEAR(row.setup_s + row.latency_s + row.bandwidth_s + row.reduction_s,
                       row.allreduce_s);
    }
}

Test(run, bus_bandwidth_is_what_every_link_of_the_ring_carries)
{
    struct ar_row row = row_of(RING "closed");
    SCENARIOS_NEAR(row.algbw_Bps, 40e6 / row.allreduce_s);
    SCENARIOS_NEAR(row.busbw_Bps, 8 * 8e6 / row.allreduce_s);
    struct ar_row alone = row_of("cluster=flat;gpus=1;algorithm=ring;payload=1MB;engine=closed");
    cr_expect(!(alone.busbw_Bps > 0));
}

/* A step: 4 MB of gradients in one bucket. */
Test(run, the_parts_of_a_step_are_those_of_its_buckets)
{
    struct ar_row row = row_of(
        ar_arena_format(&scenarios_arena,
                        "cluster=flat;gpus=2;algorithm=ring;engine=closed;baseline=gpu;bucket=one;"
                        "set=gpu.reduce_cost=4ps/B;trace=%s",
                        scenarios_trace));
    SCENARIOS_NEAR(row.latency_s, 2 * 10e-6);
    SCENARIOS_NEAR(row.bandwidth_s, 2 * 2e6 / 10e9);
    SCENARIOS_NEAR(row.reduction_s, 2e6 * 4e-12);
    SCENARIOS_NEAR(row.iteration_s, 3.5e-3 + row.allreduce_s);
    SCENARIOS_NEAR(row.efficiency_frac, 3.5e-3 / row.iteration_s);
}

/* --- estimates of cost ------------------------------------------------------------------------ */

static double cost_of(const char *text)
{
    struct ar_scenario scenario = scenarios_loaded(text);
    return ar_run_cost_s(&scenario);
}

/* The rates are those of the engines' rows (ar_engine.h says how they were measured): a constant
 * part, a part per message, a part per rank. A ring of 64 has 64 x 126 messages; one
 * on a ring takes a simulation twice as long. */
Test(run, what_a_scenario_and_the_baseline_of_its_node_cost_to_compute_is_that_by_hand)
{
#define COST "cluster=flat;gpus=64;algorithm=ring;payload=1MB;"
    SCENARIOS_NEAR(cost_of(COST "engine=simgrid"), 25e-3 + 8064 * 2 * 3e-6 + 64 * 30e-6);
    SCENARIOS_NEAR(cost_of(COST "engine=recurrence"), 50e-6 + 8064 * 1.1e-9 + 64 * 100e-9);
    SCENARIOS_NEAR(cost_of(COST "engine=closed;channels=4"), 30e-6 + 4 * 64 * 100e-9);
#define STEPS                                                                                      \
    "cluster=abci-v100;gpus=64;algorithm=ring;trace=resnet50-v1.5;bucket=groups:3;channels=1;"     \
    "engine=recurrence;"
    double one_s = 50e-6 + 3 * (8064 * 1.1e-9 + 64 * 100e-9);
    SCENARIOS_NEAR(cost_of(STEPS "baseline=gpu"), one_s);
    SCENARIOS_NEAR(cost_of(STEPS "baseline=gpu;iterations=10"), 10 * one_s - 9 * 50e-6);
    SCENARIOS_NEAR(cost_of(STEPS "baseline=node"),
                   one_s + 50e-6 + 3 * (4 * 6 * 1.1e-9 + 4 * 100e-9));
    /* A ring behind what comes from a root is walked on all channels but the first. */
#define ROOTED "gpus=4096;operation=broadcast;algorithm=scatter-allgather;payload=1MB;cluster="
    cr_expect_gt(cost_of(ROOTED "dgx-h100;channels=2"), 7 * cost_of(ROOTED "dgx-h100;channels=1"));
}

/* --- choices ---------------------------------------------------------------------------------- */

#define CHOICE "cluster=abci-v100;gpus=12;precision=fp16;channels=2;window=8;"

static double fastest_s(const char *algorithm, const char *rest)
{
    double best_s = INFINITY;
    for (uint32_t x = 1; x <= 12; x++) {
        if (12 % x == 0) {
            best_s = fmin(best_s, row_of(ar_arena_format(&scenarios_arena,
                                                         CHOICE "algorithm=%s;shape=%ux%u;%s",
                                                         algorithm, x, 12 / x, rest))
                                      .allreduce_s);
        }
    }
    return best_s;
}

Test(run, the_best_shape_is_the_fastest_of_all_grids)
{
    static const char *const rests[] = {"payload=4KiB;engine=recurrence",
                                        "payload=64MiB;engine=recurrence",
                                        "payload=1MiB;engine=closed"};
    for (size_t i = 0; i < 3; i++) {
        struct ar_row row = row_of(
            ar_arena_format(&scenarios_arena, CHOICE "algorithm=torus2d;shape=best;%s", rests[i]));
        cr_expect_eq(row.allreduce_s, fastest_s("torus2d", rests[i]), "%s", rests[i]);
        cr_expect_str_eq(row.algorithm, "torus2d");
    }
}

/* One of two broadcasts leaves out a ring; in the other one the ring is the fastest. */
Test(run, the_choice_of_an_algorithm_is_the_fastest_of_all_in_their_best_shapes)
{
    static const char *const rests[] = {"payload=4KiB;engine=recurrence",
                                        "payload=64MiB;engine=closed", "payload=1KiB",
                                        "payload=64MiB"};
    for (size_t i = 0; i < 4; i++) {
        const char *keys = i < 2 ? CHOICE : "cluster=flat;gpus=64;operation=broadcast;";
        struct ar_scenario scenario = scenarios_loaded(
            ar_arena_format(&scenarios_arena, "%salgorithm=auto;%s", keys, rests[i]));
        struct ar_row row;
        double best_s = i < 2 ? fastest_s("torus2d", rests[i]) : INFINITY;
        TEST_OK(ar_run(&scenario, &row, &why));
        for (size_t j = 0; j < ar_algorithms_count; j++) {
            const struct ar_algorithm *own = ar_algorithms[j];
            const char *text =
                ar_arena_format(&scenarios_arena, "%salgorithm=%s;%s", keys, own->name, rests[i]);
            bool is_run = own->operation == scenario.operation && !own->wants_sums;
            best_s = is_run ? fmin(best_s, row_of(text).allreduce_s) : best_s;
        }
        cr_expect_eq(row.allreduce_s, best_s, "%s", rests[i]);
        cr_expect_str_eq(row.algorithm, scenario.algorithm->name);
        cr_expect_not_null(strstr(scenario.choice, row.algorithm), "%s", scenario.choice);
    }
}

Test(run, a_simulation_leaves_the_choice_to_the_recurrence)
{
    struct ar_scenario fast =
        scenarios_loaded(CHOICE "algorithm=torus2d;shape=best;payload=1MiB;engine=recurrence");
    struct ar_scenario slow =
        scenarios_loaded(CHOICE "algorithm=torus2d;shape=best;payload=1MiB;engine=simgrid");
    cr_expect_eq(slow.shape.x, fast.shape.x);
    cr_expect_str_eq(slow.choice, fast.choice);
    cr_expect(ar_engine_simulates(slow.engine));
}
