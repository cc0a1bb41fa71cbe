#include "test_trials.h"

#include <criterion/criterion.h>
#include <string.h>

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
    struct ar_error err = {.text = ""};
    trials_prepare(collective, calls, calls_count, test);
    enum ar_status status = ar_trial_run(&test->trial, engine, &err);
    cr_assert(status == AR_OK, "%s", err.text);
}

void trials_run_both(const struct ar_collective *collective, const uint64_t *counts,
                     uint32_t counts_count, double period_s, double spread_s,
                     struct test_trial tests[2])
{
    const struct ar_engine *engines[2] = {&ar_engine_simgrid, &ar_engine_recurrence};
    struct ar_error err = {.text = ""};
    struct ar_call calls[TRIALS_CALLS];
    cr_assert_leq(counts_count, TRIALS_CALLS);
    for (uint32_t i = 0; i < counts_count; i++) {
        calls[i] = (struct ar_call){.ready_s = period_s * i, .elements = counts[i]};
    }
    for (int i = 0; i < 2; i++) {
        trials_prepare(collective, calls, counts_count, &tests[i]);
        if (spread_s > 0) {
            trials_scatter(spread_s, &tests[i]);
        }
        cr_assert(ar_trial_run(&tests[i].trial, engines[i], &err) == AR_OK, "%s", err.text);
    }
}

double trials_time(const struct ar_collective *collective, const struct ar_engine *engine,
                   uint64_t elements)
{
    static struct test_trial test;
    const struct ar_call job = {.ready_s = 0, .elements = elements};
    trials_run(collective, engine, &job, 1, &test);
    cr_assert_eq(test.times[0].start_s, 0);
    return test.times[0].finish_s;
}

double trials_simulate(const struct ar_collective *collective, uint64_t elements)
{
    return trials_time(collective, &ar_engine_simgrid, elements);
}
