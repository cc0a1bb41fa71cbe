/* The flat ring: reduce-scatter, then all-gather, around all N ranks; 2(N-1) steps of n/N. */
#include "algorithms.h"
#include "rings.h"

static const struct ring_phase list[] = {
    {"ring all-reduce", RING_ALL_REDUCE, RING_ROWS},
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

const struct ar_algorithm ar_algorithm_ring = {
    .name = "ring",
    .title = "flat ring: reduce-scatter then all-gather around all ranks",
    .formula = "2(N-1) (alpha + n/(N B)) + (N-1) gamma n/N",
    .source = "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of "
              "workstations, J. Parallel Distrib. Comput. 69 (2009)",
    .shape_help = "Nx1 (one ring of all ranks)",
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_FLAT,
    .calls = AR_CALLS_RING,
    .phases = phases,
    .move = move,
};
