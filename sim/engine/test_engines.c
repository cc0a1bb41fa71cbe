/* The engines beside each other and beside the textbook. */
#include <criterion/criterion.h>

#include "test_trials.h"

/* --- the closed form is exact where it says so -------------------------------------------------
 */

/* SimGrid cannot carry an empty message, so one of 0 bytes may cost as much as one element. */
static void expect_time(const struct ar_collective *collective, uint64_t elements,
                        double simulated_s)
{
    double min_s = support_closed(collective, elements).time_s;
    double max_s = min_s;
    if (elements == 0) {
        uint64_t one_each = (uint64_t)collective->channels * ar_shape_ranks(&collective->shape);
        max_s = support_closed(collective, one_each).time_s;
    }
    cr_expect(simulated_s >= min_s * (1 - 1e-6) && simulated_s <= max_s * (1 + 1e-6),
              "%s %ux%u, %u channels, window %u, %lu elements: simulated %.9g s, closed %.9g s",
              collective->algorithm->name, collective->shape.x, collective->shape.y,
              collective->channels, collective->window, (unsigned long)elements, simulated_s,
              min_s);
}

/* One trial with a job of each count for which the closed form says that it is exact, a second
 * apart. */
static void expect_agreement(const struct ar_collective *collective, const uint64_t *counts,
                             uint32_t counts_count)
{
    static struct test_trial test;
    struct ar_call calls[TRIALS_CALLS];
    uint32_t calls_count = 0;
    for (uint32_t i = 0; i < counts_count; i += AR_TEST_STRIDE) {
        if (support_closed(collective, counts[i]).exact) {
            calls[calls_count] = (struct ar_call){.ready_s = calls_count, .elements = counts[i]};
            calls_count++;
        }
    }
    if (calls_count == 0) {
        cr_expect_gt(collective->channels, 1, "the closed form is exact for nothing");
        return;
    }
    trials_run(collective, &ar_engine_simgrid, calls, calls_count, &test);
    for (uint32_t i = 0; i < calls_count; i++) {
        expect_time(collective, calls[i].elements, test.times[i].finish_s - test.times[i].start_s);
    }
}

static void expect_agreement_of_all(const struct ar_cluster *cluster, const char *name, uint32_t x,
                                    uint32_t y)
{
    uint64_t ranks = (uint64_t)x * y;
    const uint64_t counts[] = {0,         1,          ranks - 1,     ranks,
                               ranks + 1, 8 * ranks,  1000 * ranks,  25557032,
                               4 * ranks, 24 * ranks, 100000 * ranks};
    struct ar_collective collective = support_collective(cluster, name, x, y);
    for (collective.channels = 1; collective.channels <= 2; collective.channels++) {
        for (collective.window = 1; collective.window <= 8;
             collective.window = 3 * collective.window - 1) {
            expect_agreement(&collective, counts, sizeof counts / sizeof counts[0]);
        }
    }
}

Test(engines, simgrid_is_the_closed_form_for_rings_on_the_flat_cluster,
     .disabled = AR_TEST_STRIDE > 1)
{
    static const uint32_t ranks[] = {2, 3, 4, 5, 13, 16, 64};
    struct ar_cluster *flat = support_textbook();
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += AR_TEST_STRIDE) {
        expect_agreement_of_all(flat, "ring", ranks[i], 1);
    }
}

Test(engines, simgrid_is_the_closed_form_for_grids_and_groups_on_the_flat_cluster)
{
    static const struct ar_shape shapes[] = {{.x = 2, .y = 2}, {.x = 4, .y = 4}, {.x = 8, .y = 2},
                                             {.x = 2, .y = 8}, {.x = 3, .y = 5}, {.x = 1, .y = 7},
                                             {.x = 7, .y = 1}, {.x = 6, .y = 4}, {.x = 8, .y = 8}};
    struct ar_cluster *flat = support_textbook();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i += AR_TEST_STRIDE) {
        expect_agreement_of_all(flat, "torus2d", shapes[i].x, shapes[i].y);
        expect_agreement_of_all(flat, "hierarchical", shapes[i].x, shapes[i].y);
    }
}

Test(engines, simgrid_is_the_closed_form_on_abci_where_all_hops_of_a_phase_are_alike,
     .disabled = AR_TEST_STRIDE > 1)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    expect_agreement_of_all(abci, "ring", 4, 1);
    for (uint32_t nodes = 2; nodes <= 16; nodes *= 2 * AR_TEST_STRIDE) {
        expect_agreement_of_all(abci, "hierarchical", 4, nodes);
        expect_agreement_of_all(abci, "torus2d", 4, nodes);
    }
    expect_agreement_of_all(abci, "hierarchical", 4, 3);
    expect_agreement_of_all(abci, "torus2d", 4, 5);
}

/* --- the textbook ---------------------------------------------------------------------------- */

/* Defaults of SimGrid would multiply latencies by 13.01 and take 3 % of the bandwidth. */
Test(engines, a_ring_of_64_with_1600000_bytes_is_alpha_beta_and_not_tcp,
     .disabled = AR_TEST_STRIDE > 1)
{
    struct ar_collective ring = support_on("flat", "ring", 64, 1);
    double alpha_beta_s = 126 * (10e-6 + 1.6e6 / 64 / 10e9);
    double time_s = trials_simulate(&ring, 400000);
    cr_expect(support_near(time_s, alpha_beta_s, 1e-6), "%.9g s, alpha-beta %.9g s", time_s,
              alpha_beta_s);
}

/* 4 nodes of 4 GPUs: hops of 3.4, 3.4, 3.4, 9.6 us in turn, 30 steps; 8-byte messages. */
Test(engines, a_ring_of_16_pays_the_sum_of_its_hops_or_with_window_1_the_slowest_each_time)
{
    struct ar_collective ring = support_on("abci-v100", "ring", 16, 1);
    for (uint32_t window = 1; window <= 8; window++) {
        ring.window = window;
        double expected_s = window == 1 ? 288e-6 : 151.6e-6;
        for (const struct ar_engine *engine = trials_next(NULL); engine != NULL;
             engine = trials_next(engine)) {
            double time_s = trials_time(&ring, engine, 32) - 8.4e-6;
            cr_expect(support_near(time_s, expected_s, 1e-4), "%s, window %u: %.9g s", engine->name,
                      window, time_s);
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
                  "%s %ux%u, %lu elements: simulated %.9g s, closed %.9g s", name, x, ranks / x,
                  (unsigned long)elements, simulated_s, closed_s);
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
