/* Simulations that leave out the steps in which rings are steady, beside those of all steps; and
 * simulations that keep the memory that SimGrid drops, beside those that hand it back. */
#include "simgrid_wait.h"
#include "test_outcome.h"
#include "test_trials.h"

struct row {
    const char *cluster;
    uint32_t gpus, channels, window;
};

/* Returns how many of the steps of a ring are left out, if it ends when all of its steps do. */
static uint64_t compare(const struct row *row)
{
    static struct test_trial all, some;
    const struct ar_call call = {.elements = row->gpus * 9983 + 55};
    struct ar_collective ring = support_on(row->cluster, "ring", row->gpus, 1);
    ring.channels = row->channels;
    ring.window = row->window;
    trials_prepare(&ring, &call, 1, &all);
    all.trial.simulates_all = true;
    TEST_OK(ar_trial_run(&all.trial, &ar_engine_simgrid, &why));
    trials_run(&ring, &ar_engine_simgrid, &call, 1, &some);
    SUPPORT_NEAR(some.times[0].finish_s, all.times[0].finish_s, 1e-6, "%s", support_name(&ring));
    /* Ends are swapped; messages have 9,983 elements or one more. */
    for (uint32_t i = 0; i < row->gpus; i++) {
        SUPPORT_NEAR(some.rank_finish_s[i], all.rank_finish_s[i], 1e-4, "rank %u", i);
    }
    cr_expect_eq(all.trial.steps_left_out, 0);
    return some.trial.steps_left_out;
}

/* Rings of fewer messages are not watched. */
Test(rings_left_out, end_when_rings_of_all_steps_do)
{
    static const struct row rows[] = {{"flat", 225, 1, 8},
                                      {"flat", 225, 1, 1},
                                      {"abci-v100", 160, 2, 8},
                                      {"dgx-h100", 232, 1, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i += AR_TEST_STRIDE) {
        cr_expect_gt(compare(&rows[i]), 3 * rows[i].gpus / 2);
    }
}

Test(blocks, that_are_kept_for_the_next_objects_change_no_time)
{
    static const struct ar_call calls[] = TRIALS_CALLS_OF_PARTS;
    static struct test_trial tests[2];
    struct ar_collective torus = support_on("abci-v100", "torus2d", 8, 8);
    trials_run(&torus, &ar_engine_simgrid, calls, TRIALS_PARTS, &tests[0]);
    simgrid_keeps_blocks = false;
    trials_run(&torus, &ar_engine_simgrid, calls, TRIALS_PARTS, &tests[1]);
    cr_expect_eq(memcmp(tests[0].times, tests[1].times, sizeof tests[0].times), 0);
    size_t size = sizeof tests[0].rank_finish_s;
    cr_expect_eq(memcmp(tests[0].rank_finish_s, tests[1].rank_finish_s, size), 0);
}
