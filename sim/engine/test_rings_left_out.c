/* Simulations that leave out the steps in which rings are steady, beside those of all steps. */

#include "test_outcome.h"
#include "test_trials.h"

enum { GPUS = 256 };

/* Returns how many of the steps of a ring are left out, if it ends when all of its steps do. */
static uint64_t compare(const char *cluster, uint32_t channels, uint32_t window)
{
    static struct test_trial all, some;
    const struct ar_call call = {.elements = 2555703};
    struct ar_collective ring = support_collective(support_cluster(cluster, NULL), "ring", GPUS, 1);
    ring.channels = channels;
    ring.window = window;
    trials_prepare(&ring, &call, 1, &all);
    all.trial.simulates_all = true;
    TEST_OK(ar_trial_run(&all.trial, &ar_engine_simgrid, &why));
    trials_run(&ring, &ar_engine_simgrid, &call, 1, &some);
    SUPPORT_NEAR(some.times[0].finish_s, all.times[0].finish_s, 1e-6, "%s, window %u", cluster,
                 window);
    for (uint32_t i = 0; i < GPUS;
         i++) { /* ends are swapped; messages have 9,983 elements or one more */
        SUPPORT_NEAR(some.rank_finish_s[i], all.rank_finish_s[i], 1e-4, "rank %u", i);
    }
    cr_expect_eq(all.trial.steps_left_out, 0);
    return some.trial.steps_left_out;
}

Test(rings_left_out, end_when_rings_of_all_steps_do)
{
    static const struct {
        const char *cluster;
        uint32_t channels, window;
    } cases[] = {{"flat", 1, 8}, {"flat", 1, 1}, {"abci-v100", 2, 8}, {"dgx-h100", 1, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += AR_TEST_STRIDE) {
        cr_expect_gt(compare(cases[i].cluster, cases[i].channels, cases[i].window), 3 * GPUS / 2);
    }
}
