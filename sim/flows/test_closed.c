
#include "test_outcome.h"
#include "test_support.h"

enum { RESNET50 = 25557032 };

static const double latency_s = 5e-6, rate_Bps = 25e9, gamma_s = 4e-12, setup_s = 7e-6;

/* `steps` messages of a 1/parts share one after the other, `reductions` of them reduced. */
static double leg_s(uint32_t steps, uint32_t reductions, uint64_t elements, uint32_t parts)
{
    double bytes = 4.0 * (double)((elements + parts - 1) / parts);
    return steps * (latency_s + bytes / rate_Bps) + reductions * gamma_s * bytes;
}

static double textbook_s(const char *name, uint32_t x, uint32_t y, uint64_t elements)
{
    double time_s = setup_s;
    if (strcmp(name, "ring") == 0) {
        return time_s + leg_s(2 * (x - 1), x - 1, elements, x);
    }
    if (strcmp(name, "torus2d") == 0) {
        return time_s + leg_s(2 * (x - 1), x - 1, elements, x) +
               leg_s(2 * (y - 1), y - 1, elements, x * y);
    }
    return time_s + leg_s(4 * (x - 1), x - 1, elements, x) + leg_s(2 * (y - 1), y - 1, elements, y);
}

static void expect_textbook(const struct ar_cluster *cluster, const char *name, uint32_t x,
                            uint32_t y)
{
    uint64_t ranks = (uint64_t)x * y;
    const uint64_t counts[] = {0, 1, ranks - 1, ranks, ranks + 1, 1000 * ranks, RESNET50};
    struct ar_collective collective = support_collective(cluster, name, x, y);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct ar_closed_time time = support_closed(&collective, counts[i]);
        SUPPORT_NEAR(time.time_s, textbook_s(name, x, y, counts[i]), 1e-12, "%s, %lu elements",
                     support_name(&collective), (unsigned long)counts[i]);
        cr_expect(time.exact, "%s", time.why);
        cr_expect_str_eq(time.why, "");
    }
}

/* --- the textbook ---------------------------------------------------------------------------- */

Test(closed, on_the_flat_cluster_it_is_the_formula_of_the_textbook)
{
    static const uint32_t sides[] = {1, 2, 3, 4, 5, 8, 17, 32, 34};
    struct ar_cluster *cluster = support_textbook();
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i += AR_TEST_STRIDE) {
        expect_textbook(cluster, "ring", 1 + sides[i], 1);
        for (size_t j = 0; j < sizeof sides / sizeof sides[0]; j += AR_TEST_STRIDE) {
            expect_textbook(cluster, "torus2d", sides[i], sides[j]);
            expect_textbook(cluster, "hierarchical", sides[i], sides[j]);
        }
    }
    expect_textbook(cluster, "ring", 4096, 1);
}

/* The first of 2 channels has 5 of 9 elements, the first of 4 parts 2 of 5. */
Test(closed, a_message_is_the_largest_part_of_the_largest_channel)
{
    struct ar_collective collective = support_collective(support_textbook(), "ring", 4, 1);
    struct ar_flows *closed;
    collective.channels = 2;
    TEST_OK(ar_flows_create(&collective, &closed, &why));
    cr_expect_eq(ar_flows_message_bytes(closed, 0, 9), 2 * 4);
    cr_expect_eq(ar_flows_message_bytes(closed, 0, 8), 1 * 4);
    ar_flows_destroy(closed);
}

/* --- properties ------------------------------------------------------------------------------ */

struct arrangement {
    const char *algorithm;
    uint32_t x, y;
};

static const struct arrangement arrangements[] = {
    {"ring", 2, 1},         {"ring", 16, 1},     {"ring", 1024, 1},        {"torus2d", 4, 4},
    {"torus2d", 32, 4},     {"torus2d", 32, 32}, {"torus2d", 34, 32},      {"torus2d", 6, 3},
    {"torus2d", 1, 13},     {"tree", 4, 40},     {"hierarchical", 4, 256}, {"hierarchical", 8, 16},
    {"hierarchical", 3, 2},
};
enum { ARRANGEMENTS = sizeof arrangements / sizeof arrangements[0] };

/* Every arrangement with 1, 2 and 4 channels and windows of 1, 2 and 8. */
static void for_all(const struct ar_cluster *cluster, uint64_t elements,
                    void (*check)(const struct ar_collective *collective, uint64_t elements))
{
    for (size_t i = 0; i < ARRANGEMENTS; i += AR_TEST_STRIDE) {
        struct ar_collective collective = support_collective(cluster, arrangements[i].algorithm,
                                                             arrangements[i].x, arrangements[i].y);
        for (uint32_t channels = 1; channels <= 4; channels *= 2) {
            for (uint32_t window = 1; window <= 8; window = 3 * window - 1) {
                collective.channels = channels;
                collective.window = window;
                check(&collective, elements);
            }
        }
    }
}

static void expect_terms_add_up(const struct ar_collective *collective, uint64_t elements)
{
    struct ar_closed_time time = support_closed(collective, elements);
    double total_s = time.setup_s;
    AR_EACH(const struct ar_phase_time, phase, time.phases, time.phases_count) {
        double terms_s = phase->reduction_s;
        for (int tier = 0; tier < AR_TIERS_COUNT; tier++) {
            terms_s += phase->latency_s[tier] + phase->bandwidth_s[tier];
        }
        SUPPORT_NEAR(terms_s, phase->time_s, 1e-9, "%s: %s", support_name(collective), phase->name);
        total_s += phase->time_s;
    }
    SUPPORT_NEAR(total_s, time.time_s, 1e-12);
}

Test(closed, the_terms_of_a_phase_add_up_to_its_time_and_the_phases_to_the_whole)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_cluster *flat = support_textbook();
    for (uint64_t elements = 0; elements < 100000000; elements = 10 * elements + 7) {
        for_all(abci, elements, expect_terms_add_up);
        for_all(flat, elements, expect_terms_add_up);
    }
}

Test(closed, more_ranks_never_take_less_time)
{
    struct ar_cluster *clusters[2] = {support_textbook(), support_cluster("abci-v100", NULL)};
    for (size_t c = 0; c < 2; c++) {
        for (size_t a = 0; a < ar_algorithms_count; a += AR_TEST_STRIDE) {
            double before_s = 0;
            for (uint32_t ranks = 4; ranks <= 1024; ranks *= 4) { /* squares, for the torus */
                struct ar_collective collective;
                if (!support_default(clusters[c], ar_algorithms[a], ranks, 4, &collective)) {
                    continue;
                }
                double time_s = support_closed(&collective, 4096ull * 1000).time_s;
                cr_expect_geq(time_s, before_s, "%s, %u ranks", ar_algorithms[a]->name, ranks);
                before_s = time_s;
            }
        }
    }
}

static void expect_wider_no_slower(const struct ar_collective *collective, uint64_t elements)
{
    struct ar_collective wider = *collective;
    wider.window = collective->window * 2;
    cr_expect_leq(support_closed(&wider, elements).time_s,
                  support_closed(collective, elements).time_s);
}

Test(closed, a_wider_window_is_never_slower)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    for_all(abci, 0, expect_wider_no_slower);
    for_all(abci, 100000, expect_wider_no_slower);
}

Test(closed, a_torus_beats_the_ring_at_1024_gpus_for_resnet50_in_fp16)
{
    struct ar_collective ring = support_on("abci-v100", "ring", 1024, 1);
    struct ar_collective torus = support_on("abci-v100", "torus2d", 32, 32);
    ring.element_bytes = torus.element_bytes = 2;
    cr_expect_lt(support_closed(&torus, RESNET50).time_s, support_closed(&ring, RESNET50).time_s);
}

/* 2 nodes of 4 GPUs, hops of 3.4, 3.4, 3.4, 100 us in turn, 14 steps: 5 turns of 3 slots, the last
 * of them not full. A window of 8 holds up nobody. */
Test(closed, a_turn_of_the_window_that_is_not_full_counts_as_one)
{
    struct ar_cluster *abci = support_cluster("abci-v100", "net.latency=100us");
    struct ar_collective ring = support_collective(abci, "ring", 8, 1);
    cr_expect_eq(support_closed(&ring, 0).phases[0].bound, AR_BOUND_HOPS);
    ring.window = 3;
    struct ar_closed_time time = support_closed(&ring, 0);
    SUPPORT_NEAR(time.time_s, 8.4e-6 + 5 * 100e-6, 1e-9);
    cr_expect_eq(time.phases[0].bound, AR_BOUND_WINDOW);
}

/* Around a ring of four routers, the message to the far side comes last; the two before it are
 * summed while it is on its way. */
Test(closed, a_sum_that_hides_behind_a_later_message_is_not_exact)
{
#define ROUTERS                                                                                    \
    "nodes=4 fabric=torus torus.lengths=4 torus.link_bandwidth=100GB/s switch.latency=1us"
    struct ar_cluster *sums = support_cluster("flat", ROUTERS " gpu.reduce_cost=10ps/B");
    struct ar_cluster *copies = support_cluster("flat", ROUTERS);
    struct ar_collective direct = support_collective(sums, "direct", 4, 1);
    cr_expect_not(support_closed(&direct, 4096).exact);
    direct.cluster = copies;
    cr_expect(support_closed(&direct, 4096).exact);
}

Test(closed, a_large_ring_keeps_the_port_of_an_hca_busy)
{
    char name[64];
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective ring = support_collective(abci, "ring", 16, 1);
    struct ar_phase_time phase = support_closed(&ring, RESNET50).phases[0];
    cr_expect_eq(phase.bound, AR_BOUND_PORT);
    cr_expect_str_eq(ar_bound_names[phase.bound], "port");
    SUPPORT_NEAR(phase.slowest_Bps, 10.227e9, 1e-12);
    cr_expect_eq(phase.slowest_flows, 1);
    cr_expect_not_null(
        strstr(ar_cluster_link_name(abci, phase.slowest_link, name, sizeof name), ".hca-"), "%s",
        name);
    ring.channels = 2;
    cr_expect_eq(support_closed(&ring, RESNET50).phases[0].slowest_flows, 1,
                 "two channels leave a node by two HCAs");
    ring.channels = 4;
    cr_expect_eq(support_closed(&ring, RESNET50).phases[0].slowest_flows, 2);
}

Test(closed, the_four_columns_of_a_node_share_its_two_hcas)
{
    struct ar_collective torus = support_on("abci-v100", "torus2d", 4, 8);
    struct ar_closed_time time = support_closed(&torus, 32 * 1000);
    cr_expect_str_eq(time.phases[1].name, "column all-reduce");
    cr_expect_eq(time.phases[1].slowest_flows, 2);
    SUPPORT_NEAR(time.phases[1].slowest_Bps, 10.227e9 / 2, 1e-12);
    SUPPORT_NEAR(time.phases[0].slowest_Bps, 48.48e9, 1e-12);
}
