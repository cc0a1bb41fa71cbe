/* The recurrence beside the simulation, and beside the closed form where that calls itself exact.
 */
#include <criterion/criterion.h>

#include "test_trials.h"

/* At least one element per rank: the simulation gives an empty message one byte (1e-5 of its time).
 */
static const uint64_t counts[] = {256, 1000, 25557, 1048576, 25557032, 2049};

enum { COUNTS = sizeof counts / sizeof counts[0] };

#define QUEUED_S 0.0003 /* calls wait for each other */
#define APART_S  1.0    /* they do not */

/* As trials_compare(), of calls that follow each other so. */
static bool compare(const struct ar_collective *collective, double gap_s, double tolerance)
{
    struct ar_call calls[TRIALS_CALLS];
    for (uint32_t i = 0; i < COUNTS; i++) {
        calls[i] = (struct ar_call){.ready_s = gap_s * i, .elements = counts[i]};
    }
    return trials_compare(collective, calls, COUNTS, 0, tolerance);
}

static void expect_equal(const struct ar_cluster *cluster, const char *name, uint32_t x, uint32_t y,
                         double gap_s)
{
    static const uint32_t windows[] = {1, 2, 8};
    struct ar_collective collective = support_collective(cluster, name, x, y);
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        collective.window = windows[i];
        cr_expect(compare(&collective, gap_s, 1e-6), "%s %ux%u: not called exact", name, x, y);
        for (uint32_t k = 0; k < COUNTS; k++) { /* all ranks start together */
            struct ar_closed_time closed = support_closed(&collective, counts[k]);
            double time_s = trials_time(&collective, &ar_engine_recurrence, counts[k]);
            cr_expect(!closed.exact || support_near(closed.time_s, time_s, 1e-9),
                      "%s %ux%u, %lu elements: closed %.9g s, %.9g s", name, x, y,
                      (unsigned long)counts[k], closed.time_s, time_s);
        }
    }
}

Test(recurrence, is_the_simulation_on_one_switch)
{
    static const struct ar_shape shapes[] = {{.x = 4, .y = 4}, {.x = 8, .y = 2}, {.x = 2, .y = 8},
                                             {.x = 3, .y = 5}, {.x = 1, .y = 7}, {.x = 7, .y = 1},
                                             {.x = 6, .y = 4}};
    struct ar_cluster *flat = support_cluster("flat", "gpu.reduce_cost=4ps/B collective.setup=7us");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i += AR_TEST_STRIDE) {
        expect_equal(flat, "torus2d", shapes[i].x, shapes[i].y, QUEUED_S);
        expect_equal(flat, "hierarchical", shapes[i].x, shapes[i].y, APART_S);
    }
    expect_equal(flat, "ring", 2, 1, QUEUED_S);
    expect_equal(flat, "ring", 13, 1, QUEUED_S);
    expect_equal(flat, "ring", 64, 1, QUEUED_S);
}

Test(recurrence, says_so_and_stays_near_the_simulation_where_phases_of_different_ranks_overlap)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for (uint32_t x = 2; x <= 32; x *= 2) {
        struct ar_collective torus = support_collective(abci, "torus2d", x, 64 / x);
        torus.channels = 2;
        cr_expect_not(compare(&torus, QUEUED_S, 0.15), "torus2d %ux%u is called exact", x, 64 / x);
    }
}

/* The ranks of a chain finish at different times; the next all-reduce meets the last one's
 * messages. */
Test(recurrence, does_not_claim_to_be_exact_for_queued_hierarchies)
{
    struct ar_collective collective = support_on("flat", "hierarchical", 8, 2);
    cr_expect_not(compare(&collective, QUEUED_S, 0.05));
}
