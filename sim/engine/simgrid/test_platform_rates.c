/* SimGrid's own sharing of the links of a platform, which is not always max-min sharing. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_maxmin.h"
#include "test_platform_text.h"
#include "test_support.h"

/* Three hosts that send to a fourth over one link, from 2, 6 and 18 us away. */
#define UNEQUAL                                                                                    \
    HEAD "<zone id=\"w\" routing=\"Full\">" HOST("a") HOST("b") HOST("c") HOST("d")                \
        LINK("near", "bandwidth=\"100GBps\" latency=\"2us\" sharing_policy=\"SHARED\"")            \
            LINK("middle", "bandwidth=\"100GBps\" latency=\"6us\" sharing_policy=\"SHARED\"")      \
                LINK("far", "bandwidth=\"100GBps\" latency=\"18us\" sharing_policy=\"SHARED\"")    \
                    LINK("port", "bandwidth=\"13GBps\" latency=\"0us\" sharing_policy=\"SHARED\"") \
                        ROUTE("a", "d", HOP("near") HOP("port"))                                   \
                            ROUTE("b", "d", HOP("middle") HOP("port"))                             \
                                ROUTE("c", "d", HOP("far") HOP("port")) "</zone>" FOOT

static const struct ar_flow to_d[] = {{0, 3}, {1, 3}, {2, 3}};

static void measure(const struct ar_cluster *cluster, const struct ar_flow *flows, size_t count,
                    double *rates_Bps)
{
    struct ar_error err = {.text = ""};
    cr_assert_eq(ar_cluster_prepare_paths(cluster, flows, count, &err), AR_OK, "%s", err.text);
    cr_assert_eq(ar_cluster_platform_rates(cluster, flows, count, rates_Bps, &err), AR_OK, "%s",
                 err.text);
}

/* Equal shares, however unequal the latencies and however wrong the guess. */
Test(platform_rates, measured_rates_are_simgrids_whatever_the_guess)
{
    static const double guesses[][3] = {
        {9e9, 3e9, 1e9}, {13e9 / 3, 13e9 / 3, 13e9 / 3}, {1e9, 3e9, 9e9}, {1e3, 1e9, 13e9}};
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
        char path[PATH_SIZE];
        double rates_Bps[3];
        struct ar_cluster *cluster = platform_text_load(UNEQUAL, NULL, path);
        memcpy(rates_Bps, guesses[i], sizeof rates_Bps);
        measure(cluster, to_d, 3, rates_Bps);
        for (size_t flow = 0; flow < 3; flow++) {
            cr_expect(support_near(rates_Bps[flow], 13e9 / 3, 1e-6), "%zu: %.9g B/s", i,
                      rates_Bps[flow]);
        }
        platform_text_unload(path);
    }
}

/* The backbone bounds each flow at 2 GB/s and is not shared; a link without directions is shared
 * by both of them. */
Test(platform_rates, fat_links_bound_a_flow_and_links_without_direction_serve_both)
{
    static const struct ar_flow flows[] = {{0, 1}, {1, 0}, {2, 3}};
    static const double expected[] = {0.5e9, 0.5e9, 2e9};
    char path[PATH_SIZE];
    struct ar_cluster *cluster = platform_text_load(
        HEAD "<zone id=\"w\" routing=\"Full\">" HOST("a") HOST("b") HOST("c") HOST("d")
            LINK("wire", "bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SHARED\"")
                LINK("fat", "bandwidth=\"2GBps\" latency=\"1us\" sharing_policy=\"FATPIPE\"")
                    ROUTE("a", "b", HOP("wire") HOP("fat")) ROUTE("b", "a", HOP("wire") HOP("fat"))
                        ROUTE("c", "d", HOP("fat")) "</zone>" FOOT,
        NULL, path);
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_maxmin maxmin;
    struct ar_error err;
    cr_assert_eq(ar_cluster_prepare_paths(cluster, flows, 3, &err), AR_OK, "%s", err.text);
    cr_assert_eq(ar_maxmin_create(&arena, cluster, &maxmin, &err), AR_OK);
    cr_assert_eq(ar_maxmin_find(&maxmin, flows, 3, 0, &err), AR_OK, "%s", err.text);
    double *rates_Bps = maxmin.rates_Bps;
    for (size_t i = 0; i < 3; i++) {
        cr_expect(support_near(rates_Bps[i], expected[i], 1e-12), "%zu: %.9g", i, rates_Bps[i]);
    }
    measure(cluster, flows, 3, rates_Bps);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(support_near(rates_Bps[i], expected[i], 1e-6), "%zu: %.9g", i, rates_Bps[i]);
    }
    platform_text_unload(path);
}
