/* The rank orders of channels on clusters, and what rings in them send. */
#include <stdlib.h>
#include <string.h>

#include "test_support.h"

static const char *const machines[] = {"dgx1-v100", "dgx2-v100", "v100-8gpu-1edr"};

enum { MACHINES = sizeof machines / sizeof machines[0], RANKS_MAX = 48 };

static struct ar_collective ring_of(const struct ar_cluster *cluster, uint32_t ranks,
                                    uint32_t channels)
{
    struct ar_collective ring = support_collective(cluster, "ring", ranks, 1);
    ring.channels = channels;
    return ring;
}

/* --- orders ---------------------------------------------------------------------------------- */

/* Ranks are permuted, within their nodes if no groups are mirrored. */
static void check_order(const struct ar_order *order, uint32_t channel)
{
    uint64_t seen = 0;
    for (uint32_t position = 0; position < order->ranks; position++) {
        uint32_t rank = ar_order_rank(order, channel, position);
        cr_assert_lt(rank, order->ranks);
        cr_assert(order->mirror_group > 0 ||
                  rank / order->node_members == position / order->node_members);
        cr_assert_eq(ar_order_position(order, channel, rank), position);
        seen |= 1ull << rank;
    }
    cr_assert_eq(seen, (1ull << order->ranks) - 1);
}

Test(orders, any_number_of_gpus_on_any_number_of_channels_is_permuted_and_can_be_inverted)
{
    for (size_t i = 0; i < MACHINES; i++) {
        struct ar_cluster *cluster = support_cluster(machines[i], NULL);
        for (uint32_t ranks = 2; ranks <= RANKS_MAX; ranks++) {
            struct ar_collective ring = ring_of(cluster, ranks, AR_CHANNELS_MAX);
            struct ar_order order = ar_collective_order(&ring);
            cr_assert_not_null(order.gpu_orders);
            for (uint32_t channel = 0; channel < ring.channels; channel++) {
                check_order(&order, channel);
            }
            order.mirror_group = ranks % 8 == 0 ? 8 : ranks;
            check_order(&order, ring.channels - 1);
        }
    }
}

Test(orders, a_program_that_knows_no_cluster_has_the_plain_zigzags)
{
    struct ar_collective ring = ring_of(support_cluster("dgx1-v100", NULL), 16, 4);
    ring.has_plain_orders = true;
    struct ar_order order = ar_collective_order(&ring);
    struct ar_order plain = {.ranks = 16, .node_members = 8, .channels = 4};
    for (uint32_t at = 0; at < 64; at++) {
        cr_expect_eq(ar_order_rank(&order, at / 16, at % 16),
                     ar_order_rank(&plain, at / 16, at % 16));
    }
}

/* --- links ----------------------------------------------------------------------------------- */

/* Bytes of the busiest and of the idlest link whose name has `part`; fails if there is none. */
static void find_extremes(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                          const char *part, uint64_t extremes[2])
{
    extremes[0] = UINT64_MAX;
    extremes[1] = 0;
    for (uint32_t link = 0; link < ar_cluster_links_count(cluster); link++) {
        char name[64];
        ar_cluster_link_name(cluster, link, name, sizeof name);
        if (strstr(name, part) != NULL) {
            uint64_t bytes = loads[link].bytes;
            extremes[0] = bytes < extremes[0] ? bytes : extremes[0];
            extremes[1] = bytes > extremes[1] ? bytes : extremes[1];
        }
    }
    cr_assert(extremes[0] != UINT64_MAX, "no link is named %s", part);
}

Test(orders, rings_send_and_receive_the_same_bytes_by_every_hca)
{
    for (size_t i = 0; i < MACHINES; i++) {
        struct ar_cluster *cluster = support_cluster(machines[i], "nodes=3");
        const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
        uint32_t ranks = 3 * facts->gpus_per_node;
        for (uint32_t turn = 1; turn <= 3; turn++) {
            uint64_t extremes[2];
            struct ar_collective ring = ring_of(cluster, ranks, turn * facts->hcas_per_node);
            uint64_t elements = (uint64_t)ranks * ring.channels * 10;
            struct ar_link_load *loads = support_loads(&ring, &elements, 1);
            uint64_t expected = 2 * elements * 4 * (ranks - 1) / ranks / facts->hcas_per_node;
            find_extremes(cluster, loads, ".hca-", extremes);
            cr_expect_eq(extremes[0], expected, "%s, %u channels", machines[i], ring.channels);
            cr_expect_eq(extremes[1], expected, "%s, %u channels", machines[i], ring.channels);
            free(loads);
        }
    }
}

/* A node of C HCAs takes each C channels by all of them, wherever the root is. */
Test(orders, the_channels_of_a_rooted_collective_enter_other_nodes_by_all_hcas)
{
    for (size_t i = 0; i < MACHINES; i++) {
        struct ar_cluster *cluster = support_cluster(machines[i], NULL);
        uint32_t gpus = ar_cluster_facts(cluster)->gpus_per_node;
        uint32_t hcas = ar_cluster_facts(cluster)->hcas_per_node;
        for (uint32_t root = 0; root < 2 * gpus; root += 3) {
            struct ar_collective ring = ring_of(cluster, 3 * gpus, hcas);
            struct ar_order order = ar_collective_order(&ring);
            order.has_root = true;
            order.root = root;
            uint32_t seen = 0;
            for (uint32_t channel = 0; channel < hcas; channel++) {
                uint32_t first = ar_order_rank(&order, channel, gpus) % gpus;
                seen |= 1u << first * hcas / gpus;
                cr_expect_eq(ar_order_rank(&order, channel, 0), root);
            }
            cr_expect_eq(seen, (1u << hcas) - 1, "%s, root %u", machines[i], root);
        }
    }
}

/* Rings of one node and of several, and rows of a grid, which are rings of one node. */
Test(orders, full_nodes_of_the_hybrid_cube_mesh_leave_pcie_alone)
{
    static const struct ar_shape shapes[] = {{.x = 8, .y = 1}, {.x = 24, .y = 1}, {.x = 8, .y = 3}};
    struct ar_cluster *cluster = support_cluster("dgx1-v100", "nodes=3");
    for (size_t i = 0; i < 3; i++) {
        uint64_t extremes[2];
        struct ar_collective collective = support_collective(
            cluster, shapes[i].y > 1 ? "torus2d" : "ring", shapes[i].x, shapes[i].y);
        collective.channels = 12;
        struct ar_link_load *loads = support_loads(&collective, &(uint64_t){48000}, 1);
        find_extremes(cluster, loads, ".port-", extremes);
        cr_expect_eq(extremes[1], 0, "%ux%u", shapes[i].x, shapes[i].y);
        find_extremes(cluster, loads, ".pcie-", extremes);
        cr_expect_eq(extremes[1], 0, "%ux%u", shapes[i].x, shapes[i].y);
        free(loads);
    }
}
