
#include <stdlib.h>
#include <string.h>

#include "test_support.h"

/* Every message of every rank, one by one. */
static void visit_moves(const struct ar_collective *collective, uint64_t elements,
                        struct ar_link_load *loads)
{
    struct ar_order order = ar_collective_order(collective);
    uint32_t steps = ar_algorithm_steps(collective->algorithm, &collective->shape);
    for (uint64_t i = 0; i < (uint64_t)order.ranks * collective->channels * steps; i++) {
        uint32_t step = (uint32_t)(i % steps);
        uint32_t position = (uint32_t)(i / steps % order.ranks);
        uint32_t channel = (uint32_t)(i / steps / order.ranks);
        struct ar_span part = ar_collective_part(collective, elements, channel);
        struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                part.count, position, step);
        if (!move.sends) {
            continue;
        }
        struct ar_path path;
        ar_cluster_path(collective->cluster, ar_order_rank(&order, channel, position),
                        ar_order_rank(&order, channel, move.send_to), &path);
        for (uint32_t j = 0; j < path.links_count; j++) {
            loads[path.links[j]].bytes += move.send_span.count * collective->element_bytes;
            loads[path.links[j]].messages_count++;
        }
    }
}

static void expect_exact(const struct ar_collective *collective)
{
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    const uint64_t elements[] = {0, 1, ranks - 1, ranks + 1, 1000003};
    enum { SIZES = sizeof elements / sizeof elements[0] };
    struct ar_link_load *loads = support_loads(collective, elements, SIZES);
    struct ar_link_load *visited =
        calloc(ar_cluster_links_count(collective->cluster), sizeof *visited);
    for (size_t i = 0; i < SIZES; i++) {
        visit_moves(collective, elements[i], visited);
    }
    for (uint32_t i = 0; i < ar_cluster_links_count(collective->cluster); i++) {
        cr_assert(loads[i].bytes == visited[i].bytes &&
                      loads[i].messages_count == visited[i].messages_count &&
                      (loads[i].flows_max > 0) == (visited[i].messages_count > 0),
                  "%s %ux%u, link %u: %lu bytes in %lu messages, by the moves %lu in %lu",
                  collective->algorithm->name, collective->shape.x, collective->shape.y, i,
                  loads[i].bytes, loads[i].messages_count, visited[i].bytes,
                  visited[i].messages_count);
    }
    free(visited);
    free(loads);
}

static void expect_exact_grids(const struct ar_cluster *cluster, uint32_t ranks)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        for (uint32_t x = 1; x <= ranks; x += AR_TEST_STRIDE) {
            struct ar_collective collective =
                support_collective_of(cluster, ar_algorithms[i], x, ranks / x);
            collective.channels = 1 + ranks % 4;
            if (ranks % x == 0 && ar_collective_check(&collective, AR_IGNORED) == AR_OK) {
                expect_exact(&collective);
            }
        }
    }
}

Test(link_load, is_that_of_the_messages_one_by_one_for_every_algorithm_and_grid)
{
    static const char *const clusters[] = {"abci-v100", "flat"};
    static const char *const settings[] = {"nodes=36", "nodes=144"};
    static const uint32_t ranks[] = {2, 3, 8, 24, 34, 64, 97, 144};
    for (size_t i = 0; i < 2; i++) {
        struct ar_cluster *cluster = support_cluster(clusters[i], settings[i]);
        for (size_t j = 0; j < sizeof ranks / sizeof ranks[0] - i; j++) { /* 144: on two racks */
            expect_exact_grids(cluster, ranks[j]);
        }
    }
}

/* A GPU sends all and its part of the sum to the switch of its node, its part to the network, whose
 * racks send one sum up for each GPU of a node. */
Test(link_load, of_sums_is_once_on_every_link_of_a_tree)
{
    static const struct {
        const char *word;
        uint32_t links;
        uint64_t bytes_of_16, messages_count;
    } expected[] = {{"port", 64, 20, 16}, {"hca", 64, 4, 8}, {"rack", 4, 16, 32}};
    struct ar_cluster *cluster = support_cluster(
        "flat",
        "gpus_per_node=4 nodes=8 hcas=4 nvlink.pairs=switch nvlink.sums=yes fabric.sums=yes "
        "nvlink.bandwidth=100GB/s nvlink.latency=3us rack.nodes=4 rack.uplinks=1 "
        "rack.uplink_bandwidth=9GB/s");
    struct ar_collective sums = support_collective(cluster, "in-network", 4, 8);
    uint64_t elements = 64 * 1000;
    struct ar_link_load *loads = support_loads(&sums, &elements, 1);
    for (size_t k = 0; k < 3; k++) {
        uint32_t used = 0;
        for (uint32_t i = 0; i < ar_cluster_links_count(cluster); i++) {
            char name[64];
            ar_cluster_link_name(cluster, i, name, sizeof name);
            if (strstr(name, expected[k].word) != NULL) {
                used++;
                cr_expect_eq(loads[i].bytes, elements * 4 * expected[k].bytes_of_16 / 16, "%s",
                             name);
                cr_expect_eq(loads[i].messages_count, expected[k].messages_count, "%s", name);
            }
        }
        cr_expect_eq(used, expected[k].links);
    }
    free(loads);
}

Test(link_load, counts_the_connections_that_share_a_link)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    uint64_t elements = 4096;
    /* Four columns of a node over two HCAs, on two channels: each HCA has four of the eight. */
    struct ar_collective torus = support_collective(abci, "torus2d", 4, 4);
    torus.channels = 2;
    struct ar_link_load *loads = support_loads(&torus, &elements, 1);
    char name[64];
    for (uint32_t i = 0; i < ar_cluster_links_count(abci); i++) {
        if (strcmp(ar_cluster_link_name(abci, i, name, sizeof name), "node-2.hca-1.in") == 0) {
            cr_expect_eq(loads[i].flows_max, 4);
        }
    }
    free(loads);
}

Test(link_load, of_one_rank_is_none_and_a_collective_that_cannot_be_is_refused)
{
    struct ar_cluster *abci = support_cluster("abci-v100", NULL);
    struct ar_collective ring = support_collective(abci, "ring", 1, 1);
    uint64_t elements = 1000;
    struct ar_link_load *loads = support_loads(&ring, &elements, 1);
    for (uint32_t i = 0; i < ar_cluster_links_count(abci); i++) {
        cr_expect_eq(loads[i].messages_count, 0);
    }
    ring.shape.x = 5000;
    cr_expect_eq(ar_link_load_add(&ring, elements, loads, AR_IGNORED), AR_USAGE);
    free(loads);
}
