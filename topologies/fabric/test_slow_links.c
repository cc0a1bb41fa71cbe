
#include "test_cluster_load.h"
#include "test_outcome.h"
#include "test_platform.h"
#include "test_setting.h"

static struct ar_arena arena; /* of a test, which is a process */

/* `texts` has links with blanks between. */
static enum ar_status slow_links(struct ar_cluster *cluster, const char *texts,
                                 struct ar_error *err)
{
    return ar_cluster_slow_links(cluster, test_settings("--slow-link", texts, " ", &arena), err);
}

static enum ar_status down_links(struct ar_cluster *cluster, const char *texts,
                                 struct ar_error *err)
{
    return ar_cluster_down_links(cluster, test_settings("--down-link", texts, " ", &arena), err);
}

/* --- settings --------------------------------------------------------------------------------- */

Test(slow_links, settings_of_links_are_parameters_with_their_option_as_source)
{
    struct ar_cluster *cluster = test_load_small(NULL);
    test_slow_links(cluster, "rack-0.up:3");
    struct ar_cluster_parameter slow =
        ar_cluster_parameter(cluster, ar_cluster_parameters_count(cluster) - 1);
    cr_expect_str_eq(slow.key, "slow-link");
    cr_expect_str_eq(slow.text, "rack-0.up:3");
    cr_expect_str_eq(slow.source, "--slow-link");
}

/* --- bad settings ----------------------------------------------------------------------------- */

static const char *const bad_rows[][2] = {
    {"node-3.hca-7:2", "unknown link \"node-3.hca-7\"; expected one such as \"node-5."},
    {"rack-3:2", "unknown link \"rack-3\"; expected one such as \"node-5.hca-1.in\" or \"rack-2"},
    {"node-3.hca:2", "unknown link \"node-3.hca\""},
    {"node-0.port-1:2", "unknown link \"node-0.port-1\""},
    {"node-3.hca-0", "expected LINK:FACTOR"},
    {":4", "--slow-link: found \":4\"; expected LINK:FACTOR"},
    {"node-3.hca-0:0", ":0\"; expected LINK:FACTOR"},
    {"node-3.hca-0:1e99", ":1e99\"; expected LINK:FACTOR"},
    {"node-3.hca-0:4x", ":4x\"; expected LINK:FACTOR"},
    {"rack-0:2 rack-0.up:3", "found link \"rack-0.up\" a second time"},
};

Test(slow_links, a_wrong_setting_is_refused_with_one_clear_line)
{
    TEST_PAIRS_FAIL(AR_USAGE, bad_rows, slow_links(test_load_small(NULL), given, &why));
    struct ar_cluster *one =
        test_load_small(TEST_SETTINGS("nodes=1", "gpus_per_node=1", "hcas=0", "pcie.switches=0"));
    TEST_FAILS(AR_USAGE, "--slow-link: found \"node-0\"; expected none: no link is there",
               slow_links(one, "node-0:2", &why));
}

/* Counts the messages from the GPUs of a node to those of another by the HCA that they leave by. */
static void count_hcas(const struct ar_cluster *cluster, unsigned node, uint32_t to,
                       uint32_t used[8])
{
    uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node;
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        char names[TEST_NAMES_SIZE];
        unsigned of, hca;
        test_link_names(cluster, node * gpus + gpu, to * gpus + gpu, names);
        const char *name = strstr(names, ".hca-"); /* the first is the one they leave by */
        cr_assert(name != NULL && sscanf(name, ".hca-%u.out", &hca) == 1 && hca < 8, "%s", names);
        cr_assert(sscanf(names, "node-%u.", &of) == 1 && of == node, "%s", names);
        used[hca]++;
    }
}

Test(slow_links, messages_of_an_hca_that_is_down_take_the_next_one)
{
    static const char *const rows[][2] = {
        {"node-3.hca-0 node-3.hca-1", "found all HCAs of node 3 down"},
        {"rack-1", "found \"rack-1\"; expected an HCA, node-0.hca-0 to node-"},
        {"node-3.hca-0.out", "expected an HCA"},
        {"node-3.hca-2", "expected an HCA"}};
    static const char *const down[] = {"node-3.hca-0", "node-3.hca-1 node-0.hca-0"};
    TEST_PAIRS_FAIL(AR_USAGE, rows, down_links(test_load_small(NULL), given, &why));
    for (size_t i = 0; i < 2; i++) {
        struct ar_cluster *cluster = test_load_small(NULL);
        TEST_OK(down_links(cluster, down[i], &why));
        test_platform_check_routes(cluster, 6);
        uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node, hcas[8] = {0};
        count_hcas(cluster, 3, 5, hcas);
        cr_expect_eq(hcas[i], 0);
        cr_expect_eq(hcas[1 - i], gpus, "of %u GPUs %u", gpus, hcas[1 - i]);
    }
}

/* Four of the eight HCAs of a node: the others carry twice as much each. */
Test(slow_links, messages_of_several_hcas_that_are_down_are_spread)
{
    struct ar_cluster *cluster = test_load_shipped("dgx-h100", NULL);
    uint32_t used[8] = {0};
    TEST_OK(down_links(cluster, "node-0.hca-0 node-0.hca-1 node-0.hca-2 node-0.hca-3", &why));
    count_hcas(cluster, 0, 1, used);
    for (uint32_t hca = 0; hca < 8; hca++) {
        cr_expect_eq(used[hca], hca < 4 ? 0 : 2, "hca-%u has %u", hca, used[hca]);
    }
}

/* --- platform --------------------------------------------------------------------------------- */

Test(slow_links, the_platform_has_the_routes_of_the_changed_cluster)
{
    static const char *const rows[] = {"node-3.hca-0:4 rack-1.down:7 node-0.nvlink-0-1:3",
                                       "node-3.pcie-1.up:10 node-1:2"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_cluster *cluster = test_load_small(NULL);
        TEST_OK(slow_links(cluster, rows[i], &why));
        test_platform_check_routes(cluster, 6);
    }
}
