#include "ar_graph.h"
#include "ar_numbers.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */
static struct ar_graph *graph;

static void begin(void)
{
    graph = ar_graph_create(&arena, 2);
}

TestSuite(graph, .init = begin);

static uint32_t compute(uint32_t role, enum ar_stream stream, double time_s, uint32_t count)
{
    uint32_t work =
        ar_graph_work(graph, &(struct ar_work){.kind = AR_TASK_COMPUTE, .time_s = time_s});
    return ar_graph_add(
        graph, &(struct ar_task){
                   .work = work, .count = count, .role = role, .to = role, .stream = stream});
}

static uint32_t sent(uint32_t role, uint32_t to, enum ar_stream stream, uint32_t axis,
                     double time_s)
{
    uint32_t work = ar_graph_work(
        graph, &(struct ar_work){.kind = role == to ? AR_TASK_COLLECTIVE : AR_TASK_MESSAGE,
                                 .time_s = time_s,
                                 .axes = 1u << axis,
                                 .bytes = (uint64_t)(time_s * 1000)});
    return ar_graph_add(
        graph,
        &(struct ar_task){.work = work, .count = 1, .role = role, .to = to, .stream = stream});
}

Test(graph, equal_works_are_one_however_many_there_are)
{
    enum { WORKS = 3000 };
    for (uint32_t i = 0; i < 2 * WORKS; i++) {
        const struct ar_work work = {
            .kind = i % 3, .axes = i % 2, .time_s = i % WORKS, .bytes = i % WORKS / 2};
        cr_assert_eq(ar_graph_work(graph, &work), i % WORKS);
    }
    cr_assert_eq(graph->works_count, WORKS);
}

Test(graph, a_work_is_found_after_it_was_timed)
{
    struct ar_work work = {.kind = AR_TASK_COLLECTIVE, .time_s = AR_GRAPH_UNTIMED, .bytes = 8};
    cr_assert_eq(ar_graph_work(graph, &work), 0);
    graph->works[0].time_s = work.time_s = 2;
    graph->works[0].to = work.to = 1;
    cr_assert_eq(ar_graph_work(graph, &work), 0);
    work.to = 2;
    cr_assert_eq(ar_graph_work(graph, &work), 1);
}

Test(graph, streams_run_beside_each_other_until_one_needs_the_other)
{
    uint32_t first = compute(0, AR_STREAM_COMPUTE, 1, 2);
    uint32_t gather = sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 5);
    uint32_t second = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t third = compute(0, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, gather, first);
    ar_graph_need(graph, third, gather);
    TEST_OK(ar_graph_schedule(graph, &why));
    cr_assert_eq(graph->tasks[second].start_s, 2);
    cr_assert_eq(graph->tasks[third].start_s, 7);
}

Test(graph, a_need_may_be_added_later_than_what_needs_it)
{
    uint32_t receive = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t send = sent(1, 0, AR_STREAM_COMPUTE, AR_AXIS_PP, 4);
    ar_graph_need(graph, receive, send);
    TEST_OK(ar_graph_schedule(graph, &why));
    cr_assert_eq(graph->tasks[receive].end_s, 5);
}

Test(graph, tasks_that_wait_for_each_other_are_refused)
{
    uint32_t one = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t other = compute(1, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, one, other);
    ar_graph_need(graph, other, one);
    TEST_FAILS(AR_BAD_DATA,
               "task graph: task 0 (forward of micro-batch 0, chunk 0, role 0) waits for itself; "
               "expected tasks without a circle",
               ar_graph_schedule(graph, &why));
}

Test(graph, a_wait_is_put_down_to_what_was_waited_for)
{
    struct ar_graph_split splits[2];
    compute(1, AR_STREAM_COMPUTE, 4, 1);
    uint32_t message = sent(1, 0, AR_STREAM_COMPUTE, AR_AXIS_PP, 2);
    uint32_t before = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t after = compute(0, AR_STREAM_COMPUTE, 3, 1);
    uint32_t sum = sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 10);
    ar_graph_need(graph, after, message);
    ar_graph_need(graph, sum, before);
    TEST_OK(ar_graph_schedule(graph, &why));
    ar_graph_split(graph, splits);
    cr_assert_eq(splits[0].duty_s[AR_DUTY_FORWARD], 4);
    cr_assert_eq(splits[0].bubble_s, 3, "from 1 to 4 the other role computes");
    cr_assert_eq(splits[0].axis_s[AR_AXIS_PP], 2, "its message is on the way");
    cr_assert_eq(splits[0].axis_s[AR_AXIS_DP], 2, "10 from 1 on, 9 to 11 beside nothing");
    cr_assert_eq(splits[1].axis_s[AR_AXIS_PP], 2);
    cr_assert_eq(splits[1].bubble_s, 5, "from 6 to the end at 11");
}

/* --- ranks that differ ------------------------------------------------------------------------ */

/* Collectives of a series take 1 s each, on all ranks at once when the last of them is ready. */
struct series_log {
    uint32_t series_count, tasks_count;
    double ready_s[8];
};

static enum ar_status time_series(void *context, const struct ar_graph_series *series,
                                  double *finish_s, struct ar_error *error)
{
    struct series_log *log = context;
    double now_s = 0;
    (void)error;
    for (uint32_t i = 0; i < series->count; i++) {
        double ready_s = series->start_s[1] + series->factor[1] * series->ready_s[i];
        struct ar_task *task = &graph->tasks[series->tasks[i]];
        log->ready_s[i] = series->ready_s[i];
        task->start_s = ready_s > now_s ? ready_s : now_s;
        task->end_s = now_s = task->start_s + 1;
    }
    log->series_count++;
    log->tasks_count += series->count;
    finish_s[0] = now_s - 0.5;
    finish_s[1] = now_s;
    return AR_OK;
}

static const double starts_s[] = {0, 1, 0, 0};
static const double factors[] = {1, 2, 1, 3};
static const uint32_t sizes[AR_AXES_COUNT] = {2, 1, 1, 1, 1, 2};

static void schedule_series(struct series_log *log, double *ends_s)
{
    const struct ar_graph_request request = {.ranks_count = 2,
                                             .sizes = sizes,
                                             .start_s = starts_s,
                                             .factor = factors,
                                             .end_s = ends_s,
                                             .time_series = time_series,
                                             .context = log};
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
}

Test(graph, collectives_that_wait_for_computations_alone_are_one_series)
{
    struct series_log log = {.series_count = 0};
    double ends_s[4];
    for (int i = 0; i < 3; i++) {
        uint32_t layer = compute(0, AR_STREAM_COMPUTE, 2, 1);
        ar_graph_need(graph, sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 1), layer);
    }
    uint32_t optimizer = compute(0, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, optimizer, graph->last[AR_STREAM_GRADIENTS]);
    schedule_series(&log, ends_s);
    cr_expect_eq(log.series_count, 1);
    cr_expect_eq(log.tasks_count, 3);
    cr_expect_eq(log.ready_s[2], 6);
    cr_expect_eq(graph->tasks[optimizer].start_s, 14, "ready on rank 1 at 1 + 2 * 6, then 1 s");
    cr_expect_eq(ends_s[0], 13.5 + 1, "rank 0 has it half a second earlier");
    cr_expect_eq(ends_s[1], 14 + 2);
}

Test(graph, what_is_waited_for_in_the_middle_ends_a_series)
{
    struct series_log log = {.series_count = 0};
    uint32_t first = sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 1);
    (void)sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 1);
    ar_graph_need(graph, compute(0, AR_STREAM_COMPUTE, 2, 1), first);
    schedule_series(&log, NULL);
    cr_expect_eq(log.series_count, 2);
}

Test(graph, groups_wait_for_their_last_rank_and_messages_go_rank_by_rank)
{
    double ends_s[4];
    static const uint32_t alone[AR_AXES_COUNT] = {2, 1, 2, 1, 1, 1};
    const struct ar_graph_request request = {
        .ranks_count = 2, .sizes = sizes, .factor = factors, .end_s = ends_s};
    compute(0, AR_STREAM_COMPUTE, 2, 1);
    uint32_t sum = sent(0, 0, AR_STREAM_COMPUTE, AR_AXIS_TP, 1);
    uint32_t message = sent(0, 1, AR_STREAM_COMPUTE, AR_AXIS_PP, 1);
    uint32_t other = compute(1, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, other, message);
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
    cr_expect_eq(graph->tasks[sum].end_s, 5, "rank 1 takes 4");
    cr_expect_eq(ends_s[0], 6);
    cr_expect_eq(ends_s[2], 7);
    cr_expect_eq(ends_s[3], 6 + 3, "the last rank takes three times as long");
    struct ar_graph_request others = request;
    others.sizes = alone; /* nobody else along tp */
    TEST_OK(ar_graph_schedule_with(graph, &others, &why));
    cr_expect_eq(ends_s[0], 2 + 1 + 1);
    cr_expect_eq(ends_s[2], 4 + 1);
}

/* Either ranks differ at random, or those that begin later are faster, so that each may be last. */
Test(graph, a_task_ends_when_the_last_of_many_ranks_has_ended_it)
{
    enum { RANKS = 997 };
    static double begins_s[2 * RANKS], slowness[2 * RANKS], ends_s[2 * RANKS];
    const struct ar_graph_request request = {
        .ranks_count = RANKS, .start_s = begins_s, .factor = slowness, .end_s = ends_s};
    for (uint32_t run = 0; run < 20; run++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            uint32_t other = run % 2 == 0 ? rank * 541 % RANKS : RANKS - rank * 631 % RANKS;
            begins_s[rank] = rank * 631 % RANKS;
            slowness[rank] = 1 + other / 1e3;
        }
        uint32_t task = compute(0, AR_STREAM_COMPUTE, 100, 1);
        TEST_OK(ar_graph_schedule_with(graph, &request, &why));
        cr_expect_eq(graph->tasks[task].end_s, ar_last_s(ends_s, RANKS));
    }
}

Test(graph, even_ranks_are_as_fast_as_the_one_that_stands_for_them)
{
    const struct ar_graph_request request = {.ranks_count = 2, .sizes = sizes};
    compute(0, AR_STREAM_COMPUTE, 2, 3);
    sent(0, 0, AR_STREAM_COMPUTE, AR_AXIS_TP, 1);
    uint32_t message = sent(0, 1, AR_STREAM_COMPUTE, AR_AXIS_PP, 1);
    ar_graph_need(graph, compute(1, AR_STREAM_COMPUTE, 4, 1), message);
    TEST_OK(ar_graph_schedule(graph, &why));
    double end_s = ar_graph_end_s(graph);
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
    cr_expect_eq(ar_graph_end_s(graph), end_s);
}

Test(graph, computations_beside_communication_take_longer)
{
    static const struct ar_interval busy[] = {{1, 3}};
    static const struct ar_slowdown slowdowns[] = {
        {.speed_frac = 0.5, .intervals = busy, .intervals_count = 1}, {.speed_frac = 1}};
    const struct ar_graph_request request = {.slowdowns = slowdowns};
    struct ar_graph_split splits[2];
    uint32_t first = compute(0, AR_STREAM_COMPUTE, 4, 1);
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
    cr_expect_eq(graph->tasks[first].end_s, 5, "1 s, 1 s of work in 2 s, 2 s");
    ar_graph_split(graph, splits);
    cr_expect_eq(splits[0].duty_s[AR_DUTY_FORWARD], 4);
    cr_expect_eq(splits[0].longer_s, 1);
}

Test(graph, what_is_sent_beside_what_else_is_sent_goes_as_fast_as_both_leave_each_other)
{
    static const struct ar_sending list[] = {
        {.begin_s = 0, .end_s = 2, .last_s = 2, .work = 1, .from = AR_STREAM_GRADIENTS}};
    static const struct ar_sendings sendings[] = {{list, 1}, {NULL, 0}};
    static const double of_first[] = {1, 0.5}, of_other[] = {0.5, 1};
    static const double *const speeds[] = {of_first, of_other};
    const struct ar_graph_request request = {.sendings = sendings, .speeds = speeds};
    uint32_t first = sent(0, 0, AR_STREAM_COMPUTE, AR_AXIS_TP, 3);
    uint32_t other = sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 2);
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
    cr_expect_eq(graph->tasks[first].end_s, 4, "1 s of work in 2 s, then 2 s");
    cr_expect_eq(graph->tasks[other].end_s, 2, "what is on the list is what it is itself");
}

/* The first list that the stream reads is longer than the second; behind that lies what is over. */
Test(graph, a_stream_shares_with_what_each_role_it_sends_to_has_on_its_list)
{
    enum { OTHERS = 2 * AR_STREAMS_COUNT + AR_STREAM_GRADIENTS };
    static const struct ar_sending over = {.end_s = 1, .last_s = 1, .from = OTHERS};
    const struct ar_sending list[] = {over, over, {.end_s = 9, .last_s = 9, .from = OTHERS}, over};
    const struct ar_sendings sendings[] = {{NULL, 0}, {list, 2}, {list + 2, 1}};
    static const double half[] = {0.5, 0.5}, *const speeds[] = {half, half};
    const struct ar_graph_request request = {.sendings = sendings, .speeds = speeds};
    graph = ar_graph_create(&arena, 3);
    sent(0, 1, AR_STREAM_MESSAGES, AR_AXIS_PP, 2);
    sent(0, 1, AR_STREAM_MESSAGES, AR_AXIS_PP, 2);
    uint32_t last = sent(0, 2, AR_STREAM_MESSAGES, AR_AXIS_PP, 1);
    TEST_OK(ar_graph_schedule_with(graph, &request, &why));
    cr_expect_eq(graph->tasks[last].end_s - graph->tasks[last].start_s, 2);
}
