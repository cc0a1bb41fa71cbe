#include "space.h"

#include <inttypes.h>
#include <string.h>

#include "ar_kind.h"
#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_text.h"
#include "lists.h"

enum { POINTS_MAX = 1 << 26 };

static struct ar_scenario scenario_of_point(const struct ar_scenario *variant,
                                            const struct point *point)
{
    struct ar_scenario scenario = *variant;
    scenario.operation = point->operation;
    scenario.algorithm = point->algorithm;
    scenario.shape = point->shape;
    scenario.gpus = ar_scenario_groups(&scenario) * ar_shape_ranks(&scenario.shape);
    scenario.payload_bytes = point->payload_bytes;
    return scenario;
}

enum ar_status space_scenario(struct space *space, const struct point *point,
                              struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_scenario *variant;
    AR_TRY(variants_scenario(&space->variants, point->variant, &variant, err));
    *scenario = point->operation != NULL ? scenario_of_point(variant, point) : *variant;
    return AR_OK;
}

enum ar_status point_append(struct space *space, struct points *points, const struct point *point,
                            struct ar_error *err)
{
    *AR_ARENA_ADD(&space->variants.arena, points->list, points->count) = *point;
    AR_REFUSE(points->count > POINTS_MAX, err, AR_USAGE,
              "sweep: found more than %d points; expected fewer", POINTS_MAX);
    return AR_OK;
}

/* --- steps of a trace, and collectives alone -------------------------------------------------- */

/* Points that cannot run, of all variants. */
struct refused_points {
    size_t count;
    struct ar_error reason; /* why the last of them cannot */
};

/* The points of one variant while they are added to the space. */
struct adding {
    struct space *space;
    const struct ar_scenario *variant;
    uint32_t number;
    const struct ar_operation *operation;
    const uint64_t *payloads_bytes; /* a point for each, of every algorithm and shape */
    size_t payloads_count;
    struct points *points;
    uint32_t ring; /* first point of the ring on as many ranks; UINT32_MAX: none */
    struct refused_points *refused;
};

/* Adds a point, the first one of an algorithm and shape or that of a further payload. */
static enum ar_status add_point(struct adding *adding, struct point point, uint32_t further,
                                struct ar_error *err)
{
    struct space *space = adding->space;
    struct ar_scenario scenario = scenario_of_point(adding->variant, &point);
    uint32_t place = (uint32_t)adding->points->count;
    bool is_ring = point.algorithm != NULL && point.algorithm->is_ring_in_line &&
                   point.shape.x == 1 && ar_scenario_library(&scenario) == NULL;
    adding->ring = point.algorithm == &ar_algorithm_ring && further == 0 ? place : adding->ring;
    point.same_as = is_ring && adding->ring != UINT32_MAX ? adding->ring + further : place;
    point.variant = adding->number;
    point.cost_s = (float)ar_run_cost_s(&scenario);
    ar_hash_text(&space->fingerprint, point.operation->command);
    ar_hash_text(&space->fingerprint, ar_algorithm_name(point.algorithm));
    ar_hash_text(&space->fingerprint, scenario.engine->name);
    ar_hash_bytes(&space->fingerprint, &point.shape, sizeof point.shape);
    ar_hash_bytes(&space->fingerprint, &point.payload_bytes, sizeof point.payload_bytes);
    return point_append(space, adding->points, &point, err);
}

/* Adds the points of an algorithm and shape. Not every algorithm runs on all numbers of ranks, on
 * all machines and by all engines. */
static enum ar_status shape_add_points(struct adding *adding, const struct ar_algorithm *algorithm,
                                       struct ar_shape shape, struct ar_error *err)
{
    struct point point = {.operation = adding->operation, .algorithm = algorithm, .shape = shape};
    struct ar_scenario scenario = scenario_of_point(adding->variant, &point);
    struct ar_collective collective = ar_scenario_collective(&scenario);
    bool runs = ar_algorithm_check_shape(algorithm, &shape, &adding->refused->reason) == AR_OK &&
                ar_scenario_check_runner(&scenario, algorithm, &adding->refused->reason) == AR_OK &&
                ar_collective_check_sums(&collective, &adding->refused->reason) == AR_OK;
    if (runs) {
        AR_TRY(ar_scenario_check_runs(&scenario, err));
        runs = ar_engine_check(scenario.engine, &collective, ar_scenario_library(&scenario),
                               &adding->refused->reason) == AR_OK;
    }
    if (!runs) {
        adding->refused->count += adding->payloads_count;
        return AR_OK;
    }
    for (uint32_t i = 0; i < adding->payloads_count; i++) {
        point.payload_bytes = adding->payloads_bytes[i];
        AR_TRY(add_point(adding, point, i, err));
    }
    return AR_OK;
}

static struct ar_shape default_shape(const struct adding *adding,
                                     const struct ar_algorithm *algorithm, uint32_t ranks)
{
    return ar_algorithm_default_shape(algorithm, ranks,
                                      ar_scenario_node_members(adding->variant, algorithm));
}

/* Grids are an axis of some algorithms; others have one shape for a number of ranks. */
static enum ar_status add_shapes(struct adding *adding, uint32_t ranks,
                                 const struct ar_algorithm *algorithm, struct ar_error *err)
{
    const struct space_request *request = adding->space->request;
    struct ar_shape *shapes;
    size_t count;
    if (ar_algorithm_shapes(algorithm) != AR_SHAPES_GRIDS) {
        return shape_add_points(adding, algorithm, default_shape(adding, algorithm, ranks), err);
    }
    AR_TRY(list_shapes(&adding->space->lists, request->shapes, ranks,
                       ar_scenario_node_members(adding->variant, algorithm), &shapes, &count, err));
    if (count == 0) {
        adding->refused->count += adding->payloads_count;
        (void)ar_error_set(&adding->refused->reason, AR_USAGE,
                           "--shapes: found \"%.100s\"; expected as many places as %" PRIu32
                           " GPUs",
                           request->shapes, ranks);
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(shape_add_points(adding, algorithm, shapes[i], err));
    }
    return AR_OK;
}

/* All algorithms of the operation on so many ranks; of steps without all-reduces one. */
static enum ar_status add_algorithms(struct adding *adding, uint32_t ranks, struct ar_error *err)
{
    const struct space *space = adding->space;
    const struct ar_algorithm *own =
        ar_engine_algorithm(adding->variant->engine, adding->operation);
    adding->ring = UINT32_MAX;
    if (adding->points == &space->steps && ar_scenario_kind(adding->variant)->graph == NULL) {
        struct point point = {.operation = adding->operation, /* workers and servers have none */
                              .algorithm = &ar_algorithm_ring,
                              .shape = {.x = ranks, .y = 1}};
        struct ar_scenario scenario = *adding->variant;
        scenario.gpus = ranks;
        AR_TRY(ar_scenario_settle_servers(&scenario, err));
        return add_point(adding, point, 0, err);
    }
    if (adding->points == &space->steps && !adding->variant->layout.strategy->sends_buckets) {
        return shape_add_points(adding, own, default_shape(adding, own, ranks), err);
    }
    bool has_calls = strcmp(space->request->algorithms, "all") != 0 || own != NULL;
    for (size_t i = 0; i < space->algorithms_count; i++) {
        const struct ar_algorithm *algorithm = space->algorithms[i];
        if (algorithm == NULL || algorithm->operation == adding->operation) {
            has_calls |= ar_algorithm_calls(algorithm) != AR_CALLS_NONE;
            AR_TRY(add_shapes(adding, ranks, algorithm, err));
        }
    }
    /* A library may have its own choice alone, as of all-to-all. */
    return has_calls ? AR_OK : add_shapes(adding, ranks, own, err);
}

/* A variant of which no point can run is an error. */
static enum ar_status check_taken(const struct adding *adding, size_t taken, struct ar_error *err)
{
    return taken > 0 ? AR_OK : (*err = adding->refused->reason).status;
}

/* The bare all-reduces beside steps: all algorithms in standard shapes at the largest GPU count. */
static enum ar_status add_payloads(struct adding *adding, struct ar_error *err)
{
    struct space *space = adding->space;
    uint64_t max = 0;
    adding->ring = UINT32_MAX;
    adding->points = &space->bare;
    for (size_t i = 0; i < space->gpus_count; i++) {
        max = space->gpus[i] > max ? space->gpus[i] : max;
    }
    for (size_t i = 0; i < space->algorithms_count; i++) {
        const struct ar_algorithm *algorithm = space->algorithms[i];
        AR_TRY(shape_add_points(adding, algorithm, default_shape(adding, algorithm, (uint32_t)max),
                                err));
    }
    return AR_OK;
}

/* Each operation at each number of GPUs, all payloads and algorithms. */
static enum ar_status add_bare(struct adding *adding, struct ar_error *err)
{
    struct space *space = adding->space;
    size_t before = space->bare.count;
    adding->points = &space->bare;
    for (size_t i = 0; i < space->operations_count * space->gpus_count; i++) {
        struct ar_scenario scenario = *adding->variant;
        scenario.operation = adding->operation = space->operations[i / space->gpus_count];
        scenario.gpus = (uint32_t)space->gpus[i % space->gpus_count];
        if (scenario.operation->has_root) {
            AR_TRY(ar_scenario_check_gpus(&scenario, err));
        }
        AR_TRY(add_algorithms(adding, ar_scenario_group_ranks(&scenario), err));
    }
    return check_taken(adding, space->bare.count - before, err);
}

/* The GPU counts on the cluster of a variant: those that are listed, or those of the mesh. */
static enum ar_status read_gpus(struct space *space, const struct ar_scenario *variant,
                                struct ar_error *err)
{
    const char *text = space->request->gpus;
    ar_arena_end(&space->lists);
    text = text == NULL ? ar_arena_format(&space->lists, "%" PRIu32, variant->gpus) : text;
    AR_TRY(list_counts(&space->lists, "--gpus", text, ar_cluster_gpus_count(variant->cluster),
                       &space->gpus, &space->gpus_count, err));
    for (size_t i = 0; i < space->gpus_count; i++) {
        struct ar_scenario scenario = *variant;
        scenario.gpus = (uint32_t)space->gpus[i];
        AR_TRY(ar_scenario_take_mesh(&scenario, err));
    }
    return AR_OK;
}

static enum ar_status add_variant(struct space *space, uint32_t number,
                                  struct refused_points *refused, struct ar_error *err)
{
    struct adding adding = {.space = space, .number = number, .refused = refused};
    AR_TRY(variants_scenario(&space->variants, number, &adding.variant, err));
    bool draws = ar_scenario_draws(adding.variant);
    space->draws = space->draws || draws;
    if (!draws && variants_seed(&space->variants, number) > 0) {
        space->has_same_seeds = true;
        return AR_OK;
    }
    ar_scenario_hash(adding.variant, &space->fingerprint);
    AR_TRY(read_gpus(space, adding.variant, err));
    /* A choice of grids that nothing reacts to is a mistake. */
    const struct space_request *request = space->request;
    bool is_used = strcmp(request->shapes, "all") == 0;
    for (size_t i = 0; i < space->algorithms_count; i++) {
        is_used = is_used || ar_algorithm_shapes(space->algorithms[i]) == AR_SHAPES_GRIDS;
    }
    AR_REFUSE(!is_used, err, AR_USAGE,
              "--shapes: found \"%.100s\", which --algorithms %.100s do not react to; expected "
              "torus2d among them",
              request->shapes, request->algorithms);
    AR_TRY(list_shapes_check(request->shapes, space->gpus, space->gpus_count, err));
    if (space->has_steps) {
        static const uint64_t no_payload = 0;
        size_t before = space->steps.count;
        adding.points = &space->steps;
        adding.operation = &ar_operation_all_reduce;
        adding.payloads_bytes = &no_payload;
        adding.payloads_count = 1;
        for (size_t i = 0; i < space->gpus_count; i++) {
            AR_TRY(add_algorithms(&adding, (uint32_t)space->gpus[i], err));
        }
        AR_TRY(check_taken(&adding, space->steps.count - before, err));
    }
    if (space->sizes_count == 0 || variants_repeats_bare(&space->variants, number)) {
        return AR_OK;
    }
    struct ar_scenario scenario = *adding.variant;
    for (size_t i = 0; i < space->sizes_count; i++) {
        scenario.payload_bytes = space->sizes[i];
        AR_TRY(ar_scenario_check_payload(&scenario, err));
    }
    adding.payloads_bytes = space->sizes;
    adding.payloads_count = space->sizes_count;
    return space->has_steps ? add_payloads(&adding, err) : add_bare(&adding, err);
}

/* Notes the named algorithms that some of several operations do not have. */
static void note_missing_pairs(const struct space *space)
{
    struct ar_arena *arena = space->request->base.arena;
    char *missing = "";
    AR_EACH_PART(name, ar_arena_text(arena, space->request->algorithms), ',') {
        struct ar_runner library;
        bool is_name = !ar_text_has_word("all auto", name) &&
                       ar_runner_parse("", name, &library, AR_IGNORED) != AR_OK;
        for (size_t i = 0; i < space->operations_count && is_name; i++) {
            const struct ar_algorithm *found;
            const struct ar_operation *operation = space->operations[i];
            if (ar_algorithm_find("", operation, name, &found, AR_IGNORED) != AR_OK) {
                missing = ar_arena_format(arena, "%s%s%s of %s", missing,
                                          missing[0] != '\0' ? ", " : "", name, operation->command);
            }
        }
    }
    if (missing[0] != '\0') {
        ar_note(space->request->notes, "left out, since there is no such algorithm: %s", missing);
    }
}

/* Steps of a trace, bare collectives, or both. */
static enum ar_status add_points(struct space *space, struct ar_error *err)
{
    const struct space_request *request = space->request;
    struct ar_arena *arena = &space->variants.arena;
    struct refused_points refused = {.count = 0};
    space->has_steps = ar_scenario_has(&request->base, AR_KEY_TRACE);
    /* The algorithms of each operation; a name counts where there is one. */
    const char *operations = request->operations != NULL ? request->operations : "allreduce";
    bool has_root = false;
    AR_TRY(list_operations(arena, "--operation", operations, &space->operations,
                           &space->operations_count, err));
    for (size_t i = 0; i < space->operations_count; i++) {
        has_root = has_root || space->operations[i]->has_root;
    }
    const struct ar_operation *only = space->operations_count == 1 ? space->operations[0] : NULL;
    AR_SCENARIO_REFUSE(!has_root && ar_scenario_has(&request->base, AR_KEY_ROOT), &request->base,
                       AR_KEY_ROOT, err, "found with %.100s; expected none there", operations);
    AR_TRY(list_algorithms(arena, "--algorithms", only, request->algorithms, true,
                           &space->algorithms, &space->algorithms_count, err));
    note_missing_pairs(space);
    if (request->payloads != NULL) {
        AR_TRY(list_sizes(arena, "--payload", request->payloads, &space->sizes, &space->sizes_count,
                          err));
    }
    for (uint32_t i = 0; i < space->variants.count; i++) {
        AR_TRY(add_variant(space, i, &refused, err));
    }
    AR_REFUSE(space->has_same_seeds && !space->draws, err, AR_USAGE,
              "--seed: found several seeds without --jitter; expected one, since all would give "
              "the same");
    space->steps_count = space->steps.count;
    for (size_t i = 0; i < space->bare.count; i++) { /* behind the steps */
        space->bare.list[i].same_as += (uint32_t)space->steps_count;
        AR_TRY(point_append(space, &space->steps, &space->bare.list[i], err));
    }
    if (refused.count > 0) {
        ar_note(request->notes, "%zu of %zu points left out, which cannot run; for example: %s",
                refused.count, refused.count + space->steps.count, refused.reason.text);
    }
    return AR_OK;
}

/* --- the space -------------------------------------------------------------------------------- */

/* The keys that are axes of points, after the settings; those of the trace come first. */
static const enum ar_key point_axes[] = {
    AR_KEY_CLUSTER,  AR_KEY_PRECISION,  AR_KEY_BATCH,    AR_KEY_GRADIENT_SCALE, AR_KEY_GRADIENTS,
    AR_KEY_SPARSE,   AR_KEY_JITTER,     AR_KEY_SEED,     AR_KEY_ENGINE,         AR_KEY_BUCKET,
    AR_KEY_CHANNELS, AR_KEY_WINDOW,     AR_KEY_STRATEGY, AR_KEY_SERVERS,        AR_KEY_SERVERS_AT,
    AR_KEY_WORKER,   AR_KEY_PUSH_EVERY, AR_KEY_PULL,     AR_KEY_UNITS,          AR_KEY_BACKUPS,
    AR_KEY_TAIL,     AR_KEYS_COUNT};

const struct sweep_kind sweep_of_points = {
    .items_name = "points", .file = "sweep.csv", .axes = point_axes, .add_points = add_points};

enum ar_status space_create(const struct space_request *request, struct space *space,
                            struct ar_error *err)
{
    memset(space, 0, sizeof *space);
    space->request = request;
    space->fingerprint = AR_HASH_BEGIN;
    ar_hash_text(&space->fingerprint, AR_VERSION);
    AR_TRY(variants_create(request, &space->variants, err));
    AR_TRY(request->kind->add_points(space, err));
    space->points = space->steps.list;
    space->points_count = space->steps.count;
    return AR_OK;
}

void space_destroy(struct space *space)
{
    variants_destroy(&space->variants);
    ar_arena_end(&space->lists);
}
