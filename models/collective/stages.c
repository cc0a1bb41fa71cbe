#include "blocks.h"

static uint32_t size_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    return ar_shape_length(shape, stage->dimension);
}

static uint32_t steps_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t size = size_of(stage, shape);
    return size > 1 ? stage->block->steps(size) : 0;
}

/* Steps in which what is received is added. */
static uint32_t copies_from(const struct ar_stage *stage, uint32_t steps)
{
    return stage->receive == COPIES ? 0 : stage->receive == SUMS ? steps : steps / 2;
}

/* The parts of the buffer that messages are made of. */
static uint32_t parts_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t parts = stage->block->parts(size_of(stage, shape));
    for (uint32_t i = 0; i < stage->dimension && stage->lines == LINES_ALL; i++) {
        parts *= ar_shape_length(shape, i);
    }
    return stage->lines == LINES_STRIPES ? ar_shape_ranks(shape) : parts;
}

static struct ar_phase phase_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t size = size_of(stage, shape);
    uint32_t steps = steps_of(stage, shape);
    uint32_t lines = stage->lines == LINES_LEADERS ? 1 : ar_shape_ranks(shape) / size;
    uint32_t parts = parts_of(stage, shape);
    bool is_exchange = stage->block->kind == AR_PHASE_EXCHANGE;
    return (struct ar_phase){
        .name = stage->name,
        .kind = stage->block->kind,
        .is_at_once = stage->block->is_at_once,
        .is_shift = stage->block->is_shift && size == ar_shape_ranks(shape),
        .steps = steps,
        .parts = is_exchange ? 1 : parts,
        .pieces = is_exchange ? parts : 0,
        .messages = steps > 0 ? lines * stage->block->messages(size) : 0,
        .copies_from = copies_from(stage, steps),
    };
}

uint32_t stages_phases(const struct ar_stage *stages, uint32_t count, const struct ar_shape *shape,
                       struct ar_phase phases[AR_PHASES_MAX])
{
    for (uint32_t i = 0; i < count; i++) {
        phases[i] = phase_of(&stages[i], shape);
    }
    return count;
}

/* What the lines before a dimension leave a position: its part of its part of ... */
static struct ar_span part_left(const struct ar_stage *stage, const struct ar_shape *shape,
                                uint64_t elements, uint32_t position)
{
    struct ar_span span = {.first = 0, .count = elements};
    for (uint32_t i = 0; i < stage->dimension && stage->lines == LINES_ALL; i++) {
        uint32_t length = ar_shape_length(shape, i);
        span = ar_span_part(span, length, position % length);
        position /= length;
    }
    return span;
}

static struct ar_slice slice_of(const struct ar_stage *stage, const struct ar_shape *shape,
                                struct ar_span whole, struct block_parts parts)
{
    uint32_t size = size_of(stage, shape);
    uint32_t count = stage->block->parts(size);
    if (stage->lines == LINES_STRIPES) {
        return ar_slice_of_parts(whole, ar_shape_ranks(shape), parts.first, parts.run, size);
    }
    return ar_slice_of_parts(whole, count, parts.first, parts.run,
                             parts.period > 0 ? parts.period : count);
}

/* The line of a position goes through the one at `first`, `stride` apart. */
static struct ar_move on_line(const struct ar_stage *stage, const struct ar_shape *shape,
                              struct block_move move, enum ar_receive receive, struct ar_span whole,
                              uint32_t first, uint32_t stride)
{
    struct ar_move made = {.sends = move.sends};
    if (move.sends) {
        made.send_to = first + move.send_to * stride;
        made.send_span = slice_of(stage, shape, whole, move.send);
    }
    if (move.receives) {
        made.receive = receive;
        made.receive_from = first + move.receive_from * stride;
        made.receive_span = slice_of(stage, shape, whole, move.receive);
    }
    return made;
}

static struct block_move backwards(struct block_move move)
{
    return (struct block_move){.sends = move.receives,
                               .receives = move.sends,
                               .send_to = move.receive_from,
                               .receive_from = move.send_to,
                               .send = move.receive,
                               .receive = move.send};
}

struct ar_move stages_move(const struct ar_stage *stages, const struct ar_shape *shape,
                           uint64_t elements, uint32_t position, uint32_t step)
{
    const struct ar_stage *stage = stages;
    uint32_t stride = 1;
    for (uint32_t before; step >= (before = steps_of(stage, shape)); stage++) {
        step -= before;
    }
    for (uint32_t i = 0; i < stage->dimension; i++) {
        stride *= ar_shape_length(shape, i);
    }
    uint32_t size = size_of(stage, shape);
    uint32_t member = position / stride % size;
    uint32_t first = position - member * stride;
    if (stage->lines == LINES_LEADERS && first > 0) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    uint32_t steps = stage->block->steps(size);
    uint32_t block_step = stage->is_backwards ? steps - 1 - step : step;
    enum ar_receive receive =
        step < copies_from(stage, steps) ? AR_RECEIVE_REDUCE : AR_RECEIVE_COPY;
    struct block_move move = stage->block->move(size, member, block_step);
    move = stage->is_backwards ? backwards(move) : move;
    return on_line(stage, shape, move, receive, part_left(stage, shape, elements, position), first,
                   stride);
}
