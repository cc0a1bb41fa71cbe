#include "space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "fingerprint.h"
#include "lists.h"

enum { POINTS_MAX = 1 << 26 };

/* The points of a variant, the same for all variants on clusters of the same size. */
struct grid {
    const struct ar_algorithm **algorithms;
    size_t algorithms_count;
    uint32_t gpus_per_node; /* that the grid is made for; 0: none yet */
    uint64_t gpus_max;
    struct point *points;
    size_t count;
};

/* Grids are an axis of some algorithms; others have one shape for a number of ranks. */
static bool has_grids(const struct ar_algorithm *algorithm)
{
    return ar_algorithm_shapes(algorithm) == AR_SHAPES_GRIDS;
}

static enum ar_status add_point(struct point **points, size_t *count, struct point point,
                                struct ar_error *err)
{
    if ((*count & (*count - 1)) == 0) { /* room doubles at every power of two */
        size_t capacity = *count == 0 ? 1 : 2 * *count;
        struct point *more = realloc(*points, capacity * sizeof *more);
        if (more == NULL) {
            return ar_error_no_memory(err, "the points of a sweep");
        }
        *points = more;
    }
    (*points)[(*count)++] = point;
    return AR_OK;
}

static enum ar_status add_checked(struct grid *grid, const struct plan *plan, struct point point,
                                  struct ar_error *err)
{
    struct ar_collective collective = plan_collective(plan, &point);
    enum ar_status status = ar_collective_check(&collective, err);
    if (status == AR_OK) {
        status = plan_check_stragglers(plan, ar_shape_ranks(&point.shape), err);
    }
    return status == AR_OK ? add_point(&grid->points, &grid->count, point, err) : status;
}

static enum ar_status add_shapes(struct grid *grid, const struct plan *plan,
                                 const struct options *options, uint32_t ranks,
                                 const struct ar_algorithm *algorithm, struct ar_error *err)
{
    struct point point = {.algorithm = algorithm};
    if (!has_grids(algorithm)) {
        point.shape = ar_algorithm_default_shape(algorithm, ranks, grid->gpus_per_node);
        return add_checked(grid, plan, point, err);
    }
    struct ar_shape *shapes;
    size_t count;
    enum ar_status status =
        list_shapes("--shapes", options->shape, ranks, grid->gpus_per_node, &shapes, &count, err);
    if (status != AR_OK) {
        return status;
    }
    if (count == 0) {
        plan_note(options,
                  "%s left out at %" PRIu32 " GPUs: none of --shapes %s has so many places",
                  ar_algorithm_name(algorithm), ranks, options->shape);
    }
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        point.shape = shapes[i];
        status = add_checked(grid, plan, point, err);
    }
    free(shapes);
    return status;
}

/* A choice of grids that nothing reacts to is a mistake. */
static enum ar_status check_shapes(const struct space *space, const struct grid *grid,
                                   struct ar_error *err)
{
    const struct options *options = space->options;
    bool is_used = strcmp(options->shape, "all") == 0;
    for (size_t i = 0; i < grid->algorithms_count; i++) {
        is_used = is_used || has_grids(grid->algorithms[i]);
    }
    if (!is_used) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\", which --algorithms %.100s do not react to; "
            "expected torus2d among them",
            options->shape, options->algorithm);
    }
    return list_shapes_check("--shapes", options->shape, space->gpus, space->gpus_count, err);
}

static enum ar_status fill_grid(const struct space *space, struct grid *grid,
                                const struct plan *plan, struct ar_error *err)
{
    enum ar_status status = check_shapes(space, grid, err);
    for (size_t i = 0; status == AR_OK && i < space->gpus_count; i++) {
        for (size_t j = 0; status == AR_OK && j < grid->algorithms_count; j++) {
            status = add_shapes(grid, plan, space->options, (uint32_t)space->gpus[i],
                                grid->algorithms[j], err);
        }
    }
    if (status == AR_OK && grid->count == 0) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\"; expected as many places as one of --gpus %s",
            space->options->shape, space->options->gpus);
    }
    return status;
}

/* Makes the grid, if the cluster is not like the one before. */
static enum ar_status prepare_grid(struct space *space, struct grid *grid, const struct plan *plan,
                                   struct ar_error *err)
{
    uint32_t gpus_per_node = ar_cluster_facts(plan->cluster)->gpus_per_node;
    uint64_t max = ar_cluster_gpus_count(plan->cluster);
    if (grid->gpus_per_node == gpus_per_node && grid->gpus_max == max) {
        return AR_OK;
    }
    free(space->gpus);
    space->gpus = NULL;
    grid->count = 0;
    grid->gpus_per_node = gpus_per_node;
    grid->gpus_max = max;
    enum ar_status status =
        list_counts("--gpus", space->options->gpus, max, &space->gpus, &space->gpus_count, err);
    return status == AR_OK ? fill_grid(space, grid, plan, err) : status;
}

/* Some algorithms are of some engines only. */
static bool has_engine(const struct plan *plan, const struct point *point, struct ar_error *err)
{
    struct ar_collective collective = plan_collective(plan, point);
    return ar_engine_check(point->engine, &collective, plan_library(plan), err) == AR_OK;
}

/* The bare all-reduces of a variant: every algorithm in its standard shape at the largest GPU
 * count. */
static enum ar_status add_payloads(struct space *space, const struct grid *grid,
                                   const struct plan *plan, uint32_t variant, struct point **bare,
                                   size_t *bare_count, struct ar_error *err)
{
    uint64_t *sizes = NULL;
    size_t count = 0;
    uint64_t max = 0;
    for (size_t i = 0; i < space->gpus_count; i++) {
        max = space->gpus[i] > max ? space->gpus[i] : max;
    }
    enum ar_status status = plan_payloads(plan, space->options->payload, &sizes, &count, err);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        for (size_t j = 0; status == AR_OK && j < grid->algorithms_count; j++) {
            const struct ar_algorithm *algorithm = grid->algorithms[j];
            struct point point = {
                .algorithm = algorithm,
                .shape = ar_algorithm_default_shape(algorithm, (uint32_t)max, grid->gpus_per_node),
                .payload_bytes = sizes[i],
                .engine = plan->engine,
                .variant = variant};
            if (has_engine(plan, &point, err)) {
                status = add_point(bare, bare_count, point, err);
            }
        }
    }
    free(sizes);
    return status;
}

static enum ar_status add_steps(struct space *space, const struct grid *grid,
                                const struct plan *plan, uint32_t variant, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    if (space->points_count + grid->count > POINTS_MAX) {
        return ar_error_set(err, AR_USAGE, "sweep: found more than %d points; expected fewer",
                            POINTS_MAX);
    }
    size_t before = space->points_count;
    for (size_t i = 0; status == AR_OK && i < grid->count; i++) {
        struct point point = grid->points[i];
        point.variant = variant;
        point.engine = plan->engine;
        if (has_engine(plan, &point, err)) {
            status = add_point(&space->points, &space->points_count, point, err);
        }
    }
    size_t left_out = grid->count - (space->points_count - before);
    if (status == AR_OK && left_out == grid->count) {
        return err->status; /* of the last of them */
    }
    if (status == AR_OK && left_out > 0) {
        plan_note(space->options, "%zu of %zu points left out: %s", left_out, grid->count,
                  err->text);
    }
    return status;
}

static void count_points(struct space *space, const struct plan *plan, struct point *points,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        points[i].cost_s = (float)cost_s(plan, &points[i]);
        space->cost_s += points[i].cost_s;
        fingerprint_add_point(&space->fingerprint, &points[i]);
    }
}

static enum ar_status add_variant(struct space *space, struct grid *grid, uint32_t variant,
                                  struct point **bare, size_t *bare_count, struct ar_error *err)
{
    const struct plan *plan;
    size_t steps_before = space->points_count;
    size_t bare_before = *bare_count;
    if (axes_repeats(&space->variants.axes, variant, false)) {
        return AR_OK;
    }
    enum ar_status status = variants_plan(&space->variants, variant, &plan, err);
    if (status == AR_OK) {
        status = prepare_grid(space, grid, plan, err);
    }
    if (status == AR_OK) {
        status = add_steps(space, grid, plan, variant, err);
    }
    if (status == AR_OK && space->options->payload != NULL &&
        !axes_repeats(&space->variants.axes, variant, true)) {
        status = add_payloads(space, grid, plan, variant, bare, bare_count, err);
    }
    if (status == AR_OK) {
        uint64_t files_hash = variants_files_hash(&space->variants, variant);
        fingerprint_add(&space->fingerprint, &files_hash, sizeof files_hash);
        fingerprint_add_plan(&space->fingerprint, plan);
        count_points(space, plan, space->points + steps_before, space->points_count - steps_before);
        count_points(space, plan, *bare + bare_before, *bare_count - bare_before);
    }
    return status;
}

/* Puts the bare all-reduces behind the steps. */
static enum ar_status append(struct space *space, const struct point *bare, size_t count,
                             struct ar_error *err)
{
    space->steps_count = space->points_count;
    size_t capacity = space->points_count + count;
    struct point *points = realloc(space->points, capacity * sizeof *points);
    if (points == NULL) {
        return ar_error_no_memory(err, "the points of a sweep");
    }
    if (count > 0) {
        memcpy(points + space->points_count, bare, count * sizeof *points);
    }
    space->points = points;
    space->points_count = capacity;
    return AR_OK;
}

static enum ar_status add_variants(struct space *space, struct grid *grid, struct ar_error *err)
{
    struct point *bare = NULL;
    size_t bare_count = 0;
    enum ar_status status = AR_OK;
    for (uint32_t i = 0; status == AR_OK && i < space->variants.axes.variants_count; i++) {
        status = add_variant(space, grid, i, &bare, &bare_count, err);
    }
    if (status == AR_OK) {
        status = append(space, bare, bare_count, err);
    }
    free(bare);
    return status;
}

enum ar_status space_create(const struct options *options, struct space *space,
                            struct ar_error *err)
{
    struct grid grid = {.count = 0};
    *space = (struct space){.options = options, .fingerprint = fingerprint_start()};
    fingerprint_add(&space->fingerprint, AR_VERSION, sizeof AR_VERSION);
    enum ar_status status = option_required(options, "cluster", options->cluster, err);
    if (status == AR_OK) {
        status = option_required(options, "trace", options->trace, err);
    }
    if (status == AR_OK) {
        status = option_required(options, "gpus", options->gpus, err);
    }
    if (status == AR_OK) {
        status = variants_create(options, &space->variants, err);
    }
    if (status == AR_OK) {
        status = list_algorithms_or_auto("--algorithms", options->algorithm, &grid.algorithms,
                                         &grid.algorithms_count, err);
    }
    if (status == AR_OK) {
        status = add_variants(space, &grid, err);
    }
    free(grid.algorithms);
    free(grid.points);
    return status;
}

void space_destroy(struct space *space)
{
    variants_destroy(&space->variants);
    free(space->points);
    free(space->gpus);
    space->points = NULL;
    space->gpus = NULL;
}
