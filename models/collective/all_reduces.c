/* All-reduces. */
#include "algorithms.h"
#include "blocks.h"

const struct ar_algorithm ar_algorithm_ring = {
    .name = "ring",
    .title = "flat ring: reduce-scatter then all-gather around all ranks",
    .formula = "2(N-1) (alpha + n/(N B)) + (N-1) gamma n/N",
    .source = AR_SOURCE_RING,
    .shape_help = "Nx1 (one ring of all ranks)",
    .operation = &ar_operation_all_reduce,
    .calls = AR_CALLS_RING,
    STAGES({"ring all-reduce", &block_ring_all_reduce, 0, LINES_ALL, false, SUMS_THEN_COPIES}),
};

/* Each group of X ranks reduces to its leader, the Y leaders run a ring on the whole buffer, each
 * leader broadcasts to its group. The reduction is a reduce-scatter and a gather, the broadcast a
 * scatter and an all-gather, so that a group moves n/X per step. */
const struct ar_algorithm ar_algorithm_hierarchical = {
    .name = "hierarchical",
    .title = "two-level: reduce in groups, ring of the group leaders, broadcast in groups",
    .formula = "4(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(Y B)) + gamma n ((X-1)/X + "
               "(Y-1)/Y)",
    .source =
        "three phases and step count after Jia et al., Highly scalable deep learning training "
        "system with mixed-precision, arXiv:1807.11205 (2018)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    .calls = AR_CALLS_LEADERS,
    STAGES({"group reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
           {"group gather", &block_chain_scatter, 0, LINES_ALL, true, COPIES},
           {"leader ring", &block_ring_all_reduce, 1, LINES_LEADERS, false, SUMS_THEN_COPIES},
           {"group scatter", &block_chain_scatter, 0, LINES_ALL, false, COPIES},
           {"group all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}),
};

/* The same bytes per rank as the ring, in fewer steps. */
static const struct ar_stage torus2d[] = {
    {"row reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"column all-reduce", &block_ring_all_reduce, 1, LINES_ALL, false, SUMS_THEN_COPIES},
    {"row all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
};

const struct ar_algorithm ar_algorithm_torus2d = {
    .name = "torus2d",
    .title = "2D torus: reduce-scatter in rows, all-reduce in columns, all-gather in rows",
    .formula = "2(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(X Y B)) + gamma n ((X-1)/X + "
               "(Y-1)/(X Y))",
    .source = "Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in a flash, "
              "arXiv:1811.05233 (2018)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GRIDS,
    .calls = AR_CALLS_TORUS,
    .is_ring_in_line = true,
    .stages = torus2d,
    .stages_count = sizeof torus2d / sizeof torus2d[0],
};

/* Of two dimensions, the 2D torus. */
static const struct ar_stage three_levels[] = {
    {"first reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"second reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS},
    {"third all-reduce", &block_ring_all_reduce, 2, LINES_ALL, false, SUMS_THEN_COPIES},
    {"second all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
    {"first all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
};

static const struct ar_stage four_levels[] = {
    {"first reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
    {"second reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS},
    {"third reduce-scatter", &block_ring_reduce_scatter, 2, LINES_ALL, false, SUMS},
    {"fourth all-reduce", &block_ring_all_reduce, 3, LINES_ALL, false, SUMS_THEN_COPIES},
    {"third all-gather", &block_ring_all_gather, 2, LINES_ALL, false, COPIES},
    {"second all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
    {"first all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES},
};

static const struct ar_stage *levels_of(const struct ar_shape *shape)
{
    static const struct ar_stage *const lists[] = {torus2d, three_levels, four_levels};
    return lists[ar_shape_dimensions(shape) - 2];
}

static uint32_t levels_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    return stages_phases(levels_of(shape), 2 * ar_shape_dimensions(shape) - 1, shape, phases);
}

static struct ar_move levels_move(const struct ar_shape *shape, uint64_t elements,
                                  uint32_t position, uint32_t step)
{
    return stages_move(levels_of(shape), shape, elements, position, step);
}

const struct ar_algorithm ar_algorithm_blueconnect = {
    .name = "blueconnect",
    .title =
        "rings level by level: reduce-scatter upwards, all-reduce on top, all-gather downwards",
    .formula = "2(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(X Y B)) + ... + gamma n (N-1)/N",
    .source = "Cho et al., BlueConnect: decomposing all-reduce for deep learning on heterogeneous "
              "network hierarchy, MLSys (2019)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_LEVELS,
    .is_ring_in_line = true,
    .phases = levels_phases,
    .move = levels_move,
};

const struct ar_algorithm ar_algorithm_recursive_doubling = {
    .name = "recursive-doubling",
    .scratch = 1,
    .title = "swap and add all of it, at distances 1, 2, 4, ...; other than powers of two "
             "are folded",
    .formula = "log2 N (alpha + n/B + gamma n), and 2 (alpha + n/B) + gamma n to fold",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_all_reduce,
    STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
           {"doubling", &block_doubling, 0, LINES_ALL, false, SUMS},
           {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_halving_doubling = {
    .name = "halving-doubling",
    .scratch = 1,
    .title = "reduce-scatter by halves, all-gather by doubles; other than powers of two are "
             "folded",
    .formula = "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and 2 (alpha + n/B) + gamma "
               "n to fold",
    .source = "Rabenseifner, Optimization of collective reduction operations, ICCS (2004)",
    .operation = &ar_operation_all_reduce,
    STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
           {"halving", &block_doubling_of_halves, 0, LINES_ALL, true, SUMS},
           {"doubling", &block_doubling_of_halves, 0, LINES_ALL, false, COPIES},
           {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_swing = {
    .name = "swing",
    .scratch = 1,
    .title = "halving and doubling at distances 1, 1, 3, 5, 11, ... to both sides in turn",
    .formula = "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and 2 (alpha + n/B) + gamma "
               "n to fold",
    .source =
        "De Sensi et al., Swing: short-cutting rings for higher bandwidth allreduce, NSDI (2024)",
    .operation = &ar_operation_all_reduce,
    STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
           {"swing reduce-scatter", &block_swing_all_gather, 0, LINES_ALL, true, SUMS},
           {"swing all-gather", &block_swing_all_gather, 0, LINES_ALL, false, COPIES},
           {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_node_swing = {
    .name = "node-swing",
    .scratch = 1,
    .title = "groups reduce-scatter and all-gather all at once, swing of each part across groups",
    .formula =
        "2 (alpha + n/B (X-1)/X) + 2 log2 Y alpha + 2 n/(X B) (Y-1)/Y + gamma n (XY-1)/(XY), "
        "and 2 (alpha + n/(X B)) + gamma n/X to fold",
    /* Its program sends segments across nodes that overlap with sums; here each step ends. */
    .source = "hierarchical all-reduce of github HLC-Lab/pico, its GPU program",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    STAGES({"group reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
           {"fold", &block_fold, 1, LINES_ALL, false, SUMS},
           {"swing reduce-scatter", &block_swing_all_gather, 1, LINES_ALL, true, SUMS},
           {"swing all-gather", &block_swing_all_gather, 1, LINES_ALL, false, COPIES},
           {"unfold", &block_fold, 1, LINES_ALL, true, COPIES},
           {"group all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_direct = {
    .name = "direct",
    .title = "reduce-scatter and all-gather, all messages of each at once",
    .formula = "2 (alpha + n/B (N-1)/N) + gamma n (N-1)/N",
    .source = "the one-step all-reduce between GPUs behind one switch",
    .operation = &ar_operation_all_reduce,
    STAGES({"direct reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
           {"direct all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}),
};
