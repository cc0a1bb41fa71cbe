#include "blocks.h"

static uint32_t size_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    return ar_shape_length(shape, stage->dimension);
}

static uint32_t parts_of_line(const struct ar_stage *stage, uint32_t size)
{
    return stage->block->parts != NULL ? stage->block->parts(size) : size;
}

static uint32_t steps_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t size = size_of(stage, shape);
    return size > 1 ? stage->block->steps(size) : 0;
}

/* Steps in which what is received is added. */
static uint32_t copies_from(const struct ar_stage *stage, uint32_t steps)
{
    return stage->receive == SUMS ? steps : stage->receive == SUMS_THEN_COPIES ? steps / 2 : 0;
}

static uint32_t moves_of(const struct ar_stage *stage)
{
    return stage->receive == MOVES_ONCE ? 1 : stage->receive == MOVES_TWICE ? 2 : 0;
}

/* The parts of the buffer that messages are made of. */
static uint32_t parts_of(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t parts = parts_of_line(stage, size_of(stage, shape));
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
    bool is_sums = stage->block->kind == AR_PHASE_SUMS;
    bool has_pieces = is_sums || stage->block->kind == AR_PHASE_EXCHANGE;
    return (struct ar_phase){
        .name = stage->name,
        .kind = stage->block->kind,
        .is_at_once = stage->block->is_at_once,
        .is_shift = size == ar_shape_ranks(shape) &&
                    (stage->block->peers == PEERS_AHEAD || stage->block->peers == PEERS_ROUND),
        .steps = steps,
        .parts = has_pieces ? 1 : parts,
        .pieces = has_pieces ? parts : 0,
        .messages = steps > 0 ? lines * stage->block->messages(size) : 0,
        .copies_from = copies_from(stage, steps),
        .moves = moves_of(stage),
        .period = is_sums && steps > 0,
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

/* What the lines before a dimension leave a position of a span: its part of its part of ... */
static struct ar_span part_left(const struct ar_stage *stage, const struct ar_shape *shape,
                                struct ar_span span, uint32_t position)
{
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
    uint32_t count = parts_of_line(stage, size);
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
    if (stage->block->kind == AR_PHASE_SUMS) {
        made.line = (struct ar_line){first, size_of(stage, shape), stride};
    }
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

/* A step of the stage that it belongs to; members of a line are `stride` apart. */
struct stage_step {
    const struct ar_stage *stage;
    uint32_t size, stride;
    uint32_t step, steps; /* of the stage */
};

static struct stage_step step_at(const struct ar_stage *stage, const struct ar_shape *shape,
                                 uint32_t step)
{
    struct stage_step at = {.stage = stage, .stride = 1, .step = step};
    for (uint32_t i = 0; i < stage->dimension; i++) {
        at.stride *= ar_shape_length(shape, i);
    }
    at.size = size_of(stage, shape);
    at.steps = stage->block->steps(at.size);
    return at;
}

static struct stage_step stage_step(const struct ar_stage *stages, const struct ar_shape *shape,
                                    uint32_t step)
{
    const struct ar_stage *stage = stages;
    for (uint32_t before; step >= (before = steps_of(stage, shape)); stage++) {
        step -= before;
    }
    return step_at(stage, shape, step);
}

static uint32_t block_step(const struct stage_step *at)
{
    return at->stage->is_backwards ? at->steps - 1 - at->step : at->step;
}

/* A stage before this one that has the same messages backwards, or the stage itself. */
static const struct ar_stage *first_like(const struct ar_stage *stages,
                                         const struct ar_stage *stage)
{
    const struct ar_stage *first = stages;
    while (first->block != stage->block || first->dimension != stage->dimension ||
           first->lines != stage->lines) {
        first++;
    }
    return first;
}

uint32_t stages_like_step(const struct ar_stage *stages, const struct ar_shape *shape,
                          uint32_t step)
{
    struct stage_step at = stage_step(stages, shape, step);
    enum block_peers peers = at.stage->block->peers;
    uint32_t first = 0, like = at.step;
    const struct ar_stage *stage = first_like(stages, at.stage);
    if (peers != PEERS_ROUND && peers != PEERS_SWAP && peers != PEERS_ALTERNATE) {
        return step;
    }
    for (const struct ar_stage *before = stages; before < stage; before++) {
        first += steps_of(before, shape);
    }
    if (peers != PEERS_ROUND) {
        like = block_step(&at);
        like = peers == PEERS_ALTERNATE && like > 2 ? 2 - like % 2 : like;
        like = stage->is_backwards ? at.steps - 1 - like : like;
    }
    return first + like;
}

bool stages_mirror_step(const struct ar_stage *stages, const struct ar_shape *shape, uint32_t step,
                        uint32_t *mirror)
{
    struct stage_step at = stage_step(stages, shape, step);
    *mirror = step - at.step + (at.steps - 1 - at.step);
    return at.stage->block->peers == PEERS_ROUND;
}

/* The move of a stage on a span of the buffer. */
static struct ar_move stage_move(const struct stage_step *at, const struct ar_shape *shape,
                                 struct ar_span span, uint32_t position)
{
    const struct ar_stage *stage = at->stage;
    uint32_t member = position / at->stride % at->size;
    uint32_t first = position - member * at->stride;
    if (stage->lines == LINES_LEADERS && first > 0) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    enum ar_receive receive =
        at->step < copies_from(stage, at->steps) ? AR_RECEIVE_REDUCE : AR_RECEIVE_COPY;
    struct block_move move = stage->block->move(at->size, member, block_step(at));
    move = stage->is_backwards ? backwards(move) : move;
    return on_line(stage, shape, move, receive, part_left(stage, shape, span, position), first,
                   at->stride);
}

struct ar_move stages_move(const struct ar_stage *stages, const struct ar_shape *shape,
                           uint64_t elements, uint32_t position, uint32_t step)
{
    struct stage_step at = stage_step(stages, shape, step);
    return stage_move(&at, shape, (struct ar_span){.first = 0, .count = elements}, position);
}

/* The elements of what some members of a line send, which shares `whole`. */
static void count_sends(const struct ar_stage *stage, const struct ar_shape *shape,
                        struct ar_span whole, uint32_t count, struct block_sends *sends,
                        uint64_t *counts)
{
    uint32_t size = size_of(stage, shape);
    bool are_stripes = stage->lines == LINES_STRIPES;
    uint32_t parts = are_stripes ? ar_shape_ranks(shape) : parts_of_line(stage, size);
    for (uint32_t i = 0; i < count; i++) {
        sends->period[i] = are_stripes ? size : sends->period[i] == 0 ? parts : sends->period[i];
    }
    ar_slices_count(whole, parts, count, sends->first, sends->run, sends->period, counts);
}

/* Of members from `member` on, of all lines whose lower coordinates are those of a position. */
static void lay_out(const struct stage_step *at, uint32_t position, uint32_t ranks, uint32_t member,
                    uint32_t count, const struct block_sends *from, const uint64_t *counts,
                    struct ar_sends *sends)
{
    for (uint32_t first = position; first < ranks; first += at->size * at->stride) {
        bool is_idle = at->stage->lines == LINES_LEADERS && first > 0;
        uint32_t *peers = sends->peers + first + (size_t)member * at->stride;
        uint64_t *elements = sends->counts + first + (size_t)member * at->stride;
        for (uint32_t i = 0; i < count; i++) {
            bool does = from->to[i] != AR_NEVER && !is_idle;
            peers[(size_t)i * at->stride] = does ? first + from->to[i] * at->stride : AR_NEVER;
            elements[(size_t)i * at->stride] = does ? counts[i] : 0;
        }
    }
}

void stages_sends(const struct ar_stage *stages, const struct ar_shape *shape, uint64_t elements,
                  uint32_t step, struct ar_sends *sends)
{
    struct stage_step at = stage_step(stages, shape, step);
    uint32_t ranks = ar_shape_ranks(shape);
    bool is_one_line = at.size == ranks;
    uint32_t end = is_one_line ? sends->end : at.size;
    struct block_sends members;
    uint64_t counts[BLOCK_SENDS_MAX];
    for (uint32_t first = is_one_line ? sends->first : 0; first < end; first += BLOCK_SENDS_MAX) {
        uint32_t count = end - first < BLOCK_SENDS_MAX ? end - first : BLOCK_SENDS_MAX;
        at.stage->block->sends(at.size, block_step(&at), at.stage->is_backwards, first, count,
                               &members);
        for (uint32_t inner = 0; inner < at.stride; inner++) {
            struct ar_span all = {.first = 0, .count = elements};
            struct ar_span whole = part_left(at.stage, shape, all, inner);
            count_sends(at.stage, shape, whole, count, &members, counts);
            lay_out(&at, inner, ranks, first, count, &members, counts, sends);
        }
    }
}

uint32_t pipeline_phases(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                         struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t parts = algorithm->pipeline_parts;
    struct ar_phase *made = &phases[0];
    *made = (struct ar_phase){
        .name = "sums in switches", .kind = AR_PHASE_SUMS, .parts = parts, .pieces = parts};
    for (uint32_t i = 0; i < algorithm->stages_count; i++) {
        struct ar_phase stage = phase_of(&algorithm->stages[i], shape);
        made->period += stage.steps;
        made->steps += parts * stage.steps;
        made->messages += parts * stage.messages;
        made->pieces = parts * stage.pieces > made->pieces ? parts * stage.pieces : made->pieces;
    }
    return 1;
}

struct ar_move pipeline_move(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                             uint64_t elements, uint32_t position, uint32_t step)
{
    const struct ar_stage *stage = algorithm->stages;
    uint32_t period = 0;
    for (uint32_t i = 0; i < algorithm->stages_count; i++) {
        period += steps_of(&algorithm->stages[i], shape);
    }
    struct ar_span part = ar_span_part((struct ar_span){.first = 0, .count = elements},
                                       algorithm->pipeline_parts, step / period);
    for (uint32_t place = step % period; place >= steps_of(stage, shape); stage++) {
        place -= steps_of(stage, shape);
    }
    struct stage_step at = step_at(stage, shape, 0);
    return stage_move(&at, shape, part, position);
}
