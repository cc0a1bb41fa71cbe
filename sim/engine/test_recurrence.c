/* The recurrence beside the simulation on calls that follow each other; single ones on machines of
 * every fabric, and the closed form, are held to it by test_laws.c. */

#include "test_trials.h"

/* An element per rank at least: simulations give an empty message one byte (1e-5 of its time). */
static const uint64_t counts[] = {256, 1000, 25557, 1048576, 25557032, 2049};

enum { COUNTS = sizeof counts / sizeof counts[0] };

#define QUEUED_S 0.0003 /* calls wait for each other */
#define APART_S  1.0    /* they do not */

/* Hops of abci-v100 differ in latency and bandwidth. Where phases of different ranks overlap it is
 * an estimate, and says so: so it is where a queued call meets the last messages of a chain. */
Test(recurrence, is_the_simulation_where_it_says_so_and_stays_near_it_elsewhere)
{
    static const struct {
        const char *cluster, *algorithm;
        uint32_t x, y, channels;
        double gap_s, near;
        bool is_exact;
    } rows[] = {
        {"flat", "torus2d", 4, 4, 1, QUEUED_S, 1e-6, true},
        {"flat", "torus2d", 3, 5, 1, QUEUED_S, 1e-6, true},
        {"flat", "torus2d", 1, 7, 1, QUEUED_S, 1e-6, true},
        {"flat", "hierarchical", 8, 2, 1, APART_S, 1e-6, true},
        {"flat", "hierarchical", 8, 2, 1, QUEUED_S, 0.05, false},
        {"abci-v100", "ring", 10, 1, 1, QUEUED_S, 1e-6, true},
        {"abci-v100", "ring", 67, 1, 1, QUEUED_S, 1e-6, true},
        {"abci-v100", "torus2d", 2, 32, 2, QUEUED_S, 0.15, false},
        {"abci-v100", "torus2d", 32, 2, 2, QUEUED_S, 0.15, false},
    };
    static const uint32_t windows[] = {8, 2, 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i += AR_TEST_STRIDE) {
        struct ar_collective collective =
            support_on(rows[i].cluster, rows[i].algorithm, rows[i].x, rows[i].y);
        struct ar_call calls[COUNTS];
        collective.channels = rows[i].channels;
        for (uint32_t k = 0; k < COUNTS; k++) {
            calls[k] = (struct ar_call){.ready_s = rows[i].gap_s * k, .elements = counts[k]};
        }
        for (size_t w = 0; w < (rows[i].is_exact ? 3 : 1); w++) {
            collective.window = windows[w];
            cr_expect_eq(trials_compare(&collective, calls, COUNTS, 0, rows[i].near),
                         rows[i].is_exact, "%s", support_name(&collective));
        }
    }
}
