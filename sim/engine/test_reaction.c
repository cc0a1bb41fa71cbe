/* Properties of times: what changes them and what does not. That simulations react to every
 * parameter, and scale with their units, is held by test_laws.c: rows that equal them do. */
#include <string.h>

#include "test_trials.h"

/* Time of a large ring in a node of abci-v100 with one setting changed; NULL changes none. */
static double time_with(const char *setting)
{
    struct ar_cluster *abci = support_cluster("abci-v100", setting);
    struct ar_collective ring = support_collective(abci, "ring", 4, 1);
    return trials_simulate(&ring, 10000000);
}

Test(reaction, what_a_collective_does_not_use_does_not_change_its_time,
     .disabled = AR_TEST_STRIDE > 1)
{
    double before_s = time_with(NULL);
    cr_expect_eq(time_with("hca.bandwidth=1GB/s"), before_s);
    cr_expect_eq(time_with("net.latency=1s"), before_s);
    cr_expect_eq(time_with("pcie.bandwidth=11GB/s"), before_s);
    cr_expect_eq(time_with("nodes=7"), before_s);
}

Test(reaction, a_torus_of_one_row_or_one_column_takes_as_long_as_the_ring,
     .disabled = AR_TEST_STRIDE > 1)
{
    static const uint32_t ranks[] = {2, 4, 9, 16, 22};
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += AR_TEST_STRIDE) {
        for (uint64_t elements = 5; elements < 5000000; elements = elements * 900 + 1) {
            struct ar_collective ring = support_collective(abci, "ring", ranks[i], 1);
            struct ar_collective row = support_collective(abci, "torus2d", ranks[i], 1);
            struct ar_collective column = support_collective(abci, "torus2d", 1, ranks[i]);
            double ring_s = trials_simulate(&ring, elements);
            SUPPORT_NEAR(trials_simulate(&row, elements), ring_s, 1e-12);
            SUPPORT_NEAR(trials_simulate(&column, elements), ring_s, 1e-12);
        }
    }
}

static void expect_identical(const struct ar_engine *engine, const struct ar_collective *collective)
{
    static struct test_trial first;
    static struct test_trial second;
    static const struct ar_call calls[] = {{.ready_s = 0, .elements = 123457},
                                           {.ready_s = 1e-5, .elements = 7},
                                           {.ready_s = 2e-3, .elements = 4000000}};
    trials_run(collective, engine, calls, 3, &first);
    trials_run(collective, engine, calls, 3, &second);
    cr_expect_eq(memcmp(first.times, second.times, sizeof first.times), 0);
    cr_expect_eq(memcmp(first.rank_finish_s, second.rank_finish_s, sizeof first.rank_finish_s), 0);
    cr_expect_eq(first.trial.messages_count, second.trial.messages_count);
    cr_expect_str_eq(first.trial.options, second.trial.options);
}

Test(reaction, the_same_trial_twice_is_identical_to_the_last_bit)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    TRIALS_EACH(engine)
    {
        struct ar_collective torus = support_collective(abci, "torus2d", 6, 6);
        torus.channels = 2;
        expect_identical(engine, &torus);
        struct ar_collective ring = support_collective(abci, "ring", 38, 1);
        expect_identical(engine, &ring);
    }
}
