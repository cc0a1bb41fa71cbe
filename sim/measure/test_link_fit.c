/* The fit of links: known numbers come back, and numbers that no row depends on are found. */
#include <math.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "ar_link_fit.h"
#include "test_outcome.h"
#include "test_support.h"

enum { ROWS_MAX = 400 };

#define NOISE 0.03

struct data {
    struct ar_link_row rows[ROWS_MAX];
    size_t count;
};

static void add_sizes(struct data *data, struct ar_collective collective)
{
    for (uint64_t elements = 256; elements <= 16777216; elements *= 4) {
        cr_assert_lt(data->count, ROWS_MAX);
        data->rows[data->count++] =
            (struct ar_link_row){.collective = collective,
                                 .elements = elements,
                                 .bytes = (double)elements * collective.element_bytes};
    }
}

static void put_on(struct data *data, const struct ar_cluster *cluster)
{
    for (size_t i = 0; i < data->count; i++) {
        data->rows[i].collective.cluster = cluster;
    }
}

/* Times of the rows on a cluster that is not the one of the fit, with noise. */
static void measure(struct data *data, const struct ar_cluster *truth, double noise)
{
    double times_s[ROWS_MAX];
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus2);
    put_on(data, truth);
    TEST_OK(ar_link_predict(data->rows, data->count, times_s, &why));
    for (size_t i = 0; i < data->count; i++) {
        data->rows[i].time_s = times_s[i] * exp(gsl_ran_gaussian(generator, noise));
    }
    gsl_rng_free(generator);
}

static struct ar_link_fit fit(struct ar_cluster *cluster, struct data *data)
{
    struct ar_link_fit found;
    put_on(data, cluster);
    TEST_OK(ar_link_fit(&cluster, 1, data->rows, data->count, &found, &why));
    return found;
}

static void expect_truth(const struct ar_link_fit *found, const struct ar_cluster *truth,
                         enum ar_link_cost cost)
{
    const struct ar_link_number *number = &found->numbers[cost];
    double error = log(number->value / ar_cluster_link_cost(truth, cost));
    cr_expect_leq(fabs(error), 3 * number->error_frac, "%s: %+.3f, standard error %.3f",
                  ar_link_cost_key(cost), error, number->error_frac);
}

/* Rings in a node and across nodes tell everything that they use; PCIe they do not use: all GPUs
 * have NVLinks, and its switches, wide as they are here, are never the narrowest link. */
Test(link_fit, known_numbers_come_back_from_noisy_rows)
{
    static const char starts[] = "pcie.bandwidth=100GB/s gpu.reduce_cost=0s/B";
    struct ar_cluster *cluster = support_cluster("abci-v100", starts);
    struct ar_cluster *truth = support_cluster(
        "abci-v100",
        "collective.setup=20us nvlink.latency=2us nvlink.bandwidth=30GB/s "
        "net.latency=20us hca.bandwidth=6GB/s pcie.bandwidth=100GB/s gpu.reduce_cost=0s/B");
    struct data data = {.count = 0};
    static const uint32_t ranks[] = {2, 3, 4, 8, 16};
    for (size_t i = 0; i < 5; i++) {
        add_sizes(&data, support_collective(truth, "ring", ranks[i], 1));
    }
    add_sizes(&data, support_collective(truth, "torus2d", 4, 4));
    add_sizes(&data, support_collective(truth, "tree", 4, 2));
    measure(&data, truth, NOISE);
    struct ar_link_fit found = fit(cluster, &data);
    static const enum ar_link_cost told[] = {AR_LINK_SETUP, AR_LINK_NVLINK_LATENCY,
                                             AR_LINK_NVLINK_BANDWIDTH, AR_LINK_NET_LATENCY,
                                             AR_LINK_HCA_BANDWIDTH};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        expect_truth(&found, truth, told[i]);
        cr_expect_eq(found.numbers[told[i]].state, AR_LINK_IDENTIFIED, "%s: +- %.3f",
                     ar_link_cost_key(told[i]), found.numbers[told[i]].error_frac);
        cr_expect_float_eq(ar_cluster_link_cost(cluster, told[i]), found.numbers[told[i]].value, 0);
    }
    cr_expect_eq(found.numbers[AR_LINK_REDUCE_COST].state, AR_LINK_ZERO);
    cr_expect_eq(found.numbers[AR_LINK_PCIE_LATENCY].state, AR_LINK_UNUSED);
    cr_expect_eq(found.numbers[AR_LINK_PCIE_BANDWIDTH].state, AR_LINK_UNUSED);
    cr_expect(found.residual_frac > NOISE / 2 && found.residual_frac < NOISE * 2, "%g",
              found.residual_frac);
    cr_expect_eq(found.rows_count, data.count);
}

/* The network has no part in rows of one node; a ring tells the sum of what a byte costs on the
 * link and in the reduction, so that sum is right and at least one of the two is not called
 * identified. */
Test(link_fit, what_rows_of_one_node_cannot_tell_is_reported)
{
    struct ar_cluster *truth =
        support_cluster("abci-v100", "nvlink.bandwidth=20GB/s gpu.reduce_cost=0.1ns/B");
    struct ar_cluster *cluster = support_cluster("abci-v100", "gpu.reduce_cost=0.1ns/B");
    double net_latency_s = ar_cluster_link_cost(cluster, AR_LINK_NET_LATENCY);
    struct data data = {.count = 0};
    for (uint32_t ranks = 2; ranks <= 4; ranks++) {
        add_sizes(&data, support_collective(truth, "ring", ranks, 1));
    }
    measure(&data, truth, NOISE);
    struct ar_link_fit found = fit(cluster, &data);
    cr_expect_eq(found.numbers[AR_LINK_NET_LATENCY].state, AR_LINK_UNUSED);
    cr_expect_eq(found.numbers[AR_LINK_HCA_BANDWIDTH].state, AR_LINK_UNUSED);
    cr_expect_float_eq(found.numbers[AR_LINK_NET_LATENCY].value, net_latency_s, 0);
    cr_expect(isnan(found.numbers[AR_LINK_NET_LATENCY].error_frac));
    const struct ar_link_number *rate = &found.numbers[AR_LINK_NVLINK_BANDWIDTH];
    const struct ar_link_number *gamma = &found.numbers[AR_LINK_REDUCE_COST];
    /* Bytes pass a link twice and are summed up once. */
    cr_expect_float_eq((2 / rate->value + gamma->value) / (2 / 20e9 + 0.1e-9), 1, NOISE);
    cr_expect(rate->state == AR_LINK_UNIDENTIFIED || gamma->state == AR_LINK_UNIDENTIFIED);
    expect_truth(&found, truth, AR_LINK_NVLINK_BANDWIDTH);
    expect_truth(&found, truth, AR_LINK_REDUCE_COST);
}

static void expect_refused(struct ar_cluster *cluster, struct data *data, const char *fragment)
{
    struct ar_link_fit found = {.rows_count = 77};
    double before[AR_LINK_COSTS_COUNT];
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        before[i] = ar_cluster_link_cost(cluster, (enum ar_link_cost)i);
    }
    put_on(data, cluster);
    TEST_FAILS(AR_BAD_DATA, fragment,
               ar_link_fit(&cluster, 1, data->rows, data->count, &found, &why));
    cr_expect_eq(found.rows_count, 77, "the fit is left as it was");
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        cr_expect_eq(ar_cluster_link_cost(cluster, (enum ar_link_cost)i), before[i]);
    }
}

Test(link_fit, rows_that_cannot_be_fitted_are_refused)
{
    struct ar_cluster *cluster = support_cluster("abci-v100", NULL);
    struct ar_cluster *flat = support_cluster("flat", "net.latency=0s");
    struct data data = {.count = 0};
    add_sizes(&data, support_collective(cluster, "ring", 2, 1));
    measure(&data, cluster, 0);
    size_t all = data.count;
    for (size_t i = 0; i < all; i++) {
        data.rows[i].elements = 1024 << i / 2;
        data.rows[i].time_s = i % 2 == 0 ? 1e-9 : 1e6;
    }
    expect_refused(cluster, &data, "found a residual of");
    data.count = 2;
    expect_refused(cluster, &data, "found 2 rows to fit; expected at least 3");
    data.count = all;
    for (size_t i = 0; i < all; i++) {
        data.rows[i].elements = 1024;
        data.rows[i].bytes = 4096;
    }
    expect_refused(cluster, &data, "found one size, 4096 bytes");
    data.count = 0;
    expect_refused(flat, &data, "that a row depends on");
}

/* A number that is missing or 0 gets a prior, unless a setting gives it. */
Test(link_fit, what_is_set_or_above_zero_is_not_opened)
{
    struct ar_setting gap = {.text = "net.message_gap=0s"};
    const struct ar_settings given = {.list = &gap, .count = 1};
    struct ar_cluster *cluster =
        support_cluster("fugaku", "net.message_gap=0s net.latency_1KiB=7us");
    cr_assert(ar_cluster_has_link_cost(cluster, AR_LINK_SETUP), "MPI starts no kernel");
    cr_assert_eq(ar_cluster_link_cost(cluster, AR_LINK_SETUP), 0);
    ar_link_fit_open(cluster, &given);
    cr_expect_eq(ar_cluster_link_cost(cluster, AR_LINK_MESSAGE_GAP), 0);
    cr_expect_float_eq(ar_cluster_link_cost(cluster, AR_LINK_LATENCY_1K), 7e-6, 0);
    cr_expect_float_eq(ar_cluster_link_cost(cluster, AR_LINK_LATENCY_8K), 1e-6, 0);
    cr_expect_float_eq(ar_cluster_link_cost(cluster, AR_LINK_SETUP), 1e-6, 0);
}
