/* Timelines of ranks that compute at different speeds and start at different times. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../predict/test_job.h"
#include "ar_trial.h"
#include "exports.h"
#include "test_support.h"

TestSuite(timeline_ranks);

enum { RANKS = 4, CHANNELS = 2, JOBS_MAX = 8 };

static const double starts_s[RANKS] = {0, 1e-3, 0, 2e-3};
static const double factors[RANKS] = {1, 1, 1.5, 1.25};
static double finishes_s[RANKS];

/* A slice of a rank by name: begin and end in microseconds. */
static void find_slice(const json_t *events, uint32_t rank, const char *name, double us[2])
{
    size_t index;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        if (json_integer_value(json_object_get(event, "pid")) == rank + 1 &&
            strcmp(json_string_value(json_object_get(event, "name")), name) == 0) {
            us[0] = json_number_value(json_object_get(event, "ts"));
            us[1] = us[0] + json_number_value(json_object_get(event, "dur"));
            return;
        }
    }
    cr_assert_fail("rank %u has no slice %s", rank, name);
}

static void run_ring(struct tested *step, struct ar_call *calls, struct ar_call_time *times)
{
    struct ar_error err = {.text = ""};
    for (uint32_t i = 0; i < step->timing.workload->buckets_count; i++) {
        calls[i] = (struct ar_call){.ready_s = step->timing.workload->buckets[i].ready_s,
                                    .elements = step->timing.workload->buckets[i].elements};
    }
    step->timing.trial = (struct ar_trial){.collective = step->job.collective,
                                           .calls = calls,
                                           .calls_count = step->timing.workload->buckets_count,
                                           .rank_start_s = starts_s,
                                           .rank_factor = factors,
                                           .rank_finish_s = finishes_s,
                                           .times = times,
                                           .timeline = step->job.timeline};
    cr_assert(ar_trial_run(&step->timing.trial, &ar_engine_recurrence, &err) == AR_OK, "%s",
              err.text);
}

static void expect_stretched(const struct tested *step, const json_t *events)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        double start_us = starts_s[rank] * 1e6;
        double us[2];
        find_slice(events, rank, "forward", us);
        cr_expect_float_eq(us[0], start_us, 1e-3);
        cr_expect_float_eq(
            us[1], start_us + factors[rank] * step->timing.workload->forward_end_s * 1e6, 2e-3);
        find_slice(events, rank, "backward", us);
        cr_expect_float_eq(
            us[1], start_us + factors[rank] * step->timing.workload->backward_end_s * 1e6, 2e-3);
        /* Each begins the optimizer when it has the sum, and runs it at its own speed. */
        find_slice(events, rank, "optimizer", us);
        cr_expect_float_eq(us[0], finishes_s[rank] * 1e6, 2e-3);
        cr_expect_float_eq(us[1] - us[0], factors[rank] * step->job.trace->optimizer_s * 1e6, 2e-3);
    }
}

Test(timeline_ranks, stretch_with_the_compute_of_the_rank)
{
    static const uint32_t shown[RANKS] = {0, 1, 2, 3};
    static double marks_s[JOBS_MAX * RANKS * CHANNELS * AR_MARKS_COUNT];
    struct ar_timeline timeline = {shown, RANKS, marks_s};
    struct ar_call calls[JOBS_MAX];
    struct ar_call_time times[JOBS_MAX];
    struct ar_error err;
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_workload *workload;
    struct ar_trace *trace = support_resnet50(32, AR_FP16);
    struct tested step = {.job = {.kind = &ar_kind_trace,
                                  .collective = support_collective(abci, "ring", RANKS, 1),
                                  .trace = trace,
                                  .timeline = &timeline}};
    step.job.collective.channels = CHANNELS;
    cr_assert_eq(ar_fusion_parse("--bucket", "ddp", &step.job.fusion, &err), AR_OK);
    cr_assert_eq(ar_workload_make(&(struct ar_workload_request){.trace = trace,
                                                                .fusion = &step.job.fusion,
                                                                .element_bytes = 2},
                                  &step.arena, &workload, &err),
                 AR_OK);
    step.timing.workload = workload;
    step.timing.job = &step.job;
    cr_assert_leq(step.timing.workload->buckets_count, (uint32_t)JOBS_MAX);
    run_ring(&step, calls, times);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct ar_row row;
    ar_row_clear(&row);
    timeline_write_trace(file, &step.timing, &row, "a test");
    cr_assert_eq(fclose(file), 0);
    json_t *root = json_loads(text, 0, NULL);
    cr_assert_not_null(root);
    expect_stretched(&step, json_object_get(root, "traceEvents"));
    json_decref(root);
    free(text);
    tested_end(&step);
}
