/* Calls that are copied in and out on the communication stream, and calls that wait. */

#include "ar_library_table.h"
#include "test_outcome.h"
#include "test_trials.h"

static struct test_trial plain;
static struct test_trial test;

static const struct ar_call calls[] = {
    {.ready_s = 0, .elements = 400000, .copy_s = 3e-4},
    {.ready_s = 1e-4, .elements = 1000, .copy_s = 0},
    {.ready_s = 2e-4, .elements = 70001, .wait_s = 1e-3, .copy_s = 5e-4},
    {.ready_s = 1, .elements = 70001, .wait_s = 0.25, .copy_s = 1e-3},
};

enum { JOBS = sizeof calls / sizeof calls[0] };

static void expect_copies(const struct ar_collective *collective, const struct ar_engine *engine)
{
    double free_s = 0;
    trials_run(collective, engine, calls, JOBS, &test);
    for (uint32_t i = 0; i < JOBS; i++) {
        double ready_s = calls[i].ready_s + calls[i].wait_s;
        double start_s = ready_s > free_s ? ready_s : free_s;
        /* The call without copies and waits. */
        const struct ar_call call = {.ready_s = start_s, .elements = calls[i].elements};
        trials_run(collective, engine, &call, 1, &plain);
        double time_s = plain.times[0].finish_s - plain.times[0].start_s;
        const struct ar_call_time *time = &test.times[i];
        SUPPORT_NEAR(time->start_s, start_s, 1e-9, "%s: call %u", engine->name, i);
        SUPPORT_NEAR(time->finish_s, start_s + calls[i].copy_s + time_s, 1e-9, "%u", i);
        free_s = time->finish_s;
    }
}

/* On flat all ranks are alike, and each call takes as long as alone. */
Test(copies, lengthen_their_call_by_their_time_and_delay_the_next_in_every_engine)
{
    struct ar_collective ring = support_on("flat", "ring", 8, 1);
    TRIALS_EACH(engine)
    {
        expect_copies(&ring, engine);
        cr_expect(test.trial.exact, "%s", engine->name);
    }
}

Test(copies, are_paid_by_the_engine_of_measured_times_too)
{
    static struct ar_library_table table;
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    TEST_OK(ar_library_table_read(AR_TEST_SOURCE_DIR
                                  "/topologies/machines/abci-v100-nccl2.8.library.csv",
                                  &arena, &table, &why));
    struct ar_collective collective = support_on("abci-v100", "ring", 16, 1);
    trials_prepare(&collective, calls, JOBS, &plain);
    trials_prepare(&collective, calls, JOBS, &test);
    for (uint32_t i = 0; i < JOBS; i++) {
        plain.calls[i].copy_s = 0;
    }
    plain.trial.library = test.trial.library = &table.library;
    TEST_OK(ar_trial_run(&plain.trial, &ar_engine_library, &why));
    TEST_OK(ar_trial_run(&test.trial, &ar_engine_library, &why));
    for (uint32_t i = 0; i < JOBS; i++) {
        double plain_s = plain.times[i].finish_s - plain.times[i].start_s;
        cr_expect_float_eq(test.times[i].finish_s - test.times[i].start_s,
                           plain_s + calls[i].copy_s, 1e-12, "call %u", i);
    }
}

/* A wait is no compute: a slow rank has its gradients late, but does not wait for longer. */
Test(copies, and_waits_are_not_stretched_by_a_slow_rank)
{
    struct ar_collective ring = support_on("flat", "ring", 4, 1);
    trials_prepare(&ring, calls, JOBS, &test);
    trials_scatter(1e-3, &test);
    for (uint32_t rank = 0; rank < 4; rank++) {
        cr_expect_float_eq(ar_trial_ready(&test.trial, 3, rank),
                           test.rank_start_s[rank] + test.rank_factor[rank] + 0.25, 1e-12);
    }
}

Test(copies, of_ranks_that_differ_end_when_they_do_in_the_simulation)
{
    struct ar_collective ring = support_on("flat", "ring", 16, 1);
    cr_expect(trials_compare(&ring, calls, JOBS, 2e-3, 1e-6));
    ring.window = 1;
    cr_expect(trials_compare(&ring, calls, JOBS, 2e-3, 1e-6));
    ring = support_on("abci-v100", "ring", 16, 1);
    ring.channels = 2;
    cr_expect(trials_compare(&ring, calls, JOBS, 2e-3, 1e-6));
}
