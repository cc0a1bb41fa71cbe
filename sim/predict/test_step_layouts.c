/* Steps of transformers: ranks that differ, slowdown, links that are shared. */
#include <criterion/criterion.h>

#include "ar_engines.h"
#include "ar_step.h"
#include "test_support.h"

/* Runs a step and frees what it owns; the numbers stay. */
static void run(struct ar_step *step)
{
    struct ar_error err = {.text = ""};
    enum ar_status status = ar_step_run(step, &err);
    cr_assert(status == AR_OK, "%s", err.text);
    ar_step_destroy(step);
}

static struct ar_transformer gpt;

static struct ar_step make_layout(const struct ar_cluster *cluster, uint32_t pp, uint32_t dp,
                                  uint32_t tp)
{
    struct ar_error err = {.text = ""};
    gpt = (struct ar_transformer){
        .layers = 8, .hidden = 1024, .heads = 16, .seq = 1024, .vocab = 51200};
    cr_assert_eq(ar_transformer_settle("gpt", &gpt, &err), AR_OK);
    struct ar_step step = {
        .layout = {.model = &gpt,
                   .sizes = {pp, dp, 1, tp},
                   .global_batch = 4 * dp,
                   .micro_batch = 1,
                   .prefetch = 1,
                   .overlaps = true,
                   .strategy = &ar_strategy_data},
        .times = {.forward_s = {[AR_PART_LAYER] = 0.01}, .backward_s = {[AR_PART_LAYER] = 0.02}},
        .collective = {.cluster = cluster, .channels = 2, .window = 8, .element_bytes = 2},
        .engine = &ar_engine_recurrence,
        .iterations_count = 1};
    cr_assert_eq(ar_schedule_parse("", "1f1b", &step.layout.schedule, &step.layout.chunks, &err),
                 AR_OK);
    cr_assert_eq(ar_layout_check("", &step.layout, &err), AR_OK, "%s", err.text);
    return step;
}

Test(step, a_straggler_delays_a_transformer_by_what_it_computes_longer)
{
    static const struct ar_straggler slow = {.rank = 3, .factor = 1.5};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    static const uint32_t layouts[][3] = {{1, 8, 1}, {2, 4, 1}, {2, 2, 4}};
    for (size_t i = 0; i < 3; i++) {
        struct ar_step even = make_layout(abci, layouts[i][0], layouts[i][1], layouts[i][2]);
        struct ar_step uneven = even;
        uneven.stragglers = &slow;
        uneven.stragglers_count = 1;
        run(&even);
        run(&uneven);
        cr_expect_geq(uneven.iteration_s, 1.5 * even.compute_s);
        cr_expect_leq(uneven.iteration_s, even.iteration_s + 0.5 * even.compute_s * 1.01);
        cr_expect(support_near(uneven.iteration_s,
                               uneven.compute_s + uneven.exposed_s + uneven.bubble_s, 1e-12));
    }
}

Test(step, a_straggler_of_factor_1_changes_nothing_but_how_a_transformer_is_timed)
{
    static const struct ar_straggler none = {.rank = 3, .factor = 1};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t pp = 1; pp <= 4; pp *= 2) {
        struct ar_step even = make_layout(abci, pp, 8 / pp, 4);
        struct ar_step series = even;
        series.stragglers = &none;
        series.stragglers_count = 1;
        run(&even);
        run(&series);
        cr_expect(support_near(even.iteration_s, series.iteration_s, 1e-9), "%g %g",
                  even.iteration_s, series.iteration_s);
    }
}

Test(step, jitter_makes_transformers_slower_and_its_interval_narrower_with_more_steps)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_step even = make_layout(abci, 2, 4, 2);
    struct ar_step few = even;
    few.jitter_frac = 0.05;
    few.iterations_count = 5;
    struct ar_step many = few;
    many.iterations_count = 50;
    run(&even);
    run(&few);
    run(&many);
    cr_expect_gt(many.iteration_s, even.iteration_s);
    cr_expect_gt(few.iteration_ci95_s, many.iteration_ci95_s);
    cr_expect_gt(many.iteration_ci95_s, 0);
}

Test(step, contention_slows_a_transformer_by_the_part_that_is_taken_while_it_sends)
{
    struct ar_framework framework;
    ar_framework_clear(&framework);
    framework.terms[AR_TERM_CONTENTION_SMS].number = 20;
    framework.terms[AR_TERM_GPU_SMS].number = 80;
    struct ar_step even = make_layout(support_cluster("abci-v100", NULL), 1, 8, 1);
    struct ar_step slowed = even;
    slowed.framework = &framework;
    run(&even);
    run(&slowed);
    cr_expect_gt(slowed.contention_s, 0);
    cr_expect_leq(slowed.contention_s, slowed.allreduce_s * 0.5 * (1 + 1e-9), "2 * 20 of 80");
    cr_expect(support_near(slowed.compute_s, even.compute_s, 1e-12));
    cr_expect_leq(slowed.iteration_s, even.iteration_s + slowed.contention_s * (1 + 1e-9));
    cr_expect_gt(slowed.iteration_s, even.iteration_s);
}

Test(step, gathers_beside_tensor_parallelism_take_longer_where_both_need_the_same_links)
{
    struct ar_error err = {.text = ""};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL); /* 4 GPUs in a node */
    static const uint32_t shards[] = {4, 8};
    for (size_t i = 0; i < 2; i++) {
        struct ar_step step = make_layout(abci, 1, 4, shards[i]);
        step.layout.strategy = &ar_strategy_zero3;
        step.times.forward_s[AR_PART_LAYER] = step.times.backward_s[AR_PART_LAYER] = 1e-4;
        cr_assert_eq(ar_step_run(&step, &err), AR_OK, "%s", err.text);
        double shared_s = step.iteration_s;
        bool is_exact = step.exact;
        cr_assert_eq(ar_graph_schedule(step.graph, &err), AR_OK);
        double alone_s = ar_graph_end_s(step.graph);
        if (shards[i] == 4) {
            cr_expect(support_near(shared_s, alone_s, 1e-12));
        } else {
            cr_expect_gt(shared_s, alone_s * 1.001);
            cr_expect_not(is_exact);
        }
        ar_step_destroy(&step);
    }
}
