/* Task graphs whose ranks are run one by one, beside the same graphs scheduled by roles. */

#include "ar_graph_trial.h"
#include "test_job.h"

/* --- a graph by hand -------------------------------------------------------------------------- */

enum { PLACES = 2, BYTES = 1000000 };

/* Role 0 computes and sends to its counterparts, role 1 takes what comes and sums it. */
static struct ar_graph *make_pair(struct ar_arena *arena, bool waits_in_a_circle)
{
    struct ar_graph *graph = ar_graph_create(arena, 2);
    uint32_t work = ar_graph_work(graph, &(struct ar_work){.time_s = 1e-3});
    uint32_t send = ar_graph_work(graph, &(struct ar_work){.kind = AR_TASK_MESSAGE,
                                                           .time_s = AR_GRAPH_UNTIMED,
                                                           .operation = &ar_operation_send,
                                                           .axes = 1 << AR_AXIS_PP,
                                                           .bytes = BYTES});
    uint32_t sum = ar_graph_work(graph, &(struct ar_work){.kind = AR_TASK_COLLECTIVE,
                                                          .time_s = AR_GRAPH_UNTIMED,
                                                          .operation = &ar_operation_all_reduce,
                                                          .axes = 1 << AR_AXIS_DP,
                                                          .bytes = BYTES});
    (void)ar_graph_add(graph, &(struct ar_task){.work = work, .count = 2});
    uint32_t sent = ar_graph_add(graph, &(struct ar_task){.work = send, .count = 1, .to = 1});
    uint32_t own = ar_graph_add(graph, &(struct ar_task){.work = work, .count = 1, .role = 1});
    (void)ar_graph_add(graph, &(struct ar_task){.work = sum, .count = 1, .role = 1, .to = 1});
    ar_graph_need(graph, own, sent);
    if (waits_in_a_circle) {
        ar_graph_need(graph, sent, own);
    }
    return graph;
}

static enum ar_status run_pair(struct ar_graph *graph, const struct ar_cluster *cluster,
                               const double *factors, struct ar_graph_trial *trial,
                               struct ar_error *err)
{
    static double rank_end_s[2 * PLACES];
    struct ar_graph_sending sendings[3] = {{.elements = 0}};
    struct ar_collective ring = support_collective(cluster, "ring", PLACES, 1);
    ring.mesh = (struct ar_mesh){.axes_count = 2, .axes = {{"pp", 2, false}, {"dp", PLACES, true}}};
    for (int i = 1; i < 3; i++) {
        sendings[i] = (struct ar_graph_sending){.collective = ring, .elements = BYTES / 4};
    }
    *trial = (struct ar_graph_trial){.graph = graph,
                                     .cluster = cluster,
                                     .ranks = 2 * PLACES,
                                     .sendings = sendings,
                                     .rank_factor = factors,
                                     .speed_frac = 1,
                                     .rank_end_s = rank_end_s};
    return ar_engine_simgrid.run_graph(trial, err);
}

Test(ranks, wait_for_their_counterparts_and_for_the_slowest_of_their_group)
{
    static const double factors[2 * PLACES] = {1, 3, 1, 1};
    struct ar_cluster *flat = support_cluster("flat", NULL);
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_graph *graph = make_pair(&arena, false);
    struct ar_graph_trial trial;
    struct ar_path path;
    TEST_OK(run_pair(graph, flat, factors, &trial, &why));
    ar_cluster_path(flat, 1, 3, &path);
    double setup_s = ar_cluster_facts(flat)->collective_setup_s;
    double sent_s = 6e-3 + setup_s + BYTES / path.bandwidth_Bps + path.latency_s;
    double sum_s = graph->works[2].time_s;
    SUPPORT_NEAR(graph->tasks[1].end_s, sent_s, 1e-9, "place 1 ends last");
    SUPPORT_NEAR(graph->tasks[2].end_s, sent_s + 1e-3, 1e-9);
    cr_expect_eq(graph->tasks[2].waited_for, 1);
    cr_expect_eq(graph->tasks[3].waited_for, 2);
    SUPPORT_NEAR(graph->tasks[0].longer_s, 4e-3, 1e-9);
    SUPPORT_NEAR(ar_graph_end_s(trial.graph), sent_s + 1e-3 + sum_s, 1e-9);
    SUPPORT_NEAR(trial.rank_end_s[0], 2e-3 + sent_s - 6e-3, 1e-9, "it waits for nobody");
    SUPPORT_NEAR(trial.rank_end_s[2], ar_graph_end_s(trial.graph), 1e-3,
                 "in one group with rank 3");
    cr_expect_eq(trial.messages_count, PLACES + 2 * (PLACES - 1) * PLACES);
}

Test(ranks, that_wait_in_a_circle_are_one_error_line)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_graph *graph = make_pair(&arena, true);
    struct ar_graph_trial trial;
    TEST_FAILS(AR_INTERNAL, "Deadlock",
               run_pair(graph, support_cluster("flat", NULL), NULL, &trial, &why));
}

/* --- steps ------------------------------------------------------------------------------------ */

static struct ar_transformer gpt;

static struct tested make_step(const char *cluster, const uint32_t sizes[AR_AXES_COUNT],
                               const struct ar_strategy *strategy)
{
    bool has_experts = sizes[AR_AXIS_EP] > 1;
    gpt = (struct ar_transformer){.layers = 4,
                                  .hidden = 512,
                                  .heads = 8,
                                  .seq = 512,
                                  .vocab = 5120,
                                  .experts = has_experts ? 8 : 0,
                                  .top_k = has_experts ? 2 : 0,
                                  .imbalance = 1};
    return tested_layout(support_cluster(cluster, NULL), &gpt, sizes, strategy, 1e-3);
}

/* The iteration by an engine; the numbers of the step stay. */
static double iteration(struct tested *step, const struct ar_engine *engine)
{
    step->job.engine = engine;
    tested_run(step);
    return step->timing.iteration_s;
}

static void expect_near(struct tested step, double tolerance, const char *what)
{
    double by_roles_s = iteration(&step, &ar_engine_recurrence);
    double allowed = step.timing.exact ? 1e-6 : tolerance;
    SUPPORT_NEAR(by_roles_s, iteration(&step, &ar_engine_simgrid), allowed, "%s", what);
    SUPPORT_NEAR(step.timing.iteration_s,
                 step.timing.compute_s + step.timing.exposed_s + step.timing.bubble_s, 1e-9, "%s",
                 what);
}

Test(ranks, of_a_step_end_when_their_roles_do_where_they_share_no_link_with_other_axes)
{
    static const struct {
        const char *title, *cluster;
        uint32_t sizes[AR_AXES_COUNT];
        const struct ar_strategy *strategy;
    } cases[] = {{"data", "abci-v100", {1, 1, 8, 1, 1, 1}, &ar_strategy_data},
                 {"zero1", "dgx-a100", {1, 1, 16, 1, 1, 1}, &ar_strategy_zero1},
                 {"zero3", "flat", {1, 1, 8, 1, 1, 1}, &ar_strategy_zero3},
                 {"copies", "dgx-a100", {1, 2, 8, 1, 1, 1}, &ar_strategy_zero3},
                 {"tensors", "dgx-a100", {1, 1, 1, 1, 1, 8}, &ar_strategy_data},
                 {"parts of sequences", "dgx-a100", {1, 1, 2, 1, 2, 4}, &ar_strategy_data},
                 {"experts", "abci-v100", {1, 1, 1, 8, 1, 1}, &ar_strategy_data},
                 {"pipeline", "dgx-a100", {4, 1, 1, 1, 1, 2}, &ar_strategy_data},
                 {"stages of two nodes", "abci-v100", {4, 1, 1, 1, 1, 2}, &ar_strategy_data}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_near(make_step(cases[i].cluster, cases[i].sizes, cases[i].strategy), 2e-3,
                    cases[i].title);
    }
}

Test(ranks, that_differ_and_computations_beside_communication_are_as_by_roles)
{
    static const uint32_t sizes[AR_AXES_COUNT] = {1, 1, 8, 1, 1, 1};
    static const struct ar_straggler slow = {.rank = 3, .factor = 1.5};
    struct ar_framework framework;
    struct tested step = make_step("abci-v100", sizes, &ar_strategy_data);
    struct tested straggling = step, jittery = step, slowed = step;
    straggling.job.stragglers = &slow;
    straggling.job.stragglers_count = 1;
    expect_near(straggling, 0.01, "a straggler");
    jittery.job.jitter_frac = 0.05;
    jittery.job.iterations_count = 3;
    expect_near(jittery, 0.01, "jitter");
    ar_framework_clear(&framework);
    framework.terms[AR_TERM_CONTENTION_SMS].number = 20;
    framework.terms[AR_TERM_GPU_SMS].number = 80;
    slowed.job.framework = &framework;
    expect_near(slowed, 0.01, "contention");
    (void)iteration(&slowed, &ar_engine_simgrid);
    cr_expect_gt(slowed.timing.contention_s, 0);
}
