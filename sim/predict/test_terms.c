/* Terms of a framework in a step: each one moves it by what can be computed by hand. */
#include <math.h>

#include "test_job.h"
#include "test_traces.h"

enum { RANKS = 16, LATE = 1000000, EARLY = 2000000, SMALL = 1000 };

/* Gradients of "late" exist 2 + 1 ms after the start, those of "early" 20 ms later. */
static struct ar_layer layers[] = {
    {.name = "early", .forward_s = 1e-3, .backward_s = 20e-3, .tensors_count = 2},
    {.name = "late", .forward_s = 1e-3, .backward_s = 1e-3, .tensors_first = 2, .tensors_count = 1},
};
static uint64_t tensors[] = {SMALL, EARLY, LATE};
static const struct ar_trace two = {.name = "two",
                                    .batch = 8,
                                    .optimizer_s = 1e-3,
                                    .layers_count = 2,
                                    .layers = layers,
                                    .tensors_count = 3,
                                    .tensor_elements = tensors,
                                    .memory_Bps = 100e9};

#define END_S 23e-3 /* of the backward pass */

static struct ar_framework framework_with(const char *text)
{
    struct ar_framework framework;
    char copy[256];
    ar_framework_clear(&framework);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *term = strtok(copy, " "); term != NULL; term = strtok(NULL, " ")) {
        test_set_term(&framework, term);
    }
    return framework;
}

static struct ar_cluster *flat;
static struct ar_trace *resnet; /* batch 32 in fp16 */

static void begin_test(void)
{
    flat = support_cluster("flat", NULL);
    resnet = support_resnet50(32, AR_FP16);
}

TestSuite(terms, .init = begin_test);

/* Runs a step of a ring on 16 ranks with the terms of a text; the numbers stay. */
static struct ar_timing run_on(const struct ar_cluster *cluster, const struct ar_trace *trace,
                               const char *rule, const char *terms, const struct ar_engine *engine,
                               struct tested like)
{
    struct ar_framework framework = framework_with(terms);
    struct tested step = tested_trace(cluster, trace, "ring", RANKS, 1, rule);
    step.job.framework = &framework;
    step.job.engine = engine;
    step.job.jitter_frac = like.job.jitter_frac;
    step.job.stragglers = like.job.stragglers;
    step.job.stragglers_count = like.job.stragglers_count;
    step.job.iterations_count = like.job.iterations_count > 0 ? like.job.iterations_count : 1;
    tested_run(&step);
    return step.timing;
}

/* The same where ranks are alike, on the flat cluster. */
static struct ar_timing run_even(const struct ar_trace *trace, const char *rule, const char *terms,
                                 const struct ar_engine *engine)
{
    return run_on(flat, trace, rule, terms, engine, (struct tested){0});
}

static struct ar_timing run(const char *rule, const char *terms)
{
    return run_even(&two, rule, terms, &ar_engine_closed);
}

/* Time of one all-reduce alone. */
static double alone_s(uint64_t elements, uint32_t element_bytes)
{
    struct ar_collective ring = support_collective(flat, "ring", RANKS, 1);
    ring.element_bytes = element_bytes;
    return support_closed(&ring, elements).time_s;
}

#define TOLERANCE_S 1e-12

Test(terms, at_their_defaults_change_nothing_at_all)
{
    struct ar_timing none = run("ddp", "");
    struct ar_timing off = run("ddp", "cycle.time=0s fusion.passes=0 contention.sms=0 input.rate=0 "
                                      "bn.elements=0 gpu.sms=80 jitter=0 negotiate.base=1s");
    struct tested bare = tested_trace(flat, &two, "ring", RANKS, 1, "ddp");
    tested_run(&bare);
    cr_expect_eq(none.iteration_s, bare.timing.iteration_s);
    cr_expect_eq(off.iteration_s, bare.timing.iteration_s);
    cr_expect_eq(off.allreduce_s, bare.timing.allreduce_s);
    cr_expect_eq(off.copy_s + off.contention_s + off.input_wait_s + off.statistics_s, 0);
}

Test(terms, copies_of_a_bucket_take_its_bytes_over_the_memory_rate_and_launches)
{
    double exposed_s = run("one", "").exposed_s;
    double bytes = 2.0 * (LATE + EARLY + SMALL);
    struct ar_timing moved = run("one", "fusion.passes=4");
    struct ar_timing slower = run("one", "fusion.passes=4 memory.rate=10GB/s");
    struct ar_timing launched = run("one", "fusion.tensor=5us");
    cr_expect_float_eq(exposed_s, alone_s(LATE + EARLY + SMALL, 2), TOLERANCE_S);
    cr_expect_float_eq(moved.copy_s, 4 * bytes / 100e9, TOLERANCE_S);
    cr_expect_float_eq(moved.exposed_s, exposed_s + moved.copy_s, TOLERANCE_S);
    cr_expect_float_eq(moved.allreduce_s, exposed_s + moved.copy_s, TOLERANCE_S);
    cr_expect_float_eq(slower.copy_s, 4 * bytes / 10e9, TOLERANCE_S);
    cr_expect_float_eq(launched.copy_s, 2 * 3 * 5e-6, TOLERANCE_S);
    cr_expect_float_eq(launched.exposed_s, exposed_s + launched.copy_s, TOLERANCE_S);
}

Test(terms, a_bucket_of_one_tensor_is_sent_without_copies)
{
    struct ar_timing none = run("tensor", "");
    struct ar_timing copied = run("tensor", "fusion.passes=4 fusion.tensor=1ms");
    cr_expect_eq(copied.copy_s, 0);
    cr_expect_eq(copied.iteration_s, none.iteration_s);
    /* The second bucket holds both tensors of "early". */
    cr_expect_float_eq(run("5MB", "fusion.tensor=1ms").copy_s, 2 * 2 * 1e-3, TOLERANCE_S);
}

Test(terms, a_cycle_delays_the_last_bucket_until_it_is_negotiated)
{
    double late_s = alone_s(LATE, 2);
    double early_s = alone_s(EARLY + SMALL, 2);
    cr_assert_lt(late_s, 6e-3); /* over before the next tick */
    /* Ticks at 2, 12, 22 and 32 ms. */
    struct ar_timing cycled = run("one", "cycle.time=10ms cycle.phase=0.2");
    cr_expect_float_eq(cycled.exposed_s, 32e-3 + early_s - END_S, TOLERANCE_S);
    cr_expect_float_eq(cycled.allreduce_s, late_s + early_s, TOLERANCE_S);
    /* 16 ranks: 1 ms + 8 hops of 0.1 ms + 16 of 0.05 ms. */
    struct ar_timing slow = run("one", "cycle.time=10ms cycle.phase=0.2 negotiate.base=1ms "
                                       "negotiate.hop=0.1ms negotiate.rank=0.05ms");
    cr_expect_float_eq(slow.exposed_s, cycled.exposed_s + 2.6e-3, TOLERANCE_S);
    /* A tick just after the end of the backward pass, and one just before it. */
    struct ar_timing after = run("one", "cycle.time=23.1ms cycle.phase=1");
    struct ar_timing before = run("one", "cycle.time=22.9ms cycle.phase=1");
    cr_expect_float_eq(after.exposed_s, 0.1e-3 + alone_s(LATE + EARLY + SMALL, 2), TOLERANCE_S);
    cr_expect_float_eq(before.exposed_s, 22.8e-3 + early_s, TOLERANCE_S);
}

Test(terms, an_input_limit_binds_where_a_node_trains_faster_than_it_reads)
{
    /* One GPU per node on flat: 8 images each step. */
    double iteration_s = run("one", "").iteration_s;
    struct ar_timing free = run("one", "input.rate=1000");
    struct ar_timing bound = run("one", "input.rate=200");
    cr_assert(8 / 1000.0 < iteration_s && iteration_s < 8 / 200.0);
    cr_expect_eq(free.iteration_s, iteration_s);
    cr_expect_eq(free.input_wait_s, 0);
    cr_expect_float_eq(bound.iteration_s, 8 / 200.0, TOLERANCE_S);
    cr_expect_float_eq(bound.input_wait_s, 8 / 200.0 - iteration_s, TOLERANCE_S);
    cr_expect_eq(bound.iteration_s, bound.compute_s + bound.exposed_s + bound.input_wait_s);
    cr_expect_eq(bound.exposed_s, free.exposed_s);
}

Test(terms, gpus_of_a_node_share_its_input)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_framework framework = framework_with("input.rate=200");
    for (uint32_t ranks = 3; ranks <= 12; ranks += 9) { /* fewer than a node has, and three nodes */
        struct tested step = tested_trace(abci, &two, "ring", ranks, 1, "one");
        step.job.framework = &framework;
        tested_run(&step);
        cr_expect_float_eq(step.timing.iteration_s, 8 * fmin(ranks, 4) / 200.0, TOLERANCE_S);
    }
}

Test(terms, statistics_are_one_more_all_reduce_over_their_interval)
{
    struct ar_timing none = run("ddp", "");
    struct ar_timing each = run("ddp", "bn.elements=53120 bn.interval=1");
    struct ar_timing tenth = run("ddp", "bn.elements=53120 bn.interval=10");
    struct ar_timing never = run("ddp", "bn.elements=53120");
    double time_s = alone_s(53120, 4);
    cr_expect_float_eq(each.exposed_s, none.exposed_s + time_s, TOLERANCE_S);
    cr_expect_float_eq(each.allreduce_s, none.allreduce_s + time_s, TOLERANCE_S);
    cr_expect_float_eq(tenth.exposed_s, none.exposed_s + time_s / 10, TOLERANCE_S);
    cr_expect_eq(never.iteration_s, none.iteration_s);
    cr_expect_eq(each.payload_bytes, none.payload_bytes);
    /* The same of ranks that differ. */
    const struct tested like = {.job = {.jitter_frac = 0.05, .iterations_count = 3}};
    none = run_on(flat, &two, "ddp", "", &ar_engine_recurrence, like);
    each =
        run_on(flat, &two, "ddp", "bn.elements=53120 bn.interval=2", &ar_engine_recurrence, like);
    cr_expect_float_eq(each.exposed_s, none.exposed_s + time_s / 2, 1e-9);
}

/* The backward pass of "early" meets the all-reduce of "late" and loses the part that it takes. */
Test(terms, contention_costs_the_backward_pass_its_part_of_the_time_that_they_overlap)
{
    static const struct ar_engine *const engines[] = {&ar_engine_closed, &ar_engine_recurrence,
                                                      &ar_engine_simgrid};
    double late_s = alone_s(LATE, 2);
    double early_s = alone_s(EARLY + SMALL, 2);
    for (size_t i = 0; i < 3; i++) {
        struct ar_timing step = run_even(&two, "5MB", "contention.sms=10 gpu.sms=40", engines[i]);
        cr_expect_float_eq(step.contention_s, late_s * 10 / 40, 1e-9, "%s: %.9g s",
                           engines[i]->name, step.contention_s);
        cr_expect_float_eq(step.exposed_s, step.contention_s + early_s, 1e-9);
    }
}

Test(terms, contention_grows_with_the_channels_and_is_refused_where_nothing_is_left)
{
    double contention_s = 0;
    for (int sms = 1; sms <= 64; sms *= 2) {
        char terms[64];
        snprintf(terms, sizeof terms, "contention.sms=%d", sms);
        struct ar_timing step = run("tensor", terms);
        cr_expect_gt(step.contention_s, contention_s);
        cr_expect_float_eq(step.iteration_s, step.compute_s + step.exposed_s, TOLERANCE_S);
        contention_s = step.contention_s;
    }
    struct ar_framework framework = framework_with("contention.sms=20");
    struct tested step = tested_trace(flat, &two, "tree", RANKS, 1, "tensor");
    step.job.framework = &framework;
    step.job.collective.channels =
        3 * ar_algorithm_channels(step.job.collective.algorithm); /* 60 of 80 */
    tested_run(&step);
    cr_expect_gt(step.timing.contention_s, 0);
    step.job.collective.channels = 4 * ar_algorithm_channels(step.job.collective.algorithm);
    TEST_FAILS(AR_USAGE, "4 channels take 80 of the 80", tested_try(&step, &why));
    tested_end(&step);
}

/* Many buckets that overlap with contention: what the times of the last round say is consistent. */
Test(terms, contention_settles_for_161_buckets_of_resnet50)
{
    struct ar_timing none = run_even(resnet, "tensor", "", &ar_engine_closed);
    struct ar_timing step =
        run_even(resnet, "tensor", "contention.sms=8 cycle.time=0.1ms", &ar_engine_closed);
    double busy_s = step.allreduce_s;
    cr_expect_gt(step.contention_s, 0);
    cr_expect_lt(step.contention_s, busy_s * 0.1 * (1 + 1e-9));
    cr_expect_float_eq(busy_s, none.allreduce_s, 1e-9);
}

#define ALL_TERMS                                                                                  \
    "fusion.passes=4 fusion.tensor=2us cycle.time=1ms cycle.phase=0.3 negotiate.base=50us "        \
    "contention.sms=4 bn.elements=50000 bn.interval=2"

Test(terms, one_rank_has_nobody_to_exchange_with)
{
    struct ar_framework framework = framework_with(ALL_TERMS);
    struct tested step = tested_trace(flat, &two, "ring", 1, 1, "one");
    step.job.framework = &framework;
    step.job.engine = &ar_engine_recurrence;
    tested_run(&step);
    cr_expect_eq(step.timing.exposed_s, 0);
    cr_expect_eq(step.timing.copy_s, 0);
    SUPPORT_NEAR(step.timing.iteration_s, 24e-3, 1e-12);
    SUPPORT_NEAR(step.timing.efficiency_frac, 1, 1e-12);
}

Test(terms, all_at_once_give_the_same_step_in_every_engine)
{
    struct ar_timing closed = run_even(resnet, "ddp", ALL_TERMS, &ar_engine_closed);
    struct ar_timing computed = run_even(resnet, "ddp", ALL_TERMS, &ar_engine_recurrence);
    struct ar_timing simulated = run_even(resnet, "ddp", ALL_TERMS, &ar_engine_simgrid);
    SUPPORT_NEAR(closed.iteration_s, simulated.iteration_s, 1e-6);
    SUPPORT_NEAR(computed.iteration_s, simulated.iteration_s, 1e-6);
    SUPPORT_NEAR(computed.contention_s, simulated.contention_s, 1e-4);
    cr_expect_eq(computed.copy_s, simulated.copy_s);
}

Test(terms, of_ranks_that_differ_give_the_step_of_the_simulation)
{
    static const struct ar_straggler stragglers[] = {{5, 1.2}, {11, 1.1}};
    const struct tested like = {.job = {.kind = &ar_kind_trace,
                                        .jitter_frac = 0.05,
                                        .iterations_count = 3,
                                        .stragglers = stragglers,
                                        .stragglers_count = 2}};
    struct ar_timing computed =
        run_on(flat, resnet, "4MiB", ALL_TERMS, &ar_engine_recurrence, like);
    struct ar_timing simulated = run_on(flat, resnet, "4MiB", ALL_TERMS, &ar_engine_simgrid, like);
    struct ar_timing even = run_even(resnet, "4MiB", ALL_TERMS, &ar_engine_recurrence);
    SUPPORT_NEAR(computed.iteration_s, simulated.iteration_s, 1e-6);
    SUPPORT_NEAR(computed.allreduce_s, simulated.allreduce_s, 1e-6);
    SUPPORT_NEAR(computed.iteration_ci95_s, simulated.iteration_ci95_s, 1e-6);
    cr_expect_gt(computed.iteration_s, even.iteration_s);
    cr_expect_eq(computed.copy_s, even.copy_s);
}

Test(terms, ranks_that_negotiate_start_a_bucket_when_it_is_ready_on_the_slowest)
{
    static const struct ar_straggler straggler = {5, 1.5};
    const struct tested like = {.job = {.stragglers = &straggler, .stragglers_count = 1}};
    for (int i = 0; i < 2; i++) {
        const struct ar_engine *engine = i == 0 ? &ar_engine_recurrence : &ar_engine_closed;
        struct ar_timing step = run_on(flat, &two, "one", "cycle.time=1us", engine, like);
        /* Sent 34.5 ms after the start, when the backward pass of the straggler ends. */
        double sent_s = 1.5 * END_S;
        cr_expect_float_eq(step.allreduce_s, alone_s(LATE, 2) + alone_s(EARLY + SMALL, 2), 1e-9);
        cr_expect_float_eq(step.iteration_s,
                           sent_s + 1e-6 + alone_s(EARLY + SMALL, 2) + 1.5 * two.optimizer_s, 2e-6);
        step = run_on(flat, &two, "one", "", engine, like);
        if (i == 0) { /* the others have begun */
            cr_expect_gt(step.allreduce_s, alone_s(LATE, 2) + alone_s(EARLY + SMALL, 2) + 5e-3);
        }
    }
}

Test(terms, and_all_other_times_scaled_by_k_scale_the_step_by_k)
{
    struct ar_layer slow_layers[2];
    struct ar_trace slow = two;
    memcpy(slow_layers, layers, sizeof layers);
    slow.layers = slow_layers;
    slow.memory_Bps /= 3;
    ar_trace_scale(&slow, 3);
    struct ar_cluster *slow_flat = support_slower(flat, 3);
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (ar_engine_times_calls(ar_engines[i])) {
            continue;
        }
        struct ar_timing step = run_even(&two, "4MB", ALL_TERMS " input.rate=250", ar_engines[i]);
        struct ar_timing scaled = run_on(
            slow_flat, &slow, "4MB",
            "fusion.passes=4 fusion.tensor=6us cycle.time=3ms cycle.phase=0.3 negotiate.base=150us "
            "contention.sms=4 bn.elements=50000 bn.interval=2 input.rate=83.33333333333333",
            ar_engines[i], (struct tested){0});
        cr_expect_gt(step.input_wait_s, 0);
        SUPPORT_NEAR(scaled.iteration_s, 3 * step.iteration_s, 1e-9);
        SUPPORT_NEAR(scaled.exposed_s, 3 * step.exposed_s, 1e-6, "%s", ar_engines[i]->name);
        SUPPORT_NEAR(scaled.contention_s, 3 * step.contention_s, 1e-6);
    }
}
