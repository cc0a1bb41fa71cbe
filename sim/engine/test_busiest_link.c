/* No engine is faster than the busiest link of an all-reduce, nor than that of a stream of them. */
#include "test_outcome.h"
#include "test_trials.h"

static const struct ar_engine *const engines[] = {&ar_engine_recurrence, &ar_engine_closed};

static void expect_slower(const struct ar_collective *collective)
{
    static struct test_trial test;
    const uint64_t elements[] = {25557032, 10000000, 3001};
    double least_s[3], all_s = support_busiest_s(collective, elements, 3) * (1 - 1e-9);
    struct ar_call calls[3];
    for (size_t i = 0; i < 3; i++) {
        calls[i] = (struct ar_call){.elements = elements[i]};
        least_s[i] = support_busiest_s(collective, &elements[i], 1) * (1 - 1e-9);
    }
    for (size_t e = 0; e < 2; e++) {
        const char *name = engines[e]->name;
        for (size_t i = 0; i < 3; i++) {
            double time_s = trials_time(collective, engines[e], elements[i]);
            cr_expect_geq(time_s, least_s[i], "%s: %s, %lu elements: %.9g s, not %.9g s", name,
                          support_name(collective), (unsigned long)elements[i], time_s, least_s[i]);
        }
        trials_prepare(collective, calls, 3, &test);
        trials_scatter(2e-4, &test);
        TEST_OK(ar_trial_run(&test.trial, engines[e], &why));
        cr_expect_geq(test.times[2].finish_s - test.times[0].start_s, all_s, "%s: %s", name,
                      support_name(collective));
    }
}

Test(busiest_link, is_what_the_recurrence_and_the_closed_form_wait_for)
{
    static const char *const machines[] = {"abci-v100", "dgx1-v100", "dgx2-v100"};
    for (size_t i = 0; i < ar_algorithms_count * 3; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(machines[i % 3], NULL);
        for (uint32_t x = 1; x <= 64; x *= 2 * AR_TEST_STRIDE) {
            struct ar_collective collective =
                support_collective_of(cluster, ar_algorithms[i / 3], x, 64 / x);
            collective.element_bytes = 2;
            for (collective.channels = 2; collective.channels <= 8; collective.channels *= 2) {
                if (ar_collective_check(&collective, AR_IGNORED) == AR_OK) {
                    expect_slower(&collective);
                }
            }
        }
    }
}
