#include <criterion/criterion.h>

#include "ar_graph.h"

static struct ar_graph *graph;
static struct ar_error err;

static void begin(void)
{
    graph = ar_graph_create(2);
}

static void end(void)
{
    ar_graph_destroy(graph);
}

TestSuite(graph, .init = begin, .fini = end);

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

Test(graph, tasks_of_a_stream_follow_each_other)
{
    compute(0, AR_STREAM_COMPUTE, 2, 3);
    uint32_t second = compute(0, AR_STREAM_COMPUTE, 1, 1);
    cr_assert_eq(ar_graph_schedule(graph, &err), AR_OK);
    cr_assert_eq(graph->tasks[second].start_s, 6);
    cr_assert_eq(ar_graph_end_s(graph), 7);
}

Test(graph, streams_run_beside_each_other_until_one_needs_the_other)
{
    uint32_t first = compute(0, AR_STREAM_COMPUTE, 2, 1);
    uint32_t gather = sent(0, 0, AR_STREAM_GRADIENTS, AR_AXIS_DP, 5);
    uint32_t second = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t third = compute(0, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, gather, first);
    ar_graph_need(graph, third, gather);
    cr_assert_eq(ar_graph_schedule(graph, &err), AR_OK);
    cr_assert_eq(graph->tasks[second].start_s, 2);
    cr_assert_eq(graph->tasks[third].start_s, 7);
}

Test(graph, a_need_may_be_added_later_than_what_needs_it)
{
    uint32_t receive = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t send = sent(1, 0, AR_STREAM_COMPUTE, AR_AXIS_PP, 4);
    ar_graph_need(graph, receive, send);
    cr_assert_eq(ar_graph_schedule(graph, &err), AR_OK);
    cr_assert_eq(graph->tasks[receive].end_s, 5);
}

Test(graph, tasks_that_wait_for_each_other_are_refused)
{
    uint32_t one = compute(0, AR_STREAM_COMPUTE, 1, 1);
    uint32_t other = compute(1, AR_STREAM_COMPUTE, 1, 1);
    ar_graph_need(graph, one, other);
    ar_graph_need(graph, other, one);
    cr_assert_eq(ar_graph_schedule(graph, &err), AR_BAD_DATA);
    cr_assert_str_eq(err.text, "task graph: task 0 (forward of micro-batch 0, chunk 0, role 0) "
                               "waits for itself; expected tasks without a circle");
}

Test(graph, equal_works_are_one)
{
    uint32_t one = sent(0, 0, AR_STREAM_COMPUTE, AR_AXIS_TP, 3);
    uint32_t other = sent(1, 1, AR_STREAM_COMPUTE, AR_AXIS_TP, 3);
    uint32_t third = sent(1, 1, AR_STREAM_COMPUTE, AR_AXIS_DP, 3);
    cr_assert_eq(graph->tasks[one].work, graph->tasks[other].work);
    cr_assert_neq(graph->tasks[one].work, graph->tasks[third].work);
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
    cr_assert_eq(ar_graph_schedule(graph, &err), AR_OK);
    ar_graph_split(graph, splits);
    cr_assert_eq(splits[0].duty_s[AR_DUTY_FORWARD], 4);
    cr_assert_eq(splits[0].bubble_s, 3, "from 1 to 4 the other role computes");
    cr_assert_eq(splits[0].axis_s[AR_AXIS_PP], 2, "its message is on the way");
    cr_assert_eq(splits[0].axis_s[AR_AXIS_DP], 2, "10 from 1 on, 9 to 11 beside nothing");
    cr_assert_eq(splits[1].axis_s[AR_AXIS_PP], 2);
    cr_assert_eq(splits[1].bubble_s, 5, "from 6 to the end at 11");
}
