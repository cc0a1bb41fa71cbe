#include "space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_hash.h"
#include "ar_note.h"
#include "ar_run.h"
#include "lists.h"

enum { POINTS_MAX = 1 << 26 };

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

/* Points of one variant on their way into the space. */
struct adding {
    struct space *space;
    const struct ar_scenario *variant;
    uint32_t number;
    uint32_t gpus_per_node;
    struct points *points;
    uint32_t ring;          /* point of the ring on as many ranks; UINT32_MAX: none */
    size_t left_out;        /* points that its engine does not run, */
    struct ar_error reason; /* as the last of them said */
};

static enum ar_status append(struct points *points, const struct point *point, struct ar_error *err)
{
    if ((points->count & (points->count - 1)) == 0) { /* capacity doubles at every power of two */
        size_t capacity = points->count == 0 ? 1 : 2 * points->count;
        struct point *more = realloc(points->list, capacity * sizeof *more);
        if (more == NULL) {
            return ar_error_no_memory(err, "the points of a sweep");
        }
        points->list = more;
    }
    points->list[points->count++] = *point;
    return points->count <= POINTS_MAX
               ? AR_OK
               : ar_error_set(err, AR_USAGE, "sweep: found more than %d points; expected fewer",
                              POINTS_MAX);
}

/* Adds a point; some algorithms are of some engines only. */
static enum ar_status add_point(struct adding *adding, struct point point, struct ar_error *err)
{
    struct space *space = adding->space;
    struct ar_scenario scenario = scenario_of(adding->variant, &point);
    struct ar_collective collective = ar_scenario_collective(&scenario);
    if (ar_engine_check(scenario.engine, &collective, ar_scenario_library(&scenario),
                        &adding->reason) != AR_OK) {
        adding->left_out++;
        return AR_OK;
    }
    uint32_t place = (uint32_t)adding->points->count;
    bool is_ring = point.algorithm != NULL && point.algorithm->is_ring_in_line &&
                   point.shape.x == 1 && !scenario.engine->needs_library;
    adding->ring = point.algorithm == &ar_algorithm_ring ? place : adding->ring;
    point.twin = is_ring && adding->ring != UINT32_MAX ? adding->ring : place;
    point.variant = adding->number;
    point.cost_s = (float)ar_run_cost_s(&scenario);
    ar_hash_text(&space->fingerprint, ar_algorithm_name(point.algorithm));
    ar_hash_text(&space->fingerprint, scenario.engine->name);
    ar_hash_bytes(&space->fingerprint, &point.shape, sizeof point.shape);
    ar_hash_bytes(&space->fingerprint, &point.payload_bytes, sizeof point.payload_bytes);
    return append(adding->points, &point, err);
}

static enum ar_status add_step(struct adding *adding, const struct ar_algorithm *algorithm,
                               struct ar_shape shape, struct ar_error *err)
{
    struct point point = {.algorithm = algorithm, .shape = shape};
    struct ar_scenario scenario = scenario_of(adding->variant, &point);
    AR_TRY(ar_scenario_check_runs(&scenario, err));
    return add_point(adding, point, err);
}

/* Grids are an axis of some algorithms; others have one shape for a number of ranks. */
static enum ar_status add_shapes(struct adding *adding, uint32_t ranks,
                                 const struct ar_algorithm *algorithm, struct ar_error *err)
{
    const struct space_request *request = adding->space->request;
    struct ar_shape *shapes;
    size_t count;
    if (ar_algorithm_shapes(algorithm) != AR_SHAPES_GRIDS) {
        return add_step(adding, algorithm,
                        ar_algorithm_default_shape(algorithm, ranks, adding->gpus_per_node), err);
    }
    AR_TRY(list_shapes(&adding->space->lists, "--shapes", request->shapes, ranks,
                       adding->gpus_per_node, &shapes, &count, err));
    if (count == 0 && adding->number == 0) {
        ar_note(request->notes,
                "%s left out at %" PRIu32 " GPUs: none of --shapes %s has so many places",
                ar_algorithm_name(algorithm), ranks, request->shapes);
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(add_step(adding, algorithm, shapes[i], err));
    }
    return AR_OK;
}

/* A choice of grids that nothing reacts to is a mistake. */
static enum ar_status check_shapes(const struct space *space, struct ar_error *err)
{
    const struct space_request *request = space->request;
    bool is_used = strcmp(request->shapes, "all") == 0;
    for (size_t i = 0; i < space->algorithms_count; i++) {
        is_used = is_used || ar_algorithm_shapes(space->algorithms[i]) == AR_SHAPES_GRIDS;
    }
    if (!is_used) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\", which --algorithms %.100s do not react to; "
            "expected torus2d among them",
            request->shapes, request->algorithms);
    }
    return list_shapes_check("--shapes", request->shapes, space->gpus, space->gpus_count, err);
}

static enum ar_status add_steps(struct adding *adding, struct ar_error *err)
{
    struct space *space = adding->space;
    size_t before = space->steps.count;
    adding->points = &space->steps;
    AR_TRY(check_shapes(space, err));
    for (size_t i = 0; i < space->gpus_count; i++) {
        adding->ring = UINT32_MAX;
        for (size_t j = 0; j < space->algorithms_count; j++) {
            AR_TRY(add_shapes(adding, (uint32_t)space->gpus[i], space->algorithms[j], err));
        }
    }
    size_t taken = space->steps.count - before;
    if (taken == 0 && adding->left_out > 0) {
        *err = adding->reason;
        return err->status;
    }
    if (taken == 0) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\"; expected as many places as one of --gpus %s",
            space->request->shapes, space->request->gpus);
    }
    if (adding->left_out > 0) {
        ar_note(space->request->notes, "%zu of %zu points left out: %s", adding->left_out,
                adding->left_out + taken, adding->reason.text);
    }
    return AR_OK;
}

/* The bare all-reduces of one size: every algorithm in its standard shape at the largest GPU
 * count. */
static enum ar_status add_payload(struct adding *adding, uint64_t payload_bytes,
                                  struct ar_error *err)
{
    const struct space *space = adding->space;
    struct point point = {.payload_bytes = payload_bytes};
    uint64_t max = 0;
    struct ar_scenario scenario = scenario_of(adding->variant, &point);
    adding->ring = UINT32_MAX;
    AR_TRY(ar_scenario_check_payload(&scenario, err));
    for (size_t i = 0; i < space->gpus_count; i++) {
        max = space->gpus[i] > max ? space->gpus[i] : max;
    }
    for (size_t i = 0; i < space->algorithms_count; i++) {
        point.algorithm = space->algorithms[i];
        point.shape =
            ar_algorithm_default_shape(point.algorithm, (uint32_t)max, adding->gpus_per_node);
        AR_TRY(add_point(adding, point, err));
    }
    return AR_OK;
}

static enum ar_status add_variant(struct space *space, uint32_t number, struct ar_error *err)
{
    struct adding adding = {.space = space, .number = number};
    if (variants_repeats(&space->variants, number, false)) {
        return AR_OK;
    }
    AR_TRY(variants_scenario(&space->variants, number, &adding.variant, err));
    AR_TRY(ar_scenario_hash(adding.variant, &space->fingerprint, err));
    const struct ar_cluster *cluster = adding.variant->cluster;
    adding.gpus_per_node = ar_cluster_facts(cluster)->gpus_per_node;
    ar_arena_end(&space->lists);
    AR_TRY(list_counts(&space->lists, "--gpus", space->request->gpus,
                       ar_cluster_gpus_count(cluster), &space->gpus, &space->gpus_count, err));
    AR_TRY(add_steps(&adding, err));
    adding.points = &space->bare;
    bool is_repeated = variants_repeats(&space->variants, number, true);
    for (size_t i = 0; i < space->sizes_count && !is_repeated; i++) {
        AR_TRY(add_payload(&adding, space->sizes[i], err));
    }
    return AR_OK;
}

enum ar_status space_create(const struct space_request *request, struct space *space,
                            struct ar_error *err)
{
    struct ar_arena *arena = &space->variants.arena;
    memset(space, 0, sizeof *space);
    space->request = request;
    space->fingerprint = AR_HASH_BEGIN;
    ar_hash_text(&space->fingerprint, AR_VERSION);
    AR_TRY(variants_create(&request->variants, &space->variants, err));
    AR_TRY(list_algorithms(arena, "--algorithms", &ar_operation_all_reduce, request->algorithms,
                           true, &space->algorithms, &space->algorithms_count, err));
    if (request->payloads != NULL) {
        AR_TRY(list_sizes(arena, "--payload", request->payloads, &space->sizes, &space->sizes_count,
                          err));
    }
    for (uint32_t i = 0; i < space->variants.count; i++) {
        AR_TRY(add_variant(space, i, err));
    }
    space->steps_count = space->steps.count;
    for (size_t i = 0; i < space->bare.count; i++) { /* behind the steps */
        space->bare.list[i].twin += (uint32_t)space->steps_count;
        AR_TRY(append(&space->steps, &space->bare.list[i], err));
    }
    space->points = space->steps.list;
    space->points_count = space->steps.count;
    return AR_OK;
}

void space_destroy(struct space *space)
{
    variants_destroy(&space->variants);
    ar_arena_end(&space->lists);
    free(space->steps.list);
    free(space->bare.list);
}
