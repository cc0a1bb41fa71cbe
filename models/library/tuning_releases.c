/* The constants of NCCL's own cost model by release: facts read from NVIDIA/nccl.
 *
 * - 2.8.4: tag v2.8.4-1, src/graph/tuning.cc.
 * - 2.5.6: constants at tag v2.5.6-1; formulas, shares, caps and corrections from
 *   src/graph/tuning.cc and src/enqueue.cc of 2.5 as public copies of it have them (same
 *   constants): a ring on several nodes pays the latency of the network at every hop, and has no
 *   plateau. Hops of trees over NVLink and all over PCIe are of these copies, too.
 * - 2.3.7: no trees, no ll128 and no cost model: ll up to 16 KiB for each rank and ring, simple
 *   above. Its hops were not read anywhere: latencies and shares are those of 2.5.6 (assumed).
 * - 2.18.3: constants at tag v2.18.3-1; hops over PCIe and the corrections from public copies that
 *   have the same constants. The tag itself could not be read for the rest: the least latency of a
 *   hop (Intel hosts) and the two net hops more of an all-reduce are those of NVIDIA/nccl b6475625
 *   (2.20), the plateau and where it begins those of 2.8.4.
 *
 * ll128 on several nodes is of 2.5.6 as above (there 7/9 of a tree's bandwidth); in 2.8.4
 * and 2.18.3 the share of rings with one rank per node, and of trees the hops and the share, are
 * those of public copies of later releases, as are the corrections in 2.18.3; those in 2.8.4 are
 * of 2.5.6.
 *
 * Caps are those of Volta on hosts of Intel. The caps of ll128 per channel (16.7 GB/s, later 20)
 * are left out in 2.8.4 and 2.18.3: NCCL has more channels in a node than across the network, and
 * how many is not known here. */
#include <math.h>

#include "ar_tuning.h"

/* clang-format off */

/* base, NVLink, PCIe, net */
#define LATENCIES_2_5_6                                                                            \
    .latency = {[AR_RING_LL]     = {3.6, 0.4, 1.0, 0.9},                                           \
                [AR_RING_LL128]  = {3.6, 2.5, 2.5, 2.5},                                           \
                [AR_RING_SIMPLE] = {8.4, 5.7, 5.7, 6.6},                                           \
                [AR_TREE_LL]     = {4.4, 0.5, 1.0, 5.0},                                           \
                [AR_TREE_LL128]  = {4.4, 1.9, 1.9, 7.5},                                           \
                [AR_TREE_SIMPLE] = {0,   28,  28,  50}}

#define LATENCIES_2_8_4                                                                            \
    .latency = {[AR_RING_LL]     = {3.6,  0.47, 1.0, 2.7},                                         \
                [AR_RING_LL128]  = {10.0, 1.9,  2.5, 4.0},                                         \
                [AR_RING_SIMPLE] = {8.4,  3.4,  5.7, 9.6},                                         \
                [AR_TREE_LL]     = {4.4,  0.52, 1.0, 5.0},                                         \
                [AR_TREE_LL128]  = {4.4,  1.25, 1.9, 8.5},                                         \
                [AR_TREE_SIMPLE] = {0,    28,   28,  28}}

#define LATENCIES_2_18_3                                                                           \
    .latency = {[AR_RING_LL]     = {6.6,  0.6, 1.0, 2.7},                                          \
                [AR_RING_LL128]  = {14.0, 1.9, 2.5, 4.0},                                          \
                [AR_RING_SIMPLE] = {8.4,  3.4, 5.7, 14.0},                                         \
                [AR_TREE_LL]     = {6.8,  0.6, 1.0, 5.0},                                          \
                [AR_TREE_LL128]  = {14.0, 1.25, 1.9, 8.5},                                         \
                [AR_TREE_SIMPLE] = {0,    4,   6,   14}}

#define CORRECTIONS_2_5_6                                                                          \
    .tree_ll_correction = {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6,                                 \
                           .5, .5, .5, .6, .7, .8, .9, .9, 1, 1, 1},                               \
    .tree_ll128_correction = {1, 1, 1, 1, 1, .9, .8, .8, .8, .8, .7,                               \
                              .7, .7, .6, .6, .7, .7, .8, .8, .9, .9, 1},                          \
    .tree_simple_correction = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6,                         \
                               .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9}

#define CORRECTIONS_2_18_3                                                                         \
    .tree_ll_correction = {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5,                             \
                           .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},                                \
    .tree_ll128_correction = {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6,                           \
                              .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},                           \
    .tree_simple_correction = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,                     \
                               .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}

#define RINGS_2_5_6                                                                                \
    .is_net_everywhere = true, .ll_node_factor = 1, .plateau = 1,                                  \
    .ll_cap = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, .ll128_share = 120.0 / 128,                          \
    .ll128_alone_share = 120.0 / 128, .ll128_cap = 100

#define TREES_2_5_6                                                                                \
    .tree_share = 0.9, .tree_ll_divisor = 3, .tree_ll128_share = 7.0 / 9, .tree_cap = {90, 70, 70}

#define CAPS_VOLTA                                                                                 \
    .ll_cap = {39, 39, 20.4}, .ll128_share = 0.92, .ll128_alone_share = 0.7,                       \
    .ll128_cap = HUGE_VAL, .tree_share = 0.92, .tree_ll_divisor = 3.8,                             \
    .tree_ll128_share = 120.0 / 128, .tree_cap = {26.5, 18.5, 10}, .is_tree_cap_of_channel = true

const struct ar_release ar_releases[] = {
    {.release = "2.3.7", .name = "nccl-2.3.7",
     .source = "NVIDIA/nccl v2.3.7-1: choice; v2.5.6-1, src/graph/tuning.cc: latencies",
     LATENCIES_2_5_6, .ll_channel_bytes = 16384, RINGS_2_5_6, TREES_2_5_6, CORRECTIONS_2_5_6},
    {.release = "2.5.6", .name = "nccl-2.5.6",
     .source = "NVIDIA/nccl v2.5.6-1, src/graph/tuning.cc",
     LATENCIES_2_5_6, .has_trees = true, .has_ll128 = true, RINGS_2_5_6, TREES_2_5_6,
     CORRECTIONS_2_5_6},
    {.release = "2.8.4", .name = "nccl-2.8.4",
     .source = "NVIDIA/nccl v2.8.4-1, src/graph/tuning.cc",
     LATENCIES_2_8_4, .has_trees = true, .has_ll128 = true, .ll_node_factor = 1.8, .plateau = 1.9,
     CAPS_VOLTA, CORRECTIONS_2_5_6},
    {.release = "2.18.3", .name = "nccl-2.18.3",
     .source = "NVIDIA/nccl v2.18.3-1, src/graph/tuning.cc",
     LATENCIES_2_18_3, .has_trees = true, .has_ll128 = true, .ll_node_factor = 1,
     .ll_hop_min = 1, .simple_hop_min = 3, .extra_net_hops = 2, .plateau = 1.9, CAPS_VOLTA,
     CORRECTIONS_2_18_3},
};
/* clang-format on */

const size_t ar_releases_count = sizeof ar_releases / sizeof ar_releases[0];
const struct ar_release *const ar_release_default = &ar_releases[2];

enum { SIZES_2_8_4 = 22 };

double ar_tuning_tree_efficiency(double bytes)
{
    const double *correction = ar_release_default->tree_simple_correction;
    double place = fmin(fmax(log2(bytes / 64), 0), SIZES_2_8_4 - 1);
    int below = (int)place;
    int above = below + 1 < SIZES_2_8_4 ? below + 1 : below;
    double share = place - below;
    return correction[below] * (1 - share) + correction[above] * share;
}
