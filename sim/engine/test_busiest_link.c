/* No engine is faster than the busiest link of an all-reduce, nor than that of a stream of them. */
#include <math.h>
#include <stdlib.h>

#include "test_outcome.h"
#include "test_trials.h"

static const struct ar_engine *const engines[] = {&ar_engine_recurrence, &ar_engine_closed};

static const struct ar_call calls[] = {
    {.elements = 25557032}, {.elements = 10000000}, {.elements = 3001}};

/* The time for which the busiest link carries some calls: bytes over bandwidth. */
static double busiest_s(const struct ar_flows *flows, const struct ar_call *first, uint32_t count)
{
    const struct ar_cluster *cluster = flows->collective.cluster;
    struct ar_link_load *loads = calloc(ar_cluster_links_count(cluster), sizeof *loads);
    double longest_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        ar_link_load_add_flows(flows, first[i].elements, loads);
    }
    for (uint32_t i = 0; i < ar_cluster_links_count(cluster); i++) {
        longest_s = fmax(longest_s, (double)loads[i].bytes / ar_cluster_link_bandwidth(cluster, i));
    }
    free(loads);
    return longest_s;
}

/* One call at a time, then all of them on ranks that start at different times. */
static void expect_slower(const struct ar_collective *collective)
{
    static struct test_trial test;
    struct ar_flows *flows;
    TEST_OK(ar_flows_create(collective, &flows, &why));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t first = i % 3, count = i < 3 ? 1 : 3;
        double least_s = busiest_s(flows, &calls[first], count) * (1 - 1e-9);
        for (size_t e = 0; e < 2; e++) {
            trials_prepare(collective, &calls[first], count, &test);
            test.trial.flows = flows;
            if (count > 1) {
                trials_scatter(2e-4, &test);
            }
            TEST_OK(ar_trial_run(&test.trial, engines[e], &why));
            double time_s = test.times[count - 1].finish_s - test.times[0].start_s;
            cr_expect_geq(time_s, least_s, "%s: %s, call %u: %.9g s, not %.9g s", engines[e]->name,
                          support_name(collective), i, time_s, least_s);
        }
    }
    ar_flows_destroy(flows);
}

Test(busiest_link, is_what_the_recurrence_and_the_closed_form_wait_for)
{
    static const char *const machines[] = {"abci-v100", "dgx1-v100", "dgx2-v100"};
    for (size_t i = 0; i < ar_algorithms_count * 3; i += AR_TEST_STRIDE) {
        struct ar_cluster *cluster = support_cluster(machines[i % 3], "nodes=16");
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
