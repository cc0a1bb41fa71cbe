#include "rings.h"

static uint32_t next_of(uint32_t size, uint32_t index)
{
    return index + 1 == size ? 0 : index + 1;
}

static uint32_t previous_of(uint32_t size, uint32_t index)
{
    return index == 0 ? size - 1 : index - 1;
}

/* (index - back) mod size for back <= 2 * size. */
static uint32_t behind(uint32_t size, uint32_t index, uint32_t back)
{
    uint64_t ahead = (uint64_t)index + 2ull * size - back;
    return (uint32_t)(ahead % size);
}

static struct part_move reduce_scatter(uint32_t size, uint32_t index, uint32_t step)
{
    return (struct part_move){
        .sends = true,
        .receive = AR_RECEIVE_REDUCE,
        .send_to = next_of(size, index),
        .receive_from = previous_of(size, index),
        .send_part = behind(size, index, step + 1),
        .receive_part = behind(size, index, step + 2),
    };
}

static struct part_move all_gather(uint32_t size, uint32_t index, uint32_t step)
{
    return (struct part_move){
        .sends = true,
        .receive = AR_RECEIVE_COPY,
        .send_to = next_of(size, index),
        .receive_from = previous_of(size, index),
        .send_part = behind(size, index, step),
        .receive_part = behind(size, index, step + 1),
    };
}

static struct part_move all_reduce(uint32_t size, uint32_t index, uint32_t step)
{
    return step < size - 1 ? reduce_scatter(size, index, step)
                           : all_gather(size, index, step - (size - 1));
}

static struct part_move chain_gather(uint32_t size, uint32_t index, uint32_t step)
{
    bool receives = index + 1 + step < size;
    return (struct part_move){
        .sends = index > 0 && index + step < size,
        .receive = receives ? AR_RECEIVE_COPY : AR_RECEIVE_NONE,
        .send_to = index > 0 ? index - 1 : 0,
        .receive_from = index + 1,
        .send_part = index + step,
        .receive_part = index + 1 + step,
    };
}

static struct part_move chain_scatter(uint32_t size, uint32_t index, uint32_t step)
{
    bool receives = index > 0 && step + 1 >= index;
    return (struct part_move){
        .sends = index + 1 < size && step >= index,
        .receive = receives ? AR_RECEIVE_COPY : AR_RECEIVE_NONE,
        .send_to = index + 1,
        .receive_from = index > 0 ? index - 1 : 0,
        .send_part = size - 1 - step + index,
        .receive_part = size - 2 - step + index,
    };
}

struct ar_move move_of_parts(struct part_move parts, uint32_t first, uint32_t stride,
                             struct ar_span whole, uint32_t size)
{
    struct ar_move move = {.sends = parts.sends, .receive = parts.receive};
    if (parts.sends) {
        move.send_to = first + parts.send_to * stride;
        move.send_span = ar_span_part(whole, size, parts.send_part);
    }
    if (parts.receive != AR_RECEIVE_NONE) {
        move.receive_from = first + parts.receive_from * stride;
        move.receive_span = ar_span_part(whole, size, parts.receive_part);
    }
    return move;
}

static uint32_t size_of(const struct ring_phase *phase, const struct ar_shape *shape)
{
    return phase->lines == RING_ROWS ? shape->x : shape->y;
}

static uint32_t steps_of(const struct ring_phase *phase, const struct ar_shape *shape)
{
    return (phase->kind == RING_ALL_REDUCE ? 2 : 1) * (size_of(phase, shape) - 1);
}

uint32_t ring_phases(const struct ring_phase *list, uint32_t count, const struct ar_shape *shape,
                     struct ar_phase phases[AR_PHASES_MAX])
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ring_phase *phase = &list[i];
        uint32_t size = size_of(phase, shape);
        uint32_t steps = steps_of(phase, shape);
        uint64_t members = phase->lines == RING_FIRST_COLUMN ? shape->y : ar_shape_ranks(shape);
        bool is_chain = phase->kind == CHAIN_GATHER || phase->kind == CHAIN_SCATTER;
        bool reduces = phase->kind == RING_REDUCE_SCATTER || phase->kind == RING_ALL_REDUCE;
        phases[i] = (struct ar_phase){
            .name = phase->name,
            .steps = steps,
            .parts = phase->lines == RING_COLUMNS ? ar_shape_ranks(shape) : size,
            /* Member i of a chain passes on size - i parts. */
            .messages = members * steps / (is_chain ? 2 : 1),
            .copies_from = reduces ? size - 1 : 0,
        };
    }
    return count;
}

struct ar_move ring_move(const struct ring_phase *phase, const struct ar_shape *shape,
                         uint64_t elements, uint32_t position, uint32_t step)
{
    static struct part_move (*const moves[])(uint32_t size, uint32_t index, uint32_t step) = {
        [RING_REDUCE_SCATTER] = reduce_scatter, [RING_ALL_GATHER] = all_gather,
        [RING_ALL_REDUCE] = all_reduce,         [CHAIN_GATHER] = chain_gather,
        [CHAIN_SCATTER] = chain_scatter,
    };
    struct ar_span span = {.first = 0, .count = elements};
    uint32_t x = shape->x;
    uint32_t column = position % x;
    for (; step >= steps_of(phase, shape); phase++) {
        step -= steps_of(phase, shape);
    }
    if (phase->lines == RING_ROWS) {
        return move_of_parts(moves[phase->kind](x, column, step), position - column, 1, span, x);
    }
    if (phase->lines == RING_FIRST_COLUMN && column > 0) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    span = phase->lines == RING_COLUMNS ? ar_span_part(span, x, column) : span;
    return move_of_parts(moves[phase->kind](shape->y, position / x, step), column, x, span,
                         shape->y);
}
