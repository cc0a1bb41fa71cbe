/* Steps of transformers: ranks that differ, slowdown, links that are shared. */
#include <criterion/criterion.h>

#include "test_job.h"

static struct ar_transformer gpt;

static struct tested make_layout(const struct ar_cluster *cluster, uint32_t pp, uint32_t dp,
                                 uint32_t tp)
{
    const uint32_t sizes[AR_AXES_COUNT] = {pp, dp, 1, tp};
    gpt = (struct ar_transformer){
        .layers = 8, .hidden = 1024, .heads = 16, .seq = 1024, .vocab = 51200};
    return tested_layout(cluster, &gpt, sizes, &ar_strategy_data, 0.01);
}

Test(step, a_straggler_delays_a_transformer_by_what_it_computes_longer)
{
    static const struct ar_straggler slow = {.rank = 3, .factor = 1.5};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    static const uint32_t layouts[][3] = {{1, 8, 1}, {2, 4, 1}, {2, 2, 4}};
    for (size_t i = 0; i < 3; i++) {
        struct tested even = make_layout(abci, layouts[i][0], layouts[i][1], layouts[i][2]);
        struct tested uneven = even;
        uneven.job.stragglers = &slow;
        uneven.job.stragglers_count = 1;
        tested_run(&even);
        tested_run(&uneven);
        cr_expect_geq(uneven.timing.iteration_s, 1.5 * even.timing.compute_s);
        cr_expect_leq(uneven.timing.iteration_s,
                      even.timing.iteration_s + 0.5 * even.timing.compute_s * 1.01);
        cr_expect(support_near(
            uneven.timing.iteration_s,
            uneven.timing.compute_s + uneven.timing.exposed_s + uneven.timing.bubble_s, 1e-12));
    }
}

Test(step, a_straggler_of_factor_1_changes_nothing_but_how_a_transformer_is_timed)
{
    static const struct ar_straggler none = {.rank = 3, .factor = 1};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t pp = 1; pp <= 4; pp *= 2) {
        struct tested even = make_layout(abci, pp, 8 / pp, 4);
        struct tested series = even;
        series.job.stragglers = &none;
        series.job.stragglers_count = 1;
        tested_run(&even);
        tested_run(&series);
        cr_expect(support_near(even.timing.iteration_s, series.timing.iteration_s, 1e-9), "%g %g",
                  even.timing.iteration_s, series.timing.iteration_s);
    }
}

Test(step, jitter_makes_transformers_slower_and_its_interval_narrower_with_more_steps)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct tested even = make_layout(abci, 2, 4, 2);
    struct tested few = even;
    few.job.jitter_frac = 0.05;
    few.job.iterations_count = 5;
    struct tested many = few;
    many.job.iterations_count = 50;
    tested_run(&even);
    tested_run(&few);
    tested_run(&many);
    cr_expect_gt(many.timing.iteration_s, even.timing.iteration_s);
    cr_expect_gt(few.timing.iteration_ci95_s, many.timing.iteration_ci95_s);
    cr_expect_gt(many.timing.iteration_ci95_s, 0);
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
    cr_expect(support_near(slowed.timing.compute_s, even.timing.compute_s, 1e-12));
    cr_expect_leq(slowed.timing.iteration_s,
                  even.timing.iteration_s + slowed.timing.contention_s * (1 + 1e-9));
    cr_expect_gt(slowed.timing.iteration_s, even.timing.iteration_s);
}

Test(step, gathers_beside_tensor_parallelism_take_longer_where_both_need_the_same_links)
{
    struct ar_error err = {.text = ""};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL); /* 4 GPUs in a node */
    static const uint32_t shards[] = {4, 8};
    for (size_t i = 0; i < 2; i++) {
        struct tested step = make_layout(abci, 1, 4, shards[i]);
        step.job.layout.strategy = &ar_strategy_zero3;
        step.job.times.forward_s[AR_PART_LAYER] = step.job.times.backward_s[AR_PART_LAYER] = 1e-4;
        cr_assert_eq(tested_try(&step, &err), AR_OK, "%s", err.text);
        double shared_s = step.timing.iteration_s;
        bool is_exact = step.timing.exact;
        cr_assert_eq(ar_graph_schedule(step.timing.graph, &err), AR_OK);
        double alone_s = ar_graph_end_s(step.timing.graph);
        if (shards[i] == 4) {
            cr_expect(support_near(shared_s, alone_s, 1e-12));
        } else {
            cr_expect_gt(shared_s, alone_s * 1.001);
            cr_expect_not(is_exact);
        }
        tested_end(&step);
    }
}
