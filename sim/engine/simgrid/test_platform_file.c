/* A user's own SimGrid platform as cluster: the same results as the cluster it was exported from,
 * platforms of other kinds, and what is wrong with some. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "ar_platform_file.h"
#include "ar_simgrid_xml.h"
#include "test_platform_text.h"
#include "test_trials.h"

/* --- against the cluster it was made from ---------------------------------------------------- */

static void expect_same(struct ar_collective collective, const struct ar_cluster *platform,
                        uint64_t elements)
{
    double topo_s = trials_simulate(&collective, elements);
    double topo_recurrence_s = trials_time(&collective, &ar_engine_recurrence, elements);
    double topo_closed_s = trials_time(&collective, &ar_engine_closed, elements);
    collective.cluster = platform;
    cr_expect_eq(trials_simulate(&collective, elements), topo_s, "%s", collective.algorithm->name);
    double recurrence_s = trials_time(&collective, &ar_engine_recurrence, elements);
    double closed_s = trials_time(&collective, &ar_engine_closed, elements);
    cr_expect(support_near(recurrence_s, topo_recurrence_s, 1e-6), "%s: %.17g s and %.17g s",
              collective.algorithm->name, recurrence_s, topo_recurrence_s);
    cr_expect(support_near(closed_s, topo_closed_s, 1e-6), "%s: %.17g s and %.17g s",
              collective.algorithm->name, closed_s, topo_closed_s);
}

Test(platform_file, an_exported_cluster_gives_the_results_of_the_cluster)
{
    const char *narrow[] = {"rack.nodes=2", "rack.uplinks=1", NULL};
    const char *settings[] = {"gpus_per_node=4", "gpu.reduce_cost=3.846ps/B",
                              "collective.setup=8.4us", "hcas=2", NULL};
    char path[PATH_SIZE];
    struct ar_cluster *topo = support_cluster("abci-v100", narrow);
    FILE *file = platform_text_make(path);
    struct ar_error err;
    cr_assert_eq(ar_cluster_write_simgrid(topo, 4, NULL, 0, file, &err), AR_OK);
    cr_assert_eq(fclose(file), 0);
    struct ar_cluster *platform = platform_text_open(path, settings);
    const struct ar_cluster_facts *facts = ar_cluster_facts(platform);
    cr_expect_eq(facts->nodes_count, 4);
    cr_expect_eq(facts->gpus_per_node, 4);
    cr_expect_eq(facts->hcas_per_node, 2);
    cr_expect_eq(facts->reduce_s_per_byte, ar_cluster_facts(topo)->reduce_s_per_byte);
    cr_expect_eq(facts->collective_setup_s, ar_cluster_facts(topo)->collective_setup_s);
    for (uint64_t elements = 7; elements < 10000000; elements = elements * 1000 + 1) {
        struct ar_collective ring = support_collective(topo, "ring", 16, 1);
        struct ar_collective torus = support_collective(topo, "torus2d", 4, 4);
        ring.channels = torus.channels = 2;
        expect_same(ring, platform, elements);
        expect_same(torus, platform, elements);
        expect_same(support_collective(topo, "hierarchical", 4, 4), platform, elements);
    }
    platform_text_unload(path);
}

/* The platform does not say which pairs have NVLinks, so its channels go in plain zigzags. */
Test(platform_file, an_exported_dgx1_gives_the_results_of_the_cluster_in_plain_orders)
{
    const char *settings[] = {"gpus_per_node=8", "gpu.reduce_cost=3.846ps/B",
                              "collective.setup=8.4us", "hcas=4", NULL};
    char path[PATH_SIZE];
    struct ar_cluster *topo = support_cluster("dgx1-v100", NULL);
    FILE *file = platform_text_make(path);
    struct ar_error err;
    cr_assert_eq(ar_cluster_write_simgrid(topo, 2, NULL, 0, file, &err), AR_OK);
    cr_assert_eq(fclose(file), 0);
    struct ar_cluster *platform = platform_text_open(path, settings);
    struct ar_collective ring = support_collective(topo, "ring", 16, 1);
    ring.channels = 4;
    double walks_s = trials_simulate(&ring, 1000003);
    ring.has_plain_orders = true;
    double plain_s = trials_simulate(&ring, 1000003);
    cr_expect_lt(walks_s, plain_s, "NVLinks are faster than PCIe");
    ring.cluster = platform;
    cr_expect_eq(trials_simulate(&ring, 1000003), plain_s);
    platform_text_unload(path);
}

/* --- platforms of a user --------------------------------------------------------------------- */

static void expect_engines_agree(const struct ar_cluster *cluster, uint32_t ranks)
{
    for (uint64_t elements = 10; elements < 10000000; elements *= 1000) {
        struct ar_collective ring = support_collective(cluster, "ring", ranks, 1);
        double simulated_s = trials_simulate(&ring, elements);
        double time_s = trials_time(&ring, &ar_engine_recurrence, elements);
        cr_expect(support_near(time_s, simulated_s, 1e-6), "%.9g s and %.9g s", time_s,
                  simulated_s);
    }
}

/* Every hop takes 10 us and a part of the buffer 1/16 of it over 10 GB/s, 30 times. */
Test(platform_file, a_ring_on_a_star_takes_what_a_calculation_says)
{
    char path[PATH_SIZE];
    struct ar_cluster *star = platform_text_load(HEAD CLUSTER("15", "") FOOT, NULL, path);
    struct ar_collective ring = support_collective(star, "ring", 16, 1);
    double expected_s = 30 * (10e-6 + 1000000 * 4.0 / 16 / 10e9);
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (!ar_engines[i]->has_messages) {
            continue;
        }
        double time_s = trials_time(&ring, ar_engines[i], 1000000);
        cr_expect(support_near(time_s, expected_s, 1e-6), "%s: %.9g s, expected %.9g s",
                  ar_engines[i]->name, time_s, expected_s);
    }
    platform_text_unload(path);
}

Test(platform_file, engines_agree_on_rings_on_a_fat_tree)
{
    char path[PATH_SIZE];
    struct ar_cluster *tree = platform_text_load(
        HEAD CLUSTER("15", "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"") FOOT, NULL,
        path);
    expect_engines_agree(tree, 16);
    expect_engines_agree(tree, 7);
    platform_text_unload(path);
}

Test(platform_file, engines_agree_on_rings_on_a_dragonfly_where_nothing_is_shared)
{
    char path[PATH_SIZE];
    struct ar_cluster *dragonfly = platform_text_load(
        HEAD CLUSTER("15", "topology=\"DRAGONFLY\" topo_parameters=\"2,1;2,1;2,1;2\"") FOOT, NULL,
        path);
    expect_engines_agree(dragonfly, 2);
    expect_engines_agree(dragonfly, 4);
    platform_text_unload(path);
}

/* Five hosts at a router, with a link for each direction of each; 4 to 8 GB/s out, 9 GB/s in. */
static void write_star(FILE *file)
{
    static const char *const parts[] = {
        "<host id=\"h%1$d\" speed=\"1Gf\"/>\n",
        "<link id=\"h%1$d.out\" bandwidth=\"%2$dGBps\" latency=\"3us\"/>\n"
        "<link id=\"h%1$d.in\" bandwidth=\"9GBps\" latency=\"4us\"/>\n",
        "<route src=\"h%1$d\" dst=\"middle\" symmetrical=\"NO\"><link_ctn "
        "id=\"h%1$d.out\"/></route>\n"
        "<route src=\"middle\" dst=\"h%1$d\" symmetrical=\"NO\"><link_ctn "
        "id=\"h%1$d.in\"/></route>\n"};
    fputs(HEAD "<zone id=\"w\" routing=\"Floyd\">\n", file);
    for (int part = 0; part < 3; part++) {
        for (int host = 0; host < 5; host++) {
            fprintf(file, parts[part], host, 4 + host);
        }
        fputs(part == 0 ? "<router id=\"middle\"/>\n" : "", file);
    }
    fputs("</zone>\n" FOOT, file);
}

Test(platform_file, engines_agree_on_a_star_written_by_hand)
{
    char path[PATH_SIZE];
    FILE *file = platform_text_make(path);
    write_star(file);
    cr_assert_eq(fclose(file), 0);
    struct ar_cluster *star = platform_text_open(path, NULL);
    expect_engines_agree(star, 5);
    /* 8 messages of a fifth through the slowest port, then the way of the last one. */
    struct ar_collective ring = support_collective(star, "ring", 5, 1);
    double expected_s = 8 * (1000000 * 4.0 / 5 / 4e9) + 7e-6;
    double time_s = trials_simulate(&ring, 1000000);
    cr_expect(support_near(time_s, expected_s, 1e-6), "%.9g s, expected %.9g s", time_s,
              expected_s);
    platform_text_unload(path);
}

Test(platform_file, routes_may_be_long)
{
    char path[PATH_SIZE];
    struct ar_cluster *torus = platform_text_load(
        HEAD CLUSTER("39", "topology=\"TORUS\" topo_parameters=\"40\"") FOOT, NULL, path);
    struct ar_flow pair = {0, 20};
    struct ar_error err;
    cr_assert_eq(ar_cluster_prepare_paths(torus, &pair, 1, &err), AR_OK, "%s", err.text);
    struct ar_path far;
    ar_cluster_path(torus, 0, 20, &far);
    cr_expect_eq(far.links_count, 20);
    cr_expect(support_near(far.latency_s, 20 * 5e-6, 1e-9), "%.9g s", far.latency_s);
    cr_expect_eq(far.bandwidth_Bps, 10e9);
    for (uint32_t i = 0; i < far.links_count; i++) {
        cr_expect_lt(ar_path_link(&far, i), ar_cluster_links_count(torus));
    }
    expect_engines_agree(torus, 40);
    platform_text_unload(path);
}

#define FULL_HOSTS                                                                                 \
    "<zone id=\"w\" routing=\"Full\">" HOST("gpu-10") HOST("gpu-2") HOST("gpu-1") HOST("gpu-02")   \
        LINK("l", "bandwidth=\"1GBps\" latency=\"1us\"")

Test(platform_file, hosts_are_ranked_by_the_numbers_in_their_names)
{
    static const char *const expected[] = {"gpu-1", "gpu-02", "gpu-2", "gpu-10"};
    char path[PATH_SIZE];
    struct ar_cluster *cluster = platform_text_load(HEAD FULL_HOSTS "</zone>" FOOT, NULL, path);
    cr_assert_eq(ar_cluster_gpus_count(cluster), 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        char name[64];
        cr_expect_str_eq(ar_cluster_host_name(cluster, rank, name, sizeof name), expected[rank]);
    }
    platform_text_unload(path);
}

Test(platform_file, what_was_not_set_is_assumed_and_says_so)
{
    const char *settings[] = {"gpus_per_node=3", "name=mine", NULL};
    char path[PATH_SIZE];
    struct ar_cluster *cluster = platform_text_load(HEAD CLUSTER("15", "") FOOT, settings, path);
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    cr_expect_str_eq(facts->name, "mine");
    cr_expect_str_eq(facts->device_cost, "");
    cr_expect_eq(facts->nodes_count, 6, "5 nodes of 3 GPUs, and one of 1");
    cr_expect_eq(ar_cluster_gpus_count(cluster), 16);
    size_t assumed = 0;
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        assumed += strcmp(ar_cluster_parameter(cluster, i).source, "assumed") == 0;
    }
    cr_expect_eq(assumed, 3, "costs of reducing and of starting, and HCAs");
    expect_engines_agree(cluster, 16);
    platform_text_unload(path);
}

Test(platform_file, a_slow_link_slows_every_engine)
{
    char path[PATH_SIZE];
    const char *slow = "c_link_3_UP:4";
    const struct ar_setting setting = {slow, "--slow-link", AR_USAGE};
    const struct ar_link_settings links = {.slow = {&setting, 1}};
    struct ar_error err;
    struct ar_cluster *star = platform_text_load(HEAD CLUSTER("7", "") FOOT, NULL, path);
    cr_assert_eq(ar_cluster_change_links(star, &links, &err), AR_OK, "%s", err.text);
    struct ar_collective ring = support_collective(star, "ring", 8, 1);
    /* The slow link never rests, as in test_link_changes.c. */
    double expected_s = 14 * (16000000 / 8 * 4.0) / (10e9 / 4) + 10e-6;
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (!ar_engines[i]->has_messages) {
            continue;
        }
        double time_s = trials_time(&ring, ar_engines[i], 16000000);
        cr_expect(support_near(time_s, expected_s, 1e-6), "%s: %.9g s, expected %.9g s",
                  ar_engines[i]->name, time_s, expected_s);
    }
    struct ar_flow back = {4, 3};
    cr_assert_eq(ar_cluster_prepare_paths(star, &back, 1, &err), AR_OK, "%s", err.text);
    cr_expect_eq(ar_cluster_path(star, 4, 3, &(struct ar_path){0})->bandwidth_Bps, 10e9);
    struct ar_closed_time time = support_closed(&ring, 16000000);
    char name[64];
    cr_expect_str_eq(ar_cluster_link_name(star, time.phases[0].slowest_link, name, sizeof name),
                     "c_link_3_UP");
    platform_text_unload(path);
}

/* --- bad input ------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *setting;
    enum ar_status status;
    const char *expected;
} bad_rows[] = {
    {"", NULL, AR_BAD_DATA, ".xml:1: Invalid XML"},
    {"nodes = 4 ; x\n", NULL, AR_BAD_DATA, "; expected a SimGrid platform file"},
    {HEAD "<zone id=\"w\" routing=\"Full\">", NULL, AR_BAD_DATA, "expected a SimGrid platform"},
    {HEAD "<zone id=\"w\" routing=\"Full\"></zone>" FOOT, NULL, AR_BAD_DATA,
     "found 0 hosts; expected at least 2"},
    {HEAD "<zone id=\"w\" routing=\"Full\">" HOST("a") "</zone>" FOOT, NULL, AR_BAD_DATA,
     "found 1 host; expected at least 2"},
    {HEAD FULL_HOSTS ROUTE("gpu-1", "gpu-2", HOP("none")) "</zone>" FOOT, NULL, AR_BAD_DATA,
     "SimGrid does not take it as a platform: Link not found: none"},
    {"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
     "<platform version=\"2\">\n</platform>\n",
     NULL, AR_BAD_DATA, ".xml:3: You're using"},
    {HEAD FULL_HOSTS "<link id=\"slow\" bandwidth=\"-1GBps\" latency=\"1us\"/>" ROUTE(
         "gpu-1", "gpu-2", HOP("slow")) "</zone>" FOOT,
     NULL, AR_BAD_DATA, ".xml: link \"slow\": found a bandwidth of -1e+09Bps; expected one above"},
    {HEAD FULL_HOSTS "<link id=\"none\" bandwidth=\"0Bps\" latency=\"1us\"/>" ROUTE(
         "gpu-1", "gpu-2", HOP("none")) "</zone>" FOOT,
     NULL, AR_BAD_DATA, ".xml: link \"none\": found a bandwidth of 0Bps; expected one above zero"},
    {HEAD FULL_HOSTS "<link id=\"fast\" bandwidth=\"1e308Bps\" latency=\"1us\"/>" ROUTE(
         "gpu-1", "gpu-2", HOP("fast")) "</zone>" FOOT,
     NULL, AR_BAD_DATA,
     "found a bandwidth of 1e+308Bps; expected one above zero, at most 1e+18Bps"},
    {HEAD CLUSTER("15", "") FOOT, "gpus_per_node=17", AR_USAGE,
     "\"17\"; expected at most 16, the hosts of the platform"},
    {HEAD CLUSTER("15", "") FOOT, "gpu_per_node=4", AR_USAGE, "did you mean \"gpus_per_node\""},
    {HEAD CLUSTER("15", "") FOOT, "nodes=4", AR_USAGE,
     "--set: key \"nodes\": found a value that the platform file says itself"},
    {HEAD CLUSTER("15", "") FOOT, "gpu.reduce_cost=4", AR_USAGE, "--set: key \"gpu.reduce"},
    {HEAD CLUSTER("15", "") FOOT, "hcas=x", AR_USAGE, "found \"x\"; expected a whole number"},
};

Test(platform_file, a_wrong_platform_or_setting_is_refused_with_one_clear_line)
{
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        char path[PATH_SIZE];
        struct ar_arena arena = {.last = NULL};
        struct ar_cluster *cluster = NULL;
        struct ar_error err = {.text = ""};
        const struct ar_setting setting = {bad_rows[i].setting, "--set", AR_USAGE};
        FILE *file = platform_text_make(path);
        fputs(bad_rows[i].text, file);
        fclose(file);
        enum ar_status status = ar_platform_file_load(
            path, (struct ar_settings){&setting, setting.text != NULL}, &arena, &cluster, &err);
        ar_arena_end(&arena);
        unlink(path);
        cr_expect_eq(status, bad_rows[i].status, "%s: %s", bad_rows[i].expected, err.text);
        cr_expect_null(cluster);
        cr_expect_not_null(strstr(err.text, bad_rows[i].expected), "\"%s\" lacks \"%s\"", err.text,
                           bad_rows[i].expected);
        cr_expect_null(strchr(err.text, '\n'));
    }
}

Test(platform_file, a_file_that_cannot_be_read_is_no_input)
{
    static const char *const paths[] = {"/nonexistent/x.xml", AR_TEST_BINARY_DIR};
    for (size_t i = 0; i < 2; i++) {
        struct ar_arena arena = {.last = NULL};
        struct ar_cluster *cluster = NULL;
        struct ar_error err;
        cr_expect_eq(ar_platform_file_load(paths[i], (struct ar_settings){.count = 0}, &arena,
                                           &cluster, &err),
                     AR_NO_INPUT);
        ar_arena_end(&arena);
    }
}

/* SimGrid answers with nothing, throws or crashes, depending on the kind of routing. */
Test(platform_file, hosts_without_a_route_are_named)
{
    static const char *const kinds[] = {"Full", "Floyd", "Dijkstra"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char path[PATH_SIZE];
        char text[1024];
        snprintf(
            text, sizeof text,
            HEAD "<zone id=\"w\" routing=\"%s\">" HOST("a") HOST("b") HOST("c")
                LINK("l", "bandwidth=\"1GBps\" latency=\"1us\"") "<route src=\"a\" dst=\"b\">" HOP(
                    "l") "</route></zone>" FOOT,
            kinds[i]);
        struct ar_cluster *cluster = platform_text_load(text, NULL, path);
        static struct test_trial test;
        const struct ar_call job = {.ready_s = 0, .elements = 1000};
        for (uint32_t ranks = 2; ranks <= 3; ranks++) {
            struct ar_collective ring = support_collective(cluster, "ring", ranks, 1);
            struct ar_error err = {.text = ""};
            trials_prepare(&ring, &job, 1, &test);
            enum ar_status status = ar_trial_run(&test.trial, &ar_engine_simgrid, &err);
            cr_expect_eq(status, ranks == 2 ? AR_OK : AR_BAD_DATA, "%s: %s", kinds[i], err.text);
            cr_expect(ranks == 2 ||
                          strstr(err.text, "GPUs 1 and 2 cannot reach each other") != NULL,
                      "%s: %s", kinds[i], err.text);
            cr_expect(ranks == 2 || strstr(err.text, "from host \"b\" to host \"c\"") != NULL, "%s",
                      err.text);
        }
        platform_text_unload(path);
    }
}

Test(platform_file, a_negative_latency_is_refused_before_it_is_used)
{
    char path[PATH_SIZE];
    struct ar_cluster *cluster = platform_text_load(
        HEAD FULL_HOSTS "<link id=\"early\" bandwidth=\"1GBps\" latency=\"-1us\"/>" ROUTE(
            "gpu-1", "gpu-02", HOP("early")) "</zone>" FOOT,
        NULL, path);
    struct ar_error err = {.text = ""};
    cr_expect_eq(ar_cluster_prepare_paths(cluster, &(struct ar_flow){0, 1}, 1, &err), AR_BAD_DATA);
    cr_expect_not_null(
        strstr(err.text, ".xml: route from GPU 0 to GPU 1: found a latency of -1e-06s"), "%s",
        err.text);
    platform_text_unload(path);
}
