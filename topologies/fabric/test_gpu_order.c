#include "ar_order.h"

#include <criterion/criterion.h>
#include <stdbool.h>

#include "test_cluster_load.h"

/* The small cluster without its NVLink pairs and HCAs, and with lines in their place. */
static struct ar_cluster *load_node(uint32_t gpus, uint32_t hcas, const char *pairs)
{
    char text[4096];
    int length = snprintf(text, sizeof text,
                          "name = node ; test\n"
                          "nodes = 3 ; test\n"
                          "gpus_per_node = %u ; test\n"
                          "nvlink.pairs = %s ; test\n"
                          "nvlink.bandwidth = 10GB/s ; test\n"
                          "nvlink.latency = 2us ; test\n"
                          "pcie.switches = 1 ; test\n"
                          "pcie.bandwidth = 1GB/s ; test\n"
                          "pcie.latency = 4us ; test\n"
                          "hcas = %u ; test\n"
                          "hca.bandwidth = 10GB/s ; test\n"
                          "net.latency = 8us ; test\n",
                          gpus, pairs, hcas);
    cr_assert_lt(length, (int)sizeof text);
    return test_load_text(text, NULL);
}

/* --- permutations ----------------------------------------------------------------------------- */

static void check_permutations(const struct ar_gpu_orders *orders)
{
    for (uint32_t channel = 0; channel < 2 * orders->count; channel++) {
        for (uint32_t present = 1; present <= orders->gpus_count; present++) {
            uint64_t seen = 0;
            for (uint32_t place = 0; place < present; place++) {
                uint32_t gpu = ar_gpu_order_gpu(orders, channel, present, place);
                cr_assert_lt(gpu, present);
                seen |= 1ull << gpu;
            }
            cr_assert_eq(seen, present == 64 ? UINT64_MAX : (1ull << present) - 1);
        }
    }
}

/* Every `hcas` channels in turn begin and end once at each HCA. */
static void check_hcas(const struct ar_gpu_orders *orders, uint32_t hcas)
{
    cr_assert_eq(orders->count % hcas, 0);
    for (uint32_t block = 0; block < orders->count; block += hcas) {
        uint64_t begins = 0, ends = 0;
        for (uint32_t channel = block; channel < block + hcas; channel++) {
            uint32_t first = orders->gpu[channel][0];
            uint32_t last = orders->gpu[channel][orders->gpus_count - 1];
            begins |= 1ull << first * hcas / orders->gpus_count;
            ends |= 1ull << last * hcas / orders->gpus_count;
        }
        cr_expect_eq(begins, (1ull << hcas) - 1, "channels from %u begin at HCAs 0x%lx", block,
                     (unsigned long)begins);
        cr_expect_eq(ends, (1ull << hcas) - 1, "channels from %u end at HCAs 0x%lx", block,
                     (unsigned long)ends);
    }
}

static void check_orders(const struct ar_cluster *cluster)
{
    cr_assert_not_null(ar_cluster_gpu_orders(cluster));
    check_permutations(ar_cluster_gpu_orders(cluster));
    check_hcas(ar_cluster_gpu_orders(cluster), ar_cluster_facts(cluster)->hcas_per_node);
}

Test(gpu_order, shipped_machines_use_every_hca_equally)
{
    static const char *const machines[] = {"dgx1-v100", "dgx2-v100", "v100-8gpu-1edr"};
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        check_orders(test_load_shipped(machines[i], NULL));
    }
}

Test(gpu_order, nodes_whose_pairs_are_alike_use_any_number_of_hcas_equally)
{
    static const char *const pairs[] = {"all", "switch", "none"};
    for (uint32_t gpus = 3; gpus <= 16; gpus++) {
        for (uint32_t hcas = 3; hcas <= gpus; hcas++) {
            if (gpus % hcas == 0) {
                check_orders(load_node(gpus, hcas, pairs[(gpus + hcas) % 3]));
            }
        }
    }
}

Test(gpu_order, g_orders_of_an_even_node_have_no_directed_pair_in_common)
{
    for (uint32_t hcas = 4; hcas <= 16; hcas *= 2) {
        struct ar_cluster *cluster = load_node(16, hcas, "switch");
        const struct ar_gpu_orders *orders = ar_cluster_gpu_orders(cluster);
        bool is_used[16][16] = {{false}};
        cr_assert_eq(orders->count, 16);
        for (uint32_t channel = 0; channel < 16; channel++) {
            for (uint32_t i = 1; i < 16; i++) {
                bool *pair = &is_used[orders->gpu[channel][i - 1]][orders->gpu[channel][i]];
                cr_expect_not(*pair, "%u HCAs, channel %u", hcas, channel);
                *pair = true;
            }
        }
    }
}

Test(gpu_order, nodes_whose_pairs_are_alike_with_two_hcas_or_less_have_the_plain_zigzags)
{
    static const char *const names[] = {"abci-v100", "abci-v100-nccl2.8", "flat", "host"};
    static const char *const pairs[] = {"all", "switch", "none",
                                        "0-1:3 0-2:3 0-3:3 1-2:3 1-3:3 2-3:3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_expect_null(ar_cluster_gpu_orders(test_load_shipped(names[i], NULL)), "%s", names[i]);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cr_expect_null(ar_cluster_gpu_orders(load_node(4, 1 + i % 2, pairs[i])), "%s", pairs[i]);
    }
}

Test(gpu_order, rings_that_nvlinks_do_not_make_leave_each_pcie_switch_once)
{
    for (const char *pairs = "nvlink.pairs=none"; pairs != NULL;
         pairs = strchr(pairs, '-') == NULL ? "nvlink.pairs=0-1 2-3 4-5 6-7" : NULL) {
        struct ar_cluster *cluster =
            test_load_shipped("dgx-a100", TEST_SETTINGS(pairs, "pcie.latency=5us"));
        const struct ar_gpu_orders *orders = ar_cluster_gpu_orders(cluster);
        uint32_t left = 0;
        check_orders(cluster);
        for (uint32_t i = 0; i < 8 * orders->count; i++) {
            left += orders->gpu[i / 8][i % 8] / 2 != orders->gpu[i / 8][(i + 1) % 8] / 2;
        }
        cr_expect_eq(left, 4 * orders->count); /* four switches, each at least once */
    }
}

/* --- NVLinks ---------------------------------------------------------------------------------- */

/* The largest load of an NVLink, channels over weight, after each channel, ways back to the first
 * GPU included. Fails where two GPUs have no NVLink. */
static void load_bricks(const struct ar_cluster *cluster, double brick_Bps,
                        double load[AR_GPU_ORDERS_MAX])
{
    const struct ar_gpu_orders *orders = ar_cluster_gpu_orders(cluster);
    double uses[16][16] = {{0}};
    double max = 0;
    for (uint32_t channel = 0; channel < orders->count; channel++) {
        for (uint32_t i = 0; i < orders->gpus_count; i++) {
            uint32_t a = orders->gpu[channel][i];
            uint32_t b = orders->gpu[channel][(i + 1) % orders->gpus_count];
            struct ar_path path;
            ar_cluster_path(cluster, a, b, &path);
            cr_assert_eq(path.tier, AR_TIER_NVLINK, "channel %u: GPU %u to %u", channel, a, b);
            uses[a][b] += brick_Bps / path.bandwidth_Bps;
            max = uses[a][b] > max ? uses[a][b] : max;
        }
        load[channel] = max;
    }
}

/* A GPU has six bricks, so c rings load some brick with c / 6 or more; two go over the bricks that
 * are doubled, six fill all of them, twelve do so twice. */
Test(gpu_order, rings_of_eight_gpus_are_closed_by_nvlinks_and_load_the_bricks_as_evenly_as_can_be)
{
    static const struct {
        const char *machine;
        uint32_t orders;
        struct {
            uint32_t channels;
            double load;
        } loads[4];
    } rows[] = {{"dgx1-v100", 12, {{2, 0.5}, {4, 1}, {6, 1}, {12, 2}}},
                {"v100-8gpu-1edr", 6, {{1, 0.5}, {6, 1}}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double load[AR_GPU_ORDERS_MAX];
        struct ar_cluster *cluster = test_load_shipped(rows[i].machine, NULL);
        cr_assert_eq(ar_cluster_gpu_orders(cluster)->count, rows[i].orders);
        load_bricks(cluster, 24.24e9, load);
        for (size_t k = 0; k < 4 && rows[i].loads[k].channels > 0; k++) {
            cr_expect_float_eq(load[rows[i].loads[k].channels - 1], rows[i].loads[k].load, 1e-9,
                               "%s, %u channels", rows[i].machine, rows[i].loads[k].channels);
        }
    }
}

static void check_node(uint32_t gpus, uint32_t hcas, const char *pairs)
{
    struct ar_cluster *cluster = load_node(gpus, hcas, pairs);
    double load[AR_GPU_ORDERS_MAX];
    check_orders(cluster);
    load_bricks(cluster, 10e9, load);
}

/* Every GPU once, every HCA as often as the others, along NVLinks only. */
Test(gpu_order, orders_along_nvlinks_use_every_hca_equally)
{
    /* A ring of two squares by one pair: cut there, it begins and ends at the same HCA. */
    check_node(4, 2, "0-2 0-3 1-2 1-3:2");
    check_node(6, 3, "0-1 1-2 2-3 3-4 4-5 5-0 0-3 1-4 2-5:2");
    /* A grid of 4x4 GPUs: four NVLinks inside, fewer at the rim. */
    check_node(16, 4,
               "0-1 1-2 2-3 4-5 5-6 6-7 8-9 9-10 10-11 12-13 13-14 14-15 "
               "0-4 4-8 8-12 1-5 5-9 9-13 2-6 6-10 10-14 3-7 7-11 11-15");
}

Test(gpu_order, a_chain_of_gpus_is_ordered_from_end_to_end_though_no_ring_closes)
{
    static const uint8_t chain[] = {0, 1, 3, 2};
    struct ar_cluster *cluster = load_node(4, 2, "0-1 1-3 2-3");
    const struct ar_gpu_orders *orders = ar_cluster_gpu_orders(cluster);
    check_orders(cluster);
    for (uint32_t channel = 0; channel < orders->count; channel++) {
        bool is_forward = orders->gpu[channel][0] == chain[0];
        for (uint32_t i = 0; i < 4; i++) {
            cr_expect_eq(orders->gpu[channel][i], chain[is_forward ? i : 3 - i]);
        }
    }
}

/* Every GPU of the smaller half is joined to every one of the larger, so that no order exists,
 * which takes longer than anybody has to find out for sure. */
Test(gpu_order, nodes_without_an_order_keep_the_zigzags_also_where_the_search_would_not_end)
{
    char pairs[3072] = "";
    size_t length = 0;
    for (unsigned a = 0; a < 14; a++) {
        for (unsigned b = 14; b < 32; b++) {
            length += (size_t)snprintf(pairs + length, sizeof pairs - length, "%s%u-%u",
                                       length > 0 ? " " : "", a, b);
        }
    }
    cr_expect_null(ar_cluster_gpu_orders(load_node(32, 2, pairs)));
    /* Without an order along NVLinks nodes keep the zigzags. In the first, both ends of the chain
     * share an HCA, which so would carry all. */
    cr_expect_null(ar_cluster_gpu_orders(load_node(4, 2, "0-1 0-2 1-3")));
    cr_expect_null(ar_cluster_gpu_orders(load_node(4, 2, "0-1 2-3:2")));
    check_orders(load_node(8, 4, "0-1 2-3:2"));
}
