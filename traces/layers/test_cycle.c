/* Buckets that are negotiated in cycles, and a backward pass that is slowed down. */

#include <stdio.h>

#include "ar_workload.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */

/* Layers of one tensor each, whose gradients are there at 10, 12, 14, 16 and 18 s. */
enum { TENSORS = 5, TENSOR_BYTES = 4 * 100 };
static struct ar_layer layers[] = {
    {.name = "a", .backward_s = 2, .tensors_first = 0, .tensors_count = 1},
    {.name = "b", .backward_s = 2, .tensors_first = 1, .tensors_count = 1},
    {.name = "c", .backward_s = 2, .tensors_first = 2, .tensors_count = 1},
    {.name = "d", .backward_s = 2, .tensors_first = 3, .tensors_count = 1},
    {.name = "e", .forward_s = 8, .backward_s = 2, .tensors_first = 4, .tensors_count = 1},
};
static uint64_t tensors[] = {100, 100, 100, 100, 100};
static const struct ar_trace trace = {.name = "even",
                                      .batch = 1,
                                      .layers_count = TENSORS,
                                      .layers = layers,
                                      .tensors_count = TENSORS,
                                      .tensor_elements = tensors};

static struct ar_workload *make(const char *rule, struct ar_cycle cycle,
                                struct ar_slowdown slowdown)
{
    struct ar_fusion fusion;
    struct ar_workload *workload = NULL;
    TEST_OK(ar_fusion_parse("--bucket", rule, &fusion, &why));
    const struct ar_workload_request request = {.trace = &trace,
                                                .fusion = &fusion,
                                                .element_bytes = 4,
                                                .cycle = cycle,
                                                .slowdown = slowdown};
    TEST_OK(ar_workload_make(&request, &arena, &workload, &why));
    return workload;
}

/* `expected` has of each bucket when its last gradient is there, when it is sent, since the
 * negotiation has ended, and its tensors. */
static void expect_sent(const char *rule, struct ar_cycle cycle, const char *expected)
{
    struct ar_workload *workload = make(rule, cycle, (struct ar_slowdown){.speed_frac = 1});
    char text[128] = "";
    for (uint32_t i = 0; i < workload->buckets_count; i++) {
        const struct ar_bucket *found = &workload->buckets[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%g %g x%u", i > 0 ? ", " : "", found->ready_s,
                 found->ready_s + found->wait_s, found->tensors_count);
        cr_expect_eq(found->elements, 100 * found->tensors_count);
    }
    cr_expect_str_eq(text, expected, "%s, cycle %g: %s", rule, cycle.time_s, text);
    cr_expect_eq(workload->backward_end_s, 18);
}

#define CYCLE(...) ((struct ar_cycle){__VA_ARGS__})

Test(cycle, tensors_of_one_tick_are_fused_and_sent_when_they_are_negotiated)
{
    /* Without cycles nothing waits. */
    expect_sent("tensor", CYCLE(.phase_frac = 0.5, .negotiate_s = 3),
                "10 10 x1, 12 12 x1, 14 14 x1, 16 16 x1, 18 18 x1");
    expect_sent("one", CYCLE(.time_s = 0), "18 18 x5");
    /* Ticks at 0, 5, 10, 15, 20: a tensor that is ready at a tick takes part in it. */
    expect_sent("one", CYCLE(.time_s = 5), "10 10 x1, 14 15 x2, 18 20 x2");
    expect_sent("one", CYCLE(.time_s = 5, .negotiate_s = 0.25),
                "10 10.25 x1, 14 15.25 x2, 18 20.25 x2");
    /* A negotiation longer than the cycle sets the pace. Every 7 s from 1 s on: 1, 8, 15, 22. */
    expect_sent("one", CYCLE(.time_s = 2, .phase_frac = 0.5, .negotiate_s = 7),
                "14 22 x3, 18 29 x2");
}

Test(cycle, the_phase_shifts_the_ticks_so_that_a_tensor_just_before_one_makes_it)
{
    /* Ticks at 4, 14, 24. */
    expect_sent("one", CYCLE(.time_s = 10, .phase_frac = 0.4), "14 14 x3, 18 24 x2");
    /* At 3.9, 13.9 and 23.9 the tensor of 14 s is too late. */
    expect_sent("one", CYCLE(.time_s = 10, .phase_frac = 0.39), "12 13.9 x2, 18 23.9 x3");
    /* At 4.1 and 14.1 it is early enough. */
    expect_sent("one", CYCLE(.time_s = 10, .phase_frac = 0.41), "14 14.1 x3, 18 24.1 x2");
    /* The first tick comes after all of them. */
    expect_sent("one", CYCLE(.time_s = 40, .phase_frac = 1), "18 40 x5");
}

Test(cycle, the_threshold_splits_what_one_tick_fuses_and_does_not_join_two_ticks)
{
    expect_sent("800B", CYCLE(.time_s = 20), "12 20 x2, 16 20 x2, 18 20 x1");
    expect_sent("800B", CYCLE(.time_s = 5), "10 10 x1, 14 15 x2, 18 20 x2");
    expect_sent("tensor", CYCLE(.time_s = 20), "10 20 x1, 12 20 x1, 14 20 x1, 16 20 x1, 18 20 x1");
    /* A group waits for the tick after its last tensor and stays alone: d and e; a, b and c. */
    expect_sent("groups:2", CYCLE(.time_s = 5), "12 15 x2, 18 20 x3");
    expect_sent("groups:2", CYCLE(.time_s = 20), "12 20 x2, 18 20 x3");
}

/* The second tensor is ready at 12 s; where k cycles are 12 s, too, whatever 12 over a cycle is. */
Test(cycle, a_tensor_that_is_ready_on_a_tick_makes_it)
{
    for (int k = 1; k <= 2000; k++) {
        double time_s = 12.0 / k;
        if (k * time_s < 12) {
            continue;
        }
        struct ar_workload *workload = make("tensor", (struct ar_cycle){.time_s = time_s},
                                            (struct ar_slowdown){.speed_frac = 1});
        cr_expect_float_eq(workload->buckets[1].wait_s, 0, 1e-9, "%d cycles: %g s", k,
                           workload->buckets[1].wait_s);
    }
}

Test(cycle, ticks_that_do_not_divide_well_keep_their_order)
{
    for (int i = 1; i <= 400; i++) {
        struct ar_cycle cycle = {.time_s = 0.01 * i, .phase_frac = 0.3, .negotiate_s = 1e-3};
        struct ar_workload *workload = make("one", cycle, (struct ar_slowdown){.speed_frac = 1});
        double before_s = 0;
        uint32_t count = 0;
        AR_EACH(const struct ar_bucket, bucket, workload->buckets, workload->buckets_count) {
            cr_expect_geq(bucket->wait_s, cycle.negotiate_s * (1 - 1e-9));
            cr_expect_leq(bucket->wait_s, cycle.time_s + cycle.negotiate_s + 1e-9);
            cr_expect_gt(bucket->ready_s + bucket->wait_s, before_s);
            before_s = bucket->ready_s + bucket->wait_s;
            count += bucket->tensors_count;
        }
        cr_expect_eq(count, TENSORS);
    }
}

/* --- slowdown ------------------------------------------------------------------------------ */

static void expect_ready(struct ar_slowdown slowdown, const double *ready_s)
{
    struct ar_workload *workload = make("tensor", (struct ar_cycle){.time_s = 0}, slowdown);
    for (uint32_t i = 0; i < TENSORS; i++) {
        cr_expect_float_eq(workload->buckets[i].ready_s, ready_s[i], 1e-12, "tensor %u: %g s", i,
                           workload->buckets[i].ready_s);
    }
    cr_expect_float_eq(workload->backward_end_s, ready_s[TENSORS - 1], 1e-12);
    cr_expect_float_eq(workload->stretch_s, ready_s[TENSORS - 1] - 18, 1e-12);
}

Test(cycle, the_backward_pass_is_slower_in_the_intervals_and_as_fast_as_ever_between_them)
{
    const struct ar_interval one[] = {{11, 15}};
    const double half[] = {10, 13, 16, 18, 20}; /* 4 s at half speed cost 2 s */
    expect_ready((struct ar_slowdown){0.5, one, 1}, half);
    const struct ar_interval early[] = {{0, 9}, {9, 9.5}}; /* from 8 to 9.5 s */
    const double soon[] = {10.75, 12.75, 14.75, 16.75, 18.75};
    expect_ready((struct ar_slowdown){0.5, early, 2}, soon);
    const struct ar_interval overlapping[] = {{11, 14}, {13, 15}};
    expect_ready((struct ar_slowdown){0.5, overlapping, 2}, half);
    const struct ar_interval endless[] = {{0, 1e9}};
    const double slow[] = {8 + 2.5, 8 + 5, 8 + 7.5, 8 + 10, 8 + 12.5};
    expect_ready((struct ar_slowdown){0.8, endless, 1}, slow);
    const struct ar_interval late[] = {{18, 20}, {30, 40}};
    const double even[] = {10, 12, 14, 16, 18};
    expect_ready((struct ar_slowdown){0.5, late, 2}, even);
    expect_ready((struct ar_slowdown){1, one, 1}, even);
}
