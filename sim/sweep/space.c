#include "space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_hash.h"
#include "ar_note.h"
#include "ar_run.h"
#include "lists.h"

enum { POINTS_MAX = 1 << 26 };

static enum ar_status add_point(struct points *points, struct point point, struct ar_error *err)
{
    if ((points->count & (points->count - 1)) == 0) { /* capacity doubles at every power of two */
        size_t capacity = points->count == 0 ? 1 : 2 * points->count;
        struct point *more = realloc(points->list, capacity * sizeof *more);
        if (more == NULL) {
            return ar_error_no_memory(err, "the points of a sweep");
        }
        points->list = more;
    }
    points->list[points->count++] = point;
    return AR_OK;
}

static struct ar_scenario scenario_of(const struct ar_scenario *variant, const struct point *point)
{
    struct ar_scenario scenario = *variant;
    scenario.algorithm = point->algorithm;
    scenario.shape = point->shape;
    scenario.gpus = ar_shape_ranks(&point->shape);
    scenario.payload_bytes = point->payload_bytes;
    return scenario;
}

enum ar_status space_scenario(struct space *space, const struct point *point,
                              struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_scenario *variant;
    AR_TRY(variants_scenario(&space->variants, point->variant, &variant, err));
    *scenario = scenario_of(variant, point);
    return AR_OK;
}

static enum ar_status add_checked(struct grid *grid, const struct ar_scenario *variant,
                                  struct point point, struct ar_error *err)
{
    struct ar_scenario scenario = scenario_of(variant, &point);
    AR_TRY(ar_scenario_check_runs(&scenario, err));
    return add_point(&grid->points, point, err);
}

/* Grids are an axis of some algorithms; others have one shape for a number of ranks. */
static enum ar_status add_shapes(struct space *space, const struct ar_scenario *variant,
                                 uint32_t ranks, const struct ar_algorithm *algorithm,
                                 struct ar_error *err)
{
    const struct space_request *request = space->request;
    struct grid *grid = &space->grid;
    struct point point = {.algorithm = algorithm};
    if (ar_algorithm_shapes(algorithm) != AR_SHAPES_GRIDS) {
        point.shape = ar_algorithm_default_shape(algorithm, ranks, grid->gpus_per_node);
        return add_checked(grid, variant, point, err);
    }
    struct ar_shape *shapes;
    size_t count;
    ar_arena_end(&grid->shapes);
    AR_TRY(list_shapes(&grid->shapes, "--shapes", request->shapes, ranks, grid->gpus_per_node,
                       &shapes, &count, err));
    if (count == 0) {
        ar_note(request->notes,
                "%s left out at %" PRIu32 " GPUs: none of --shapes %s has so many places",
                ar_algorithm_name(algorithm), ranks, request->shapes);
    }
    for (size_t i = 0; i < count; i++) {
        point.shape = shapes[i];
        AR_TRY(add_checked(grid, variant, point, err));
    }
    return AR_OK;
}

/* A choice of grids that nothing reacts to is a mistake. */
static enum ar_status check_shapes(const struct space *space, struct ar_error *err)
{
    const struct space_request *request = space->request;
    const struct grid *grid = &space->grid;
    bool is_used = strcmp(request->shapes, "all") == 0;
    for (size_t i = 0; i < grid->algorithms_count; i++) {
        is_used = is_used || ar_algorithm_shapes(grid->algorithms[i]) == AR_SHAPES_GRIDS;
    }
    if (!is_used) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\", which --algorithms %.100s do not react to; "
            "expected torus2d among them",
            request->shapes, request->algorithms);
    }
    return list_shapes_check("--shapes", request->shapes, grid->gpus, grid->gpus_count, err);
}

static enum ar_status fill_grid(struct space *space, const struct ar_scenario *variant,
                                struct ar_error *err)
{
    const struct grid *grid = &space->grid;
    AR_TRY(check_shapes(space, err));
    for (size_t i = 0; i < grid->gpus_count; i++) {
        for (size_t j = 0; j < grid->algorithms_count; j++) {
            AR_TRY(add_shapes(space, variant, (uint32_t)grid->gpus[i], grid->algorithms[j], err));
        }
    }
    if (grid->points.count == 0) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\"; expected as many places as one of --gpus %s",
            space->request->shapes, space->request->gpus);
    }
    return AR_OK;
}

/* Makes the grid, if the cluster is not like the one before. */
static enum ar_status prepare_grid(struct space *space, const struct ar_scenario *variant,
                                   struct ar_error *err)
{
    struct grid *grid = &space->grid;
    uint32_t gpus_per_node = ar_cluster_facts(variant->cluster)->gpus_per_node;
    uint64_t max = ar_cluster_gpus_count(variant->cluster);
    if (grid->gpus_per_node == gpus_per_node && grid->gpus_max == max) {
        return AR_OK;
    }
    grid->points.count = 0;
    grid->gpus_per_node = gpus_per_node;
    grid->gpus_max = max;
    AR_TRY(list_counts(&space->variants.arena, "--gpus", space->request->gpus, max, &grid->gpus,
                       &grid->gpus_count, err));
    return fill_grid(space, variant, err);
}

/* Some algorithms are of some engines only. */
static bool has_engine(const struct ar_scenario *variant, const struct point *point,
                       struct ar_error *err)
{
    struct ar_scenario scenario = scenario_of(variant, point);
    struct ar_collective collective = ar_scenario_collective(&scenario);
    return ar_engine_check(scenario.engine, &collective, ar_scenario_library(&scenario), err) ==
           AR_OK;
}

static void count_point(struct space *space, const struct ar_scenario *variant, struct point *point)
{
    struct ar_scenario scenario = scenario_of(variant, point);
    point->cost_s = (float)ar_run_cost_s(&scenario);
    space->cost_s += point->cost_s;
    ar_hash_text(&space->fingerprint, ar_algorithm_name(point->algorithm));
    ar_hash_text(&space->fingerprint, scenario.engine->name);
    ar_hash_bytes(&space->fingerprint, &point->shape.x, sizeof point->shape.x);
    ar_hash_bytes(&space->fingerprint, &point->shape.y, sizeof point->shape.y);
    ar_hash_bytes(&space->fingerprint, &point->payload_bytes, sizeof point->payload_bytes);
}

/* The bare all-reduces of one size: every algorithm in its standard shape at the largest GPU
 * count. */
static enum ar_status add_payload(struct space *space, const struct ar_scenario *variant,
                                  struct point point, struct ar_error *err)
{
    const struct grid *grid = &space->grid;
    uint64_t max = 0;
    struct ar_scenario scenario = scenario_of(variant, &point);
    AR_TRY(ar_scenario_check_payload(&scenario, err));
    for (size_t i = 0; i < grid->gpus_count; i++) {
        max = grid->gpus[i] > max ? grid->gpus[i] : max;
    }
    for (size_t i = 0; i < grid->algorithms_count; i++) {
        point.algorithm = grid->algorithms[i];
        point.shape =
            ar_algorithm_default_shape(point.algorithm, (uint32_t)max, grid->gpus_per_node);
        if (has_engine(variant, &point, err)) {
            count_point(space, variant, &point);
            AR_TRY(add_point(&space->bare, point, err));
        }
    }
    return AR_OK;
}

static enum ar_status add_payloads(struct space *space, const struct ar_scenario *variant,
                                   uint32_t number, struct ar_error *err)
{
    for (size_t i = 0; i < space->sizes_count; i++) {
        struct point point = {.payload_bytes = space->sizes[i], .variant = number};
        AR_TRY(add_payload(space, variant, point, err));
    }
    return AR_OK;
}

static enum ar_status add_steps(struct space *space, const struct ar_scenario *variant,
                                uint32_t number, struct ar_error *err)
{
    struct points *steps = &space->steps;
    size_t before = steps->count;
    size_t count = space->grid.points.count;
    if (before + count > POINTS_MAX) {
        return ar_error_set(err, AR_USAGE, "sweep: found more than %d points; expected fewer",
                            POINTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        struct point point = space->grid.points.list[i];
        point.variant = number;
        if (has_engine(variant, &point, err)) {
            count_point(space, variant, &point);
            AR_TRY(add_point(steps, point, err));
        }
    }
    size_t left_out = count - (steps->count - before);
    if (left_out == count) {
        return err->status; /* of the last of them */
    }
    if (left_out > 0) {
        ar_note(space->request->notes, "%zu of %zu points left out: %s", left_out, count,
                err->text);
    }
    return AR_OK;
}

static enum ar_status add_variant(struct space *space, uint32_t number, struct ar_error *err)
{
    const struct ar_scenario *variant;
    if (variants_repeats(&space->variants, number, false)) {
        return AR_OK;
    }
    AR_TRY(variants_scenario(&space->variants, number, &variant, err));
    AR_TRY(ar_scenario_hash(variant, &space->fingerprint, err));
    AR_TRY(prepare_grid(space, variant, err));
    AR_TRY(add_steps(space, variant, number, err));
    bool has_payloads = !variants_repeats(&space->variants, number, true);
    return has_payloads ? add_payloads(space, variant, number, err) : AR_OK;
}

enum ar_status space_create(const struct space_request *request, struct space *space,
                            struct ar_error *err)
{
    struct ar_arena *arena = &space->variants.arena;
    memset(space, 0, sizeof *space);
    space->request = request;
    space->fingerprint = ar_hash_begin();
    ar_hash_text(&space->fingerprint, AR_VERSION);
    AR_TRY(variants_create(&request->variants, &space->variants, err));
    AR_TRY(list_algorithms_or_auto(arena, "--algorithms", request->algorithms,
                                   &space->grid.algorithms, &space->grid.algorithms_count, err));
    if (request->payloads != NULL) {
        AR_TRY(list_sizes(arena, "--payload", request->payloads, &space->sizes, &space->sizes_count,
                          err));
    }
    for (uint32_t i = 0; i < space->variants.count; i++) {
        AR_TRY(add_variant(space, i, err));
    }
    space->steps_count = space->steps.count;
    for (size_t i = 0; i < space->bare.count; i++) { /* behind the steps */
        AR_TRY(add_point(&space->steps, space->bare.list[i], err));
    }
    space->points = space->steps.list;
    space->points_count = space->steps.count;
    return AR_OK;
}

void space_destroy(struct space *space)
{
    variants_destroy(&space->variants);
    ar_arena_end(&space->grid.shapes);
    free(space->grid.points.list);
    free(space->steps.list);
    free(space->bare.list);
}
