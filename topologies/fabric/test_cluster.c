#include <glob.h>
#include <math.h>
#include <stdbool.h>

#include "test_cluster_file.h"
#include "test_cluster_load.h"
#include "test_outcome.h"

static struct ar_arena arena;

static bool is_near(double a, double b)
{
    return a - b <= 1e-12 * b && b - a <= 1e-12 * b;
}

Test(cluster, abci_v100_has_the_measured_tiers)
{
    struct ar_cluster *cluster = test_load_shipped("abci-v100", NULL);
    struct ar_path nvlink, rack, spine;
    ar_cluster_path(cluster, 0, 3, &nvlink);
    ar_cluster_path(cluster, 0, 4 * 33, &rack);
    ar_cluster_path(cluster, 0, 4 * 34, &spine);
    cr_assert_eq(nvlink.tier, AR_TIER_NVLINK);
    cr_assert(is_near(nvlink.bandwidth_Bps, 48.48e9) && is_near(nvlink.latency_s, 3.4e-6));
    cr_assert_eq(rack.tier, AR_TIER_RACK);
    cr_assert(is_near(rack.bandwidth_Bps, 10.227e9) && is_near(rack.latency_s, 9.6e-6));
    cr_assert_eq(spine.tier, AR_TIER_SPINE);
    cr_assert(is_near(spine.bandwidth_Bps, 10.227e9));
    cr_assert_eq(spine.latency_s, rack.latency_s);
    cr_assert_eq(spine.links_count, 6);
    cr_assert(is_near(ar_cluster_link_bandwidth(cluster, spine.links[2]), 24 * 12.5e9));
}

Test(cluster, flat_is_alpha_beta_with_settings_from_the_command_line)
{
    struct ar_cluster *cluster =
        test_load_shipped("flat", TEST_SETTINGS("hca.bandwidth=25GB/s", "net.latency=5us"));
    struct ar_path path;
    ar_cluster_path(cluster, 65535, 0, &path);
    cr_assert_eq(path.links_count, 2);
    cr_assert(is_near(path.bandwidth_Bps, 25e9) && is_near(path.latency_s, 5e-6));
    cr_assert_eq(ar_cluster_facts(cluster)->reduce_s_per_byte, 0);
    cr_assert_eq(ar_cluster_facts(cluster)->collective_setup_s, 0);
}

Test(cluster, facts_of_the_library_are_what_the_file_and_settings_say)
{
    struct ar_cluster *cluster = test_load_shipped("abci-v100", NULL);
    cr_expect(ar_cluster_facts(cluster)->has_nvlink);
    cr_expect_str_eq(ar_cluster_facts(cluster)->library_release, "");
    cr_expect_eq(ar_cluster_facts(cluster)->library_channels, 0);
    cluster =
        test_load_shipped("abci-v100", TEST_SETTINGS("library.release=2.5.6", "library.channels=12",
                                                     "nvlink.pairs=none"));
    cr_expect_not(ar_cluster_facts(cluster)->has_nvlink);
    cr_expect_str_eq(ar_cluster_facts(cluster)->library_release, "2.5.6");
    cr_expect_eq(ar_cluster_facts(cluster)->library_channels, 12);
    cluster = test_load_shipped("abci-v100", TEST_SETTINGS("nvlink.pairs=switch"));
    cr_expect(ar_cluster_facts(cluster)->has_nvlink);
}

Test(cluster, every_value_of_a_shipped_file_has_a_source)
{
    glob_t files;
    cr_assert_eq(glob(AR_TEST_SOURCE_DIR "/topologies/machines/*.topo", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct ar_cluster *cluster = test_cluster_of_file(files.gl_pathv[i], NULL, &arena);
        cr_assert(ar_cluster_parameters_count(cluster) > 8);
        cr_expect_not_null(strstr(files.gl_pathv[i], ar_cluster_facts(cluster)->name));
        for (size_t p = 0; p < ar_cluster_parameters_count(cluster); p++) {
            struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, p);
            cr_expect(strlen(parameter.source) > 5, "%s: %s has no source", files.gl_pathv[i],
                      parameter.key);
        }
    }
    globfree(&files);
}

Test(cluster, parameters_keep_the_order_of_the_file_and_show_settings)
{
    struct ar_cluster *cluster = test_load_small(
        TEST_SETTINGS("hca.bandwidth=11GB/s", "hca.bandwidth = 12GB/s", "gpu.model=X"));
    size_t count = ar_cluster_parameters_count(cluster);
    cr_assert_eq(count, 16);
    struct ar_cluster_parameter first = ar_cluster_parameter(cluster, 0);
    struct ar_cluster_parameter hca = ar_cluster_parameter(cluster, 10);
    struct ar_cluster_parameter last = ar_cluster_parameter(cluster, count - 1);
    cr_assert_str_eq(first.key, "name");
    cr_assert_str_eq(first.source, "test");
    cr_assert_str_eq(hca.key, "hca.bandwidth");
    cr_assert_str_eq(hca.text, "12GB/s", "the last setting wins");
    cr_assert_str_eq(hca.source, "--set");
    cr_assert_str_eq(last.key, "gpu.model");
}

Test(cluster, a_file_with_crlf_and_tabs_reads_the_same)
{
    char content[4096] = "";
    size_t length = 0;
    for (const char *c = test_small_cluster; *c != '\0'; c++) {
        if (*c == '\n') {
            content[length++] = '\r';
        }
        content[length++] = *c == ' ' ? '\t' : *c;
    }
    struct ar_cluster *cluster = test_load_text(content, NULL);
    cr_assert_eq(ar_cluster_gpus_count(cluster), 24);
    cr_assert(is_near(ar_cluster_path(cluster, 0, 1, &(struct ar_path){0})->bandwidth_Bps, 40e9));
}

/* All clusters of the numbers: pairs over NVLink, over PCIe and over an NVLink switch. */
static void expect_set_as_loaded(const char *pairs)
{
    static const char *const values[] = {
        [AR_LINK_SECONDS] = "7s", [AR_LINK_RATE] = "7GB/s", [AR_LINK_SECONDS_PER_BYTE] = "1ns/B"};
    static const char *const others[] = {
        [AR_LINK_SECONDS] = "8s", [AR_LINK_RATE] = "8GB/s", [AR_LINK_SECONDS_PER_BYTE] = "2ns/B"};
    for (int i = 0; i < AR_LINK_TORUS_BANDWIDTH; i++) { /* the rest is of other fabrics */
        enum ar_link_cost cost = (enum ar_link_cost)i;
        char text[64], other[64];
        snprintf(text, sizeof text, "%s=%s", ar_link_cost_key(cost),
                 values[ar_link_cost_unit(cost)]);
        snprintf(other, sizeof other, "%s=%s", ar_link_cost_key(cost),
                 others[ar_link_cost_unit(cost)]);
        struct ar_cluster *loaded = test_load_shipped("abci-v100", TEST_SETTINGS(pairs, text));
        struct ar_cluster *changed = test_load_shipped("abci-v100", TEST_SETTINGS(pairs, other));
        cr_assert(ar_cluster_has_link_cost(changed, cost));
        cr_assert_neq(ar_cluster_link_cost(changed, cost), ar_cluster_link_cost(loaded, cost));
        double value = ar_cluster_link_cost(loaded, cost);
        TEST_OK(ar_cluster_set_link_cost(changed, cost, value, &why));
        for (uint32_t to = 1; to < 200; to++) {
            struct ar_path a, b;
            ar_cluster_path(loaded, 0, to, &a);
            ar_cluster_path(changed, 0, to, &b);
            cr_expect(a.latency_s == b.latency_s && a.bandwidth_Bps == b.bandwidth_Bps,
                      "%s, %s, to GPU %u", pairs, text, to);
        }
        for (uint32_t link = 0; link < ar_cluster_links_count(loaded); link++) {
            cr_assert_eq(ar_cluster_link_bandwidth(loaded, link),
                         ar_cluster_link_bandwidth(changed, link));
        }
        const struct ar_cluster_facts *is = ar_cluster_facts(loaded);
        const struct ar_cluster_facts *was = ar_cluster_facts(changed);
        cr_expect_eq(is->collective_setup_s, was->collective_setup_s);
        cr_expect_eq(is->reduce_s_per_byte, was->reduce_s_per_byte);
        cr_expect_eq(is->copy_s_per_byte, was->copy_s_per_byte);
        cr_expect_eq(ar_cluster_reduce_cost(loaded, 1e9), ar_cluster_reduce_cost(changed, 1e9));
        cr_expect_eq(is->message.gap_s, was->message.gap_s);
        cr_expect_eq(ar_message_extra_s(&is->message, AR_TIER_RACK, 1e6),
                     ar_message_extra_s(&was->message, AR_TIER_RACK, 1e6));
    }
}

Test(cluster, a_number_that_is_set_is_as_if_the_file_had_it)
{
    expect_set_as_loaded("nvlink.pairs=all");
    expect_set_as_loaded("nvlink.pairs=0-1");
    expect_set_as_loaded("nvlink.pairs=switch");
}

Test(cluster, the_latency_of_a_message_grows_step_by_step_to_what_the_keys_say)
{
    const char *settings[] = {"net.latency_1KiB=1us",   "net.latency_8KiB=7us",
                              "net.latency_64KiB=56us", "net.latency_512KiB=448us",
                              "net.message_gap=3us",    NULL};
    const struct ar_message_cost *cost =
        &ar_cluster_facts(test_load_shipped("abci-v100", settings))->message;
    static const double sizes[] = {0, 512, 1024, 2048, 8192, 65536, 262144, 524288, 1e9};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double bytes = sizes[i] < 524288 ? sizes[i] : 524288; /* 1 us for each KiB, up to the end */
        cr_expect(fabs(ar_message_extra_s(cost, AR_TIER_SPINE, sizes[i]) - bytes / 1024 * 1e-6) <
                      1e-15,
                  "%g bytes", sizes[i]);
        cr_expect_eq(ar_message_extra_s(cost, AR_TIER_NVLINK, sizes[i]), 0);
    }
    cr_expect_eq(ar_message_gap_s(cost, AR_TIER_RACK), 3e-6);
    cr_expect_eq(ar_message_gap_s(cost, AR_TIER_PCIE), 0);
    cr_expect_eq(
        ar_message_extra_s(&ar_cluster_facts(test_load_shipped("abci-v100", NULL))->message,
                           AR_TIER_SPINE, 1e6),
        0);
    /* A large buffer costs more for each byte summed up. */
    struct ar_cluster *cluster = test_load_shipped(
        "abci-v100", TEST_SETTINGS("gpu.reduce_cost=2ps/B", "gpu.reduce_cost_large=3ps/B"));
    cr_expect(is_near(ar_cluster_reduce_cost(cluster, AR_LARGE_BUFFER_BYTES), 2e-12));
    cr_expect(is_near(ar_cluster_reduce_cost(cluster, AR_LARGE_BUFFER_BYTES + 4), 5e-12));
}

Test(cluster, a_number_of_links_that_no_machine_has_is_refused)
{
    const double wrong[] = {0, -1, NAN, INFINITY};
    struct ar_cluster *cluster = test_load_shipped("abci-v100", NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        TEST_FAILS(AR_BAD_DATA, "hca.bandwidth: found ",
                   ar_cluster_set_link_cost(cluster, AR_LINK_HCA_BANDWIDTH, wrong[i], &why));
    }
    cr_expect(
        is_near(ar_cluster_path(cluster, 0, 4, &(struct ar_path){0})->bandwidth_Bps, 10.227e9));
    TEST_OK(ar_cluster_set_link_cost(cluster, AR_LINK_HCA_BANDWIDTH, 1e9, &why));
    cr_expect(is_near(ar_cluster_path(cluster, 0, 4, &(struct ar_path){0})->bandwidth_Bps, 1e9));
}
