#include <inttypes.h>
#include <string.h>

#include "algorithms.h"
#include "ar_text.h"
#include "blocks.h"

const struct ar_algorithm *const ar_algorithms[] = {
#define X(name) &ar_algorithm_##name,
    AR_ALGORITHM_LIST(X)
#undef X
};
const size_t ar_algorithms_count = sizeof ar_algorithms / sizeof ar_algorithms[0];

/* An algorithm of the name of any other operation; NULL: there is none. */
static const struct ar_algorithm *find_elsewhere(const char *name)
{
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        if (strcmp(name, ar_algorithms[i]->name) == 0) {
            return ar_algorithms[i];
        }
    }
    return NULL;
}

enum ar_status ar_algorithm_find(const char *where, const struct ar_operation *operation,
                                 const char *name, const struct ar_algorithm **algorithm,
                                 struct ar_error *err)
{
    const char *names[sizeof ar_algorithms / sizeof ar_algorithms[0] + 1];
    size_t names_count = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        if (ar_algorithms[i]->operation != operation) {
            continue;
        }
        if (strcmp(name, ar_algorithms[i]->name) == 0) {
            *algorithm = ar_algorithms[i];
            return AR_OK;
        }
        names[names_count++] = ar_algorithms[i]->name;
    }
    const struct ar_algorithm *other = find_elsewhere(name);
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

const char *ar_algorithm_source(const struct ar_algorithm *algorithm)
{
    return algorithm != NULL ? algorithm->source : "NVIDIA/nccl, src/graph/tuning.cc";
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

enum ar_status ar_algorithm_check_shape(const struct ar_algorithm *algorithm,
                                        const struct ar_shape *shape, struct ar_error *err)
{
    char text[AR_SHAPE_TEXT];
    enum ar_shapes shapes = ar_algorithm_shapes(algorithm);
    bool is_flat = shapes == AR_SHAPES_FLAT || shapes == AR_SHAPES_EVEN;
    ar_shape_format(shape, text);
    if (is_flat && ar_shape_ranks(shape) != shape->x) {
        return ar_error_set(err, AR_USAGE, "shape %s: expected Nx1, %s %s", text,
                            algorithm != NULL ? algorithm->name : "the library",
                            algorithm != NULL ? "has one row" : "makes its own choice");
    }
    if (shapes == AR_SHAPES_EVEN && shape->x > 1 && shape->x % 2 != 0) {
        return ar_error_set(err, AR_USAGE,
                            "algorithm %s: found %" PRIu32
                            " ranks; expected an even number, whose neighbours are pairs",
                            algorithm->name, shape->x);
    }
    if (shapes != AR_SHAPES_LEVELS && ar_shape_dimensions(shape) > 2) {
        return ar_error_set(err, AR_USAGE, "shape %s: expected two dimensions, XxY", text);
    }
    return AR_OK;
}

/* A node in the first dimension, its nodes as square as can be. */
static struct ar_shape levels_of(uint32_t ranks, uint32_t gpus_per_node)
{
    struct ar_shape groups = ar_shape_groups(ranks, gpus_per_node);
    struct ar_shape nodes = ar_shape_squarest(groups.y);
    return nodes.x == 1 ? groups : (struct ar_shape){.x = groups.x, .y = nodes.x, .z = nodes.y};
}

struct ar_shape ar_algorithm_default_shape(const struct ar_algorithm *algorithm, uint32_t ranks,
                                           uint32_t gpus_per_node)
{
    switch (ar_algorithm_shapes(algorithm)) {
    case AR_SHAPES_GROUPS:
        return ar_shape_groups(ranks, gpus_per_node);
    case AR_SHAPES_GRIDS:
        return ar_shape_squarest(ranks);
    case AR_SHAPES_LEVELS:
        return levels_of(ranks, gpus_per_node);
    default:
        return (struct ar_shape){.x = ranks, .y = 1};
    }
}

struct ar_move ar_algorithm_move(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                 uint64_t elements, uint32_t position, uint32_t step)
{
    return algorithm->move != NULL ? algorithm->move(shape, elements, position, step)
           : algorithm->pipeline_parts > 0
               ? pipeline_move(algorithm, shape, elements, position, step)
               : stages_move(algorithm->stages, shape, elements, position, step);
}

void ar_algorithm_sends(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                        uint64_t elements, uint32_t step, struct ar_sends *sends)
{
    if (algorithm->move == NULL) {
        stages_sends(algorithm->stages, shape, elements, step, sends);
        return;
    }
    for (uint32_t position = sends->first; position < sends->end; position++) {
        struct ar_move move = algorithm->move(shape, elements, position, step);
        sends->peers[position] = move.sends ? move.send_to : AR_NEVER;
        sends->counts[position] = move.sends ? move.send_span.count : 0;
    }
}

uint32_t ar_algorithm_like_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                uint32_t step)
{
    return algorithm->move != NULL ? step : stages_like_step(algorithm->stages, shape, step);
}

bool ar_algorithm_mirror_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                              uint32_t step, uint32_t *mirror)
{
    return algorithm->move == NULL && stages_mirror_step(algorithm->stages, shape, step, mirror);
}

static bool acts(const struct ar_move *move, bool sends)
{
    return sends ? move->sends : move->receive != AR_RECEIVE_NONE;
}

/* A walk shows what a position does in its first or last step, a tree in one of any `parts`
 * successive periods, since it goes on for so many. */
uint32_t ar_algorithm_find_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                const struct ar_phase *phase, uint32_t first_step,
                                uint32_t position, uint32_t place, bool sends, struct ar_move *move)
{
    if (phase->kind == AR_PHASE_TREE && algorithm->tree_step != NULL) {
        uint32_t step = algorithm->tree_step(shape, first_step, position, place, sends);
        if (step != AR_NEVER) {
            *move = ar_algorithm_move(algorithm, shape, 0, position, first_step + step);
        }
        return step;
    }
    uint32_t to_last = phase->steps > 1 ? phase->steps - 1 : 1;
    uint32_t stride = phase->kind == AR_PHASE_TREE ? phase->parts * phase->period : to_last;
    for (uint32_t step = place; step < phase->steps; step += stride) {
        *move = ar_algorithm_move(algorithm, shape, 0, position, first_step + step);
        if (!acts(move, sends)) {
            continue;
        }
        while (phase->kind == AR_PHASE_TREE && step >= phase->period) {
            struct ar_move before =
                ar_algorithm_move(algorithm, shape, 0, position, first_step + step - phase->period);
            if (!acts(&before, sends)) {
                break;
            }
            step -= phase->period;
        }
        return step;
    }
    return AR_NEVER;
}

uint32_t ar_algorithm_phases(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                             struct ar_phase phases[AR_PHASES_MAX])
{
    return algorithm == NULL           ? 0
           : algorithm->phases != NULL ? algorithm->phases(shape, phases)
           : algorithm->pipeline_parts > 0
               ? pipeline_phases(algorithm, shape, phases)
               : stages_phases(algorithm->stages, algorithm->stages_count, shape, phases);
}

uint32_t ar_algorithm_steps(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(algorithm, shape, phases);
    uint32_t steps = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        steps += phases[i].steps;
    }
    return steps;
}

uint64_t ar_algorithm_messages(const struct ar_algorithm *algorithm, const struct ar_shape *shape)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(algorithm, shape, phases);
    uint64_t messages = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        messages += phases[i].messages;
    }
    return messages;
}
