/* Algorithms by name, their shapes, and what a list of stages does in each step. */
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "blocks.h"

#define ADDRESS(name) &ar_algorithm_##name,
const struct ar_algorithm *const ar_algorithms[] = {AR_ALGORITHM_LIST(ADDRESS)};
const size_t ar_algorithms_count = sizeof ar_algorithms / sizeof ar_algorithms[0];

enum ar_status ar_algorithm_find(const char *where, const struct ar_operation *operation,
                                 const char *name, const struct ar_algorithm **algorithm,
                                 struct ar_error *err)
{
    const char *names[sizeof ar_algorithms / sizeof ar_algorithms[0] + 1];
    const struct ar_algorithm *other = NULL; /* of the name, of another operation */
    size_t names_count = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        bool is_named = strcmp(name, ar_algorithms[i]->name) == 0;
        if (ar_algorithms[i]->operation != operation) {
            other = is_named && other == NULL ? ar_algorithms[i] : other;
            continue;
        }
        if (is_named) {
            *algorithm = ar_algorithms[i];
            return AR_OK;
        }
        names[names_count++] = ar_algorithms[i]->name;
    }
    if (other != NULL) {
        char choices[512];
        names[names_count] = NULL;
        return ar_error_set(err, AR_USAGE, "%s: found \"%s\" of %s; expected one of %s: %s", where,
                            name, other->operation->name, operation->name,
                            ar_list_choices(names, choices, sizeof choices));
    }
    return ar_error_unknown(err, AR_USAGE, where, "algorithm", name, names, names_count);
}

static const char auto_name[] = "auto";

enum ar_status ar_algorithm_find_or_auto(const char *where, const struct ar_operation *operation,
                                         const char *name, const struct ar_algorithm **algorithm,
                                         struct ar_error *err)
{
    if (strcmp(name, auto_name) == 0) {
        *algorithm = NULL;
        return AR_OK;
    }
    return ar_algorithm_find(where, operation, name, algorithm, err);
}

const char *ar_algorithm_name(const struct ar_algorithm *algorithm)
{
    return algorithm != NULL ? algorithm->name : auto_name;
}

const char *ar_algorithm_shape_help(const struct ar_algorithm *algorithm)
{
    static const char *const helps[] = {
        [AR_SHAPES_FLAT] = "Nx1 (all ranks in one row)",
        [AR_SHAPES_EVEN] = "Nx1 with an even N",
        [AR_SHAPES_GROUPS] = "XxY: Y groups of X ranks (default: one group per node)",
        [AR_SHAPES_GRIDS] = "XxY: rows of X ranks, columns of Y ranks",
        [AR_SHAPES_LEVELS] =
            "XxYxZ, two to four dimensions (default: a node, then a square of nodes)",
    };
    return algorithm->shape_help != NULL ? algorithm->shape_help : helps[algorithm->shapes];
}

enum ar_shapes ar_algorithm_shapes(const struct ar_algorithm *algorithm)
{
    return algorithm != NULL ? algorithm->shapes : AR_SHAPES_FLAT;
}

uint32_t ar_algorithm_channels(const struct ar_algorithm *algorithm)
{
    return algorithm != NULL && algorithm->has_mirror ? 2 : 1;
}

enum ar_status ar_algorithm_check_shape(const struct ar_algorithm *algorithm,
                                        const struct ar_shape *shape, struct ar_error *err)
{
    enum ar_shapes shapes = ar_algorithm_shapes(algorithm);
    bool is_flat = shapes == AR_SHAPES_FLAT || shapes == AR_SHAPES_EVEN;
    AR_REFUSE(is_flat && ar_shape_ranks(shape) != shape->x, err, AR_USAGE,
              "shape %s: expected Nx1, %s %s", AR_SHOW_SHAPE(shape),
              algorithm != NULL ? algorithm->name : "the library",
              algorithm != NULL ? "has one row" : "makes its own choice");
    AR_REFUSE(shapes == AR_SHAPES_EVEN && shape->x > 1 && shape->x % 2 != 0, err, AR_USAGE,
              "algorithm %s: found %" PRIu32
              " ranks; expected an even number, whose neighbours are pairs",
              algorithm->name, shape->x);
    AR_REFUSE(shapes != AR_SHAPES_LEVELS && ar_shape_dimensions(shape) > 2, err, AR_USAGE,
              "shape %s: expected two dimensions, XxY", AR_SHOW_SHAPE(shape));
    return AR_OK;
}

struct ar_shape ar_algorithm_default_shape(const struct ar_algorithm *algorithm, uint32_t ranks,
                                           uint32_t gpus_per_node)
{
    uint32_t group = gpus_per_node < ranks ? gpus_per_node : ranks;
    while (ranks % group != 0) { /* GPUs that do not fill whole nodes */
        group--;
    }
    struct ar_shape groups = {.x = group, .y = ranks / group}, nodes;
    switch (ar_algorithm_shapes(algorithm)) {
    case AR_SHAPES_GROUPS:
        return groups;
    case AR_SHAPES_GRIDS:
        return ar_shape_squarest(ranks);
    case AR_SHAPES_LEVELS: /* a node in the first dimension, its nodes as square as can be */
        nodes = ar_shape_squarest(groups.y);
        return nodes.x == 1 ? groups : (struct ar_shape){.x = groups.x, .y = nodes.x, .z = nodes.y};
    default:
        return (struct ar_shape){.x = ranks, .y = 1};
    }
}

/* --- lists of stages ------------------------------------------------------------------------- */

const struct ar_stage *algorithm_stages(const struct ar_algorithm *algorithm,
                                        const struct ar_shape *shape)
{
    return algorithm->levels != NULL ? algorithm->levels[ar_shape_dimensions(shape) - 2]
                                     : algorithm->stages;
}

uint32_t stage_steps(const struct ar_stage *stage, const struct ar_shape *shape)
{
    uint32_t size = ar_shape_length(shape, stage->dimension);
    return size > 1 ? stage->block->steps(size) : 0;
}

uint32_t stage_parts(const struct ar_stage *stage, const struct ar_shape *shape, uint32_t size)
{
    return stage->lines == LINES_STRIPES ? ar_shape_ranks(shape)
           : stage->block->parts != NULL ? stage->block->parts(size)
                                         : size;
}

/* Steps of a stage in which what is received is added. */
static uint32_t sum_steps(const struct ar_stage *stage, uint32_t steps)
{
    return stage->receive == SUMS ? steps : stage->receive == SUMS_THEN_COPIES ? steps / 2 : 0;
}

struct stage_step stage_step_find(const struct ar_algorithm *algorithm,
                                  const struct ar_shape *shape, uint32_t step)
{
    struct stage_step at = {.stage = algorithm_stages(algorithm, shape), .stride = 1, .step = step};
    while (at.step >= (at.steps = stage_steps(at.stage, shape))) {
        at.step -= at.steps;
        at.stage++;
    }
    at.size = ar_shape_length(shape, at.stage->dimension);
    for (uint32_t i = 0; i < at.stage->dimension; i++) {
        at.stride *= ar_shape_length(shape, i);
    }
    at.block_step = at.stage->is_backwards ? at.steps - 1 - at.step : at.step;
    return at;
}

struct ar_span stage_span(const struct ar_stage *stage, const struct ar_shape *shape,
                          struct ar_span span, uint32_t position)
{
    for (uint32_t i = 0; i < stage->dimension && stage->lines == LINES_ALL; i++) {
        uint32_t length = ar_shape_length(shape, i);
        span = ar_span_part(span, length, position % length);
        position /= length;
    }
    return span;
}

/* --- phases and moves ------------------------------------------------------------------------ */

uint32_t ar_phase_period(const struct ar_phase *phase)
{
    return phase->period > 0 ? phase->period : 1;
}

uint32_t ar_algorithm_phases(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                             struct ar_phase phases[AR_PHASES_MAX])
{
    uint32_t count = 0;
    if (algorithm == NULL || algorithm->phases != NULL) {
        return algorithm == NULL ? 0 : algorithm->phases(shape, phases);
    }
    for (const struct ar_stage *at = algorithm_stages(algorithm, shape); at->block != NULL; at++) {
        const struct block *block = at->block;
        uint32_t size = ar_shape_length(shape, at->dimension), steps = stage_steps(at, shape);
        uint32_t lines = at->lines == LINES_LEADERS ? 1 : ar_shape_ranks(shape) / size;
        uint32_t parts =
            stage_parts(at, shape, size); /* of the buffer, that messages are made of */
        for (uint32_t i = 0; i < at->dimension && at->lines == LINES_ALL; i++) {
            parts *= ar_shape_length(shape, i);
        }
        bool is_sums = block->kind == AR_PHASE_SUMS;
        bool has_pieces = is_sums || block->kind == AR_PHASE_EXCHANGE;
        bool is_ahead = block->peers == PEERS_AHEAD || block->peers == PEERS_ROUND;
        phases[count++] = (struct ar_phase){
            .name = at->name,
            .kind = block->kind,
            .is_at_once = block->is_at_once,
            .is_shift = is_ahead && (lines == 1 || at->lines == LINES_STRIPES),
            .steps = steps,
            .parts = has_pieces ? 1 : parts,
            .pieces = has_pieces ? parts : 0,
            .line = size,
            .messages = steps > 0 ? lines * block->messages(size) : 0,
            .copies_from = sum_steps(at, steps),
            .moves = at->receive == MOVES_ONCE    ? 1
                     : at->receive == MOVES_TWICE ? 2
                                                  : 0,
            .period = is_sums && steps > 0,
        };
    }
    if (algorithm->pipeline_parts == 0) {
        return count;
    }
    /* Stages that are a pipeline are one phase; step s is stage s % period of part s / period. */
    uint32_t parts = algorithm->pipeline_parts;
    struct ar_phase made = {
        .name = "sums in switches", .kind = AR_PHASE_SUMS, .parts = parts, .pieces = parts};
    for (uint32_t i = 0; i < count; i++) {
        made.period += phases[i].steps;
        made.steps += parts * phases[i].steps;
        made.messages += parts * phases[i].messages;
        made.pieces =
            parts * phases[i].pieces > made.pieces ? parts * phases[i].pieces : made.pieces;
    }
    phases[0] = made;
    return 1;
}

struct ar_move ar_algorithm_move(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                 uint64_t elements, uint32_t position, uint32_t step)
{
    struct ar_span span = {.first = 0, .count = elements};
    if (algorithm->move != NULL) {
        return algorithm->move(shape, elements, position, step);
    }
    if (algorithm->pipeline_parts > 0) {
        uint32_t period = 0;
        for (const struct ar_stage *at = algorithm->stages; at->block != NULL; at++) {
            period += stage_steps(at, shape);
        }
        span = ar_span_part(span, algorithm->pipeline_parts, step / period);
        step %= period;
    }
    struct stage_step at = stage_step_find(algorithm, shape, step);
    const struct ar_stage *stage = at.stage;
    uint32_t member = position / at.stride % at.size;
    uint32_t first = position - member * at.stride; /* of its line */
    struct ar_move made = {.sends = false, .receive = AR_RECEIVE_NONE};
    if (stage->lines == LINES_LEADERS && first > 0) {
        return made;
    }
    struct block_move move = stage->block->move(at.size, member, at.block_step);
    if (stage->is_backwards) {
        move = (struct block_move){move.receives, move.sends,   move.receive_from,
                                   move.send_to,  move.receive, move.send};
    }
    span = stage_span(stage, shape, span, position);
    uint32_t count = stage_parts(stage, shape, at.size);
    const struct block_parts *spans[] = {&move.send, &move.receive};
    for (int i = 0; i < 2; i++) {
        bool is_used = i == 0 ? move.sends : move.receives;
        uint32_t period = stage->lines == LINES_STRIPES ? at.size
                          : spans[i]->period > 0        ? spans[i]->period
                                                        : count;
        struct ar_slice *slice = i == 0 ? &made.send_span : &made.receive_span;
        if (is_used) {
            *slice = ar_slice_of_parts(span, count, spans[i]->first, spans[i]->run, period);
        }
    }
    if (stage->block->kind == AR_PHASE_SUMS) {
        made.line = (struct ar_line){first, at.size, at.stride};
    }
    if (move.sends) {
        made.sends = true;
        made.send_to = first + move.send_to * at.stride;
    }
    if (move.receives) {
        made.receive = at.step < sum_steps(stage, at.steps) ? AR_RECEIVE_REDUCE : AR_RECEIVE_COPY;
        made.receive_from = first + move.receive_from * at.stride;
    }
    return made;
}

uint32_t ar_algorithm_steps(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t steps = 0;
    for (uint32_t i = 0, count = ar_algorithm_phases(algorithm, shape, phases); i < count; i++) {
        steps += phases[i].steps;
    }
    return steps;
}

uint64_t ar_algorithm_messages(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint64_t messages = 0;
    for (uint32_t i = 0, count = ar_algorithm_phases(algorithm, shape, phases); i < count; i++) {
        messages += phases[i].messages;
    }
    return messages;
}

/* A walk shows what a position does in its first or last step. */
uint32_t ar_algorithm_find_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                const struct ar_phase *phase, uint32_t first_step,
                                uint32_t position, uint32_t place, bool sends, struct ar_move *move)
{
    if (phase->kind == AR_PHASE_TREE) {
        uint32_t step = tree_step(shape, phase, position, place, sends);
        if (step != AR_NEVER) {
            *move = ar_algorithm_move(algorithm, shape, 0, position, first_step + step);
        }
        return step;
    }
    for (uint32_t step = place; step<phase->steps; step += phase->steps> 1 ? phase->steps - 1 : 1) {
        *move = ar_algorithm_move(algorithm, shape, 0, position, first_step + step);
        if (sends ? move->sends : move->receive != AR_RECEIVE_NONE) {
            return step;
        }
    }
    return AR_NEVER;
}
