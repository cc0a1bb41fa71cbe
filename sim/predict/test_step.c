
#include "test_job.h"

static struct ar_trace *resnet; /* batch 32 in fp16 */
static struct ar_cluster *abci, *flat;

static void begin_test(void)
{
    resnet = support_resnet50(32, AR_FP16);
    abci = support_cluster("abci-v100", NULL);
    flat = support_cluster("flat", NULL);
}

TestSuite(step, .init = begin_test);

/* Efficiency falls with more GPUs, and rises with a larger batch. */
Test(step, an_iteration_is_compute_plus_the_exposed_part_of_the_all_reduces)
{
    double before = 2;
    for (uint32_t ranks = 1; ranks <= 4096; ranks *= 8) {
        struct tested step = tested_trace(abci, resnet, "ring", ranks, 1, "ddp");
        struct tested larger =
            tested_trace(abci, support_resnet50(64, AR_FP16), "ring", ranks, 1, "ddp");
        tested_run(&step);
        tested_run(&larger);
        cr_expect_lt(step.timing.efficiency_frac, before, "%u GPUs", ranks);
        cr_expect(ranks == 1 || larger.timing.efficiency_frac > step.timing.efficiency_frac);
        before = step.timing.efficiency_frac;
        cr_expect_eq(step.timing.iteration_s, step.timing.compute_s + step.timing.exposed_s);
        cr_expect_eq(step.timing.compute_s, ar_trace_compute_s(resnet));
        SUPPORT_NEAR(step.timing.samples_per_s, 32.0 * ranks / step.timing.iteration_s, 1e-12);
        SUPPORT_NEAR(step.timing.efficiency_frac, step.timing.compute_s / step.timing.iteration_s,
                     1e-12);
        cr_expect_leq(step.timing.exposed_s, step.timing.allreduce_s * (1 + 1e-12));
        cr_expect_eq(step.timing.payload_bytes, 51114064);
    }
}

Test(step, one_bucket_is_not_hidden_at_all_and_those_of_ddp_are_on_a_fast_network)
{
    struct ar_cluster *quick = support_cluster("flat", "net.latency=1us");
    struct tested one = tested_trace(quick, resnet, "ring", 16, 1, "one");
    struct tested ddp = tested_trace(quick, resnet, "ring", 16, 1, "ddp");
    tested_run(&one);
    tested_run(&ddp);
    SUPPORT_NEAR(one.timing.exposed_s, one.timing.allreduce_s, 1e-9);
    cr_expect_gt(ddp.timing.exposed_s, 0);
    cr_expect_lt(ddp.timing.exposed_s, 0.7 * one.timing.exposed_s);
}

Test(step, one_gpu_is_the_baseline_and_has_efficiency_1)
{
    struct ar_trace *trace = support_resnet50(64, AR_FP32);
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i])) {
            continue;
        }
        struct tested step = tested_trace(abci, trace, "torus2d", 1, 1, "ddp");
        step.job.engine = ar_engines[i];
        tested_run(&step);
        SUPPORT_NEAR(step.timing.efficiency_frac, 1, 1e-12);
        cr_expect_eq(step.timing.exposed_s, 0);
        cr_expect_eq(step.timing.allreduce_s, 0);
        cr_expect_eq(step.timing.iteration_s, ar_trace_compute_s(trace));
    }
}

Test(step, efficiency_over_a_node_is_that_over_a_gpu_divided_by_that_of_the_node)
{
    struct tested node = tested_trace(abci, resnet, "ring", 4, 1, "ddp");
    struct tested over_gpu = tested_trace(abci, resnet, "torus2d", 16, 16, "ddp");
    struct tested over_node = over_gpu;
    over_node.job.baseline = AR_BASELINE_NODE;
    tested_run(&node);
    tested_run(&over_gpu);
    tested_run(&over_node);
    cr_expect_lt(node.timing.efficiency_frac, 1);
    SUPPORT_NEAR(over_node.timing.efficiency_frac,
                 over_gpu.timing.efficiency_frac / node.timing.efficiency_frac, 1e-12);
    cr_expect_eq(over_node.timing.iteration_s, over_gpu.timing.iteration_s);
}

/* The gradients of layer "late" exist long before the backward pass of layer "early" ends. */
static struct ar_layer two_layers[] = {
    {.name = "early", .forward_s = 1e-3, .backward_s = 20e-3},
    {.name = "late", .forward_s = 1e-3, .backward_s = 1e-3, .tensors_count = 1},
};
static uint64_t one_tensor[] = {10000000};
static const struct ar_trace hidden = {.name = "hidden",
                                       .batch = 8,
                                       .optimizer_s = 1e-3,
                                       .layers_count = 2,
                                       .layers = two_layers,
                                       .tensors_count = 1,
                                       .tensor_elements = one_tensor};

Test(step, a_short_all_reduce_hides_behind_the_backward_pass_and_a_long_one_sticks_out)
{
    struct tested step = tested_trace(flat, &hidden, "ring", 16, 1, "ddp");
    tested_run(&step); /* 3.75 ms and some latency beside 20 ms */
    cr_expect_gt(step.timing.allreduce_s, 3.75e-3);
    cr_expect_eq(step.timing.exposed_s, 0);
    cr_expect_eq(step.timing.efficiency_frac, 1);
    struct ar_cluster *slow_flat = support_cluster("flat", "hca.bandwidth=1GB/s");
    step = tested_trace(slow_flat, &hidden, "ring", 16, 1, "ddp");
    tested_run(&step);
    SUPPORT_NEAR(step.timing.exposed_s, step.timing.allreduce_s - 20e-3, 1e-9);
    SUPPORT_NEAR(step.timing.iteration_s, 24e-3 + step.timing.exposed_s, 1e-12);
}

Test(step, its_calls_are_the_buckets_and_start_when_they_are_ready)
{
    struct tested step = tested_trace(abci, resnet, "hierarchical", 4, 4, "2MiB");
    step.job.engine = &ar_engine_simgrid;
    TEST_OK(tested_try(&step, &why));
    const struct ar_trial *trial = &step.timing.trial;
    cr_assert_eq(trial->calls_count, step.timing.workload->buckets_count);
    cr_expect_gt(trial->calls_count, 10);
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        cr_expect_eq(trial->calls[i].elements, step.timing.workload->buckets[i].elements);
        cr_expect_eq(trial->calls[i].ready_s, step.timing.workload->buckets[i].ready_s);
        cr_expect_geq(trial->times[i].start_s, trial->calls[i].ready_s);
    }
    tested_end(&step);
}

static void expect_error(struct tested step, enum ar_status status, const char *expected)
{
    TEST_FAILS(status, expected, tested_try(&step, &why));
    tested_end(&step);
}

Test(step, what_cannot_run_is_an_error_and_leaves_nothing_to_free)
{
    struct ar_trace bare = hidden;
    bare.tensors_count = 0;
    bare.layers_count = 1;
    expect_error(tested_trace(abci, resnet, "ring", 4353, 1, "ddp"), AR_USAGE,
                 "expected at most 4352");
    expect_error(tested_trace(abci, resnet, "ring", 4, 4, "ddp"), AR_USAGE, "expected Nx1");
    expect_error(tested_trace(abci, &bare, "ring", 4, 1, "ddp"), AR_BAD_DATA, "found no gradients");
}

static double jittered_iteration(uint32_t nodes, double jitter_frac, uint64_t seed)
{
    struct tested step = tested_trace(abci, resnet, "torus2d", 4, nodes, "ddp");
    step.job.engine = &ar_engine_recurrence;
    step.job.jitter_frac = jitter_frac;
    step.job.seed = seed;
    step.job.iterations_count = 50;
    tested_run(&step);
    double iteration_s = step.timing.iteration_s;
    cr_expect_eq(iteration_s, step.timing.compute_s + step.timing.exposed_s);
    cr_expect_eq(step.timing.iteration_ci95_s > 1e-3 * iteration_s, jitter_frac > 0);
    return iteration_s;
}

Test(step, with_jitter_takes_longer_and_the_more_so_the_more_ranks_wait_for_the_slowest)
{
    double few_extra_s = jittered_iteration(2, 0.05, 1) - jittered_iteration(2, 0, 1);
    double many_extra_s = jittered_iteration(256, 0.05, 1) - jittered_iteration(256, 0, 1);
    cr_expect_gt(few_extra_s, 0);
    cr_expect_gt(many_extra_s, 1.5 * few_extra_s);
}

Test(step, with_jitter_depends_on_the_seed_alone)
{
    cr_expect_eq(jittered_iteration(2, 0.1, 5), jittered_iteration(2, 0.1, 5));
    cr_expect_neq(jittered_iteration(2, 0.1, 5), jittered_iteration(2, 0.1, 6));
}

static double iteration_with(const struct ar_straggler *stragglers, uint32_t count)
{
    struct tested step = tested_trace(flat, resnet, "ring", 8, 1, "ddp");
    step.job.engine = &ar_engine_recurrence;
    step.job.stragglers = stragglers;
    step.job.stragglers_count = count;
    tested_run(&step);
    return step.timing.iteration_s;
}

/* All ranks but one are early: they save at most what they need not do at the end. */
Test(step, with_one_straggler_lasts_nearly_as_long_as_if_all_were_as_slow)
{
    struct ar_straggler all[8];
    for (uint32_t rank = 0; rank < 8; rank++) {
        all[rank] = (struct ar_straggler){rank, 1.3};
    }
    double even_s = iteration_with(NULL, 0);
    double slow_s = iteration_with(all, 8);
    double first_s = iteration_with(&all[0], 1);
    SUPPORT_NEAR(first_s, iteration_with(&all[7], 1), 1e-3);
    cr_expect_gt(first_s, even_s + 0.25 * ar_trace_compute_s(resnet));
    cr_expect_leq(first_s, slow_s * (1 + 1e-12));
    cr_expect_gt(first_s, 0.98 * slow_s);
}

Test(step, back_to_back_is_the_same_again_where_all_ranks_are_alike)
{
    struct tested once = tested_trace(flat, resnet, "torus2d", 4, 4, "ddp");
    once.job.engine = &ar_engine_recurrence;
    struct tested thrice = once;
    thrice.job.iterations_count = 3;
    tested_run(&once);
    tested_run(&thrice);
    SUPPORT_NEAR(thrice.timing.iteration_s, once.timing.iteration_s, 1e-3);
    cr_expect_lt(thrice.timing.iteration_ci95_s, 1e-3 * once.timing.iteration_s);
}

/* --- other strategies ------------------------------------------------------------------------ */

static double sent_bytes(const struct ar_graph *graph, const struct ar_operation *operation)
{
    double bytes = 0;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_work *work = &graph->works[graph->tasks[i].work];
        bytes += work->operation == operation ? (double)work->bytes : 0;
    }
    return bytes;
}

Test(step, shards_of_a_trace_go_in_the_buckets_of_its_gradients_and_are_gathered_once_or_twice)
{
    static const struct ar_strategy *const strategies[] = {&ar_strategy_zero1, &ar_strategy_zero3};
    static const char *const rules[] = {"one", "4MiB"};
    double bytes = 2.0 * (double)ar_trace_gradient_elements(resnet);
    double compute_s = ar_trace_compute_s(resnet) - resnet->optimizer_s * 15 / 16;
    for (uint32_t i = 0; i < 4; i++) {
        struct tested step = tested_trace(abci, resnet, "ring", 16, 1, rules[i % 2]);
        step.job.layout.prefetch = 1;
        step.job.layout.strategy = strategies[i / 2];
        TEST_OK(tested_try(&step, &why));
        const struct ar_graph *graph = step.timing.graph;
        uint32_t gathers = 1 + i / 2, sent = 0;
        for (uint32_t task = 0; task < graph->tasks_count; task++) {
            sent += graph->works[graph->tasks[task].work].kind == AR_TASK_COLLECTIVE;
        }
        cr_expect_eq(sent, (gathers + 1) * step.timing.workload->buckets_count);
        cr_expect_eq(step.timing.workload->buckets_count == 1, i % 2 == 0);
        cr_expect_eq(sent_bytes(graph, &ar_operation_reduce_scatter), bytes);
        cr_expect_eq(sent_bytes(graph, &ar_operation_all_gather), gathers * bytes);
        SUPPORT_NEAR(step.timing.iteration_s, ar_graph_end_s(graph), 1e-12);
        SUPPORT_NEAR(step.timing.compute_s, compute_s, 1e-12);
        tested_end(&step);
    }
}

Test(step, independent_replicas_send_nothing_before_the_gather)
{
    struct tested step = tested_trace(abci, resnet, "ring", 16, 1, "ddp");
    step.job.layout.strategy = &ar_strategy_independent;
    tested_run(&step);
    SUPPORT_NEAR(step.timing.compute_s, ar_trace_compute_s(resnet), 1e-12);
    SUPPORT_NEAR(step.timing.exposed_s, step.timing.allreduce_s, 1e-9, "nothing hides it");
    double once_s = step.timing.exposed_s;
    step.job.iterations_count = 8; /* it is sent once, after all of them */
    tested_run(&step);
    SUPPORT_NEAR(step.timing.exposed_s, once_s / 8, 1e-9);
    SUPPORT_NEAR(step.timing.allreduce_s, once_s / 8, 1e-9);
}
