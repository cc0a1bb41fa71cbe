/* The engines beside each other and beside the textbook. */
#include <criterion/criterion.h>

#include "test_trials.h"

/* --- the textbook ---------------------------------------------------------------------------- */

/* 4 nodes of 4 GPUs: hops of 3.4, 3.4, 3.4, 9.6 us in turn, 30 steps; 8-byte messages. */
Test(engines, a_ring_of_16_pays_the_sum_of_its_hops_or_with_window_1_the_slowest_each_time)
{
    struct ar_collective ring = support_on("abci-v100", "ring", 16, 1);
    for (uint32_t window = 1; window <= 8; window++) {
        ring.window = window;
        double expected_s = window == 1 ? 288e-6 : 151.6e-6;
        TRIALS_EACH(engine)
        {
            SUPPORT_NEAR(trials_time(&ring, engine, 32) - 8.4e-6, expected_s, 1e-4, "%s, window %u",
                         engine->name, window);
        }
    }
}

/* --- where it is not exact ------------------------------------------------------------------- */

/* Every shape of a number of ranks, with two channels. */
static void expect_near_on_abci(const char *name, uint32_t ranks, uint64_t elements, double min,
                                double max)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t x = 1; x <= ranks; x += AR_TEST_STRIDE) {
        struct ar_collective collective = support_collective(abci, name, x, ranks / x);
        struct ar_error refused;
        if (ranks % x != 0 || ar_collective_check(&collective, &refused) != AR_OK) {
            continue;
        }
        collective.channels = 2;
        double simulated_s = trials_simulate(&collective, elements);
        double closed_s = support_closed(&collective, elements).time_s;
        cr_expect(closed_s > min * simulated_s && closed_s < max * simulated_s,
                  "%s: simulated %.9g s, closed %.9g s", support_name(&collective), simulated_s,
                  closed_s);
    }
}

Test(engines, on_abci_the_closed_form_stays_near_simgrid_where_hops_differ,
     .disabled = AR_TEST_STRIDE > 1)
{
    for (uint64_t elements = 250000; elements < 13000000; elements *= 51) {
        expect_near_on_abci("ring", 32, elements, 0.99, 1.01);
        expect_near_on_abci("torus2d", 32, elements, 0.85, 1.15);
        expect_near_on_abci("hierarchical", 32, elements, 0.95, 1.2);
        expect_near_on_abci("torus2d", 64, elements, 0.85, 1.15);
    }
}
