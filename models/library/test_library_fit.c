/* Fits to data of known parameters, and to measurements. */
#include <math.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "ar_library_fit.h"
#include "test_outcome.h"

enum { ROWS_MAX = 256 };

/* Rows that are fitted and rows that are not, the parameters that made both, and the fit. */
static struct ar_library_row rows[ROWS_MAX], unseen[ROWS_MAX];
static double truth[AR_LIBRARY_PARAMETERS_COUNT];
static struct ar_library library;
static gsl_rng *generator;
static struct ar_tuning tuning; /* of ABCI */

static void enter(void)
{
    tuning = ar_tuning_nccl_2_8_4(132e9, 24e9);
    generator = gsl_rng_alloc(gsl_rng_mt19937);
}

TestSuite(library_fit, .init = enter); /* the generator ends with the process of a test */

/* Sizes and node counts of a usual measurement: 4 B to 32 MiB on 1 to `nodes_max` nodes of 4. */
static size_t make_runs(uint32_t nodes_min, uint32_t nodes_max, struct ar_library_row *list)
{
    size_t count = 0;
    for (uint32_t nodes = nodes_min; nodes <= nodes_max; nodes *= 2) {
        for (double bytes = 4; bytes <= 33554432; bytes *= 2) {
            cr_assert_lt(count, (size_t)ROWS_MAX);
            list[count++] = (struct ar_library_row){
                .run = {.nodes = nodes, .ranks = 4 * nodes, .bytes = bytes}, .calls = AR_CALLS_ANY};
        }
    }
    return count;
}

/* Times by the true parameters with a relative error of `noise`. */
static void measure(double noise, struct ar_library_row *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum ar_choice choice = ar_tuning_choose(&tuning, AR_CALLS_ANY, &list[i].run);
        list[i].time_s = ar_library_time(&tuning, truth, choice, &list[i].run) *
                         exp(noise * gsl_ran_gaussian(generator, 1));
    }
}

/* A truth that lies anywhere the priors allow. */
static void draw_truth(void)
{
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        double away = gsl_ran_gaussian(generator, 0.6 * ar_library_parameters[i].spread);
        truth[i] = ar_library_parameter_prior(&tuning, (enum ar_library_parameter)i) * exp(away);
    }
}

static void fit(size_t count)
{
    TEST_OK(ar_library_fit(&tuning, rows, count, &library, &why));
}

/* Errors of the fit on rows that it did not see. */
static struct ar_library_error errors_of_unseen(size_t count)
{
    double errors[ROWS_MAX];
    size_t covered = 0;
    for (size_t i = 0; i < count; i++) {
        struct ar_library_prediction predicted =
            ar_library_predict(&library, AR_CALLS_ANY, &unseen[i].run);
        covered += unseen[i].time_s >= predicted.low_s && unseen[i].time_s <= predicted.high_s;
        errors[i] = fabs(predicted.time_s / unseen[i].time_s - 1);
    }
    return ar_library_error_of(errors, count, covered);
}

/* Some parameters can stand in for each other (the hops of a ring within and between nodes grow
 * together), predictions cannot. */
Test(library_fit, predicts_what_it_was_fitted_on_without_noise_also_at_other_sizes)
{
    size_t count = make_runs(1, 64, rows);
    size_t unseen_count = make_runs(128, 128, unseen);
    draw_truth();
    measure(0, rows, count);
    measure(0, unseen, unseen_count);
    fit(count);
    struct ar_library_error error = errors_of_unseen(unseen_count);
    cr_expect_lt(error.worst_frac, 0.02, "worst %g", error.worst_frac);
    cr_expect_lt(library.residual_frac, 0.041); /* rows are never taken to be better */
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (sqrt(library.covariance[i][i]) < 1e-3) {
            cr_expect_float_eq(library.values[i] / truth[i], 1, 0.01, "%s: %g, not %g",
                               ar_library_parameters[i].name, library.values[i], truth[i]);
        }
    }
}

/* 20 measurements of 5 % noise on 1 to 8 nodes; new measurements on 8 nodes at other sizes. */
Test(library_fit, bands_cover_new_measurements_at_the_stated_rate)
{
    enum { MEASUREMENTS = 20 };
    double covered = 0;
    size_t all = 0;
    for (int measurement = 0; measurement < MEASUREMENTS; measurement++) {
        size_t count = make_runs(1, 8, rows);
        size_t unseen_count = make_runs(8, 8, unseen);
        for (size_t i = 0; i < unseen_count; i++) {
            unseen[i].run.bytes *= 1.4;
        }
        draw_truth();
        measure(0.05, rows, count);
        measure(0.05, unseen, unseen_count);
        fit(count);
        covered += errors_of_unseen(unseen_count).covered_frac * (double)unseen_count;
        all += unseen_count;
    }
    /* Rows of a measurement are not independent: 2 % is some two standard errors. */
    cr_expect_float_eq(covered / (double)all, 0.95, 0.03, "%.3f of %zu", covered / (double)all,
                       all);
}

Test(library_fit, says_what_the_data_cannot_tell)
{
    size_t count = make_runs(1, 1, rows); /* one node: nothing of the network */
    draw_truth();
    measure(0.02, rows, count);
    fit(count);
    static const enum ar_library_parameter unknown[] = {
        AR_LL_NET_LATENCY, AR_NET_BANDWIDTH, AR_TREE_LL_NET_LATENCY, AR_NET_LATENCY, AR_GROWTH};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        double prior = ar_library_parameter_prior(&tuning, unknown[i]);
        cr_expect_not(library.is_identified[unknown[i]], "%s",
                      ar_library_parameters[unknown[i]].name);
        cr_expect_float_eq(library.values[unknown[i]] / prior, 1, 1e-6);
    }
    cr_expect(library.is_identified[AR_NODE_BANDWIDTH]);
}

Test(library_fit, refuses_what_cannot_be_fitted_and_leaves_the_library_as_it_was)
{
    size_t count = make_runs(1, 1, rows);
    library.values[0] = -7;
    for (size_t i = 0; i < count; i++) {
        rows[i].time_s = 1e-3;
    }
    TEST_FAILS(AR_BAD_DATA, "found 2 rows to fit; expected at least 3",
               ar_library_fit(&tuning, rows, 2, &library, &why));
    for (size_t i = 0; i < count; i++) {
        rows[i].run.bytes = 1024;
    }
    TEST_FAILS(AR_BAD_DATA, "found one size, 1024 bytes",
               ar_library_fit(&tuning, rows, count, &library, &why));
    cr_expect_eq(library.values[0], -7);
}

/* A quarter for each doubling, beside what the parameters and the rows say. */
Test(library_fit, bands_widen_with_each_doubling_beyond_the_fitted_nodes)
{
    static struct ar_library certain;
    ar_library_start(&tuning, &library);
    memset(library.covariance, 0, sizeof library.covariance);
    library.residual_frac = 0.1;
    certain = library;
    library.nodes_max = 8;
    for (uint32_t nodes = 4; nodes <= 128; nodes *= 4) {
        struct ar_library_run run = {.nodes = nodes, .ranks = 4 * nodes, .bytes = 1e6};
        struct ar_library_prediction found = ar_library_predict(&library, AR_CALLS_ANY, &run);
        struct ar_library_prediction least = ar_library_predict(&certain, AR_CALLS_ANY, &run);
        double doublings = nodes > 8 ? log2(nodes / 8.0) : 0;
        cr_expect_eq(found.time_s, least.time_s);
        cr_expect_float_eq(log(least.high_s / least.time_s), AR_BAND95_DEVIATIONS * 0.1, 1e-9);
        cr_expect_float_eq(log(found.high_s / found.time_s),
                           AR_BAND95_DEVIATIONS * sqrt(0.01 + 0.0625 * doublings), 1e-9);
    }
}

/* Almost no bytes: 7 hops up and 7 down in a node, 3 and 3 across the network. */
Test(library_fit, a_tree_pays_the_hops_of_trees_not_of_rings)
{
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    struct ar_library_run run = {.nodes = 8, .ranks = 64, .bytes = 1};
    TEST_OK(ar_tuning_find("test", "2.21.5", 360e9, 384e9, &tuning, &why));
    for (int cpu = AR_CPU_INTEL; cpu <= AR_CPU_AMD; cpu++) { /* it slows the hops of rings */
        tuning.cpu = (enum ar_cpu_vendor)cpu;
        for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
            values[i] = ar_library_parameter_prior(&tuning, (enum ar_library_parameter)i);
        }
        cr_expect_float_eq(ar_library_time(&tuning, values, AR_TREE_LL, &run),
                           6.6e-6 + 14 * 0.6e-6 + 6 * 5e-6, 1e-7);
        cr_expect_float_eq(ar_library_time(&tuning, values, AR_TREE_LL128, &run),
                           14e-6 + 14 * 1.25e-6 + 6 * 8.5e-6, 1e-7);
    }
}
