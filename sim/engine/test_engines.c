/* The engines beside each other and beside the textbook. */

#include "test_trials.h"

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

/* Where hops differ it is an estimate. */
Test(engines, on_abci_the_closed_form_stays_near_simgrid, .disabled = AR_TEST_STRIDE > 1)
{
    static const struct {
        const char *algorithm;
        uint32_t x, y;
        double near;
    } cases[] = {{"ring", 32, 1, 0.01},
                 {"torus2d", 4, 8, 0.15},
                 {"torus2d", 16, 4, 0.15},
                 {"hierarchical", 8, 4, 0.2}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct ar_collective collective =
            support_on("abci-v100", cases[i / 2].algorithm, cases[i / 2].x, cases[i / 2].y);
        uint64_t elements = i % 2 == 0 ? 250000 : 12750000;
        collective.channels = 2;
        SUPPORT_NEAR(support_closed(&collective, elements).time_s,
                     trials_simulate(&collective, elements), cases[i / 2].near, "%s",
                     support_name(&collective));
    }
}
