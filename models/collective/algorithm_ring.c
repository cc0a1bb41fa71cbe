/* The flat ring: reduce-scatter, then all-gather, around all N ranks; 2(N-1) steps of n/N. */
#include "algorithms.h"
#include "rings.h"

static uint32_t phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t ranks = shape->x;
    phases[0] = (struct ar_phase){.name = "ring all-reduce",
                                  .steps = 2 * (ranks - 1),
                                  .parts = ranks,
                                  .messages = 2ull * (ranks - 1) * ranks,
                                  .copies_from = ranks - 1};
    return 1;
}

static struct ar_move move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    struct ar_span whole = {.first = 0, .count = elements};
    return move_of_parts(ring_all_reduce(shape->x, position, step), 0, 1, whole, shape->x);
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
