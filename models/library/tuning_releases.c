/* The constants of NCCL's own cost model by release: facts read from NVIDIA/nccl.
 *
 * - 2.8.4: tag v2.8.4-1, src/graph/tuning.cc.
 * - 2.5.6: constants at tag v2.5.6-1; formulas, shares, caps and corrections from
 *   src/graph/tuning.cc and src/enqueue.cc of 2.5 as public copies of it have them (same
 *   constants): a ring on several nodes pays the latency of the network at every hop, and has no
 *   plateau. Hops of trees over NVLink and all over PCIe are of these copies, too.
 * - 2.3.7: no trees, no ll128 and no cost model: ll up to 16 KiB for each rank and ring, simple
 *   above. Its hops were not read anywhere: latencies and shares are those of 2.5.6 (assumed).
 * - 2.10.3 to 2.30.7: constants, caps and formulas at the tags. Of 2.10 to 2.17 the corrections of
 *   trees, and what ll128 has of a tree's bandwidth, are those of 2.18 (assumed).
 *
 * Up to 2.8.4, ll128 on several nodes is of 2.5.6 as above (there 7/9 of a tree's bandwidth); in
 * 2.8.4 the share of rings with one rank per node, and of trees the hops and the share, are those
 * of public copies of later releases; its corrections are of 2.5.6, its caps of Ampere those of a
 * copy of 2.8 (microsoft/msccl 0d1af8e2). Its caps of ll128 by channel are left out.
 *
 * RCCL 2.22.3: bases, hops and shares of bandwidth of three of its six tables (ROCm/rccl 0cbce2a7);
 * which machine has which is inferred from their conditions. Shares of the first two, hops of trees
 * in a node and the plateau are those of the third, of rings, and of NCCL (assumed); its
 * corrections by size are left out.
 *
 * Everywhere left out: that trees, collnet and nvls have rates and channels of their own, that the
 * rings of two nodes have the bandwidth they have within them, latencies of network plug-ins. */
#include "ar_tuning.h"

/* clang-format off */

/* --- latencies: base, NVLink, PCIe, net ------------------------------------------------------- */

#define LATENCIES_2_5_6                                                                            \
    .latency = {[AR_RING_LL]     = {3.6, 0.4, 1.0, 0.9},                                           \
                [AR_RING_LL128]  = {3.6, 2.5, 2.5, 2.5},                                           \
                [AR_RING_SIMPLE] = {8.4, 5.7, 5.7, 6.6},                                           \
                [AR_TREE_LL]     = {4.4, 0.5, 1.0, 5.0},                                           \
                [AR_TREE_LL128]  = {4.4, 1.9, 1.9, 7.5},                                           \
                [AR_TREE_SIMPLE] = {0,   28,  28,  50}}

/* From 2.8 on, with the network latency of simple rings; then what else the release has. */
#define LATENCIES_2_8(ring_net, ...)                                                               \
    .latency = {[AR_RING_LL]     = {3.6,  0.47, 1.0, 2.7},                                         \
                [AR_RING_LL128]  = {10.0, 1.9,  2.5, 4.0},                                         \
                [AR_RING_SIMPLE] = {8.4,  3.4,  5.7, ring_net},                                    \
                [AR_TREE_LL]     = {4.4,  0.52, 1.0, 5.0},                                         \
                [AR_TREE_LL128]  = {4.4,  1.25, 1.9, 8.5},                                         \
                [AR_TREE_SIMPLE] = {0,    28,   28,  28},                                          \
                __VA_ARGS__}

/* From 2.18 on; simple trees differ from release to release. */
#define LATENCIES_2_18(...)                                                                        \
    .latency = {[AR_RING_LL]     = {6.6,  0.6,  1.0, 2.7},                                         \
                [AR_RING_LL128]  = {14.0, 1.9,  2.5, 4.0},                                         \
                [AR_RING_SIMPLE] = {8.4,  3.4,  5.7, 14.0},                                        \
                [AR_TREE_LL]     = {6.8,  0.6,  1.0, 5.0},                                         \
                [AR_TREE_LL128]  = {14.0, 1.25, 1.9, 8.5},                                         \
                __VA_ARGS__}

#define TREES_2_18 [AR_TREE_SIMPLE] = {0, 4.0, 6.0, 14.0}
#define TREES_2_19 [AR_TREE_SIMPLE] = {0, 28, 28, 28}
#define TREES_2_23 [AR_TREE_SIMPLE] = {8.4, 4.0, 4.0, 14.0}
#define COLLNETS_2_14                                                                              \
    [AR_COLLNET_DIRECT] = {0, 8.0, 8.0, 10.7}, [AR_COLLNET_CHAIN] = {0, 8.0, 8.0, 10.7}
#define COLLNETS_2_18                                                                              \
    [AR_COLLNET_DIRECT] = {0, 8.0, 8.0, 10.7}, [AR_COLLNET_CHAIN] = {0, 4.75, 8.0, 14.0}
#define COLLNETS_2_19                                                                              \
    [AR_COLLNET_DIRECT] = {0, 3.7, 3.7, 31.0}, [AR_COLLNET_CHAIN] = {0, 2.8, 2.8, 30.0}
#define NVLS(base, net, tree_net)                                                                  \
    [AR_NVLS] = {base, 0, 0, net}, [AR_NVLS_TREE] = {base, 0, 0, tree_net}
#define PAT [AR_PAT] = {8.0, 4.0, 4.0, 14.0}

/* --- corrections of trees --------------------------------------------------------------------- */

#define CORRECTIONS_2_5_6                                                                          \
    .tree_ll_correction = {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6,                                 \
                           .5, .5, .5, .6, .7, .8, .9, .9, 1, 1, 1},                               \
    .tree_ll128_correction = {1, 1, 1, 1, 1, .9, .8, .8, .8, .8, .7,                               \
                              .7, .7, .6, .6, .7, .7, .8, .8, .9, .9, 1},                          \
    .tree_simple_correction = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6,                         \
                               .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9}

#define CORRECTIONS_2_18                                                                         \
    .tree_ll_correction = {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5,                             \
                           .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},                                \
    .tree_ll128_correction = {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6,                           \
                              .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},                           \
    .tree_simple_correction = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,                     \
                               .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}

/* --- caps by generation: Volta, Ampere, Hopper, Blackwell ------------------------------------- */

#define CAPS(list) .caps = (list), .caps_count = sizeof(list) / sizeof(list)[0]
#define LL_VOLTA     .ll = {39.0, 39.0, 20.4}
#define LL_AMPERE    .ll = {87.7, 22.5, 19.0}
#define LL_HOPPER    .ll = {141, 45, 35}
#define LL_BLACKWELL .ll = {282, 90, 70}
#define TREE_VOLTA  .tree = {26.5, 18.5, 10.0}
#define TREE_AMPERE .tree = {24.0, 23.6, 17.8}
#define LL128_OF(ring)     .ring_ll128 = {ring, ring, ring}, .tree_ll128 = {ring, ring, ring}
#define LL128_HOPPER       .ring_ll128 = {36.7, 36.7, 36.7}, .tree_ll128 = {36.7, 36.7, 29.0}
#define HOPPER_2_18        .tree = {38.7, 41.4, 36.0}, LL128_HOPPER, .plateau = 1.4
#define BLACKWELL_2_28     .tree = {70.0, 42.8, 24.0}, .tree_ll128 = {55.6, 31.67, 20.0},          \
                           .nvls_share = 0.74, .plateau = 1.4
#define VOLTA_2_18         {LL_VOLTA, TREE_VOLTA, LL128_OF(20), .plateau = 1.9}
#define AMPERE_2_18        {LL_AMPERE, TREE_AMPERE, LL128_OF(20), .plateau = 1.4}
#define OLDER_2_28                                                                                 \
    {LL_VOLTA, TREE_VOLTA, LL128_OF(20), .nvls_tree = {26.5, 18.5, 10.0}, .plateau = 1.9},         \
    {LL_AMPERE, TREE_AMPERE, LL128_OF(20), .nvls_tree = {24.0, 23.6, 17.8}, .plateau = 1.4},       \
    {LL_HOPPER, HOPPER_2_18, .nvls_tree = {0, 57.7, 45.5}, .nvls_share = 0.85}

static const struct tuning_caps caps_2_5[] = {
    {.ring_ll128 = {100, 100, 100}, .tree = {90, 70, 70}, .plateau = 1}};
static const struct tuning_caps caps_2_8[] = {
    {LL_VOLTA, TREE_VOLTA, .plateau = 1.9},
    {.bus = 235, LL_AMPERE, .tree = {24.0, 22.5, 16.0}, .plateau = 1.9}};
static const struct tuning_caps caps_2_10[] = {
    {LL_VOLTA, TREE_VOLTA, LL128_OF(20), .plateau = 1.9},
    {.bus = 235, LL_AMPERE, TREE_AMPERE, LL128_OF(20), .plateau = 1.9}};
static const struct tuning_caps caps_2_16[] = {
    {LL_VOLTA, TREE_VOLTA, LL128_OF(20), .plateau = 1.9},
    {.bus = 235, LL_AMPERE, TREE_AMPERE, LL128_OF(20), .plateau = 1.9},
    {LL_AMPERE, TREE_AMPERE, LL128_OF(20), .plateau = 1.9}};
static const struct tuning_caps caps_2_17[] = {
    {LL_VOLTA, TREE_VOLTA, LL128_OF(20), .plateau = 1.9},
    {.bus = 235, LL_AMPERE, TREE_AMPERE, LL128_OF(20), .plateau = 1.9},
    {.bus = 370, LL_AMPERE, .tree = {38.7, 41.4, 33.0}, LL128_OF(36.7), .plateau = 1.5}};
static const struct tuning_caps caps_2_18[] = {
    VOLTA_2_18, AMPERE_2_18, {LL_AMPERE, HOPPER_2_18}};
static const struct tuning_caps caps_2_21[] = {
    VOLTA_2_18, AMPERE_2_18, {LL_HOPPER, HOPPER_2_18}};
static const struct tuning_caps caps_2_25[] = {
    VOLTA_2_18, AMPERE_2_18, {LL_HOPPER, HOPPER_2_18},
    {LL_BLACKWELL, .tree = {77.4, 82.8, 72.0}, .ring_ll128 = {73.4, 73.4, 73.4},
     .tree_ll128 = {73.4, 73.4, 58.0}, .plateau = 1.4}};
static const struct tuning_caps caps_2_28[] = {
    OLDER_2_28,
    {LL_BLACKWELL, BLACKWELL_2_28, .ring_ll128 = {73.4, 34.6, 73.4}, .nvls_tree = {0, 96.0, 43.8}}};
static const struct tuning_caps caps_2_29[] = {
    OLDER_2_28,
    {LL_BLACKWELL, BLACKWELL_2_28, .ring_ll128 = {40, 40, 40}, .nvls_tree = {0, 96.0, 43.8}}};
static const struct tuning_caps caps_2_30[] = {
    OLDER_2_28,
    {LL_BLACKWELL, BLACKWELL_2_28, .ring_ll128 = {40, 40, 40}, .nvls_tree = {0, 96.0, 80.0}}};

/* --- choices, shares and rules ---------------------------------------------------------------- */

#define BIT(choice) (1u << AR_##choice)
#define RINGS       (BIT(RING_LL) | BIT(RING_LL128) | BIT(RING_SIMPLE))
#define TREES       (BIT(TREE_LL) | BIT(TREE_LL128) | BIT(TREE_SIMPLE))
#define COLLNETS    (BIT(COLLNET_DIRECT) | BIT(COLLNET_CHAIN))
#define CHOICES(of_all_reduces, of_halves) .all_reduces = (of_all_reduces), .halves = (of_halves)
#define CHOICES_2_8 CHOICES(RINGS | TREES, RINGS)
#define ALL_2_18    (RINGS | TREES | COLLNETS | BIT(NVLS) | BIT(NVLS_TREE))

#define RULES_2_5                                                                                  \
    .is_net_everywhere = true, .ll_node_factor = 1, .are_caps_total = true, .ll_divisor = 4,       \
    .ll_node_divisor = 3, .ll128_share = 120.0 / 128, .ll128_alone_share = 120.0 / 128,            \
    .tree_share = 0.9, .tree_alone_share = 1, .tree_ll_divisor = 3,                                \
    .tree_ll128_node_share = 7.0 / 9, .tree_ll128_share = 7.0 / 9, CORRECTIONS_2_5_6

#define TREES_2_8                                                                                  \
    .tree_share = 0.92, .tree_ll_divisor = 3.8, .tree_ll128_node_share = 7.0 / 9,                  \
    .tree_ll128_share = 120.0 / 128
#define RULES_2_8                                                                                  \
    .ll_node_factor = 1.8, .ll_divisor = 4, .ll_node_divisor = 3, .ll128_share = 0.92,             \
    .ll128_alone_share = 0.7, .tree_alone_share = 1, TREES_2_8

#define RULES_2_10                                                                                 \
    RULES_2_8, .has_node_trees = true, .collnet_direct_hop = 0.5, .collnet_chain_share = 0.75,     \
    CORRECTIONS_2_18

/* With the divisor of the bus for ll on one node and on several, and the share of ll128 with one
 * rank per node. */
#define RULES_2_18(node_divisor, divisor, alone_share)                                             \
    .has_node_trees = true, .has_send_ll = true, .ll_node_factor = 1, .net_overhead = 1,           \
    .plateau_channel_bytes = 64, .ll_node_divisor = (node_divisor), .ll_divisor = (divisor),       \
    .ll128_share = 0.92, .ll128_alone_share = (alone_share), .tree_alone_share = 0.85, TREES_2_8,  \
    .has_collnet_chain_net = true, .collnet_chain_share = 1, CORRECTIONS_2_18

#define RULES_2_19 .extra_net_hops = 2, .collnet_direct_hop = 0.4
#define RULES_2_23                                                                                 \
    RULES_2_18(2, 2, 0.92), .is_alone_tree_net = true, .collnet_direct_hop = 0.4
#define NVLS_2_19 .nvls = TUNING_NVLS_NARROWEST, .nvls_ratio = 5.0 / 6
#define HALVES_2_20 CHOICES(ALL_2_18, RINGS | BIT(NVLS) | BIT(COLLNET_DIRECT))
#define HALVES_2_23 CHOICES(ALL_2_18, RINGS | BIT(NVLS) | BIT(COLLNET_DIRECT) | BIT(PAT))

#define NAMED(number)                                                                              \
    .release = number, .name = "nccl-" number,                                                     \
    .source = "NVIDIA/nccl v" number "-1, src/graph/tuning.cc"

#define TUNABLE(number) NAMED(number), .has_tuner = true

/* RCCL: base of tables 0 (default), 4 (MI250X) and 5 (MI300), hops in a node of simple, across nodes of
 * rings, then of trees. */
#define LATENCIES_RCCL(node, ring_ll, ring_ll128, ring, tree_ll, tree_ll128, tree)                \
    .latency = {[AR_RING_LL]     = {12, 0.8, 0.8, ring_ll},                                        \
                [AR_RING_LL128]  = {12, 2.2, 2.2, ring_ll128},                                     \
                [AR_RING_SIMPLE] = {17, node, node, ring},                                         \
                [AR_TREE_LL]     = {12, 0.8, 0.8, tree_ll},                                        \
                [AR_TREE_LL128]  = {12, 2.2, 2.2, tree_ll128},                                     \
                [AR_TREE_SIMPLE] = {17, node, node, tree}}
#define RULES_RCCL                                                                                 \
    .has_node_trees = true, .has_send_ll = true, .ll_node_factor = 1, .plateau_channel_bytes = 64, \
    .ll_divisor = 12.5, .ll_node_divisor = 12.5, .ll128_share = 0.92, .ll128_alone_share = 0.92,   \
    .tree_share = 0.59, .tree_pair_share = 0.11, .tree_alone_share = 1, .tree_ll_divisor = 9.8,    \
    .tree_ll128_node_share = 7.0 / 9, .tree_ll128_share = 120.0 / 128, CAPS(caps_rccl)
#define RCCL                                                                                       \
    .release = "rccl-2.22.3", .name = "rccl-2.22.3", .has_tuner = true,                            \
    .source = "ROCm/rccl 0cbce2a7, src/graph/tuning.cc"

static const struct tuning_caps caps_rccl[] = {{.plateau = 1.4}};
static const struct ar_release rccl_cdna2 = {
    RCCL, LATENCIES_RCCL(3.6, 35.4, 87.8, 209.2, 32.2, 34.4, 47.6), CHOICES_2_8, RULES_RCCL};
static const struct ar_release rccl_cdna3 = {
    RCCL, LATENCIES_RCCL(2.1, 9.5, 0, 320, 10.5, 0, 25),
    CHOICES(BIT(RING_LL) | BIT(RING_SIMPLE) | BIT(TREE_LL) | BIT(TREE_SIMPLE),
            BIT(RING_LL) | BIT(RING_SIMPLE)), RULES_RCCL};

const struct ar_release ar_releases[] = {
    {.release = "2.3.7", .name = "nccl-2.3.7",
     .source = "NVIDIA/nccl v2.3.7-1: choice; v2.5.6-1, src/graph/tuning.cc: latencies",
     LATENCIES_2_5_6, CHOICES(BIT(RING_LL) | BIT(RING_SIMPLE), BIT(RING_LL) | BIT(RING_SIMPLE)),
     .ll_channel_bytes = 16384, RULES_2_5, CAPS(caps_2_5)},
    {NAMED("2.5.6"), LATENCIES_2_5_6, CHOICES_2_8, RULES_2_5, CAPS(caps_2_5)},
    {NAMED("2.8.4"), LATENCIES_2_8(9.6), CHOICES_2_8, RULES_2_8, CAPS(caps_2_8),
     CORRECTIONS_2_5_6},
    {NAMED("2.10.3"), LATENCIES_2_8(9.6), CHOICES_2_8, RULES_2_10, CAPS(caps_2_10)},
    {NAMED("2.11.4"), LATENCIES_2_8(9.6), CHOICES_2_8, RULES_2_10, CAPS(caps_2_10)},
    {NAMED("2.12.12"), LATENCIES_2_8(28), CHOICES_2_8, RULES_2_10, CAPS(caps_2_10),
     .extra_net_hops = 2},
    {NAMED("2.14.3"), LATENCIES_2_8(9.6, COLLNETS_2_14), CHOICES(RINGS | TREES | COLLNETS, RINGS),
     RULES_2_10, CAPS(caps_2_10), .extra_net_hops = 2, .has_send_ll = true},
    {NAMED("2.15.5"), LATENCIES_2_8(9.6, COLLNETS_2_14), CHOICES(RINGS | TREES | COLLNETS, RINGS),
     RULES_2_10, CAPS(caps_2_10), .extra_net_hops = 2, .has_send_ll = true},
    {NAMED("2.16.5"), LATENCIES_2_8(9.6, COLLNETS_2_14), CHOICES(RINGS | TREES | COLLNETS, RINGS),
     RULES_2_10, CAPS(caps_2_16), .extra_net_hops = 2, .has_send_ll = true},
    {NAMED("2.17.1"), LATENCIES_2_8(9.6, COLLNETS_2_14, [AR_NVLS] = {40, 0, 0, 0}),
     CHOICES(RINGS | TREES | COLLNETS | BIT(NVLS), RINGS | BIT(NVLS)), RULES_2_10, CAPS(caps_2_17),
     .extra_net_hops = 2, .has_send_ll = true, .nvls = TUNING_NVLS_AS_RINGS, .nvls_ratio = 0.75},
    {NAMED("2.18.3"), LATENCIES_2_18(TREES_2_18, COLLNETS_2_18, NVLS(23, 18, 19)),
     CHOICES(ALL_2_18, RINGS), RULES_2_18(3, 4, 0.7), CAPS(caps_2_18), .extra_net_hops = 2,
     .collnet_direct_hop = 0.5, .nvls = TUNING_NVLS_AS_RINGS, .nvls_ratio = 5.0 / 6,
     .has_nvls_line = true},
    {TUNABLE("2.19.4"), LATENCIES_2_18(TREES_2_19, COLLNETS_2_19, NVLS(23, 18, 14)),
     CHOICES(ALL_2_18, RINGS | BIT(NVLS)), RULES_2_18(3, 4, 0.7), CAPS(caps_2_18), RULES_2_19,
     NVLS_2_19},
    {TUNABLE("2.20.5"), LATENCIES_2_18(TREES_2_19, COLLNETS_2_19, NVLS(23, 18, 14)), HALVES_2_20,
     RULES_2_18(3, 4, 0.7), CAPS(caps_2_18), RULES_2_19, NVLS_2_19},
    {TUNABLE("2.21.5"), LATENCIES_2_18(TREES_2_19, COLLNETS_2_19, NVLS(25, 18, 14)), HALVES_2_20,
     RULES_2_18(2, 2, 0.7), CAPS(caps_2_21), RULES_2_19, NVLS_2_19},
    {TUNABLE("2.22.3"), LATENCIES_2_18(TREES_2_19, COLLNETS_2_19, NVLS(25, 18, 14)), HALVES_2_20,
     RULES_2_18(2, 2, 0.7), CAPS(caps_2_21), RULES_2_19, NVLS_2_19},
    {TUNABLE("2.23.4"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 14), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_21), NVLS_2_19, .pat_share = 0.85},
    {TUNABLE("2.24.3"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 14), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_21), NVLS_2_19, .pat_share = 0.75},
    {TUNABLE("2.25.1"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 14), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_25), NVLS_2_19, .pat_share = 0.75},
    {TUNABLE("2.26.5"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 14), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_25), NVLS_2_19, .pat_share = 0.75},
    {TUNABLE("2.27.7"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 14), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_25), .nvls = TUNING_NVLS_HALVES, .nvls_ratio = 5.0 / 6,
     .pat_share = 0.75},
    {TUNABLE("2.28.9"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 20.9), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_28), .nvls = TUNING_NVLS_SHARE, .pat_share = 0.75},
    {TUNABLE("2.29.7"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 20.9), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_29), .nvls = TUNING_NVLS_SHARE, .pat_share = 0.75},
    {TUNABLE("2.30.7"), LATENCIES_2_18(TREES_2_23, COLLNETS_2_19, NVLS(25, 18, 20.9), PAT),
     HALVES_2_23, RULES_2_23, CAPS(caps_2_30), .nvls = TUNING_NVLS_SHARE, .pat_share = 0.75},
    {RCCL, LATENCIES_RCCL(3.6, 9.5, 19.8, 15.1, 11.8, 18.2, 20.8), CHOICES_2_8, RULES_RCCL,
     .of_generation = {[AR_GPU_CDNA2] = &rccl_cdna2, [AR_GPU_CDNA3] = &rccl_cdna3}},
};
/* clang-format on */

const size_t ar_releases_count = sizeof ar_releases / sizeof ar_releases[0];
const struct ar_release *const ar_release_default = &ar_releases[2];
