/* NCCL's own cost model by release, against times that were worked out by hand. */
#include <stdio.h>

#include "ar_library_fit.h"
#include "test_outcome.h"

#define KIB 1024.0
#define MIB 1048576.0

static struct ar_tuning tuning_of(const char *release)
{
    struct ar_tuning tuning;
    TEST_OK(ar_tuning_find("test", release, 132e9, 24e9, &tuning, &why));
    return tuning;
}

/* Latency + bytes of a ring (p-1)/p twice over the bus, of a tree twice; GB/s are bytes per
 * nanosecond, 132 in a node and 24 across. Mostly 4 GPUs in a node. */
static const struct {
    const char *release;
    enum ar_choice choice;
    uint32_t nodes, ranks;
    double bytes, latency_us, bytes_us;
} times[] = {
    /* A ring of several nodes pays the network's latency at every hop in 2.5. */
    {"2.5.6", AR_RING_SIMPLE, 2, 8, MIB, 8.4 + 14 * 6.6, MIB * 1.75 / 24e3},
    {"2.5.6", AR_RING_SIMPLE, 1, 4, MIB, 8.4 + 6 * 5.7, MIB * 1.5 / 132e3},
    {"2.5.6", AR_RING_LL, 2, 8, MIB, 3.6 + 14 * 0.9, MIB * 1.75 / 6e3},
    {"2.5.6", AR_RING_LL128, 1, 4, MIB, 3.6 + 6 * 2.5, MIB * 1.5 / 100e3},
    {"2.5.6", AR_TREE_LL, 4, 16, KIB, 4.4 + 2 * (3 * 0.5 + 2 * 5.0), 2 * KIB / (24e3 * 0.27)},
    {"2.5.6", AR_TREE_SIMPLE, 4, 16, 64 * MIB, 2 * (3 * 28.0 + 2 * 50.0),
     128 * MIB / (24e3 * 0.9 * 0.8)},
    /* By ll128: 7/9 of a tree's bandwidth, and a correction of 0.9 at 64 MiB, of 0.8 at 8 MiB. */
    {"2.5.6", AR_RING_LL128, 2, 8, MIB, 3.6 + 14 * 2.5, MIB * 1.75 / (24e3 * 0.9375)},
    {"2.5.6", AR_TREE_LL128, 4, 16, 64 * MIB, 4.4 + 2 * (3 * 1.9 + 2 * 7.5),
     128 * MIB / (24e3 * 0.9 * 7 / 9 * 0.9)},
    {"2.5.6", AR_TREE_LL128, 4, 16, 8 * MIB, 4.4 + 2 * (3 * 1.9 + 2 * 7.5),
     16 * MIB / (24e3 * 0.9 * 7 / 9 * 0.8)},
    {"2.3.7", AR_RING_SIMPLE, 2, 8, MIB, 8.4 + 14 * 6.6, MIB * 1.75 / 24e3},
    {"2.3.7", AR_RING_LL, 1, 4, KIB, 3.6 + 6 * 0.4, KIB * 1.5 / 33e3},
    /* The plateau begins at 64 KiB for 16 ranks. */
    {"2.8.4", AR_RING_SIMPLE, 2, 8, 32 * KIB - 1, 8.4 + 12 * 3.4 + 2 * 9.6,
     (32 * KIB - 1) * 1.75 / 24e3},
    {"2.8.4", AR_RING_SIMPLE, 2, 8, 32 * KIB, 1.9 * (8.4 + 12 * 3.4 + 2 * 9.6),
     32 * KIB * 1.75 / 24e3},
    {"2.8.4", AR_RING_LL, 2, 8, 4 * KIB, 3.6 + 12 * 0.47 * 1.8 + 2 * 2.7, 4 * KIB * 1.75 / 6e3},
    {"2.8.4", AR_RING_LL128, 1, 4, MIB, 10 + 6 * 1.9, MIB * 1.5 / (132e3 * 0.92)},
    {"2.8.4", AR_TREE_LL128, 4, 16, 64 * MIB, 4.4 + 2 * (3 * 1.25 + 2 * 8.5),
     128 * MIB / (24e3 * 0.92 * 0.9375 * 0.9)},
    {"2.18.3", AR_TREE_LL128, 4, 16, 8 * MIB, 14.0 + 2 * (3 * 1.25 + 2 * 8.5),
     16 * MIB / (24e3 * 0.92 * 0.9375 * 0.9)},
    {"2.8.4", AR_TREE_LL, 4, 16, KIB, 4.4 + 2 * (3 * 0.52 * 1.8 + 2 * 5.0),
     2 * KIB / (24e3 * 0.92 / 3.8 * 0.9)},
    {"2.8.4", AR_TREE_SIMPLE, 4, 16, 64 * MIB, 2 * (3 * 28.0 + 2 * 28.0),
     128 * MIB / (24e3 * 0.92 * 0.8)},
    /* One rank on each node has 14 hops across the network, and less by ll128 from 2.8 on. */
    {"2.5.6", AR_RING_LL128, 8, 8, MIB, 3.6 + 14 * 2.5, MIB * 1.75 / (24e3 * 0.9375)},
    {"2.8.4", AR_RING_LL128, 8, 8, MIB, 10 + 14 * 4.0, MIB * 1.75 / (24e3 * 0.7)},
};

Test(tuning, times_of_each_release_are_those_of_its_published_constants)
{
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct ar_tuning tuning = tuning_of(times[i].release);
        struct ar_library_run run = {
            .nodes = times[i].nodes, .ranks = times[i].ranks, .bytes = times[i].bytes};
        double found_us = ar_tuning_time(&tuning, times[i].choice, &run) * 1e6;
        double expected_us = times[i].latency_us + times[i].bytes_us;
        cr_expect_float_eq(found_us / expected_us, 1, 1e-9, "row %zu, %s: %g, not %g us", i,
                           times[i].release, found_us, expected_us);
    }
}

Test(tuning, hops_over_pcie_have_latencies_of_their_own_and_no_ll128)
{
    struct ar_library_run run = {.nodes = 1, .ranks = 4, .bytes = MIB};
    struct ar_tuning tuning = tuning_of("2.8.4");
    tuning.links = TUNING_PCIE;
    double time_s = ar_tuning_time(&tuning, AR_RING_SIMPLE, &run);
    cr_expect_float_eq(time_s, (8.4 + 6 * 5.7 + MIB * 1.5 / 132e3) * 1e-6, 1e-12);
    time_s = ar_tuning_time(&tuning, AR_RING_LL, &run);
    cr_expect_float_eq(time_s, (3.6 + 6 * 1.0 + MIB * 1.5 / 33e3) * 1e-6, 1e-12);
    for (run.bytes = 4; run.bytes < 1e9; run.bytes *= 2) {
        cr_expect_neq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_LL128);
    }
}

Test(tuning, release_2_3_7_takes_ll_up_to_its_limit_exactly_and_no_tree)
{
    struct ar_tuning tuning = tuning_of("2.3.7");
    struct ar_library_run run = {.nodes = 160, .ranks = 640};
    static const uint32_t channels[] = {4, 12};
    for (size_t i = 0; i < 2; i++) {
        tuning.channels = channels[i];
        double limit = 640.0 * channels[i] * 16384;
        run.bytes = limit;
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_LL);
        run.bytes = limit + 2;
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_SIMPLE);
        run.bytes = 4;
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_LL);
    }
    run = (struct ar_library_run){.nodes = 1, .ranks = 4, .bytes = 2 * MIB};
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_SIMPLE, "no ll128 either");
}

/* At 64 GPUs on 16 nodes; by hand for 4 bytes: 2.8.4 has 3.6 + 96 x 0.846 + 30 x 2.7 us in a ring
 * and 4.4 + 2 (3 x 0.936 + 4 x 5) us in a tree. */
Test(tuning, trees_are_taken_for_small_sizes_and_rings_for_large_ones)
{
    static const char *const releases[] = {"2.5.6", "2.8.4", "2.18.3"};
    for (size_t i = 0; i < 3; i++) {
        struct ar_tuning tuning = tuning_of(releases[i]);
        struct ar_library_run run = {.nodes = 16, .ranks = 64, .bytes = 4};
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_TREE_LL, "%s", releases[i]);
        run.bytes = 1e9;
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_SIMPLE);
        run.call = AR_ALL_GATHER;
        run.bytes = 4;
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run), AR_RING_LL, "only all-reduces");
        run.call = AR_ALL_TO_ALL; /* by ll from 2.14 on */
        cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &run),
                     i < 2 ? AR_SEND_SIMPLE : AR_SEND_LL, "%s", releases[i]);
    }
}

/* By hand, microseconds: 4 MiB on 16 nodes of 4 take 1190 by ring simple, 686 by ring ll128 and 789
 * by tree ll128; 1 MiB on 256 nodes take 572 by tree ll, 344 by tree ll128, 5116 by ring ll128. */
Test(tuning, ll128_goes_across_nodes_where_hcas_are_beside_their_gpus_only)
{
    struct ar_library_run few = {.nodes = 16, .ranks = 64, .bytes = 4 * MIB};
    struct ar_library_run many = {.nodes = 256, .ranks = 1024, .bytes = MIB};
    struct ar_tuning tuning = tuning_of("2.5.6");
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &few), AR_RING_SIMPLE);
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &many), AR_TREE_LL);
    tuning.has_near_hcas = true;
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &few), AR_RING_LL128);
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_TREE, &few), AR_TREE_LL128);
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &many), AR_TREE_LL128);
    tuning.links = TUNING_PCIE;
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &few), AR_RING_SIMPLE);
    tuning = tuning_of("2.3.7");
    tuning.has_near_hcas = true;
    few.bytes = 1e9;
    cr_expect_eq(ar_tuning_choose(&tuning, AR_CALLS_ANY, &few), AR_RING_SIMPLE, "no ll128 then");
}

Test(tuning, priors_of_a_release_are_its_latencies)
{
    struct ar_tuning standard = tuning_of("2.8.4");
    struct ar_tuning old = tuning_of("2.5.6");
    static const struct {
        enum ar_library_parameter parameter;
        double standard, old;
    } rows[] = {
        {AR_LL_BASE, 3.6e-6, 3.6e-6},
        {AR_LL128_BASE, 10e-6, 3.6e-6},
        {AR_LL_NODE_LATENCY, 0.47e-6 * 1.8, 0.9e-6}, /* 2.5.6: every hop that of the network */
        {AR_SIMPLE_NODE_LATENCY, 3.4e-6, 5.7e-6},
        {AR_LL_NET_LATENCY, 2.7e-6, 0.9e-6},
        {AR_SIMPLE_NET_LATENCY, 9.6e-6 * 1.9, 6.6e-6}, /* on the plateau, if there is one */
        {AR_TREE_SIMPLE_NET_LATENCY, 28e-6, 50e-6},
        {AR_NODE_BANDWIDTH, 132e9, 132e9},
        {AR_NET_BANDWIDTH, 24e9, 24e9},
        {AR_LL_SHARE, 0.25, 0.25},
        {AR_CHAIN_CHUNK, 2097152, 2097152},
        {AR_GROWTH, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum ar_library_parameter parameter = rows[i].parameter;
        double prior = ar_library_parameter_prior(&standard, parameter);
        double old_prior = ar_library_parameter_prior(&old, parameter);
        cr_expect_float_eq(prior / rows[i].standard, 1, 1e-12, "%zu: %g", i, prior);
        cr_expect_float_eq(old_prior / rows[i].old, 1, 1e-12, "%zu: %g", i, old_prior);
    }
    standard.net_bus_Bps = 0; /* of one node: a fit to it says nothing of a network */
    cr_expect_gt(ar_library_parameter_prior(&standard, AR_NET_BANDWIDTH), 0);
    cr_expect_str_eq(ar_library_parameter_prior_source(&old, AR_NET_BANDWIDTH),
                     "hca.bandwidth, or library.net_bus");
    cr_expect_not_null(strstr(ar_library_parameter_prior_source(&old, AR_LL128_BASE), "v2.5.6-1"));
}

Test(tuning, a_cluster_says_more_than_constants)
{
    struct ar_tuning tuning = tuning_of("2.18.3");
    struct ar_library_run run = {.nodes = 2, .ranks = 16, .bytes = 8};
    double before_s = ar_tuning_time(&tuning, AR_TREE_LL, &run);
    tuning.net_latency_s = 75e-6;
    tuning.net_payload_Bps = 20e9;
    cr_expect_float_eq(ar_tuning_time(&tuning, AR_TREE_LL, &run), before_s + 2 * 75e-6, 1e-12);
    cr_expect_float_eq(ar_library_parameter_prior(&tuning, AR_TREE_LL_NET_LATENCY), 80e-6, 1e-12);
    cr_expect_float_eq(ar_tuning_net_latency(&tuning, AR_TREE_SIMPLE), 14 + 2 * 75, 1e-9);
    cr_expect_eq(ar_library_parameter_prior(&tuning, AR_NET_BANDWIDTH), 20e9);
    tuning.net_payload_Bps = 25e9; /* more than NCCL's class of it */
    cr_expect_eq(ar_library_parameter_prior(&tuning, AR_NET_BANDWIDTH), 25e9);
}

/* Seconds of the second half of bytes by NVLS on Hopper, at 100 GB/s in a node and 40 across. */
Test(tuning, nvls_sends_bytes_and_sums_and_waits_for_each_chunk)
{
    double values[AR_LIBRARY_PARAMETERS_COUNT] = {[AR_NODE_BANDWIDTH] = 100e9,
                                                  [AR_NET_BANDWIDTH] = 40e9,
                                                  [AR_GROWTH] = 1,
                                                  [AR_SWITCH_BANDWIDTH] = 1};
    static const struct {
        struct ar_library_run run;
        enum ar_choice choice;
        double byte_s;
    } cases[] = {
        {{1, 8, 16384 * MIB, AR_ALL_REDUCE, 0}, AR_NVLS, 9.0 / 8 / 100e9 + 0.6e-6 / (16 * 131072)},
        {{1, 4, 16384 * MIB, AR_ALL_REDUCE, 0}, AR_NVLS, 5.0 / 4 / 100e9 + 0.6e-6 / (16 * 131072)},
        {{2, 16, 16384 * MIB, AR_ALL_REDUCE, 0}, AR_NVLS_TREE, 1 / 40e9},
        {{4, 32, 16384 * MIB, AR_ALL_REDUCE, 0}, AR_NVLS_TREE, 2 / 40e9},
        {{2, 16, 2 * MIB, AR_ALL_REDUCE, 0},
         AR_NVLS_TREE,
         2 / 100e9 + 2 / 40e9}, /* all of it in first chunks */
    };
    struct ar_tuning tuning = tuning_of("2.21.5");
    ar_tuning_set_generation(&tuning, AR_GPU_HOPPER);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_library_run half = cases[i].run;
        half.bytes /= 2;
        double time_s = ar_library_time(&tuning, values, cases[i].choice, &cases[i].run) -
                        ar_library_time(&tuning, values, cases[i].choice, &half);
        cr_expect_float_eq(time_s / half.bytes / cases[i].byte_s, 1, 1e-6, "case %zu", i);
    }
}

/* --- other calls -------------------------------------------------------------------------- */

static double call_us(enum ar_library_call call, uint32_t nodes, uint32_t ranks)
{
    struct ar_tuning tuning = tuning_of("2.8.4");
    struct ar_library_run run = {.nodes = nodes, .ranks = ranks, .bytes = MIB, .call = call};
    return ar_tuning_time(&tuning, AR_RING_SIMPLE, &run) * 1e6;
}

Test(tuning, halves_and_chains_by_hand)
{
    double half = 8.4 + 6 * 3.4 + 9.6 + MIB * 7 / 8 / 24e3;
    cr_expect_float_eq(call_us(AR_REDUCE_SCATTER, 2, 8), half, 1e-9);
    cr_expect_float_eq(call_us(AR_ALL_GATHER, 2, 8), half, 1e-9);
    double chain = 8.4 + 4 * 28 + MIB / 132e3; /* a mesh: as many hops of a simple tree as ranks */
    cr_expect_float_eq(call_us(AR_REDUCE, 1, 4), chain, 1e-9);
    cr_expect_float_eq(call_us(AR_BROADCAST, 1, 4), chain, 1e-9);
}

/* `expected` has each call as letter, bytes, ranks/nodes and, of several nodes, /sharers. */
static void expect_grid(enum ar_calls calls, uint32_t x, uint32_t y, uint32_t gpus,
                        const char *expected)
{
    static const char letters[] = {[AR_ALL_REDUCE] = 'A',
                                   [AR_REDUCE_SCATTER] = 'S',
                                   [AR_ALL_GATHER] = 'G',
                                   [AR_REDUCE] = 'R',
                                   [AR_BROADCAST] = 'B'};
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX];
    struct ar_shape shape = {.x = x, .y = y};
    char text[128] = "";
    size_t count = ar_library_calls(calls, AR_ALL_REDUCE, &shape, gpus, 960, runs);
    for (size_t i = 0; i < count; i++) {
        const struct ar_library_run *run = &runs[i];
        sprintf(text + strlen(text), "%s%c %g %u/%u", i > 0 ? ", " : "", letters[run->call],
                run->bytes, run->ranks, run->nodes);
        if (run->nodes > 1) {
            sprintf(text + strlen(text), "/%u", ar_library_sharers(run));
        }
    }
    cr_expect_str_eq(text, expected, "%ux%u: %s", x, y, text);
}

Test(tuning, grids_lie_over_nodes_as_their_ranks_do)
{
    /* Rows of two nodes each; four columns of one GPU per node leave a node together. */
    expect_grid(AR_CALLS_TORUS, 8, 8, 4, "S 960 8/2/1, A 120 8/8/4, G 960 8/2/1");
    /* Rows of half a node; the two columns have two GPUs of every node. */
    expect_grid(AR_CALLS_TORUS, 2, 8, 4, "S 960 2/1, A 480 8/4/2, G 960 2/1");
    expect_grid(AR_CALLS_TORUS, 4, 3, 4, "S 960 4/1, A 240 3/3/4, G 960 4/1");
    /* Rows that begin within nodes meet there. */
    expect_grid(AR_CALLS_TORUS, 6, 4, 4, "S 960 6/2/2, A 160 4/4/4, G 960 6/2/2");
    expect_grid(AR_CALLS_TORUS, 3, 4, 4, "S 960 3/2/2, A 320 4/3/3, G 960 3/2/2");
    expect_grid(AR_CALLS_TORUS, 2, 2, 8, "S 960 2/1, A 480 2/1, G 960 2/1");
    /* One column is the flat ring, one row its halves. */
    expect_grid(AR_CALLS_TORUS, 1, 16, 4, "A 960 16/4/1");
    expect_grid(AR_CALLS_TORUS, 16, 1, 4, "S 960 16/4/1, G 960 16/4/1");
    /* Leaders are one ring, alone on the network. */
    expect_grid(AR_CALLS_LEADERS, 4, 16, 4, "R 960 4/1, A 960 16/16/1, B 960 4/1");
    expect_grid(AR_CALLS_LEADERS, 4, 4, 8, "R 960 4/1, A 960 4/2/1, B 960 4/1");
}

Test(tuning, calls_that_share_the_network_have_a_part_of_it_each)
{
    struct ar_tuning whole = tuning_of("2.8.4");
    struct ar_tuning part = whole;
    struct ar_library library;
    ar_library_start(&whole, &library);
    struct ar_library_run alone = {.nodes = 8, .ranks = 8, .bytes = 3 * MIB};
    struct ar_library_run shared = alone;
    shared.sharers = 4;
    part.net_bus_Bps /= 4;
    static const enum ar_choice choices[] = {AR_RING_LL, AR_RING_SIMPLE, AR_TREE_LL,
                                             AR_TREE_SIMPLE};
    double values[AR_LIBRARY_PARAMETERS_COUNT];
    memcpy(values, library.values, sizeof values);
    values[AR_NET_BANDWIDTH] /= 4;
    for (size_t i = 0; i < 4; i++) {
        cr_expect_float_eq(ar_tuning_time(&whole, choices[i], &shared),
                           ar_tuning_time(&part, choices[i], &alone), 1e-12);
        cr_expect_float_eq(ar_library_time(&library.tuning, library.values, choices[i], &shared),
                           ar_library_time(&whole, values, choices[i], &alone), 1e-12);
    }
    shared.nodes = alone.nodes = 1; /* a node's links are not the network */
    cr_expect_eq(ar_tuning_time(&whole, AR_RING_SIMPLE, &shared),
                 ar_tuning_time(&whole, AR_RING_SIMPLE, &alone));
}
