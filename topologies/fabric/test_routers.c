/* Tori, meshes and dragonflies as clusters: names, links that are down, values that do not fit. */
#include <criterion/criterion.h>
#include <string.h>

#include "fabric.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_setting.h"

/* A generator of its own, so that the links are the same everywhere. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static uint32_t gpus_of(const struct ar_cluster *cluster)
{
    return (uint32_t)ar_cluster_gpus_count(cluster);
}

static const char *const small_torus[] = {TEST_TORUS("2x5"), TEST_ONE_GPU, "nodes=10",
                                          "torus.link_bandwidth=7GB/s", NULL};
static const char *const small_mesh[] = {
    TEST_TORUS("2x5"), TEST_ONE_GPU, "nodes=10", "torus.link_bandwidth=7GB/s", "fabric=mesh", NULL};
static const char *const small_dragonfly[] = {TEST_DRAGONFLY("dragonfly", "3", "2", "2"),
                                              TEST_ONE_GPU, "nodes=6", NULL};
static const char *const hashed_dragonfly[] = {TEST_DRAGONFLY("dragonfly", "3", "2", "2"),
                                               TEST_ONE_GPU, "nodes=6", "fabric.routes=hash:1",
                                               NULL};

/* --- routes ----------------------------------------------------------------------------------- */

Test(routers, links_at_once_give_the_hcas_of_a_node_so_many_links_together)
{
    const char *settings[] = {TEST_TORUS("6"), "torus.link_bandwidth=7GB/s", NULL};
    struct ar_topo *topo;
    struct ar_arena arena = {.last = NULL};
    struct ar_error err;
    struct ar_setting list[8];
    struct ar_cluster *cluster;
    char path[TEST_PATH_SIZE];
    const char text[] = "name = x ; t\nnodes = 6 ; t\ngpus_per_node = 2 ; t\nhcas = 2 ; t\n"
                        "net.latency = 1us ; t\nnvlink.pairs = all ; t\nnvlink.latency = 1us ; t\n"
                        "nvlink.bandwidth = 10GB/s ; t\ntorus.links_at_once = 3 ; t\n";
    test_file_make(text, strlen(text), path);
    cr_assert_eq(ar_topo_load(path, &arena, &topo, &err), AR_OK);
    cr_assert_eq(ar_cluster_create(topo, ar_settings_of_option("--set", settings, 4, list), &arena,
                                   &cluster, &err),
                 AR_OK, "%s", err.text);
    cr_expect_eq(ar_cluster_link_bandwidth(cluster, cluster->node.hca[0]), 3 * 7e9 / 2);
    ar_arena_end(&arena);
}

/* --- names ------------------------------------------------------------------------------------ */

/* A link is found by its name, with and without its direction. */
Test(routers, every_link_is_found_by_its_name)
{
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *file = test_load_small(test_machines[m]);
        uint32_t links = ar_cluster_links_count(file);
        uint32_t step = links / 60 + 1;
        for (uint32_t link = file->first_fabric_link; link < links; link += step) {
            struct ar_cluster *cluster = test_load_small(test_machines[m]);
            struct ar_error err;
            char name[64];
            const char *names[] = {ar_cluster_link_name(file, link, name, sizeof name)};
            cr_assert_eq(test_take_down(cluster, names, 1, &err), AR_OK, "%s: %s", name, err.text);
            for (uint32_t other = 0; other < links; other++) {
                cr_assert_eq(ar_link_is_down(cluster, other), other == link, "%s", name);
            }
            cluster = test_load_small(test_machines[m]);
            *strrchr(name, '.') = '\0';
            cr_assert_eq(test_take_down(cluster, names, 1, &err), AR_OK, "%s: %s", name, err.text);
            for (uint32_t other = 0; other < links; other++) {
                uint32_t first = file->first_fabric_link;
                bool is_meant = other >= first && (other - first) / 2 == (link - first) / 2;
                cr_assert_eq(ar_link_is_down(cluster, other), is_meant, "%s", name);
            }
        }
    }
}

Test(routers, a_name_that_is_none_is_answered_with_one_nearby)
{
    static const struct {
        const char *const *machine;
        const char *name, *expected;
    } rows[] = {
        {small_torus, "router-0-7.y.up", "did you mean \"router-0-4.y.up\""},
        {small_torus, "router-0-1.z.up", "did you mean \"router-0-1.x.up\""},
        {small_torus, "router", "did you mean \"router-0-0.x.up\""},
        {small_mesh, "router-0-4.y.up", "unknown link \"router-0-4.y.up\""},
        {small_torus, "group-0.local-0-1", "unknown link"},
        {small_dragonfly, "global-0-0.up", "did you mean \"global-0-1.up\""},
        {small_dragonfly, "global-1-0.up", "did you mean \"global-0-1.up\""},
        {small_dragonfly, "group-9.local-0-1", "did you mean \"group-2.local-0-1\""},
        {small_dragonfly, "global-0-1.cable-2.up", "unknown link"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_cluster *cluster = test_load_small(rows[i].machine);
        struct ar_error err = {.text = ""};
        cr_expect_eq(test_take_down(cluster, &rows[i].name, 1, &err), AR_USAGE, "%s", rows[i].name);
        cr_expect_not_null(strstr(err.text, rows[i].expected), "\"%s\" lacks \"%s\"", err.text,
                           rows[i].expected);
    }
}

/* --- links that are down ---------------------------------------------------------------------- */

Test(routers, a_message_takes_the_next_cable_between_two_groups)
{
    struct ar_cluster *file = test_load_small(hashed_dragonfly);
    struct ar_error err;
    char before[TEST_NAMES_SIZE], after[TEST_NAMES_SIZE];
    const char *names[] = {"global-0-2.cable-0.up"};
    const char *all[] = {"global-0-2"};
    struct ar_cluster *cluster = test_load_small(hashed_dragonfly);
    cr_assert_eq(test_take_down(cluster, names, 1, &err), AR_OK);
    uint32_t changed = 0;
    for (uint32_t b = 4; b < 6; b++) {
        for (uint32_t a = 0; a < 2; a++) {
            test_link_names(file, a, b, before);
            test_link_names(cluster, a, b, after);
            changed += strcmp(before, after) != 0;
            cr_expect_not_null(strstr(after, "global-0-2.cable-1.up"), "%s", after);
        }
    }
    cr_expect(changed > 0);
    cluster = test_load_small(hashed_dragonfly);
    cr_assert_eq(test_take_down(cluster, all, 1, &err), AR_OK);
    cr_expect_eq(ar_cluster_check_reach(cluster, 4, &err), AR_OK);
    cr_expect_eq(ar_cluster_check_reach(cluster, 5, &err), AR_USAGE);
    cr_expect_not_null(strstr(err.text, "GPUs 0 and 4 cannot reach each other: global-0-2.cable-"),
                       "%s", err.text);
}

/* All pairs, both ways. */
static bool all_reach(const struct ar_cluster *cluster, uint32_t ranks)
{
    for (uint32_t pair = 0; pair < ranks * ranks; pair++) {
        struct ar_path path;
        if (pair / ranks == pair % ranks) {
            continue;
        }
        ar_path_find(cluster, pair / ranks, pair % ranks, &path);
        if (path.links_count == 0) {
            return false;
        }
    }
    return true;
}

/* Names of different links, one in three of any kind, the others of the fabric if it has some. */
static uint32_t choose_links(const struct ar_cluster *cluster, uint32_t *seed,
                             char texts[TEST_DOWN_MAX][64])
{
    uint32_t fabric = cluster->fabric_links_count, all = ar_cluster_links_count(cluster);
    uint32_t wanted = 1 + next_random(seed) % TEST_DOWN_MAX, count = 0;
    while (wanted-- > 0) {
        bool is_any = fabric == 0 || next_random(seed) % 3 == 0;
        uint32_t link = is_any ? next_random(seed) % all
                               : cluster->first_fabric_link + next_random(seed) % fabric;
        ar_cluster_link_name(cluster, link, texts[count], 64);
        bool is_new = true;
        for (uint32_t i = 0; i < count; i++) {
            is_new = is_new && strcmp(texts[i], texts[count]) != 0;
        }
        count += is_new;
    }
    return count;
}

/* The check looks at a few pairs only. */
Test(routers, the_check_of_reach_finds_out_what_all_pairs_say)
{
    uint32_t seed = 1, reached = 0, refused = 0;
    for (uint32_t i = 0; i < 60 * TEST_MACHINES_COUNT; i++) {
        struct ar_cluster *cluster = test_load_small(test_machines[i % TEST_MACHINES_COUNT]);
        uint32_t ranks = 2 + next_random(&seed) % (gpus_of(cluster) - 1);
        char texts[TEST_DOWN_MAX][64];
        const char *names[TEST_DOWN_MAX];
        struct ar_error err = {.text = ""};
        uint32_t count = choose_links(cluster, &seed, texts);
        for (uint32_t j = 0; j < TEST_DOWN_MAX; j++) {
            names[j] = texts[j];
        }
        cr_assert_eq(test_take_down(cluster, names, count, &err), AR_OK, "%s", err.text);
        bool is_whole = all_reach(cluster, ranks);
        enum ar_status status = ar_cluster_check_reach(cluster, ranks, &err);
        cr_expect_eq(status, is_whole ? AR_OK : AR_USAGE, "machine %u, %u ranks: %s, %u more, %s",
                     i % TEST_MACHINES_COUNT, ranks, names[0], count - 1, err.text);
        reached += is_whole;
        refused += !is_whole;
    }
    cr_expect(reached > 300 && refused > 300, "%u reached, %u refused", reached, refused);
}

Test(routers, no_message_takes_a_link_that_is_called_idle)
{
    uint32_t idle = 0;
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        struct ar_cluster *cluster = test_load_small(test_machines[m]);
        uint32_t gpus = cluster->facts.gpus_per_node;
        for (uint32_t ranks = 1; ranks <= gpus_of(cluster); ranks += gpus) {
            for (uint32_t pair = 0; pair < ranks * ranks; pair++) {
                struct ar_path path = {.links_count = 0};
                if (pair / ranks != pair % ranks) {
                    ar_path_find(cluster, pair / ranks, pair % ranks, &path);
                }
                for (uint32_t i = 0; i < path.links_count; i++) {
                    uint32_t link = path.links[i];
                    cr_assert(link < cluster->first_fabric_link ||
                              !cluster->fabric->is_idle(cluster, link - cluster->first_fabric_link,
                                                        ranks));
                }
            }
            for (uint32_t i = 0; i < cluster->fabric_links_count; i++) {
                idle += cluster->fabric->is_idle(cluster, i, ranks);
            }
        }
    }
    cr_expect(idle > 1000, "%u", idle);
}
