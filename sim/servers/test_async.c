#include <math.h>

#include "ar_async.h"
#include "ar_draw.h"
#include "test_outcome.h"
#include "test_support.h"

enum { STEPS = 12, WORKERS = 16, SLICES = 8 };

#define BYTES 100000000.0

/* Nodes of one GPU, so that a worker has an HCA for itself. */
#define SINGLE "gpus_per_node=1 pcie.switches=0 nvlink.pairs=none"

/* The same, where messages take no time. */
#define FAST SINGLE " hca.bandwidth=1e9GB/s net.latency=1ps"

static struct ar_arena arena; /* of a test, which is a process */
static struct ar_async_slice slices[SLICES];
static double factors[STEPS * WORKERS];

/* Even slices, all of which are there when the backward pass ends; what takes no time but theirs is
 * left to the tests. */
static struct ar_async run_of(const struct ar_cluster *cluster, uint32_t workers, uint32_t servers,
                              uint32_t slices_count)
{
    for (uint32_t i = 0; i < slices_count; i++) {
        slices[i] =
            (struct ar_async_slice){.ready_s = 0.02, .bytes = (uint64_t)(BYTES / slices_count)};
    }
    return (struct ar_async){.cluster = cluster,
                             .workers = workers,
                             .gpus_each = 1,
                             .servers = servers,
                             .every = 1,
                             .steps_count = STEPS,
                             .forward_s = 0.01,
                             .backward_s = 0.02,
                             .slices = slices,
                             .slices_count = slices_count};
}

static double iterate(struct ar_async *run)
{
    ar_async_prepare(run, &arena);
    ar_async_run_events(run);
    return ar_async_iteration_s(run);
}

static void draw(struct ar_async *run, double jitter_frac)
{
    struct ar_draw *drawn = ar_draw_create(7, NULL, &arena);
    for (uint32_t step = 0; step < run->steps_count; step++) {
        ar_jitter_factors(drawn, jitter_frac, run->workers, factors + (size_t)step * run->workers);
    }
    run->factors = factors;
}

static double hca_s(const struct ar_cluster *cluster, double bytes)
{
    return bytes / ar_cluster_link_cost(cluster, AR_LINK_HCA_BANDWIDTH);
}

static double latency_s(const struct ar_cluster *cluster)
{
    return ar_cluster_link_cost(cluster, AR_LINK_NET_LATENCY);
}

/* One exchange each way of all that a step has, so that a step takes 0.03 s of computation, what
 * GPUs of a worker sum and hand out, and twice the bytes of the busiest HCA and a latency. */
Test(async, a_step_takes_twice_the_bytes_of_the_busiest_hca)
{
    static const struct {
        const char *title;
        bool is_single; /* nodes of one GPU */
        enum ar_servers_at at;
        uint32_t workers, servers, gpus_each;
        double transfers; /* of all bytes, over one HCA */
        uint64_t messages;
    } cases[] = {
        {"a worker alone, 1 server", true, AR_SERVERS_AT_NODES, 1, 1, 1, 1, 1},
        {"a worker alone, 2 servers", true, AR_SERVERS_AT_NODES, 1, 2, 1, 1, 2},
        {"a worker alone, 8 servers", true, AR_SERVERS_AT_NODES, 1, 8, 1, 1, 8},
        {"1 server is the bound", true, AR_SERVERS_AT_NODES, 16, 1, 1, 16, 16},
        {"4 servers are", true, AR_SERVERS_AT_NODES, 16, 4, 1, 4, 64},
        {"16 servers are not", true, AR_SERVERS_AT_NODES, 16, 16, 1, 1, 256},
        {"32 servers are not", true, AR_SERVERS_AT_NODES, 16, 32, 1, 1, 512},
        {"a node that sums sends its bytes once", false, AR_SERVERS_AT_NODES, 4, 4, 8, 1, 128},
        {"8 GPUs share an HCA", false, AR_SERVERS_AT_NODES, 16, 16, 1, 8, 256},
        {"beside the workers, as a ring", true, AR_SERVERS_AT_WORKERS, 8, 8, 1, 7.0 / 8, 56},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ar_cluster *cluster =
            support_cluster("v100-8gpu-1edr", cases[i].is_single ? SINGLE : NULL);
        struct ar_async run = run_of(cluster, cases[i].workers, cases[i].servers, 1);
        run.gpus_each = cases[i].gpus_each;
        run.servers_at = cases[i].at;
        slices[0].sum_s = run.gpus_each > 1 ? 0.003 : 0;
        slices[0].hand_s = run.gpus_each > 1 ? 0.002 : 0;
        double sent_s = hca_s(cluster, cases[i].transfers * BYTES) + latency_s(cluster);
        double expected = 0.03 + slices[0].sum_s + slices[0].hand_s + 2 * sent_s;
        SUPPORT_NEAR(iterate(&run), expected, 1e-9, "%s", cases[i].title);
        cr_expect_eq(run.messages_count, 2 * STEPS * cases[i].messages, "%s", cases[i].title);
    }
}

Test(async, with_enough_servers_pushes_beside_pulls_take_half_the_time_of_a_ring)
{
    /* Jiang et al., OSDI 2020: 2 n (n-1) M / ((n^2 + k n - 2 k) B) with n workers and k servers,
     * twice as fast as a ring; slices hide all but one part of the pulls behind the pushes. */
    const struct ar_cluster *cluster = support_cluster("v100-8gpu-1edr", SINGLE);
    double n = 8;
    for (uint32_t k = 1; k <= 8; k++) {
        struct ar_async run = run_of(cluster, (uint32_t)n, k, SLICES);
        run.servers_at = AR_SERVERS_AT_BOTH;
        double exposed_s = iterate(&run) - 0.03 - 2 * latency_s(cluster);
        double optimum_s = hca_s(cluster, 2 * n * (n - 1) * BYTES) / (n * n + k * n - 2 * k);
        cr_assert(exposed_s >= optimum_s * (1 - 1e-9) &&
                  exposed_s <= optimum_s * (1 + 1.5 / SLICES));
    }
}

Test(async, no_staleness_is_the_slowest_worker_of_each_step)
{
    struct ar_async run = run_of(support_cluster("v100-8gpu-1edr", FAST), WORKERS, 4, 1);
    draw(&run, 0.3);
    double expected = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        double slowest = 0;
        for (uint32_t i = 0; i < WORKERS; i++) {
            slowest = fmax(slowest, factors[step * WORKERS + i]);
        }
        expected += 0.03 * slowest / STEPS;
    }
    SUPPORT_NEAR(iterate(&run), expected, 1e-6);
}

Test(async, without_bound_each_worker_goes_at_its_own_rate)
{
    struct ar_async run = run_of(support_cluster("v100-8gpu-1edr", FAST), WORKERS, 4, 1);
    draw(&run, 0.3);
    static double starts_s[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++) {
        starts_s[i] = 0.03 * (i * 7 % WORKERS) / WORKERS;
    }
    run.starts_s = starts_s;
    run.staleness = AR_ASYNC_FREE;
    double free_s = iterate(&run);
    for (uint32_t i = 0; i < WORKERS; i++) {
        double own_s = 0;
        for (uint32_t step = 0; step < STEPS; step++) {
            own_s += 0.03 * factors[step * WORKERS + i];
        }
        SUPPORT_NEAR(run.end_s[i], own_s, 1e-6);
    }
    run.staleness = STEPS; /* nobody can be as far behind */
    cr_assert(iterate(&run) == free_s);
}

Test(async, workers_wait_the_less_for_each_other_the_more_staleness_is_allowed)
{
    const struct ar_cluster *cluster = support_cluster("v100-8gpu-1edr", SINGLE);
    double last_wait_s = INFINITY, last_s = INFINITY;
    for (uint32_t staleness = 0; staleness < 6; staleness++) {
        struct ar_async run = run_of(cluster, WORKERS, 8, 2);
        draw(&run, 0.3);
        run.staleness = staleness;
        double found_s = iterate(&run);
        struct ar_async_split split = ar_async_split_mean(&run);
        cr_assert(split.wait_s <= last_wait_s && found_s <= last_s);
        SUPPORT_NEAR(split.compute_s + split.push_s + split.wait_s + split.pull_s, found_s, 1e-9);
        last_wait_s = split.wait_s;
        last_s = found_s;
    }
}

Test(async, workers_that_start_one_after_the_other_do_not_wait_for_the_same_link)
{
    /* Two that take turns: one pushes while the other computes. In step both push, then pull. */
    const struct ar_cluster *cluster = support_cluster("v100-8gpu-1edr", SINGLE);
    static const double starts_s[] = {0, 0.02};
    struct ar_async run = run_of(cluster, 2, 1, 1);
    double transfer_s = hca_s(cluster, BYTES) + latency_s(cluster);
    run.staleness = AR_ASYNC_FREE;
    cr_assert(iterate(&run) > 0.03 + 3.9 * transfer_s);
    run.starts_s = starts_s;
    SUPPORT_NEAR(iterate(&run), 0.03 + 2 * transfer_s, 1e-9);
}

Test(async, slices_that_are_pulled_one_ahead_hide_behind_the_work_on_those_before)
{
    /* A pass of 0.03 s over all slices, all of it forward: as in LightLDA. */
    const struct ar_cluster *cluster = support_cluster("v100-8gpu-1edr", SINGLE);
    double slice_s = hca_s(cluster, BYTES / SLICES);
    for (int pull = AR_PULL_WHOLE; pull <= AR_PULL_SLICED; pull++) {
        struct ar_async run = run_of(cluster, 1, 4, SLICES);
        run.pull = (enum ar_pull)pull;
        run.forward_s = 0.03;
        run.backward_s = 0;
        for (uint32_t i = 0; i < SLICES; i++) {
            slices[i].ready_s = 0;
        }
        double found_s = iterate(&run);
        double push_s = SLICES * slice_s + latency_s(cluster);
        /* The slice that is pushed last is used first, so that a whole pull has one slice left
         * then. */
        double expected = 0.03 + push_s + slice_s + latency_s(cluster);
        SUPPORT_NEAR(found_s, expected, 0.02);
    }
}

Test(async, servers_need_nodes)
{
    const struct ar_cluster *cluster = support_cluster("v100-8gpu-1edr", NULL);
    struct ar_async run = run_of(cluster, 8 * 60, 5, 1);
    TEST_FAILS(AR_USAGE, "--servers: found 5 servers", ar_async_check("--servers", &run, &why));
    run.servers = 4;
    TEST_OK(ar_async_check("--servers", &run, &why));
    run.servers = 500;
    run.servers_at = AR_SERVERS_AT_WORKERS;
    TEST_OK(ar_async_check("--servers", &run, &why));
    run.servers = 300000;
    TEST_FAILS(AR_USAGE, "300000 shards for 480 GPUs", ar_async_check("--servers", &run, &why));
}
