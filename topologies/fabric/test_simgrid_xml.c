#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_simgrid_xml.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_platform.h"

static const long message_bytes = 100000000;

/* --- routes ----------------------------------------------------------------------------------- */

Test(simgrid_xml, shipped_clusters_have_the_routes_of_their_paths)
{
    static const struct {
        const char *name;
        uint32_t nodes[5]; /* a node, a rack, several racks, all */
    } rows[] = {{"abci-v100", {1, 3, 70, 1088}},
                {"dgx1-v100", {1, 5}},
                {"dgx2-v100", {1, 5}},
                {"v100-8gpu-1edr", {1, 5}},
                {"flat", {1, 40, 4096}}};
    static const uint32_t nodes_max = 4096 / (AR_TEST_STRIDE * AR_TEST_STRIDE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[TEST_PATH_SIZE];
        struct ar_cluster *cluster = test_load(test_shipped_path(rows[i].name, path), NULL);
        for (size_t k = 0; rows[i].nodes[k] > 0 && rows[i].nodes[k] <= nodes_max; k++) {
            test_platform_check_routes(cluster, rows[i].nodes[k]);
        }
    }
}

Test(simgrid_xml, every_wiring_has_the_routes_of_the_cluster)
{
    for (size_t w = 0; w < TEST_WIRINGS_COUNT; w++) {
        struct ar_cluster *cluster = test_load_small(test_wirings[w]);
        test_platform_check_routes(cluster, ar_cluster_facts(cluster)->nodes_count);
    }
}

/* --- times ----------------------------------------------------------------------------------- */

enum { FLOWS_MAX = 9 };

/* Flows that start together, and the rate that each gets, above 0; of abci-v100 unless another is
 * named. */
struct sharing {
    const char *what;
    uint32_t nodes;
    struct {
        uint32_t source, destination;
        double rate_Bps;
    } flows[FLOWS_MAX];
    const char *cluster, *setting;
};

static struct ar_cluster *load_shipped(const char *name, const char *setting)
{
    char path[TEST_PATH_SIZE];
    const char *settings[] = {setting, NULL};
    return test_load(test_shipped_path(name, path), settings);
}

/* Expects a flow to take its path's latency and then its share of `bandwidth_Bps`. */
static void expect_time(const struct ar_cluster *cluster, const struct test_flow *flow,
                        double bandwidth_Bps, const char *what)
{
    struct ar_path path;
    ar_cluster_path(cluster, flow->source, flow->destination, &path);
    double expected_s = path.latency_s + (double)flow->bytes / bandwidth_Bps;
    cr_assert(fabs(flow->finish_s - expected_s) < 1e-6 * expected_s,
              "%s: gpu-%u to gpu-%u took %.9g s, expected %.9g s", what, flow->source,
              flow->destination, flow->finish_s, expected_s);
}

#define HCA    10.227e9
#define NVLINK 48.48e9
#define PCIE   15.754e9
static const struct sharing sharings[] = {
    {"over NVLink", 36, {{0, 1, NVLINK}}, NULL, NULL},
    {"in a rack", 36, {{0, 4, HCA}}, NULL, NULL},
    {"across racks", 36, {{0, 4 * 34, HCA}}, NULL, NULL},
    {"two out of one HCA", 3, {{0, 4, HCA / 2}, {1, 10, HCA / 2}}, NULL, NULL},
    {"two into one HCA, one from afar", 36, {{4, 0, HCA / 2}, {4 * 35, 1, HCA / 2}}, NULL, NULL},
    /* The two HCAs of a node and its NVLinks do not disturb each other, nor do directions. */
    {"HCAs, NVLinks", 2, {{0, 4, HCA}, {2, 6, HCA}, {0, 1, NVLINK}, {1, 2, NVLINK}}, NULL, NULL},
    {"both ways", 36, {{0, 136, HCA}, {136, 0, HCA}, {2, 3, NVLINK}, {3, 2, NVLINK}}, NULL, NULL},
    /* A DGX-1 sends and receives at full rate by all four HCAs at once, and neighbours without an
     * NVLink keep the uplinks of the switches busy meanwhile. */
    {"a DGX-1",
     2,
     {{0, 8, HCA},
      {2, 10, HCA},
      {4, 12, HCA},
      {6, 14, HCA},
      {9, 1, HCA},
      {11, 3, HCA},
      {13, 5, HCA},
      {15, 7, HCA},
      {0, 7, PCIE}},
     "dgx1-v100",
     NULL},
    {"two HCAs of one PCIe switch",
     3,
     {{0, 4, PCIE / 2}, {2, 8, PCIE / 2}},
     NULL,
     "pcie.switches=1"},
};

Test(simgrid_xml, flows_share_links_evenly, .disabled = AR_TEST_STRIDE > 1)
{
    for (size_t i = 0; i < sizeof sharings / sizeof sharings[0]; i++) {
        const struct sharing *sharing = &sharings[i];
        struct ar_cluster *cluster = load_shipped(
            sharing->cluster != NULL ? sharing->cluster : "abci-v100", sharing->setting);
        struct test_flow flows[FLOWS_MAX];
        size_t count = 0;
        for (; count < FLOWS_MAX && sharing->flows[count].rate_Bps > 0; count++) {
            flows[count] = (struct test_flow){sharing->flows[count].source,
                                              sharing->flows[count].destination, message_bytes, 0};
        }
        test_platform_transfer(cluster, sharing->nodes, flows, count);
        for (size_t k = 0; k < count; k++) {
            expect_time(cluster, &flows[k], sharing->flows[k].rate_Bps, sharing->what);
        }
    }
}

/* Both HCAs of all nodes of a rack send: to another rack over 24 uplinks, or within the rack. */
Test(simgrid_xml, a_whole_rack_shares_its_uplinks_and_has_full_bisection_within,
     .disabled = AR_TEST_STRIDE > 1)
{
    struct ar_cluster *cluster = load_shipped("abci-v100", NULL);
    for (int is_within = 0; is_within < 2; is_within++) {
        struct test_flow flows[68];
        uint32_t count = is_within ? 34 : 68;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t to = is_within ? 2 * ((i + 34) % 68) : 4 * 34 + 2 * i;
            flows[i] = (struct test_flow){2 * i, to, message_bytes, 0};
        }
        test_platform_transfer(cluster, is_within ? 34 : 68, flows, count);
        for (uint32_t i = 0; i < count; i++) {
            expect_time(cluster, &flows[i], is_within ? HCA : 24 * 12.5e9 / 68, "a rack");
        }
    }
}

/* Why all paths between nodes have one latency: SimGrid does not share a link evenly among flows
 * of unequal path latency, but in inverse proportion to it. Here a flow over PCIe of 2 us and one
 * to another node of 18 us meet in a PCIe switch and share it 9:1, not 1:1. */
Test(simgrid_xml, simgrid_shares_a_port_nine_to_one_between_latencies_of_2_and_18_us)
{
    const char *settings[] = {"nvlink.pairs=none", "pcie.latency=2us", "net.latency=18us",
                              "hca.bandwidth=100GB/s", NULL};
    struct ar_cluster *cluster = test_load_small(settings);
    struct test_flow flows[] = {{0, 2, message_bytes, 0}, {1, 4, message_bytes, 0}};
    test_platform_transfer(cluster, 2, flows, 2);
    double first_s = 2e-6 + (double)message_bytes / (0.9 * 16e9);
    double second_s = (2.0 * (double)message_bytes) / 16e9;
    cr_assert(fabs(flows[0].finish_s / first_s - 1) < 1e-2, "%.9g s", flows[0].finish_s);
    cr_assert(fabs(flows[1].finish_s / second_s - 1) < 1e-2, "%.9g s", flows[1].finish_s);
}

/* --- text ------------------------------------------------------------------------------------- */

/* The platform as text; the caller frees it. */
static char *write_platform(const struct ar_cluster *cluster, uint32_t nodes_count)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(file != NULL);
    ar_cluster_write_simgrid(cluster, nodes_count, NULL, 0, file);
    cr_assert_eq(fclose(file), 0);
    return text;
}

Test(simgrid_xml, every_link_states_its_policy_every_hop_its_direction_and_none_is_fat)
{
    struct ar_cluster *cluster = load_shipped("abci-v100", NULL);
    char *text = write_platform(cluster, 36);
    size_t links_count = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "<link ", 6) == 0) {
            cr_assert(strstr(line, "sharing_policy=\"SHARED\"") != NULL, "%s", line);
            links_count++;
        }
        for (char *hop = strstr(line, "<link_ctn "); hop != NULL; hop = strstr(hop + 1, "<link_")) {
            cr_assert(strstr(hop, "direction=\"NONE\"") != NULL, "%s", line);
        }
        cr_assert(strstr(line, "oute src") == NULL || strstr(line, "symmetrical=\"NO\"") != NULL);
    }
    /* Per node 12 NVLinks, 4 of PCIe, 4 of HCAs and two that carry the latency; 2 racks. */
    cr_assert_eq(links_count, 36 * (12 + 4 + 4 + 2) + 2 * 2);
    free(text);
}
