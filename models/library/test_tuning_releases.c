/* NCCL's own cost model from 2.10 on, by generation of the GPUs, against times that were worked out
 * by hand from its published constants. */
#include <math.h>

#include "ar_tuning.h"
#include "test_outcome.h"

#define KIB 1024.0
#define MIB 1048576.0

/* 8 GPUs in a node, rings of 160 GB/s there and 80 GB/s across, 8 channels; HCAs for each GPU, and
 * a network that sums. */
static struct ar_tuning tuning_of(const char *release, enum ar_gpu_generation generation)
{
    struct ar_tuning tuning;
    TEST_OK(ar_tuning_find("test", release, 160e9, 80e9, &tuning, &why));
    tuning.generation = generation;
    tuning.channels = 8;
    tuning.links = TUNING_NVSWITCH;
    tuning.hcas = 8;
    tuning.has_collnet = true;
    return tuning;
}

struct expected_time {
    const char *release;
    enum ar_choice choice;
    uint32_t nodes, ranks;
    double bytes, latency_us, bytes_us;
};

/* Expects a time of a call by hand. */
static void expect_us(const struct ar_tuning *tuning, enum ar_choice choice,
                      enum ar_library_call call, uint32_t nodes, uint32_t ranks, double bytes,
                      double expected_us)
{
    struct ar_library_run run = {.nodes = nodes, .ranks = ranks, .bytes = bytes, .call = call};
    double found_us = ar_tuning_time(tuning, choice, &run) * 1e6;
    cr_expect_float_eq(found_us / expected_us, 1, 1e-9, "%s %s on %u nodes: %.9g, not %.9g us",
                       tuning->release->name, ar_choices[choice].name, nodes, found_us,
                       expected_us);
}

#define EXPECT(generation, call, ...)                                                              \
    for (const struct expected_time *time = (const struct expected_time[]){__VA_ARGS__{NULL}};     \
         time->release != NULL; time++) {                                                          \
        struct ar_tuning tuning = tuning_of(time->release, generation);                            \
        expect_us(&tuning, time->choice, call, time->nodes, time->ranks, time->bytes,              \
                  time->latency_us + time->bytes_us);                                              \
    }

/* clang-format off */

/* 32 ranks on 4 nodes: 62 hops, 6 of them across; 8 in 2.12 to 2.22. 62/32 of the bytes. */
Test(tuning_releases, rings_of_all_reduces)
{
    EXPECT(AR_GPU_AMPERE, AR_ALL_REDUCE,
        {"2.10.3", AR_RING_LL, 4, 32, KIB, 3.6 + 56 * 0.47 * 1.8 + 6 * 2.7, KIB * 62 / 32 / 20e3},
        {"2.11.4", AR_RING_SIMPLE, 4, 32, 128 * KIB - 1,
         8.4 + 56 * 3.4 + 6 * 9.6, (128 * KIB - 1) * 62 / 32 / 80e3},
        {"2.12.12", AR_RING_SIMPLE, 4, 32, MIB,
         1.9 * (8.4 + 54 * 3.4 + 8 * 28), MIB * 62 / 32 / 80e3},
        {"2.14.3", AR_RING_SIMPLE, 4, 32, MIB,
         1.9 * (8.4 + 54 * 3.4 + 8 * 9.6), MIB * 62 / 32 / 80e3},
        /* From 2.18 on no factor of 1.8, a hop of at least 1 us, 64 bytes x 8 x 32 to the plateau. */
        {"2.18.3", AR_RING_LL, 4, 32, KIB, 6.6 + 54 * 1.0 + 8 * 2.7, KIB * 62 / 32 / 20e3},
        {"2.18.3", AR_RING_SIMPLE, 4, 32, 16 * KIB - 1,
         8.4 + 54 * 3.4 + 8 * 14, (16 * KIB - 1) * 62 / 32 / 80e3},
        {"2.18.3", AR_RING_SIMPLE, 4, 32, 16 * KIB,
         1.4 * (8.4 + 54 * 3.4 + 8 * 14), 16 * KIB * 62 / 32 / 80e3},
        /* ll128: 0.92 of the bus, 20 GB/s of a channel before Hopper; one rank per node has 0.7 up
         * to 2.22, and from 2.23 on the hops of trees. */
        {"2.19.4", AR_RING_LL128, 1, 8, MIB, 14 + 14 * 1.9, MIB * 14 / 8 / (160e3 * 0.92)},
        {"2.22.3", AR_RING_LL128, 4, 4, MIB, 14 - 2 * 1.9 + 8 * 4.0, MIB * 6 / 4 / (80e3 * 0.7)},
        {"2.23.4", AR_RING_LL128, 4, 4, MIB, 14 + 6 * 8.5, MIB * 6 / 4 / (80e3 * 0.92)},
    );
    EXPECT(AR_GPU_HOPPER, AR_ALL_REDUCE,
        {"2.17.1", AR_RING_SIMPLE, 4, 32, MIB,
         1.5 * (8.4 + 54 * 3.4 + 8 * 9.6), MIB * 62 / 32 / 80e3},
        /* ll has a quarter of the bus up to 2.20, half of it from 2.21 on, under the cap of the CPU:
         * Intel 20.4 GB/s on more than two nodes. */
        {"2.20.5", AR_RING_LL, 4, 32, MIB, 6.6 + 54 * 1.0 + 8 * 2.7, MIB * 62 / 32 / 20e3},
        {"2.21.5", AR_RING_LL, 4, 32, MIB, 6.6 + 54 * 1.0 + 8 * 2.7, MIB * 62 / 32 / 20.4e3},
        {"2.21.5", AR_RING_LL, 2, 16, MIB, 6.6 + 26 * 1.0 + 4 * 2.7, MIB * 30 / 16 / 39e3},
        {"2.22.3", AR_RING_LL, 1, 8, MIB, 6.6 + 14 * 0.6, MIB * 14 / 8 / 80e3},
        {"2.20.5", AR_RING_LL, 1, 8, MIB, 6.6 + 14 * 0.6, MIB * 14 / 8 / 40e3},
        {"2.23.4", AR_RING_SIMPLE, 4, 32, MIB,
         1.4 * (8.4 + 56 * 3.4 + 6 * 14), MIB * 62 / 32 / 80e3},
    );
    EXPECT(AR_GPU_VOLTA, AR_ALL_REDUCE,
        {"2.18.3", AR_RING_SIMPLE, 4, 32, 16 * KIB,
         1.9 * (8.4 + 54 * 3.4 + 8 * 14), 16 * KIB * 62 / 32 / 80e3},
    );
}

/* By tree: 2 (7 hops in a node + 2 across); corrections of 1 KiB 0.9 (ll), 64 MiB 0.9 (ll128) and
 * 4 MiB 0.7 (simple). */
Test(tuning_releases, trees)
{
    EXPECT(AR_GPU_AMPERE, AR_ALL_REDUCE,
        {"2.12.12", AR_TREE_LL, 4, 32, KIB,
         4.4 + 2 * (7 * 0.52 * 1.8 + 2 * 5), 2 * KIB / (80e3 * 0.92 / 3.8 * 0.9)},
        {"2.18.3", AR_TREE_SIMPLE, 4, 32, 4 * MIB,
         2 * (7 * 4 + 2 * 14), 8 * MIB / (80e3 * 0.92 * 0.7)},
        {"2.20.5", AR_TREE_SIMPLE, 4, 32, 4 * MIB,
         2 * (7 * 28 + 2 * 28), 8 * MIB / (80e3 * 0.92 * 0.7)},
        {"2.23.4", AR_TREE_SIMPLE, 4, 32, 4 * MIB,
         8.4 + 2 * (7 * 4 + 2 * 14), 8 * MIB / (80e3 * 0.92 * 0.7)},
        /* One rank per node is a plain tree: 0.85. */
        {"2.23.4", AR_TREE_SIMPLE, 4, 4, 4 * MIB,
         8.4 + 2 * 2 * 14, 8 * MIB / (80e3 * 0.92 * 0.85 * 0.7)},
    );
    EXPECT(AR_GPU_HOPPER, AR_ALL_REDUCE,
        {"2.18.3", AR_TREE_LL, 4, 32, KIB,
         6.8 + 2 * (7 * 0.6 + 2 * 5), 2 * KIB / (80e3 * 0.92 / 3.8 * 0.9)},
        /* On one node, 7/9 by ll128. */
        {"2.27.7", AR_TREE_LL128, 1, 8, 64 * MIB,
         14 + 2 * 7 * 1.25, 128 * MIB / (160e3 * 0.92 * 7 / 9 * 0.9)},
        {"2.27.7", AR_TREE_LL128, 4, 32, 64 * MIB,
         14 + 2 * (7 * 1.25 + 2 * 8.5), 128 * MIB / (80e3 * 0.92 * 120 / 128 * 0.9)},
    );
}

/* Rates so high that the caps decide: 8 channels. */
Test(tuning_releases, caps_are_of_the_generation)
{
    static const struct {
        const char *release;
        enum ar_gpu_generation generation;
        enum ar_choice choice;
        uint32_t nodes;
        double cap; /* GB/s */
    } rows[] = {
        {"2.10.3", AR_GPU_VOLTA, AR_TREE_SIMPLE, 2, 8 * 18.5},
        {"2.10.3", AR_GPU_AMPERE, AR_TREE_SIMPLE, 4, 8 * 17.8},
        {"2.10.3", AR_GPU_HOPPER, AR_TREE_SIMPLE, 4, 8 * 17.8},
        {"2.16.5", AR_GPU_HOPPER, AR_RING_LL128, 2, 8 * 20},
        {"2.17.1", AR_GPU_HOPPER, AR_RING_LL128, 2, 8 * 36.7},
        {"2.17.1", AR_GPU_HOPPER, AR_TREE_SIMPLE, 4, 8 * 33},
        {"2.17.1", AR_GPU_AMPERE, AR_RING_SIMPLE, 2, 235},
        {"2.17.1", AR_GPU_HOPPER, AR_RING_SIMPLE, 2, 370},
        {"2.18.3", AR_GPU_HOPPER, AR_TREE_SIMPLE, 4, 8 * 36},
        {"2.18.3", AR_GPU_HOPPER, AR_TREE_LL128, 4, 8 * 29 },
        {"2.18.3", AR_GPU_HOPPER, AR_RING_LL, 1, 87.7},
        {"2.21.5", AR_GPU_HOPPER, AR_RING_LL, 1, 141},
        {"2.21.5", AR_GPU_BLACKWELL, AR_RING_LL, 1, 141},
        {"2.25.1", AR_GPU_BLACKWELL, AR_RING_LL, 1, 282},
        {"2.25.1", AR_GPU_BLACKWELL, AR_RING_LL128, 2, 8 * 73.4},
        {"2.28.9", AR_GPU_BLACKWELL, AR_RING_LL128, 2, 8 * 34.6},
        {"2.29.7", AR_GPU_BLACKWELL, AR_RING_LL128, 4, 8 * 40},
        {"2.28.9", AR_GPU_BLACKWELL, AR_TREE_SIMPLE, 2, 8 * 42.8},
        {"2.28.9", AR_GPU_BLACKWELL, AR_NVLS_TREE, 4, 8 * 43.8},
        {"2.30.7", AR_GPU_BLACKWELL, AR_NVLS_TREE, 4, 8 * 80},
        {"2.30.7", AR_GPU_HOPPER, AR_NVLS_TREE, 2, 8 * 57.7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_tuning tuning = tuning_of(rows[i].release, rows[i].generation);
        tuning.node_bus_Bps = tuning.net_bus_Bps = 1e15;
        struct ar_library_run run = {
            .nodes = rows[i].nodes, .ranks = 8 * rows[i].nodes, .bytes = 1e12};
        bool is_tree = ar_choices[rows[i].choice].algorithm == AR_CHOICE_TREE;
        double parts = is_tree ? 2 : 2.0 * (run.ranks - 1) / run.ranks;
        double time_s = ar_tuning_time(&tuning, rows[i].choice, &run);
        cr_expect_float_eq(1e12 * parts / time_s / 1e9 / rows[i].cap, 1, 1e-2, "row %zu: %g, not %g",
                           i, 1e12 * parts / time_s / 1e9, rows[i].cap);
    }
}

/* CPUs of AMD: another cap of ll on several nodes, and hops of at least 2 us, simple 6 us. */
Test(tuning_releases, the_vendor_of_the_cpu_decides_across_nodes)
{
    struct ar_tuning tuning = tuning_of("2.21.5", AR_GPU_HOPPER);
    tuning.cpu = AR_CPU_AMD;
    expect_us(&tuning, AR_RING_LL, AR_ALL_REDUCE, 4, 32, MIB,
              6.6 + 54 * 2.0 + 8 * 2.7 + MIB * 62 / 32 / 19e3);
    expect_us(&tuning, AR_RING_SIMPLE, AR_ALL_REDUCE, 4, 32, MIB,
              1.4 * (8.4 + 54 * 6.0 + 8 * 14) + MIB * 62 / 32 / 80e3);
    expect_us(&tuning, AR_RING_LL, AR_ALL_REDUCE, 1, 8, MIB, 6.6 + 14 * 0.6 + MIB * 14 / 8 / 80e3);
}

/* Halves: p-1 hops, n-1 across, (p-1)/p of the bytes; ll up to 2.20: a third of a node's bus. */
Test(tuning_releases, halves_of_all_reduces)
{
    EXPECT(AR_GPU_AMPERE, AR_ALL_GATHER,
        {"2.18.3", AR_RING_SIMPLE, 4, 32, MIB, 8.4 + 28 * 3.4 + 3 * 14, MIB * 31 / 32 / 80e3},
    );
    EXPECT(AR_GPU_HOPPER, AR_ALL_GATHER,
        {"2.23.4", AR_PAT, 8, 8, MIB, 8 + 3 * 14 / 3.5 + 8 * 2.8, MIB / (80e3 * 0.85)},
        {"2.27.7", AR_PAT, 8, 8, MIB, 8 + 3 * 14 / 3.5 + 8 * 2.8, MIB / (80e3 * 0.75)},
        {"2.26.5", AR_NVLS, 1, 8, MIB, 25, MIB / 160e3},
        {"2.27.7", AR_NVLS, 1, 8, MIB, 25, MIB / (160e3 * 7 / 8)},
        {"2.27.7", AR_NVLS, 2, 16, MIB, 25 + 18, MIB / 72e3},
        {"2.28.9", AR_NVLS, 1, 8, MIB, 25, MIB / (160e3 * 0.85 * 7 / 8 * 7 / 8)},
        /* 7 other GPUs: all of a node, 0.85. */
        {"2.20.5", AR_COLLNET_DIRECT, 4, 32, MIB, 2 * (3.7 + 7 * 0.4) + 31, MIB / (80e3 * 0.85)},
        {"2.27.7", AR_COLLNET_DIRECT, 4, 32, MIB, 2 * (3.7 + 7 * 0.4) + 31, MIB / 72e3},
    );
    EXPECT(AR_GPU_AMPERE, AR_REDUCE_SCATTER,
        {"2.18.3", AR_RING_LL, 1, 8, MIB, 6.6 + 7 * 0.6, MIB * 7 / 8 / (160e3 / 3)},
        {"2.21.5", AR_RING_LL, 1, 8, MIB, 6.6 + 7 * 0.6, MIB * 7 / 8 / 80e3},
    );
}

Test(tuning_releases, chains_count_one_hop_where_all_rings_are_the_same)
{
    EXPECT(AR_GPU_AMPERE, AR_BROADCAST,
        {"2.18.3", AR_RING_SIMPLE, 1, 8, MIB, 8.4 + 3.4, MIB / 160e3},
        {"2.18.3", AR_RING_LL, 1, 8, MIB, 6.6 + 0.6, MIB / (160e3 / 3)},
    );
    EXPECT(AR_GPU_AMPERE, AR_REDUCE,
        {"2.18.3", AR_RING_LL, 1, 8, MIB, 6.6 + 0.6, MIB / 40e3},
        /* 8 HCAs, a ring for each: all hops, of simple trees. */
        {"2.18.3", AR_RING_SIMPLE, 4, 32, MIB, 8.4 + 32 * 14, MIB / 80e3},
        {"2.28.9", AR_RING_LL, 4, 32, MIB, 6.6 + 32 * 2.7, MIB / 20.4e3},
    );
    struct ar_tuning tuning = tuning_of("2.18.3", AR_GPU_AMPERE);
    tuning.hcas = 1;
    expect_us(&tuning, AR_RING_SIMPLE, AR_BROADCAST, 4, 32, MIB, 8.4 + 14 + MIB / 80e3);
}

Test(tuning_releases, what_switches_sum)
{
    EXPECT(AR_GPU_HOPPER, AR_ALL_REDUCE,
        {"2.17.1", AR_NVLS, 1, 8, MIB, 40, MIB / (160e3 * 0.75)},
        {"2.18.3", AR_NVLS, 1, 8, MIB, 23, MIB / (160e3 * 5 / 6)},
        {"2.21.5", AR_NVLS, 4, 32, MIB, 25 + 18, MIB / (80e3 * 5 / 6)},
        /* Twice 160 GB/s, 0.85 of it, without one channel of 8, is wider than the network. */
        {"2.28.9", AR_NVLS, 4, 32, MIB, 25 + 18, MIB * 62 / 32 / 80e3},
        {"2.18.3", AR_NVLS_TREE, 4, 32, MIB, 23 + 6 * 19, MIB / (80e3 * 0.7 * 4 / 6)},
        {"2.27.7", AR_NVLS_TREE, 4, 32, MIB, 25 + 4 * 14, MIB / (40e3 * 5 / 6)},
        {"2.27.7", AR_NVLS_TREE, 2, 16, MIB, 25 + 2 * 14, MIB / (80e3 * 5 / 6)},
        {"2.28.9", AR_NVLS_TREE, 2, 16, MIB, 25 + 2 * 20.9, MIB * 30 / 16 / 160e3},
        {"2.28.9", AR_NVLS_TREE, 4, 32, MIB, 25 + 4 * 20.9, MIB * 62 / 32 / 80e3},
        {"2.21.5", AR_COLLNET_DIRECT, 4, 32, MIB,
         2 * (3.7 + 7 * 0.4) + 31, 2 * MIB / (80e3 * 0.85)},
    );
    EXPECT(AR_GPU_AMPERE, AR_ALL_REDUCE,
        /* 8 GPUs and 8 HCAs: f = 1; Hopper has 0.85 of it. */
        {"2.16.5", AR_COLLNET_DIRECT, 4, 32, MIB, 2 * (8 + 7 * 0.5) + 10.7, 2 * MIB / 80e3},
        {"2.16.5", AR_COLLNET_CHAIN, 4, 32, MIB, 2 * 7 * 8, 2 * MIB / (80e3 * 0.75)},
        {"2.18.3", AR_COLLNET_CHAIN, 4, 32, MIB, 2 * 7 * 4.75 + 14, 2 * MIB / 80e3},
        {"2.21.5", AR_COLLNET_CHAIN, 4, 32, MIB, 2 * 7 * 2.8 + 30, 2 * MIB / 80e3},
    );
    /* Two GPUs for an HCA: f = 1.5. */
    struct ar_tuning tuning = tuning_of("2.21.5", AR_GPU_AMPERE);
    tuning.hcas = 4;
    expect_us(&tuning, AR_COLLNET_DIRECT, AR_ALL_REDUCE, 4, 32, MIB,
              2 * (3.7 + 7 * 0.4) + 31 + 2 * MIB * 1.5 / 80e3);
}
/* clang-format on */

/* --- what there is ------------------------------------------------------------------------ */

static bool is_chosen(const struct ar_tuning *tuning, enum ar_choice choice,
                      enum ar_library_call call, uint32_t nodes, uint32_t ranks)
{
    struct ar_library_run run = {.nodes = nodes, .ranks = ranks, .call = call};
    for (run.bytes = 1; run.bytes < 1e12; run.bytes *= 2) {
        if (ar_tuning_choose(tuning, AR_CALLS_ANY, &run) == choice) {
            return true;
        }
    }
    return false;
}

Test(tuning_releases, algorithms_are_there_where_their_release_machine_and_ranks_allow)
{
    struct ar_tuning tuning = tuning_of("2.28.9", AR_GPU_HOPPER);
    cr_expect(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 1, 8));
    cr_expect(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 16, 128));
    cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 16, 32));
    tuning.has_collnet = false;
    cr_expect(is_chosen(&tuning, AR_NVLS_TREE, AR_ALL_REDUCE, 16, 128));
    cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 16, 128));
    cr_expect_not(is_chosen(&tuning, AR_NVLS_TREE, AR_ALL_REDUCE, 1, 8));
    tuning.links = TUNING_NVLINK_MESH;
    cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 1, 8));
    tuning = tuning_of("2.28.9", AR_GPU_AMPERE);
    cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 1, 8));
    tuning = tuning_of("2.16.5", AR_GPU_HOPPER);
    cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 1, 8));
    /* PAT is for one rank per node, from 2.23 on. */
    tuning = tuning_of("2.23.4", AR_GPU_HOPPER);
    tuning.has_collnet = false;
    cr_expect(is_chosen(&tuning, AR_PAT, AR_ALL_GATHER, 64, 64));
    cr_expect_not(is_chosen(&tuning, AR_PAT, AR_ALL_REDUCE, 64, 64));
    cr_expect_not(is_chosen(&tuning, AR_PAT, AR_BROADCAST, 64, 64));
    cr_expect_not(is_chosen(&tuning, AR_PAT, AR_ALL_GATHER, 8, 64));
    tuning = tuning_of("2.22.3", AR_GPU_HOPPER);
    cr_expect_not(is_chosen(&tuning, AR_PAT, AR_ALL_GATHER, 64, 64));
    /* Trees on one node are there from 2.10 on. */
    struct ar_library_run run = {.nodes = 1, .ranks = 8, .bytes = MIB};
    struct ar_tuning old = tuning_of("2.8.4", AR_GPU_AMPERE);
    tuning = tuning_of("2.10.3", AR_GPU_AMPERE);
    cr_expect_not(ar_tuning_has(&old, AR_CALLS_TREE, &run));
    cr_expect(ar_tuning_has(&tuning, AR_CALLS_TREE, &run));
    run.call = AR_BROADCAST;
    cr_expect_not(ar_tuning_has(&tuning, AR_CALLS_TREE, &run));
}

/* Times by the cost model of every release are above 0, grow with bytes, fall with bandwidths. */
Test(tuning_releases, all_prices_react)
{
    for (size_t i = 0; i < ar_releases_count; i++) {
        for (int c = 0; c < AR_CHOICES_COUNT; c++) {
            bool is_priced = (ar_releases[i].all_reduces >> c & 1) != 0;
            bool is_half = !is_priced && (ar_releases[i].halves >> c & 1) != 0;
            struct ar_tuning tuning = tuning_of(ar_releases[i].release, AR_GPU_HOPPER);
            struct ar_library_run run = {.nodes = 4,
                                         .ranks = 32,
                                         .bytes = 1e6,
                                         .call = is_half ? AR_ALL_GATHER : AR_ALL_REDUCE};
            if (!is_priced && !is_half) {
                continue;
            }
            double time_s = ar_tuning_time(&tuning, (enum ar_choice)c, &run);
            run.bytes *= 100;
            double more_s = ar_tuning_time(&tuning, (enum ar_choice)c, &run);
            tuning.node_bus_Bps /= 10;
            tuning.net_bus_Bps /= 10;
            double slower_s = ar_tuning_time(&tuning, (enum ar_choice)c, &run);
            cr_expect(isfinite(time_s) && 0 < time_s && time_s < more_s && more_s < slower_s,
                      "%s %s", ar_releases[i].name, ar_choices[c].name);
        }
    }
}

Test(tuning_releases, a_row_stands_for_its_minor_version_and_others_are_refused_with_the_nearest)
{
    static const char *const rows[][2] = {
        {"2.18.5", "2.18.3"}, {"2.26.2", "2.26.5"}, {"2.12.7", "2.12.12"}, {"2.8.3", "2.8.4"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(tuning_of(rows[i][0], AR_GPU_VOLTA).release->release, rows[i][1]);
    }
    static const char *const others[] = {"",        "2.1.5", "2.18",   "2.18.",
                                         "2.180.3", "2.9.9", "12.18.3"};
    struct ar_tuning tuning = {.channels = 77};
    TEST_EACH_FAILS(AR_BAD_DATA, given, others, ar_tuning_find("test", given, 1, 1, &tuning, &why));
    TEST_FAILS(AR_BAD_DATA, "test: unknown NCCL release \"2.18.3x\"; did you mean \"2.18.3\"?",
               ar_tuning_find("test", "2.18.3x", 1, 1, &tuning, &why));
    cr_expect_eq(tuning.channels, 77);
}

/* RCCL has a table for each kind of machine: base + hops in the node + hops across + bytes. */
Test(tuning_releases, rccl_has_a_table_for_each_generation)
{
    static const struct {
        enum ar_gpu_generation generation;
        double node_us, net_us;
    } rows[] = {{AR_GPU_CDNA2, 3.6, 209.2},
                {AR_GPU_CDNA3, 2.1, 320},
                {AR_GPU_CDNA4, 3.6, 15.1},
                {AR_GPU_VOLTA, 3.6, 15.1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_tuning tuning;
        TEST_OK(ar_tuning_find("test", "rccl-2.22.3", 336e9, 160e9, &tuning, &why));
        ar_tuning_set_generation(&tuning, rows[i].generation);
        cr_expect_str_eq(tuning.release->name, "rccl-2.22.3");
        expect_us(&tuning, AR_RING_SIMPLE, AR_ALL_REDUCE, 2, 16, 1600,
                  17 + 28 * rows[i].node_us + 2 * rows[i].net_us + 3000 / 160e3);
        tuning.links = TUNING_NVSWITCH; /* nothing of NVIDIA's switches */
        cr_expect_not(is_chosen(&tuning, AR_NVLS, AR_ALL_REDUCE, 1, 8));
    }
}

Test(tuning_releases, gpus_take_the_hcas_beside_them)
{
    struct ar_tuning tuning = tuning_of("2.28.9", AR_GPU_HOPPER);
    struct ar_library_run run = {.nodes = 4, .ranks = 8, .bytes = MIB};
    cr_expect_eq(ar_tuning_net_share(&tuning, &run), 1, "by way of the host all are as far");
    tuning.has_near_hcas = true;
    cr_expect_eq(ar_tuning_net_share(&tuning, &run), 2 / 8.0);
    run.ranks = 32;
    cr_expect_eq(ar_tuning_net_share(&tuning, &run), 1);
    run.sharers = 4;
    cr_expect_eq(ar_tuning_net_share(&tuning, &run), 1 / 4.0);
    run.ranks = 4; /* four columns of one GPU of each node */
    cr_expect_eq(ar_tuning_net_share(&tuning, &run), 1 / 8.0);
}
