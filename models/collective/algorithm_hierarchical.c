/* The two-level algorithm: each group of X ranks reduces to its leader, the Y leaders run a ring on
 * the whole buffer, each leader broadcasts to its group. 4(X-1) + 2(Y-1) steps. The reduction is a
 * reduce-scatter and a gather, the broadcast a scatter and an all-gather, so that a group moves
 * n/X per step. */
#include "algorithms.h"
#include "rings.h"

static const struct ring_phase list[] = {
    {"group reduce-scatter", RING_REDUCE_SCATTER, RING_ROWS},
    {"group gather", CHAIN_GATHER, RING_ROWS},
    {"leader ring", RING_ALL_REDUCE, RING_FIRST_COLUMN},
    {"group scatter", CHAIN_SCATTER, RING_ROWS},
    {"group all-gather", RING_ALL_GATHER, RING_ROWS},
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

const struct ar_algorithm ar_algorithm_hierarchical = {
    .name = "hierarchical",
    .title = "two-level: reduce in groups, ring of the group leaders, broadcast in groups",
    .formula = "4(X-1) (alpha + n/(X B)) + 2(Y-1) (alpha + n/(Y B)) "
               "+ gamma n ((X-1)/X + (Y-1)/Y)",
    .source =
        "three phases and step count after Jia et al., Highly scalable deep learning training "
        "system with mixed-precision, arXiv:1807.11205 (2018)",
    .shape_help = "XxY: Y groups of X ranks (default: one group per node)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    .calls = AR_CALLS_LEADERS,
    .phases = phases,
    .move = move,
};
