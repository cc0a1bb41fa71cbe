#include "test_trials.h"
#include "test_outcome.h"

#include <math.h>

void trials_prepare(const struct ar_collective *collective, const struct ar_call *calls,
                    uint32_t calls_count, struct test_trial *test)
{
    cr_assert_leq(calls_count, TRIALS_CALLS);
    cr_assert_leq(ar_collective_ranks(collective), TRIALS_RANKS);
    memset(test, 0, sizeof *test);
    memcpy(test->calls, calls, calls_count * sizeof *calls);
    test->trial = (struct ar_trial){.collective = *collective,
                                    .calls = test->calls,
                                    .calls_count = calls_count,
                                    .times = test->times,
                                    .rank_finish_s = test->rank_finish_s};
}

void trials_scatter(double spread_s, struct test_trial *test)
{
    uint32_t state = 12345;
    for (uint32_t rank = 0; rank < ar_collective_ranks(&test->trial.collective); rank++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
        test->rank_start_s[rank] = spread_s * (state >> 8) / 16777216.0;
        test->rank_factor[rank] = 1 + 0.5 * (state >> 20) / 4096.0;
    }
    test->trial.rank_start_s = test->rank_start_s;
    test->trial.rank_factor = test->rank_factor;
}

void trials_run(const struct ar_collective *collective, const struct ar_engine *engine,
                const struct ar_call *calls, uint32_t calls_count, struct test_trial *test)
{
    trials_prepare(collective, calls, calls_count, test);
    TEST_OK(ar_trial_run(&test->trial, engine, &why));
    double last_s = 0;
    for (uint32_t rank = 0; rank < ar_collective_ranks(collective); rank++) {
        last_s = fmax(last_s, test->rank_finish_s[rank]);
    }
    cr_expect(ar_engine_times_calls(engine) || last_s == test->times[calls_count - 1].finish_s,
              "%s: the last rank ends at %.17g s", engine->name, last_s);
}

void trials_run_both(const struct ar_collective *collective, const struct ar_call *calls,
                     uint32_t calls_count, double spread_s, struct test_trial tests[2])
{
    const struct ar_engine *engines[2] = {&ar_engine_simgrid, &ar_engine_recurrence};
    for (int i = 0; i < 2; i++) {
        trials_prepare(collective, calls, calls_count, &tests[i]);
        if (spread_s > 0) {
            trials_scatter(spread_s, &tests[i]);
        }
        TEST_OK(ar_trial_run(&tests[i].trial, engines[i], &why));
    }
}

bool trials_compare(const struct ar_collective *collective, const struct ar_call *calls,
                    uint32_t calls_count, double spread_s, double tolerance)
{
    static struct test_trial tests[2];
    trials_run_both(collective, calls, calls_count, spread_s, tests);
    for (uint32_t i = 0; i < calls_count; i++) {
        double since_s = tolerance < 1e-3 ? 0 : calls[i].ready_s; /* estimates: the call alone */
        SUPPORT_NEAR(tests[1].times[i].finish_s - since_s, tests[0].times[i].finish_s - since_s,
                     tolerance, "%s, spread %g, call %u", support_name(collective), spread_s, i);
    }
    for (uint32_t i = 0; i < ar_collective_ranks(collective); i++) {
        SUPPORT_NEAR(tests[1].rank_finish_s[i], tests[0].rank_finish_s[i], tolerance, "%s, rank %u",
                     support_name(collective), i);
    }
    return tests[1].trial.exact;
}

const struct ar_engine *trials_next(const struct ar_engine *engine)
{
    size_t i = 0;
    while (engine != NULL && ar_engines[i++] != engine) {
    }
    while (i < ar_engines_count && ar_engine_times_calls(ar_engines[i])) {
        i++;
    }
    return i < ar_engines_count ? ar_engines[i] : NULL;
}

double trials_time(const struct ar_collective *collective, const struct ar_engine *engine,
                   uint64_t elements)
{
    static struct test_trial test;
    const struct ar_call call = {.ready_s = 0, .elements = elements};
    trials_run(collective, engine, &call, 1, &test);
    cr_assert_eq(test.times[0].start_s, 0);
    return test.times[0].finish_s;
}

double trials_simulate(const struct ar_collective *collective, uint64_t elements)
{
    return trials_time(collective, &ar_engine_simgrid, elements);
}

double trials_agree(const struct ar_collective *collective, uint64_t elements, double tolerance)
{
    double simulated_s = trials_simulate(collective, elements);
    SUPPORT_NEAR(trials_time(collective, &ar_engine_recurrence, elements), simulated_s, tolerance,
                 "%s, %lu elements", support_name(collective), (unsigned long)elements);
    return simulated_s;
}
