/* Engines beside each other on exchanges: peers change from step to step. */
#include <criterion/criterion.h>

#include "test_trials.h"

/* Even parts, parts that differ by an element, and large ones. */
static const uint64_t counts[] = {96 * 2520, 25557, 48 * 25200};

enum { COUNTS = sizeof counts / sizeof counts[0] };

/* Whether the algorithm has exchanges, and whether messages of one go at once, which share the
 * links of a rank. */
static bool has_exchanges(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                          bool *goes_at_once)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(algorithm, shape, phases);
    bool has = false;
    *goes_at_once = false;
    for (uint32_t i = 0; i < phases_count; i++) {
        has |= phases[i].kind == AR_PHASE_EXCHANGE && phases[i].steps > 0;
        *goes_at_once |= phases[i].is_at_once && phases[i].steps > 0;
    }
    return has;
}

static void expect_equal(const struct ar_collective *collective, double spread_s)
{
    static struct test_trial tests[2];
    const struct ar_engine *engines[2] = {&ar_engine_simgrid, &ar_engine_recurrence};
    struct ar_error err = {.text = ""};
    struct ar_job jobs[COUNTS];
    for (uint32_t i = 0; i < COUNTS; i++) {
        jobs[i] = (struct ar_job){.ready_s = 0.01 * i, .elements = counts[i]};
    }
    for (int i = 0; i < 2; i++) {
        trials_prepare(collective, jobs, COUNTS, &tests[i]);
        if (spread_s > 0) {
            trials_scatter(spread_s, &tests[i]);
        }
        cr_assert(ar_trial_run(&tests[i].trial, engines[i], &err) == AR_OK, "%s", err.text);
    }
    for (uint32_t i = 0; i < COUNTS; i++) {
        cr_expect(support_near(tests[1].times[i].finish_s, tests[0].times[i].finish_s, 1e-6),
                  "%s %s %ux%u, %u channels, window %u, spread %g, %lu elements: %.9g s, simulated "
                  "%.9g s, %s",
                  collective->operation->name, collective->algorithm->name, collective->shape.x,
                  collective->shape.y, collective->channels, collective->window, spread_s,
                  (unsigned long)counts[i], tests[1].times[i].finish_s, tests[0].times[i].finish_s,
                  tests[1].trial.exact ? "exact" : "not exact");
    }
}

static struct ar_cluster *load_flat(void)
{
    const char *settings[] = {"net.latency=5us", "hca.bandwidth=25GB/s", "gpu.reduce_cost=4ps/B",
                              "collective.setup=7us", NULL};
    return support_cluster("flat", settings);
}

Test(exchange_engines, agree_on_every_algorithm_where_no_link_is_shared)
{
    static const uint32_t ranks[] = {2, 3, 5, 8, 12};
    struct ar_cluster *flat = load_flat();
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0]; j++) {
            struct ar_shape shape = ar_algorithm_default_shape(ar_algorithms[i], ranks[j], 4);
            struct ar_error err;
            bool goes_at_once;
            if (!has_exchanges(ar_algorithms[i], &shape, &goes_at_once) ||
                ar_algorithm_check_shape(ar_algorithms[i], &shape, &err) != AR_OK) {
                continue;
            }
            struct ar_collective collective =
                support_collective_of(flat, ar_algorithms[i], shape.x, shape.y);
            expect_equal(&collective, 0);
            collective.window = 1;
            expect_equal(&collective, goes_at_once ? 0 : 0.002);
            collective.channels = 2;
            expect_equal(&collective, 0);
        }
    }
}
