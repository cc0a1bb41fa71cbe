#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cluster_load.h"
#include "test_platform.h"
#include "test_setting.h"

enum { TEXTS_MAX = 4 };

static size_t count_texts(const char *const *texts)
{
    size_t count = 0;
    while (count < TEXTS_MAX && texts[count] != NULL) {
        count++;
    }
    return count;
}

/* Slow and down links, each list ended by NULL if shorter. */
struct links {
    const char *slow[TEXTS_MAX];
    const char *down[TEXTS_MAX];
};

static enum ar_status change(struct ar_cluster *cluster, const struct links *links,
                             struct ar_error *err)
{
    struct ar_setting slow[TEXTS_MAX], down[TEXTS_MAX];
    const struct ar_link_settings settings = {
        .slow = ar_settings_of_option("--slow-link", links->slow, count_texts(links->slow), slow),
        .down = ar_settings_of_option("--down-link", links->down, count_texts(links->down), down)};
    return ar_cluster_change_links(cluster, &settings, err);
}

/* The small cluster with settings and changed links. */
static struct ar_cluster *load_changed(const char *const *settings, struct links links)
{
    struct ar_cluster *cluster = test_load_small(settings);
    struct ar_error err;
    enum ar_status status = change(cluster, &links, &err);
    cr_assert(status == AR_OK, "%s", err.text);
    return cluster;
}

#define LINKS(...) ((struct links){__VA_ARGS__})

/* --- settings --------------------------------------------------------------------------------- */

Test(link_changes, a_slow_link_divides_its_own_bandwidth_and_no_other)
{
    struct ar_cluster *file = test_load_small(NULL);
    struct ar_cluster *slow = load_changed(NULL, LINKS(.slow = {"node-3.hca-0.out:4"}));
    uint32_t count = ar_cluster_links_count(file);
    cr_assert_eq(ar_cluster_links_count(slow), count);
    for (uint32_t link = 0; link < count; link++) {
        char name[64];
        ar_cluster_link_name(slow, link, name, sizeof name);
        double factor = strcmp(name, "node-3.hca-0.out") == 0 ? 4 : 1;
        cr_expect_eq(ar_cluster_link_bandwidth(slow, link),
                     ar_cluster_link_bandwidth(file, link) / factor, "%s", name);
    }
}

Test(link_changes, settings_of_links_are_parameters_with_their_option_as_source)
{
    struct ar_cluster *cluster =
        load_changed(NULL, LINKS(.slow = {"rack-0.up:3"}, .down = {"node-1.hca-1"}));
    size_t count = ar_cluster_parameters_count(cluster);
    struct ar_cluster_parameter slow = ar_cluster_parameter(cluster, count - 2);
    struct ar_cluster_parameter down = ar_cluster_parameter(cluster, count - 1);
    cr_expect_str_eq(slow.key, "slow-link");
    cr_expect_str_eq(slow.text, "rack-0.up:3");
    cr_expect_str_eq(slow.source, "--slow-link");
    cr_expect_str_eq(down.key, "down-link");
    cr_expect_str_eq(down.text, "node-1.hca-1");
    cr_expect_str_eq(down.source, "--down-link");
}

/* --- reach ------------------------------------------------------------------------------------ */

/* Among the first `ranks` GPUs; NULL: they all reach each other. */
static void expect_reach(const char *const *settings, struct links links, uint32_t ranks,
                         const char *expected)
{
    struct ar_error err = {.text = ""};
    struct ar_cluster *cluster = load_changed(settings, links);
    enum ar_status status = ar_cluster_check_reach(cluster, ranks, &err);
    cr_expect_eq(status, expected == NULL ? AR_OK : AR_USAGE, "%u ranks: %s", ranks, err.text);
    cr_expect(expected == NULL || strstr(err.text, expected) != NULL, "\"%s\" lacks \"%s\"",
              err.text, expected);
}

Test(link_changes, gpus_without_a_way_are_refused_once_they_are_used)
{
    const char *no_pcie[] = {"pcie.switches=0", NULL};
    const char *switched[] = {"nvlink.pairs=switch", NULL};
    struct links hcas = LINKS(.down = {"node-1.hca-0.in", "node-1.hca-1"});
    expect_reach(NULL, hcas, 4, NULL);
    expect_reach(NULL, hcas, 5,
                 "GPUs 0 and 4 cannot reach each other: node-1.hca-0.in is down, and the node has "
                 "no other HCA that is up");
    struct links first = LINKS(.down = {"node-0.hca-0", "node-0.hca-1"});
    expect_reach(NULL, first, 4, NULL);
    expect_reach(NULL, first, 5, "GPUs 0 and 4 cannot reach each other: node-0.hca-0.out is down");
    struct links rack = LINKS(.down = {"rack-1.up"});
    expect_reach(NULL, rack, 8, NULL);
    expect_reach(NULL, rack, 9, "GPUs 0 and 8 cannot reach each other: rack-1.up is down, and");
    expect_reach(NULL, LINKS(.down = {"rack-0.down"}), 8, NULL);
    expect_reach(NULL, LINKS(.down = {"rack-0.down"}), 9,
                 "GPUs 0 and 8 cannot reach each other: rack-0.down is down");
    struct links pair = LINKS(.down = {"node-0.nvlink-3-2"});
    expect_reach(NULL, pair, 24, NULL);
    expect_reach(no_pcie, pair, 3, NULL);
    expect_reach(no_pcie, pair, 4,
                 "GPUs 2 and 3 cannot reach each other: node-0.nvlink-3-2 is down, and the cluster "
                 "describes no PCIe");
    expect_reach(switched, LINKS(.down = {"node-0.port-2.in"}), 4,
                 "GPUs 0 and 2 cannot reach each other: node-0.port-2.in is down, and there is no");
    expect_reach(NULL, LINKS(.down = {"node-2.pcie-1.up"}), 10, NULL);
    expect_reach(NULL, LINKS(.down = {"node-2.pcie-1.up"}), 11,
                 "GPUs 0 and 10 cannot reach each other: node-2.pcie-1.up is down");
}

/* --- bad settings ----------------------------------------------------------------------------- */

static const struct {
    struct links links;
    const char *expected;
} bad_rows[] = {
    {{.slow = {"node-3.hca-7:2"}}, "unknown link \"node-3.hca-7\"; did you mean \"node-3.hca-"},
    {{.slow = {"nod-3.hca-0:2"}}, "unknown link \"nod-3.hca-0\"; did you mean \"node-3.hca-0\""},
    {{.down = {"rak-2.up"}}, "unknown link \"rak-2.up\"; did you mean \"rack-2.up\"?"},
    {{.down = {"node-6.hca-0"}}, "unknown link \"node-6.hca-0\"; did you mean \"node-5.hca-0\"?"},
    {{.down = {"rack-3"}}, "unknown link \"rack-3\"; did you mean \"rack-2\"?"},
    {{.down = {"node-03.hca-0"}}, "did you mean \"node-3.hca-0\"?"},
    {{.down = {"node-99999999999.hca-0"}}, "unknown link \"node-99999999999.hca-0\""},
    {{.down = {"zzzzzzzzzzzzzz"}}, "unknown link \"zzzzzzzzzzzzzz\"; expected one such as"},
    {{.down = {""}}, "unknown link \"\""},
    {{.down = {"node-3"}}, "unknown link \"node-3\""},
    {{.down = {"node-0.port-1"}}, "unknown link \"node-0.port-1\""},
    {{.down = {"node-3.hca-0:4"}}, "unknown link \"node-3.hca-0:4\"; did you mean"},
    {{.slow = {"node-3.hca-0"}}, "--slow-link: found \"node-3.hca-0\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:"}}, "expected LINK:FACTOR"},
    {{.slow = {":4"}}, "found \":4\"; expected LINK:FACTOR"},
    {{.slow = {""}}, "found \"\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:0"}}, ":0\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:-4"}}, ":-4\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:nan"}}, ":nan\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:inf"}}, ":inf\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:1e99"}}, ":1e99\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:4x"}}, ":4x\"; expected LINK:FACTOR"},
    {{.slow = {"node-3.hca-0:four"}}, ":four\"; expected LINK:FACTOR"},
    {{.slow = {"rack-0:2", "rack-0.up:3"}}, "found link \"rack-0.up\" a second time"},
    {{.slow = {"rack-0.up:2"}, .down = {"rack-0"}}, "--down-link: found link \"rack-0.up\" a"},
};

Test(link_changes, a_wrong_setting_is_refused_with_one_clear_line)
{
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        struct ar_cluster *cluster = test_load_small(NULL);
        struct ar_error err = {.text = ""};
        cr_expect_eq(change(cluster, &bad_rows[i].links, &err), AR_USAGE, "%s",
                     bad_rows[i].expected);
        cr_expect(strstr(err.text, bad_rows[i].expected) != NULL, "\"%s\" lacks \"%s\"", err.text,
                  bad_rows[i].expected);
        cr_expect_null(strchr(err.text, '\n'));
    }
    const char *settings[] = {"rack.nodes=0", NULL};
    struct ar_cluster *cluster = test_load_small(settings);
    struct ar_error err = {.text = ""};
    cr_expect_eq(change(cluster, &LINKS(.down = {"rack-0"}), &err), AR_USAGE);
    cr_expect_not_null(
        strstr(err.text, "unknown link \"rack-0\"; expected one such as \"node-0.hca-"), "%s",
        err.text);
}

/* --- platform --------------------------------------------------------------------------------- */

/* All routes of the first nodes are those of the cluster, bit for bit. */
static void check_routes(const struct ar_cluster *cluster, uint32_t nodes_count)
{
    uint32_t gpus = nodes_count * ar_cluster_facts(cluster)->gpus_per_node;
    struct test_route *routes = calloc((size_t)gpus * gpus, sizeof *routes);
    size_t count = 0, hosts_count, links_count;
    struct ar_error err;
    cr_assert_eq(ar_cluster_check_reach(cluster, gpus, &err), AR_OK, "%s", err.text);
    for (uint32_t a = 0; a < gpus; a++) {
        for (uint32_t b = 0; b < gpus; b++) {
            if (a != b) {
                routes[count++] = (struct test_route){.source = a, .destination = b};
            }
        }
    }
    test_platform_look_up(cluster, nodes_count, routes, count, &hosts_count, &links_count);
    for (size_t i = 0; i < count; i++) {
        struct ar_path path;
        ar_cluster_path(cluster, routes[i].source, routes[i].destination, &path);
        cr_expect_eq(routes[i].latency_s, path.latency_s);
        cr_expect_eq(routes[i].bandwidth_Bps, path.bandwidth_Bps, "gpu-%u to gpu-%u: %.17g",
                     routes[i].source, routes[i].destination, routes[i].bandwidth_Bps);
    }
    free(routes);
}

Test(link_changes, the_platform_has_the_routes_of_the_changed_cluster)
{
    static const struct links rows[] = {
        {.slow = {"node-3.hca-0:4", "rack-1.down:7", "node-0.nvlink-0-1:3"}},
        {.slow = {"node-3.pcie-1.up:10"}, .down = {"node-3.hca-0", "node-0.hca-1.in"}},
        {.slow = {"node-2.port-3.in:2"}, .down = {"node-2.nvlink-1-3", "node-2.nvlink-0-1"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_cluster *cluster = load_changed(NULL, rows[i]);
        check_routes(cluster, 6);
    }
    const char *star[] = {"gpus_per_node=1", "pcie.switches=0", "hcas=1", NULL};
    struct ar_cluster *cluster =
        load_changed(star, LINKS(.slow = {"node-4.hca-0.in:4", "rack-2.up:5"}));
    check_routes(cluster, 6);
}

Test(link_changes, a_platform_with_a_node_that_is_used_in_part_needs_only_the_ways_that_are_used)
{
    const char *no_pcie[] = {"pcie.switches=0", NULL};
    struct ar_cluster *cluster =
        load_changed(no_pcie, LINKS(.down = {"node-1.nvlink-2-3", "node-0.nvlink-2-3"}));
    struct test_flow flow = {0, 6, 1000000, 0};
    struct ar_path path;
    ar_cluster_path(cluster, 0, 6, &path);
    test_platform_transfer(cluster, 2, &flow, 1);
    cr_expect_float_eq(flow.finish_s, path.latency_s + 1e6 / path.bandwidth_Bps, 1e-12);
}

Test(link_changes, flows_share_a_slow_link_and_an_hca_that_does_the_work_of_two)
{
    static const long bytes = 100000000;
    struct test_flow flows[] = {{0, 4, bytes, 0}, {1, 8, bytes, 0}, {2, 6, bytes, 0}};
    struct ar_cluster *slow = load_changed(NULL, LINKS(.slow = {"node-0.hca-0.out:4"}));
    test_platform_transfer(slow, 3, flows, 3);
    double shared_s = 8e-6 + (double)bytes / (10e9 / 4 / 2);
    cr_expect_float_eq(flows[0].finish_s, shared_s, 1e-6 * shared_s);
    cr_expect_float_eq(flows[1].finish_s, shared_s, 1e-6 * shared_s);
    cr_expect_float_eq(flows[2].finish_s, 8e-6 + (double)bytes / 10e9, 1e-8);
    struct ar_cluster *down = load_changed(NULL, LINKS(.down = {"node-0.hca-0"}));
    test_platform_transfer(down, 3, flows, 3);
    double third_s = 8e-6 + (double)bytes / (10e9 / 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_float_eq(flows[i].finish_s, third_s, 1e-6 * third_s, "%zu: %.9g s", i,
                           flows[i].finish_s);
    }
}
