/* Steps of transformers: ranks that differ, slowdown, links that are shared. */
#include <math.h>

#include "test_job.h"

static struct ar_transformer gpt;

static struct tested make_layout(const struct ar_cluster *cluster, uint32_t pp, uint32_t dp,
                                 uint32_t tp)
{
    const uint32_t sizes[AR_AXES_COUNT] = {pp, 1, dp, 1, 1, tp};
    gpt = (struct ar_transformer){
        .layers = 8, .hidden = 1024, .heads = 16, .seq = 1024, .vocab = 51200};
    return tested_layout(cluster, &gpt, sizes, &ar_strategy_data, 0.01);
}

Test(step, that_knows_works_of_another_one_is_the_same)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    static const struct ar_strategy *const strategies[] = {&ar_strategy_data, &ar_strategy_zero1};
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_known known = {.arena = &arena};
    for (size_t i = 0; i < 4; i++) {
        struct tested alone = make_layout(abci, 2, 4, 4);
        alone.job.layout.strategy = strategies[i / 2];
        alone.job.layout.micro_batch = 1 + (uint32_t)i % 2;
        struct tested step = alone;
        tested_run(&alone);
        step.job.known = &known;
        tested_run(&step);
        cr_expect_eq(step.timing.iteration_s, alone.timing.iteration_s);
        cr_expect_eq(step.timing.messages_count, alone.timing.messages_count);
        cr_expect_eq(step.timing.busiest_s, alone.timing.busiest_s);
    }
}

Test(step, a_straggler_of_factor_1_changes_nothing_but_how_a_transformer_is_timed)
{
    static const struct ar_straggler none = {.rank = 3, .factor = 1};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t pp = 1u << i / 2;
        struct tested even = make_layout(abci, pp, 8 / pp, 4);
        even.job.spread_frac = i % 2 * 0.02;
        struct tested series = even;
        series.job.stragglers = &none;
        series.job.stragglers_count = 1;
        tested_run(&even);
        tested_run(&series);
        SUPPORT_NEAR(even.timing.iteration_s, series.timing.iteration_s, 1e-9);
    }
}

Test(step, contention_slows_a_transformer_by_the_part_that_is_taken_while_it_sends)
{
    struct ar_framework framework;
    ar_framework_clear(&framework);
    framework.terms[AR_TERM_CONTENTION_SMS].number = 20;
    framework.terms[AR_TERM_GPU_SMS].number = 80;
    struct tested even = make_layout(support_cluster("abci-v100", NULL), 1, 8, 1);
    struct tested slowed = even;
    slowed.job.framework = &framework;
    tested_run(&even);
    tested_run(&slowed);
    cr_expect_gt(slowed.timing.contention_s, 0);
    cr_expect_leq(slowed.timing.contention_s, slowed.timing.allreduce_s * 0.5 * (1 + 1e-9),
                  "2 * 20 of 80");
    SUPPORT_NEAR(slowed.timing.compute_s, even.timing.compute_s, 1e-12);
    cr_expect_leq(slowed.timing.iteration_s,
                  even.timing.iteration_s + slowed.timing.contention_s * (1 + 1e-9));
    cr_expect_gt(slowed.timing.iteration_s, even.timing.iteration_s);
}

Test(step, gathers_beside_tensor_parallelism_take_longer_where_both_need_the_same_links)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL); /* 4 GPUs in a node */
    static const uint32_t shards[] = {4, 8};
    for (size_t i = 0; i < 2; i++) {
        struct tested step = make_layout(abci, 1, 4, shards[i]);
        step.job.layout.strategy = &ar_strategy_zero3;
        step.job.times.forward_s[AR_PART_LAYER] = step.job.times.backward_s[AR_PART_LAYER] = 1e-4;
        TEST_OK(tested_try(&step, &why));
        double shared_s = step.timing.iteration_s;
        bool is_exact = step.timing.exact;
        TEST_OK(ar_graph_schedule(step.timing.graph, &why));
        double alone_s = ar_graph_end_s(step.timing.graph);
        if (shards[i] == 4) {
            SUPPORT_NEAR(shared_s, alone_s, 1e-12);
        } else {
            cr_expect_gt(shared_s, alone_s * 1.001);
            cr_expect_not(is_exact);
        }
        tested_end(&step);
    }
}

/* --- overlaps --------------------------------------------------------------------------------- */

enum { OVERLAPS_COUNT = 16 };

static void set_overlaps(struct ar_layout *layout, uint32_t bits)
{
    layout->overlaps = (bits & 1) != 0;
    layout->overlaps_tensor = (bits & 2) != 0 && layout->is_sequence_parallel;
    layout->overlaps_experts = (bits & 2) != 0;
    layout->overlaps_gather = (bits & 4) != 0;
    layout->overlaps_pipeline = (bits & 8) != 0;
}

/* mpt-125m and mpt-1b of traces/workloads/transformers.csv, and the latter with experts. */
#define MODEL(depth, width, count, ...)                                                            \
    {                                                                                              \
        .layers = depth, .hidden = width, .heads = count, .seq = 2048, .vocab = 50368, __VA_ARGS__ \
    }
static struct ar_transformer real_models[] = {MODEL(12, 768, 12, .has_positions = true),
                                              MODEL(24, 2048, 16, .has_positions = true),
                                              MODEL(24, 2048, 16, .experts = 8, .top_k = 2)};
enum { MODELS_COUNT = sizeof real_models / sizeof real_models[0] };

static const double layers_s[] = {1e-4, 3e-4, 1e-3, 4e-3};

static void set_times(struct ar_job *job, double layer_s)
{
    job->times.forward_s[AR_PART_LAYER] = layer_s;
    job->times.backward_s[AR_PART_LAYER] = 2 * layer_s;
    job->times.optimizer_s = 1e-12;
}

/* The layout of a number: cluster, mesh, schedule, strategy, batch and times all vary with it. */
static struct tested numbered_layout(struct ar_cluster *const clusters[3], uint32_t number)
{
    static const uint32_t meshes[][3] = {{1, 8, 1}, {1, 4, 2}, {1, 2, 4}, {1, 4, 4}, {2, 4, 1},
                                         {2, 2, 2}, {2, 4, 4}, {4, 2, 2}, {4, 4, 2}, {4, 2, 4}};
    static const char *const schedules[] = {"1f1b", "gpipe", "interleaved:2"};
    static const struct ar_strategy *const strategies[] = {&ar_strategy_zero1, &ar_strategy_data};
    const uint32_t *mesh = meshes[number % 10];
    const char *schedule = schedules[number / 10 % 3];
    struct tested step = make_layout(clusters[number / 30 % 3], mesh[0], mesh[1], mesh[2]);
    struct ar_layout *layout = &step.job.layout;
    set_times(&step.job, layers_s[number / 90 % 4]);
    layout->strategy = strategies[number / 360 % 2];
    layout->global_batch = (number / 720 % 2 == 0 ? 4 : 8) * layout->sizes[AR_AXIS_DP];
    layout->is_sequence_parallel = mesh[2] > 1;
    schedule = mesh[0] > 1 ? schedule : schedules[number / 10 % 2];
    TEST_OK(ar_schedule_parse("", schedule, &layout->schedule, &layout->chunks, &why));
    return step;
}

/* The same of real models, on meshes with context parallelism too, which has many replicas. */
static struct tested numbered_real_layout(struct ar_cluster *const clusters[3], uint32_t number)
{
    static const uint32_t sizes[][4] = {
        {1, 16, 4, 2}, {1, 8, 4, 1}, {2, 8, 2, 2}, {2, 4, 1, 4}, {4, 4, 1, 1}};
    static const char *const schedules[] = {"1f1b", "gpipe", "interleaved:2"};
    static const struct ar_strategy *const strategies[] = {&ar_strategy_data, &ar_strategy_zero1,
                                                           &ar_strategy_zero2, &ar_strategy_zero3};
    struct ar_transformer *model = &real_models[number / 60 % MODELS_COUNT];
    const uint32_t *own = sizes[number % 5];
    uint32_t ep = model->experts > 0 ? 2 : 1;
    const uint32_t mesh[AR_AXES_COUNT] = {own[0], 1, own[1] / ep, ep, own[2], own[3]};
    struct tested step =
        tested_layout(clusters[number / 20 % 3], model, mesh, strategies[number / 5 % 4], 0);
    struct ar_layout *layout = &step.job.layout;
    set_times(&step.job, layers_s[number % 3]);
    layout->is_sequence_parallel = mesh[AR_AXIS_TP] > 1;
    const char *schedule = schedules[mesh[AR_AXIS_PP] > 1 ? number % 3 : 0];
    TEST_OK(ar_schedule_parse("", schedule, &layout->schedule, &layout->chunks, &why));
    return step;
}

/* Shared links are settled to a part of 1e-4 of the step. With real models each bucket has a
 * latency (0.14 %), and messages of zero2 that leave beside gradients share links with others (0.6
 * %), as what experts exchange does (2.5 %). */
#define SLOWER_FRAC      1e-3
#define REAL_SLOWER_FRAC 1e-2

/* Each seventh layout, for time; under sanitizers, which slow the program down, each 31st. They are
 * as varied as all, which were run once (LAYOUTS_STEP 1). */
enum { LAYOUTS_STEP = AR_TEST_STRIDE > 1 ? 31 : 7 };

/* Each layout with each combination of overlaps, beside those with one overlap less. */
static void expect_overlaps_help(struct tested (*number_layout)(struct ar_cluster *const[3],
                                                                uint32_t),
                                 uint32_t layouts_count, double slower_frac)
{
    struct ar_cluster *const clusters[] = {support_cluster("dgx-a100", "nodes=32"),
                                           support_cluster("abci-v100", "nodes=32"),
                                           support_cluster("dgx-h100", "nodes=32")};
    uint32_t slower = 0, faster = 0, last = 0;
    double worst = 1;
    for (uint32_t number = 0; number < layouts_count; number += LAYOUTS_STEP) {
        double times_s[OVERLAPS_COUNT];
        for (uint32_t bits = 0; bits < OVERLAPS_COUNT; bits++) {
            struct tested step = number_layout(clusters, number);
            set_overlaps(&step.job.layout, bits);
            tested_run(&step);
            times_s[bits] = step.timing.iteration_s;
            double allowed = slower_frac * (step.job.layout.model->experts > 0 ? 3 : 1);
            for (uint32_t bit = 1; bit <= bits; bit *= 2) {
                double before_s = (bits & bit) != 0 ? times_s[bits - bit] : INFINITY;
                bool is_slower = times_s[bits] > before_s * (1 + allowed);
                slower += is_slower;
                faster += isfinite(before_s) && times_s[bits] < before_s;
                last = is_slower ? number : last;
                worst = fmax(worst, times_s[bits] / before_s);
            }
        }
    }
    cr_expect_eq(slower, 0, "%u times, up to %.4f times as long, last in layout %u", slower, worst,
                 last);
    cr_expect_gt(faster, layouts_count / LAYOUTS_STEP, "overlaps hide something");
}

Test(step, overlapping_more_is_never_slower)
{
    expect_overlaps_help(numbered_layout, 1080, SLOWER_FRAC);
}

Test(step, overlapping_more_is_slower_by_a_hundredth_at_most_for_real_models)
{
    expect_overlaps_help(numbered_real_layout, 60 * MODELS_COUNT, REAL_SLOWER_FRAC);
}

/* --- periods ---------------------------------------------------------------------------------- */

static void expect_same_step(const struct ar_timing *fewer, const struct ar_timing *whole,
                             uint32_t number, double tolerance)
{
    struct ar_graph_split fewer_split = fewer->split, whole_split = whole->split;
    const double pairs[][2] = {{fewer->iteration_s, whole->iteration_s},
                               {fewer->compute_s, whole->compute_s},
                               {fewer->bubble_s, whole->bubble_s},
                               {fewer->allreduce_s, whole->allreduce_s},
                               {fewer->contention_s, whole->contention_s},
                               {fewer_split.axis_s[AR_AXIS_PP], whole_split.axis_s[AR_AXIS_PP]},
                               {fewer_split.axis_s[AR_AXIS_DP], whole_split.axis_s[AR_AXIS_DP]},
                               {fewer_split.axis_s[AR_AXIS_TP], whole_split.axis_s[AR_AXIS_TP]},
                               {fewer_split.compute_end_s, whole_split.compute_end_s}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cr_expect_float_eq(pairs[i][0], pairs[i][1], tolerance * whole->iteration_s,
                           "layout %u, number %zu: %.17g, whole %.17g", number, i, pairs[i][0],
                           pairs[i][1]);
    }
    cr_expect(isnan(whole->busiest_s) ? isnan(fewer->busiest_s)
                                      : support_near(fewer->busiest_s, whole->busiest_s, 1e-10));
    cr_expect_eq(fewer->exact, whole->exact);
}

/* Times a layout with and without its equal periods; returns whether any were left out. */
static bool compare_with_whole(struct tested *whole, uint32_t number, uint32_t batches,
                               double tolerance)
{
    set_overlaps(&whole->job.layout, number * 7 % OVERLAPS_COUNT);
    whole->job.layout.global_batch *= batches;
    whole->job.times.forward_s[AR_PART_HEAD] = number / 2 % 2 * 2e-3; /* stages may differ */
    struct tested fewer = *whole;
    fewer.job.is_row_alone = true;
    TEST_OK(tested_try(&fewer, &why));
    TEST_OK(tested_try(whole, &why));
    bool is_shortened = fewer.timing.graph->periods != NULL;
    cr_expect(!is_shortened || fewer.timing.graph->tasks_count < whole->timing.graph->tasks_count);
    cr_expect_null(whole->timing.graph->periods);
    expect_same_step(&fewer.timing, &whole->timing, number, tolerance);
    cr_expect_eq(fewer.timing.messages_count, whole->timing.messages_count);
    tested_end(&fewer);
    tested_end(whole);
    return is_shortened;
}

Test(step, a_pipeline_without_most_of_its_equal_periods_takes_as_long_as_the_whole)
{
    struct ar_cluster *const clusters[] = {support_cluster("dgx-a100", "nodes=32"),
                                           support_cluster("abci-v100", "nodes=32"),
                                           support_cluster("dgx-h100", "nodes=32")};
    struct ar_framework framework;
    uint32_t shortened = 0, compared = 0;
    ar_framework_clear(&framework);
    framework.terms[AR_TERM_CONTENTION_SMS].number = 8;
    framework.terms[AR_TERM_GPU_SMS].number = 108;
    for (uint32_t number = 0; number < 60 * MODELS_COUNT; number += LAYOUTS_STEP + 1) {
        struct tested whole = numbered_real_layout(clusters, number);
        if (whole.job.layout.sizes[AR_AXIS_PP] == 1) {
            continue;
        }
        whole.job.framework = number / 4 % 4 == 0 ? &framework : NULL;
        shortened += compare_with_whole(&whole, number, 64, 1e-10);
        compared++;
    }
    cr_expect_gt(shortened, compared / 5, "%u of %u", shortened, compared);
}

/* Layouts on 8 GPUs: all schedules and strategies, stages that differ, GPUs of one node and two. */
Test(step, a_simulation_without_most_of_the_equal_periods_takes_as_long_as_the_whole)
{
    struct ar_cluster *const clusters[] = {support_cluster("dgx-a100", "nodes=32"),
                                           support_cluster("abci-v100", "nodes=32"),
                                           support_cluster("flat", "nodes=32")};
    uint32_t shortened = 0, compared = 0;
    for (uint32_t number = 0; number < 720; number += 4 * LAYOUTS_STEP + 3) {
        struct tested whole = numbered_layout(clusters, number);
        if (ar_layout_gpus(&whole.job.layout) > 8) {
            continue;
        }
        gpt.layers = 4;
        whole.job.engine = &ar_engine_simgrid;
        shortened += compare_with_whole(&whole, number, 5, 1e-6);
        compared++;
    }
    cr_expect_geq(3 * shortened, compared, "%u of %u", shortened, compared);
}
