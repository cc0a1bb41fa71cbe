#include <math.h>
#include <stdlib.h>

#include "ar_simgrid_xml.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_outcome.h"
#include "test_platform.h"

/* --- routes ----------------------------------------------------------------------------------- */

Test(simgrid_xml, shipped_clusters_have_the_routes_of_their_paths)
{
    static const struct {
        const char *name;
        uint32_t nodes[5]; /* a node, a rack, several racks, all or many */
    } rows[] = {{"abci-v100", {1, 3, 70, 1088}},
                {"dgx1-v100", {1, 5}},
                {"dgx2-v100", {1, 5}},
                {"v100-8gpu-1edr", {1, 5}},
                {"flat", {1, 40, 1024}}};
    static const uint32_t nodes_max = 4096 / (AR_TEST_STRIDE * AR_TEST_STRIDE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_cluster *cluster = test_load_shipped(rows[i].name, NULL);
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

/* --- text ------------------------------------------------------------------------------------- */

Test(simgrid_xml, every_link_states_its_policy_every_hop_its_direction_and_none_is_fat)
{
    struct ar_cluster *cluster = test_load_shipped("abci-v100", NULL);
    char *text;
    size_t links_count = 0;
    TEST_TEXT(text, ar_cluster_write_simgrid(cluster, 36, NULL, 0, stream));
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
