/* The 2D torus: reduce-scatter along the rows, all-reduce down the columns on the shard that is
 * left, all-gather along the rows. 2(X-1) + 2(Y-1) steps; the same bytes per rank as the ring. */
#include "algorithms.h"
#include "rings.h"

static uint32_t phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t x = shape->x;
    uint32_t y = shape->y;
    uint64_t ranks = ar_shape_ranks(shape);
    phases[0] = (struct ar_phase){.name = "row reduce-scatter",
                                  .steps = x - 1,
                                  .parts = x,
                                  .messages = ranks * (x - 1),
                                  .copies_from = x - 1};
    phases[1] = (struct ar_phase){.name = "column all-reduce",
                                  .steps = 2 * (y - 1),
                                  .parts = x * y,
                                  .messages = ranks * 2 * (y - 1),
                                  .copies_from = y - 1};
    phases[2] = (struct ar_phase){.name = "row all-gather",
                                  .steps = x - 1,
                                  .parts = x,
                                  .messages = ranks * (x - 1),
                                  .copies_from = 0};
    return 3;
}

static struct ar_move move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step)
{
    uint32_t x = shape->x;
    uint32_t y = shape->y;
    uint32_t column = position % x;
    uint32_t row_first = position - column;
    uint32_t column_steps = 2 * (y - 1);
    struct ar_span whole = {.first = 0, .count = elements};

    if (step < x - 1) {
        return move_of_parts(ring_reduce_scatter(x, column, step), row_first, 1, whole, x);
    }
    step -= x - 1;
    if (step < column_steps) {
        struct ar_span shard = ar_span_part(whole, x, column);
        return move_of_parts(ring_all_reduce(y, position / x, step), column, x, shard, y);
    }
    step -= column_steps;
    return move_of_parts(ring_all_gather(x, column, step), row_first, 1, whole, x);
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
