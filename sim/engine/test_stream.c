/* Several all-reduces on one stream, and what an engine reports about itself. */

#include "test_outcome.h"
#include "test_trials.h"

static struct test_trial test;

Test(stream, a_call_starts_when_it_is_ready_and_the_one_before_has_finished)
{
    /* The first takes 0.84 ms: the second must wait, the third finds the stream idle. */
    static const struct ar_call calls[] = {{.ready_s = 1e-3, .elements = 4000000},
                                           {.ready_s = 1.1e-3, .elements = 400},
                                           {.ready_s = 1.0, .elements = 400},
                                           {.ready_s = 1.0, .elements = 400}};
    struct ar_collective ring = support_on("flat", "ring", 8, 1);
    TRIALS_EACH(engine)
    {
        trials_run(&ring, engine, calls, 4, &test);
        const struct ar_call_time *times = test.times;
        double small_s = trials_time(&ring, engine, 400);
        cr_expect_eq(times[0].start_s, 1e-3);
        cr_expect_gt(times[0].finish_s, calls[1].ready_s);
        SUPPORT_NEAR(times[1].start_s, times[0].finish_s, 1e-9);
        cr_expect_eq(times[2].start_s, 1.0, "idle until the call is ready");
        SUPPORT_NEAR(times[3].start_s, times[2].finish_s, 1e-9);
        for (int call = 1; call < 4; call++) {
            SUPPORT_NEAR(times[call].finish_s - times[call].start_s, small_s, 1e-6, "%s: call %d",
                         engine->name, call);
        }
    }
}

/* When the first rank has finished the first `calls_count` calls on all its channels. */
static double first_free_s(const struct ar_collective *collective, const struct ar_call *calls,
                           uint32_t calls_count)
{
    trials_run(collective, &ar_engine_simgrid, calls, calls_count, &test);
    double free_s = test.rank_finish_s[0];
    for (uint32_t rank = 1; rank < ar_shape_ranks(&collective->shape); rank++) {
        free_s = test.rank_finish_s[rank] < free_s ? test.rank_finish_s[rank] : free_s;
    }
    return free_s;
}

/* On abci the ranks and channels of a ring finish at different times. */
Test(stream, the_first_rank_that_is_free_on_all_channels_starts_the_next_job)
{
    static const struct ar_call calls[] = {{.ready_s = 0, .elements = 100000},
                                           {.ready_s = 0, .elements = 3000},
                                           {.ready_s = 0, .elements = 500000}};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective ring = support_collective(abci, "ring", 19, 1);
    for (ring.channels = 1; ring.channels <= 3; ring.channels++) {
        double second_s = first_free_s(&ring, calls, 1);
        double third_s = first_free_s(&ring, calls, 2);
        trials_run(&ring, &ar_engine_simgrid, calls, 3, &test);
        SUPPORT_NEAR(test.times[1].start_s, second_s, 1e-9);
        SUPPORT_NEAR(test.times[2].start_s, third_s, 1e-9);
        cr_expect_lt(test.times[1].start_s, test.times[0].finish_s, "others are still busy");
        cr_expect_gt(test.times[2].finish_s, test.times[1].finish_s);
    }
}

Test(stream, the_finish_of_the_ranks_need_not_be_asked_for)
{
    static const struct ar_call calls[] = {{.ready_s = 0, .elements = 4096},
                                           {.ready_s = 0, .elements = 4096}};
    struct ar_collective torus = support_on("abci-v100", "torus2d", 4, 3);
    TRIALS_EACH(engine)
    {
        static struct test_trial without;
        trials_run(&torus, engine, calls, 2, &test);
        trials_prepare(&torus, calls, 2, &without);
        without.trial.rank_finish_s = NULL;
        TEST_OK(ar_trial_run(&without.trial, engine, &why));
        cr_expect_eq(memcmp(test.times, without.times, sizeof test.times), 0);
    }
}

Test(stream, a_result_says_which_engine_made_it_with_which_options_and_whether_it_is_exact)
{
    static const struct ar_call calls[] = {{.ready_s = 0, .elements = 1600},
                                           {.ready_s = 0, .elements = 1600}};
    struct ar_collective ring = support_on("abci-v100", "ring", 8, 1);
    trials_run(&ring, &ar_engine_simgrid, calls, 2, &test);
    cr_expect_not_null(strstr(test.trial.options, "simgrid "));
    cr_expect_not_null(strstr(test.trial.options, "network/model:CM02"), "%s", test.trial.options);
    cr_expect_not_null(strstr(test.trial.options, "network/crosstraffic:0"));
    cr_expect_not_null(strstr(test.trial.options, "network/TCP-gamma:0"));
    cr_expect(test.trial.exact);
    cr_expect_eq(test.trial.messages_count, 2 * 8 * 14);
    trials_run(&ring, &ar_engine_closed, calls, 2, &test);
    cr_expect_str_eq(test.trial.options, "closed approximate");
    cr_expect_str_eq(test.trial.note, "the hops of a phase differ");
    cr_expect(!test.trial.exact);
    cr_expect_eq(test.trial.messages_count, 2 * 8 * 14);
}

/* The order of a sweep and its estimates rest on these orders of magnitude, found by hand. */
Test(engines, estimates_of_time_are_those_that_were_measured)
{
    double larger_s = ar_engine_cost_s(&ar_engine_simgrid, 2560, 2, 1, 1e6, false);
    SUPPORT_NEAR(larger_s, 25e-3 + 4 * 3.0 + 5120 * 30e-6, 1e-9);
    double steady_s = ar_engine_cost_s(&ar_engine_recurrence, 1024, 2, 1, 1e8, true);
    double jittery_s = ar_engine_cost_s(&ar_engine_recurrence, 1024, 2, 1, 1e8, false);
    cr_expect(steady_s < 4e-3 && jittery_s > 0.1, "%g s, %g s", steady_s, jittery_s);
    for (size_t i = 0; i < ar_engines_count; i++) {
        double time_s = ar_engine_cost_s(ar_engines[i], 16, 1, 1, 0, true);
        cr_expect(time_s > 1e-5 && time_s < 0.1, "%s: %g s", ar_engines[i]->name, time_s);
    }
}
