/* The 2D torus: reduce-scatter along the rows, all-reduce down the columns on the shard that is
 * left, all-gather along the rows. 2(X-1) + 2(Y-1) steps; the same bytes per rank as the ring. */
#include "algorithms.h"
#include "rings.h"

static const struct ring_phase list[] = {
    {"row reduce-scatter", RING_REDUCE_SCATTER, RING_ROWS},
    {"column all-reduce", RING_ALL_REDUCE, RING_COLUMNS},
    {"row all-gather", RING_ALL_GATHER, RING_ROWS},
};

static uint32_t phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    return ring_phases(list, sizeof list / sizeof list[0], shape, phases);
}

static struct ar_move move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    return ring_move(list, shape, elements, position, step);
}

const struct ar_algorithm ar_algorithm_torus2d = {
    .name = "torus2d",
    .title = "2D torus: reduce-scatter in rows, all-reduce in columns, all-gather in rows",
    .formula = "2(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(X Y B)) "
               "+ gamma n ((X-1)/X + (Y-1)/(X Y))",
    .source = "Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in a flash, "
              "arXiv:1811.05233 (2018)",
    .shape_help = "XxY: rows of X ranks, columns of Y ranks",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GRIDS,
    .calls = AR_CALLS_TORUS,
    .is_ring_in_line = true,
    .phases = phases,
    .move = move,
};
