/* The algorithms that are lists of stages, by operation; trees and chains are in algorithm_tree.c.
 *
 * A broadcast is a reduce backwards in time, a scatter a gather; a reduce-scatter is an all-gather
 * backwards, with sums in place of copies. */
#include "blocks.h"

static const char ring_source[] =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. "
    "Parallel Distrib. Comput. 69 (2009)";
static const char doubling_source[] =
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "
    "MPICH, Int. J. High Perform. Comput. Appl. 19 (2005)";
static const char bruck_source[] =
    "Bruck et al., Efficient algorithms for all-to-all communications in multiport "
    "message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8 (1997)";

/* --- all-reduces ----------------------------------------------------------------------------- */

ALGORITHM(ring, all_reduce, "ring", "flat ring: reduce-scatter then all-gather around all ranks",
          "2(N-1) (alpha + n/(N B)) + (N-1) gamma n/N", ring_source,
          .shape_help = "Nx1 (one ring of all ranks)", .calls = AR_CALLS_RING,
          STAGES({"ring all-reduce", &block_ring_all_reduce, 0, LINES_ALL, false,
                  SUMS_THEN_COPIES}));

/* Each group of X ranks reduces to its leader, the Y leaders run a ring on the whole buffer, each
 * leader broadcasts to its group. The reduction is a reduce-scatter and a gather, the broadcast a
 * scatter and an all-gather, so that a group moves n/X per step. */
ALGORITHM(hierarchical, all_reduce, "hierarchical",
          "two-level: reduce in groups, ring of the group leaders, broadcast in groups",
          "4(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(Y B)) + gamma n ((X-1)/X + (Y-1)/Y)",
          "three phases and step count after Jia et al., Highly scalable deep learning training "
          "system with mixed-precision, arXiv:1807.11205 (2018)",
          .shapes = AR_SHAPES_GROUPS, .calls = AR_CALLS_LEADERS,
          STAGES({"group reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
                 {"group gather", &block_chain_scatter, 0, LINES_ALL, true, COPIES},
                 {"leader ring", &block_ring_all_reduce, 1, LINES_LEADERS, false, SUMS_THEN_COPIES},
                 {"group scatter", &block_chain_scatter, 0, LINES_ALL, false, COPIES},
                 {"group all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}));

/* The same bytes per rank as the ring, in fewer steps. */
static const struct ar_stage torus2d[] = {
    {"row reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"column all-reduce", &block_ring_all_reduce, 1, LINES_ALL, false, SUMS_THEN_COPIES},
    {"row all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
    {.block = NULL},
};

ALGORITHM(torus2d, all_reduce, "torus2d",
          "2D torus: reduce-scatter in rows, all-reduce in columns, all-gather in rows",
          "2(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(X Y B)) + gamma n ((X-1)/X + (Y-1)/(X Y))",
          "Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in a flash, "
          "arXiv:1811.05233 (2018)",
          .shapes = AR_SHAPES_GRIDS, .calls = AR_CALLS_TORUS, .is_ring_in_line = true,
          .stages = torus2d);

/* Rings level by level; in two dimensions it is the 2D torus. */
static const struct ar_stage three_levels[] = {
    {"first reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"second reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS},
    {"third all-reduce", &block_ring_all_reduce, 2, LINES_ALL, false, SUMS_THEN_COPIES},
    {"second all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
    {"first all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
    {.block = NULL},
};

static const struct ar_stage four_levels[] = {
    {"first reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"second reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS},
    {"third reduce-scatter", &block_ring_reduce_scatter, 2, LINES_ALL, false, SUMS},
    {"fourth all-reduce", &block_ring_all_reduce, 3, LINES_ALL, false, SUMS_THEN_COPIES},
    {"third all-gather", &block_ring_all_gather, 2, LINES_ALL, false, COPIES},
    {"second all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
    {"first all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
    {.block = NULL},
};

static const struct ar_stage *const levels[] = {torus2d, three_levels, four_levels};

ALGORITHM(blueconnect, all_reduce, "blueconnect",
          "rings level by level: reduce-scatter upwards, all-reduce on top, all-gather downwards",
          "2(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(X Y B)) + ... + gamma n (N-1)/N",
          "Cho et al., BlueConnect: decomposing all-reduce for deep learning on heterogeneous "
          "network hierarchy, MLSys (2019)",
          .shapes = AR_SHAPES_LEVELS, .is_ring_in_line = true, .levels = levels);

ALGORITHM(recursive_doubling, all_reduce, "recursive-doubling",
          "swap and add all of it, at distances 1, 2, 4, ...; other than powers of two are folded",
          "log2 N (alpha + n/B + gamma n), and 2 (alpha + n/B) + gamma n to fold", doubling_source,
          .scratch = 1,
          STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
                 {"doubling", &block_doubling, 0, LINES_ALL, false, SUMS},
                 {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}));

ALGORITHM(halving_doubling, all_reduce, "halving-doubling",
          "reduce-scatter by halves, all-gather by doubles; other than powers of two are folded",
          "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and 2 (alpha + n/B) + gamma n to fold",
          "Rabenseifner, Optimization of collective reduction operations, ICCS (2004)",
          .scratch = 1,
          STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
                 {"halving", &block_doubling_of_halves, 0, LINES_ALL, true, SUMS},
                 {"doubling", &block_doubling_of_halves, 0, LINES_ALL, false, COPIES},
                 {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}));

ALGORITHM(swing, all_reduce, "swing",
          "halving and doubling at distances 1, 1, 3, 5, 11, ... to both sides in turn",
          "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and 2 (alpha + n/B) + gamma n to fold",
          "De Sensi et al., Swing: short-cutting rings for higher bandwidth allreduce, NSDI (2024)",
          .scratch = 1,
          STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
                 {"swing reduce-scatter", &block_swing_all_gather, 0, LINES_ALL, true, SUMS},
                 {"swing all-gather", &block_swing_all_gather, 0, LINES_ALL, false, COPIES},
                 {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}));

ALGORITHM(node_swing, all_reduce, "node-swing",
          "groups reduce-scatter and all-gather all at once, swing of each part across groups",
          "2 (alpha + n/B (X-1)/X) + 2 log2 Y alpha + 2 n/(X B) (Y-1)/Y + gamma n (XY-1)/(XY), and "
          "2 (alpha + n/(X B)) + gamma n/X to fold",
          "hierarchical all-reduce of github HLC-Lab/pico, its GPU program", .scratch = 1,
          .shapes = AR_SHAPES_GROUPS,
          STAGES({"group reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
                 {"fold", &block_fold, 1, LINES_ALL, false, SUMS},
                 {"swing reduce-scatter", &block_swing_all_gather, 1, LINES_ALL, true, SUMS},
                 {"swing all-gather", &block_swing_all_gather, 1, LINES_ALL, false, COPIES},
                 {"unfold", &block_fold, 1, LINES_ALL, true, COPIES},
                 {"group all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(direct, all_reduce, "direct",
          "reduce-scatter and all-gather, all messages of each at once",
          "2 (alpha + n/B (N-1)/N) + gamma n (N-1)/N",
          "the one-step all-reduce between GPUs behind one switch",
          STAGES({"direct reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
                 {"direct all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}));

/* --- switches that sum ----------------------------------------------------------------------- */

static const char one_switch_help[] = "Nx1 (one switch joins all ranks)";
static const char nvlink_source[] =
    "Klenk et al., An in-network architecture for accelerating shared-memory multiprocessor "
    "collectives, ISCA (2020)";
static const char network_source[] =
    "Graham et al., Scalable hierarchical aggregation protocol (SHArP), COMHPC (2016)";

/* NVLink switches sum rows, each GPU has the sum of a part, which the switches of the network add
 * up; NVLink switches hand all to all. One row or one column is one level. */
ALGORITHM(in_network, all_reduce, "in-network",
          "switches sum: those of NVLinks in rows, those of the network in columns; 8 parts",
          "2 alpha + alpha + n/(8 B) (2 + 1/X) + 7/8 max(n/B (1 + 1/X), n/(X B)); one row: without "
          "the network, one column: alpha + n/B",
          network_source, .shapes = AR_SHAPES_GROUPS, .wants_sums = true, .pipeline_parts = 8,
          STAGES({"row reduce-scatter", &block_sums_reduce_scatter, 0, LINES_ALL, false, COPIES},
                 {"column all-reduce", &block_sums_all_reduce, 1, LINES_ALL, false, COPIES},
                 {"row all-gather", &block_sums_reduce_scatter, 0, LINES_ALL, true, COPIES}));

/* Where NVLink switches do not sum. */
ALGORITHM(collnet_direct, all_reduce, "collnet-direct",
          "direct reduce-scatter in groups, the network sums columns, direct all-gather",
          "3 alpha + 2 n/B (X-1)/X + n/(X B) + gamma n (X-1)/X", network_source,
          .shapes = AR_SHAPES_GROUPS, .wants_sums = true,
          STAGES({"group reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
                 {"column all-reduce", &block_sums_all_reduce, 1, LINES_ALL, false, COPIES},
                 {"group all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_scatter_in_network, reduce_scatter, "in-network",
          "the switch sums, each rank gets its part", "alpha + n/B", nvlink_source,
          .shape_help = one_switch_help, .wants_sums = true,
          STAGES({"reduce-scatter by a switch", &block_sums_reduce_scatter, 0, LINES_ALL, false,
                  COPIES}));

ALGORITHM(all_gather_in_network, all_gather, "in-network",
          "each rank sends its part once, the switch multicasts it", "alpha + n/B", nvlink_source,
          .shape_help = one_switch_help, .wants_sums = true,
          STAGES({"all-gather by a switch", &block_sums_reduce_scatter, 0, LINES_ALL, true,
                  COPIES}));

ALGORITHM(broadcast_in_network, broadcast, "in-network",
          "the root sends all once, the switch multicasts it", "alpha + n/B", nvlink_source,
          .shape_help = one_switch_help, .wants_sums = true,
          STAGES({"multicast", &block_sums_broadcast, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_in_network, reduce, "in-network", "the switch sums, the root gets it",
          "alpha + n/B", nvlink_source, .shape_help = one_switch_help, .wants_sums = true,
          STAGES({"reduce by a switch", &block_sums_reduce, 0, LINES_ALL, false, COPIES}));

/* --- reduce-scatters and all-gathers --------------------------------------------------------- */

static const char neighbour_source[] =
    "Chen et al., Performance evaluation of allgather algorithms on terascale Linux cluster with "
    "fast Ethernet, HPC-Asia (2005)";
static const char direct_source[] = "one message for each pair of ranks";
static const char two_level_source[] = "a reduce-scatter or all-gather in each level of links";

ALGORITHM(reduce_scatter_ring, reduce_scatter, "ring", "around all ranks",
          "(N-1) (alpha + n/(N B)) + gamma n (N-1)/N", ring_source, .scratch = 1,
          .calls = AR_CALLS_RING,
          STAGES({"ring reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS}));

ALGORITHM(all_gather_ring, all_gather, "ring", "around all ranks", "(N-1) (alpha + n/(N B))",
          ring_source, .calls = AR_CALLS_RING,
          STAGES({"ring all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_scatter_halving, reduce_scatter, "recursive-halving",
          "at distances ..., 4, 2, 1; other than powers of two are folded",
          "log2 N alpha + n/B (N-1)/N, and 2 alpha + n/B to fold + gamma n (N-1)/N",
          doubling_source, .scratch = 2,
          STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
                 {"halving", &block_doubling_all_gather, 0, LINES_ALL, true, SUMS},
                 {"unfold", &block_fold_parts, 0, LINES_ALL, true, COPIES}));

ALGORITHM(all_gather_doubling, all_gather, "recursive-doubling",
          "at distances 1, 2, 4, ...; other than powers of two are folded",
          "log2 N alpha + n/B (N-1)/N, and 2 alpha + n/B to fold", doubling_source,
          STAGES({"fold", &block_fold_parts, 0, LINES_ALL, false, COPIES},
                 {"doubling", &block_doubling_all_gather, 0, LINES_ALL, false, COPIES},
                 {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}));

ALGORITHM(reduce_scatter_bruck, reduce_scatter, "bruck", "in log2 N steps for any number of ranks",
          "log2 N alpha + n/B (N-1)/N + gamma n (N-1)/N", bruck_source,
          STAGES({"bruck reduce-scatter", &block_bruck_all_gather, 0, LINES_ALL, true, SUMS}));

ALGORITHM(all_gather_bruck, all_gather, "bruck", "in log2 N steps for any number of ranks",
          "log2 N alpha + n/B (N-1)/N", bruck_source, .scratch = 0.5,
          STAGES({"bruck all-gather", &block_bruck_all_gather, 0, LINES_ALL, false, MOVES_ONCE}));

ALGORITHM(reduce_scatter_direct, reduce_scatter, "direct", "all messages at once",
          "alpha + n/B (N-1)/N + gamma n (N-1)/N", direct_source,
          STAGES({"direct reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS}));

ALGORITHM(all_gather_direct, all_gather, "direct", "all messages at once", "alpha + n/B (N-1)/N",
          direct_source,
          STAGES({"direct all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_scatter_hierarchical, reduce_scatter, "hierarchical",
          "rings in the groups, then in the network",
          "(Y-1) (alpha + n/(N B)) + (X-1) (alpha + n/(X B)) + gamma n (N-1)/N", two_level_source,
          .shapes = AR_SHAPES_GROUPS,
          STAGES({"group reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
                 {"column reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS}));

ALGORITHM(all_gather_hierarchical, all_gather, "hierarchical",
          "rings in the network, then in the groups",
          "(Y-1) (alpha + n/(N B)) + (X-1) (alpha + n/(X B))", two_level_source,
          .shapes = AR_SHAPES_GROUPS,
          STAGES({"column all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
                 {"group all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_scatter_neighbour, reduce_scatter, "neighbour",
          "pairs of neighbours, then to both sides in turn; an even number of ranks",
          "N/2 alpha + n/B (N-1)/N + gamma n (N-1)/N", neighbour_source, .shapes = AR_SHAPES_EVEN,
          STAGES({"neighbour reduce-scatter", &block_neighbour_all_gather, 0, LINES_ALL, true,
                  SUMS}));

ALGORITHM(all_gather_neighbour, all_gather, "neighbour",
          "pairs of neighbours, then to both sides in turn; an even number of ranks",
          "N/2 alpha + n/B (N-1)/N", neighbour_source, .shapes = AR_SHAPES_EVEN,
          STAGES({"neighbour all-gather", &block_neighbour_all_gather, 0, LINES_ALL, false,
                  COPIES}));

/* --- with a root at position 0 --------------------------------------------------------------- */

static const char long_source[] =
    "Barnett et al., Interprocessor collective communication library (InterCom), SHPCC (1994)";
static const char linear_source[] = "one message for each rank, all at once";

ALGORITHM(broadcast_binomial, broadcast, "binomial", "binomial tree: the farthest half first",
          "log2 N (alpha + n/B)", doubling_source,
          STAGES({"binomial broadcast", &block_binomial_broadcast, 0, LINES_ALL, false, COPIES}));

ALGORITHM(broadcast_scatter, broadcast, "scatter-allgather",
          "binomial scatter, then the all-gather of a ring", "(log2 N + N-1) alpha + 2 n/B (N-1)/N",
          long_source,
          STAGES({"binomial scatter", &block_binomial_scatter, 0, LINES_ALL, false, COPIES},
                 {"ring all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}));

ALGORITHM(reduce_binomial, reduce, "binomial", "binomial tree: neighbours first",
          "log2 N (alpha + n/B + gamma n)", doubling_source, .scratch = 2,
          STAGES({"binomial reduce", &block_binomial_broadcast, 0, LINES_ALL, true, SUMS}));

ALGORITHM(reduce_gather, reduce, "reducescatter-gather",
          "reduce-scatter by halves, then a binomial gather; other than powers of two are folded",
          "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and alpha + n/B + gamma n to fold",
          long_source, .scratch = 2,
          STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
                 {"halving", &block_doubling_all_gather, 0, LINES_ALL, true, SUMS},
                 {"binomial gather", &block_folded_scatter, 0, LINES_ALL, true, COPIES}));

ALGORITHM(gather_linear, gather, "linear", "all messages at once", "alpha + n/B (N-1)/N",
          linear_source,
          STAGES({"linear gather", &block_linear_scatter, 0, LINES_ALL, true, COPIES}));

ALGORITHM(gather_binomial, gather, "binomial", "binomial tree", "log2 N alpha + n/B (N-1)/N",
          doubling_source, .scratch = 0.5,
          STAGES({"binomial gather", &block_binomial_scatter, 0, LINES_ALL, true, COPIES}));

ALGORITHM(scatter_linear, scatter, "linear", "all messages at once", "alpha + n/B (N-1)/N",
          linear_source,
          STAGES({"linear scatter", &block_linear_scatter, 0, LINES_ALL, false, COPIES}));

ALGORITHM(scatter_binomial, scatter, "binomial", "binomial tree", "log2 N alpha + n/B (N-1)/N",
          doubling_source, .scratch = 0.5,
          STAGES({"binomial scatter", &block_binomial_scatter, 0, LINES_ALL, false, COPIES}));

ALGORITHM(send, send, "message",
          "one message from the root to the rank before it, the last one from rank 0",
          "alpha + n/B", "one message", STAGES({"send", &block_send, 0, LINES_ALL, false, COPIES}));

/* --- all-to-alls ----------------------------------------------------------------------------- */

ALGORITHM(all_to_all_linear, all_to_all, "linear", "all messages at once", "alpha + n/B (N-1)/N",
          "one message for each pair of ranks, as grouped sends of NCCL",
          STAGES({"linear all-to-all", &block_linear_all_to_all, 0, LINES_ALL, false, COPIES}));

ALGORITHM(all_to_all_pairwise, all_to_all, "pairwise",
          "step by step: in step k to the k-th next rank", "(N-1) (alpha + n/(N B))",
          doubling_source,
          STAGES({"pairwise all-to-all", &block_pairwise_all_to_all, 0, LINES_ALL, false, COPIES}));

ALGORITHM(all_to_all_bruck, all_to_all, "bruck",
          "in log2 N steps, in each about half of the buffer", "log2 N (alpha + n/(2 B))",
          bruck_source, .scratch = 1,
          STAGES({"bruck all-to-all", &block_bruck_all_to_all, 0, LINES_ALL, false, MOVES_TWICE}));

ALGORITHM(all_to_all_two_level, all_to_all, "two-level",
          "pairwise in the groups, to the member of the same number, then between groups",
          "(X-1) (alpha + n/(X B)) + (Y-1) (alpha + n/(Y B))",
          "messages gathered in a node first, as NCCL does with PXN", .shapes = AR_SHAPES_GROUPS,
          STAGES({"group all-to-all", &block_pairwise_all_to_all, 0, LINES_WHOLE, false, COPIES},
                 {"column all-to-all", &block_pairwise_all_to_all, 1, LINES_STRIPES, false,
                  COPIES}));
