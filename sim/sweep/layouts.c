/* Layouts of a workload or of operators: which variants of a sweep become points. */
#include <inttypes.h>
#include <string.h>

#include "ar_kind.h"
#include "ar_numbers.h"
#include "ar_pool.h"
#include "ar_units.h"
#include "lists.h"
#include "space.h"

/* --- the axes --------------------------------------------------------------------------------- */

/* The keys that are axes of layouts. The planned keys are the last ones, so that variants which
 * differ in them alone follow each other, the likeliest to be fast first. */
static const enum ar_key layout_axes[] = {AR_KEY_CLUSTER,
                                          AR_KEY_WORKLOAD,
                                          AR_KEY_PRECISION,
                                          AR_KEY_GLOBAL_BATCH,
                                          AR_KEY_MICRO_BATCH,
                                          AR_KEY_STRATEGY,
                                          AR_KEY_ATTENTION,
                                          AR_KEY_OVERLAP,
                                          AR_KEY_OVERLAP_PIPELINE,
                                          AR_KEY_OVERLAP_EXPERTS,
                                          AR_KEY_DISPATCHER,
                                          AR_KEY_GRADIENTS,
                                          AR_KEY_SPARSE,
                                          AR_KEY_OFFLOAD,
                                          AR_KEY_PLACEMENT,
                                          AR_KEY_DEPTH,
                                          AR_KEY_ROUNDS,
                                          AR_KEY_SCHEDULE,
                                          AR_KEY_SEQUENCE_PARALLEL,
                                          AR_KEY_OVERLAP_TENSOR,
                                          AR_KEY_OVERLAP_GATHER,
                                          AR_KEY_RECOMPUTE,
                                          AR_KEYS_COUNT};

const enum ar_key layout_conditions[] = {AR_KEY_CLUSTER,   AR_KEY_SET,          AR_KEY_WORKLOAD,
                                         AR_KEY_PRECISION, AR_KEY_GLOBAL_BATCH, AR_KEYS_COUNT};

const struct planned_key planned_keys[] = {
    {AR_KEY_SCHEDULE, "1f1b,interleaved:2,interleaved:3,interleaved:4,interleaved:6"},
    {AR_KEY_SEQUENCE_PARALLEL, "yes,no"},
    {AR_KEY_OVERLAP_TENSOR, "yes,no"},
    {AR_KEY_OVERLAP_GATHER, "yes,no"},
    {AR_KEY_RECOMPUTE, "none,selective,full"},
    {AR_KEYS_COUNT, NULL}};

/* Counts the variants in a row that differ only in planned_keys[first] and those behind it. */
static uint32_t planned_count(const struct variants *variants, size_t first)
{
    uint32_t count = 1;
    for (size_t i = 0; i < variants->axes_count; i++) {
        const struct planned_key *planned = &planned_keys[first];
        while (planned->values != NULL && planned->key != variants->axes[i].key) {
            planned++;
        }
        count *= planned->values != NULL ? (uint32_t)variants->axes[i].count : 1;
    }
    return count;
}

struct refined layouts_refine(const struct space *space, uint32_t variant, unsigned round)
{
    static const size_t range[] = {0, 1}, group[] = {1, 4}; /* places in planned_keys */
    const struct variants *variants = &space->variants;
    uint32_t count = planned_count(variants, range[round]);
    uint32_t begin = variant / count * count;
    return (struct refined){begin, begin + count, planned_count(variants, group[round])};
}

/* Appends all meshes of so many GPUs: sizes of pp, dp, ep and tp whose product with `cp` it is. */
static void append_meshes(struct ar_arena *arena, uint32_t gpus, uint32_t cp, struct axis *axis)
{
    const char *part = cp > 1 ? ar_arena_format(arena, "cp=%u,", cp) : "";
    gpus /= cp;
    for (uint32_t tp = 1; tp <= gpus; tp++) {
        for (uint32_t ep = 1; gpus % tp == 0 && ep <= gpus / tp; ep++) {
            uint32_t rest = gpus / tp / ep;
            for (uint32_t pp = 1; rest * ep * tp == gpus && pp <= rest; pp++) {
                if (rest % pp == 0) {
                    axis_append(arena, axis,
                                ar_arena_format(arena, "pp=%u,dp=%u,ep=%u,%stp=%u", pp, rest / pp,
                                                ep, part, tp));
                }
            }
        }
    }
}

/* Appends meshes of copies that are sharded within NVLinks (HSDP), where there are several. */
static void append_copies(struct ar_arena *arena, uint32_t gpus, uint32_t cp, uint32_t linked,
                          struct axis *axis)
{
    const char *part = cp > 1 ? ar_arena_format(arena, "cp=%u,", cp) : "";
    for (uint32_t tp = 1; gpus > linked && gpus % linked == 0 && tp * cp < linked; tp++) {
        if (linked % (tp * cp) == 0) {
            axis_append(arena, axis,
                        ar_arena_format(arena, "rep=%u,dp=%u,%stp=%u", gpus / linked,
                                        linked / tp / cp, part, tp));
        }
    }
}

enum ar_status space_list_meshes(const struct space_request *request, uint32_t cp, uint32_t cp_max,
                                 struct axis *first, struct ar_error *err)
{
    struct ar_arena *arena = request->base.arena;
    struct ar_cluster *cluster;
    uint64_t *gpus;
    size_t count;
    uint32_t linked = UINT32_MAX; /* GPUs, of one cluster */
    if (cp > 0 && request->lists[AR_KEY_CLUSTER] == NULL) {
        AR_TRY(ar_scenario_make_cluster(&request->base, &cluster, err));
        const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
        linked = facts->gpus_per_node * facts->nvlink_domain_nodes;
    }
    *first =
        (struct axis){.name = cp > 0 ? "mesh" : "gpus", .key = cp > 0 ? AR_KEY_MESH : AR_KEY_GPUS};
    AR_TRY(list_counts(arena, "--gpus", request->gpus, UINT32_MAX, &gpus, &count, err));
    for (size_t i = 0; i < count; i++) {
        AR_REFUSE(cp > 0 && gpus[i] % cp != 0, err, AR_USAGE,
                  "--mesh: found all,cp=%" PRIu32 " with %" PRIu64
                  " GPUs; expected a divisor of them",
                  cp, gpus[i]);
        for (uint32_t part = cp; part > 0 && part <= cp_max && gpus[i] % part == 0; part *= 2) {
            append_meshes(arena, (uint32_t)gpus[i], part, first);
            append_copies(arena, (uint32_t)gpus[i], part, linked, first);
        }
        if (cp == 0) {
            struct ar_scenario scratch = request->base;
            scratch.gpus = (uint32_t)gpus[i];
            AR_TRY(ar_scenario_take_mesh(&scratch, err));
            axis_append(arena, first, ar_arena_format(arena, "%" PRIu64, gpus[i]));
        }
    }
    return AR_OK;
}

/* Rejects values that are wrong in every layout; the workload decides which values are right. */
static enum ar_status check_values(const struct variants *variants, struct ar_error *err)
{
    for (size_t i = variants->request->first.count > 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        for (size_t j = 0; j < axis->count && axis->key != AR_KEY_SET; j++) {
            struct ar_scenario scratch = variants->request->base;
            for (size_t k = 0; k < variants->axes_count; k++) {
                if (variants->axes[k].key == AR_KEY_WORKLOAD && k != i) {
                    AR_TRY(ar_scenario_set(&scratch, AR_KEY_WORKLOAD, NULL,
                                           variants->axes[k].values[0], err));
                }
            }
            AR_TRY(ar_scenario_set(&scratch, axis->key, NULL, axis->values[j], err));
            AR_REFUSE(axis->key == AR_KEY_STRATEGY && !ar_scenario_kind(&scratch)->has_layout, err,
                      AR_USAGE,
                      "--strategy: found %s beside strategies that put parts of a model on GPUs; "
                      "expected a sweep for each",
                      axis->values[j]);
        }
    }
    return AR_OK;
}

/* --- layouts that become points --------------------------------------------------------------- */

/* Reasons why layouts are refused, told apart by the first words of their errors. */
enum { REASONS_MAX = 16, REASON_WORDS = 24 };

/* Layouts while they are added. */
struct adding_layouts {
    struct space *space;
    struct refusal {
        size_t count;
        struct ar_error first;
        bool differs; /* another one has other words, such as the numbers of its mesh */
    } refusals[REASONS_MAX];
    bool is_added;    /* a layout of the group became a point */
    bool is_full;     /* a layout of the group was refused for its memory alone */
    uint64_t *hashes; /* [point]: hash of all that its time depends on */
};

static double needed_bytes(const struct ar_layout *layout)
{
    struct ar_layout_memory memory = ar_layout_memory(layout);
    return memory.states_bytes + memory.activations_bytes;
}

/* Refuses a transformer's layout that does not fit. The placement of operators looks after memory
 * itself, and the memory of a recorded step is unknown. */
static enum ar_status check_memory(struct adding_layouts *adding,
                                   const struct ar_scenario *scenario, struct ar_error *err)
{
    struct unfit *unfit = &adding->space->unfit;
    if (scenario->layout.model == NULL) {
        return AR_OK;
    }
    unfit->is_asked = true;
    unfit->room_bytes = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    if (unfit->room_bytes <= 0 || needed_bytes(&scenario->layout) <= unfit->room_bytes) {
        return AR_OK;
    }
    adding->is_full = true;
    /* Counts by what a layout that does not fit would fit, and remembers the smallest one. */
    struct ar_layout full = scenario->layout, sharded = scenario->layout;
    double bytes = needed_bytes(&scenario->layout);
    full.recompute = sharded.recompute = AR_RECOMPUTE_FULL;
    sharded.strategy =
        scenario->layout.sizes[AR_AXIS_PP] == 1 ? &ar_strategy_zero3 : &ar_strategy_zero1;
    unfit->fit_recomputed += needed_bytes(&full) <= unfit->room_bytes;
    unfit->fit_sharded += needed_bytes(&sharded) <= unfit->room_bytes;
    if (unfit->least_mesh[0] == '\0' || bytes < unfit->least_bytes) {
        struct ar_mesh mesh = ar_layout_mesh(&scenario->layout, 0);
        unfit->least_bytes = bytes;
        ar_mesh_format(&mesh, unfit->least_mesh);
        if (mesh.axes_count == 0) {
            snprintf(unfit->least_mesh, sizeof unfit->least_mesh, "one GPU");
        }
        unfit->least_strategy = scenario->layout.strategy->name;
        ar_recompute_format(scenario->layout.recompute, unfit->least_recompute);
    }
    return ar_error_set(err, AR_USAGE, "--mesh: found a layout that does not fit");
}

/* Part of the mean number of layers that the fullest place of a pipeline may have more. A choice:
 * all other places wait about that long for it. */
#define FULLER_MAX_FRAC 0.1

/* Refuses meshes of --mesh all that nobody uses: places of a pipeline that differ much in their
 * number of layers, chunks that differ other than for the embedding and the loss, and pipelines in
 * which every micro-batch gathers all parameters. A mesh that is named is not refused. */
static enum ar_status check_usual(const struct space *space, const struct ar_layout *layout,
                                  struct ar_error *err)
{
    const struct axis *first = &space->request->first;
    uint32_t stages = layout->sizes[AR_AXIS_PP], places = stages * layout->chunks;
    if (first->count == 0 || first->key != AR_KEY_MESH || layout->model == NULL) {
        return AR_OK;
    }
    uint32_t layers = layout->model->layers, fullest = (layers + places - 1) / places;
    bool is_even = layers % places == 0 || (layers + 2) % places == 0;
    AR_REFUSE((!is_even && layout->chunks > 1) ||
                  (double)fullest * places > (1 + FULLER_MAX_FRAC) * layers,
              err, AR_USAGE,
              "--mesh: found layers %" PRIu32 "; expected about a multiple of %" PRIu32
              ", stages times chunks, with --mesh all",
              layers, places);
    AR_REFUSE(layout->strategy->shards_all && stages != 1, err, AR_USAGE,
              "--mesh: found strategy %s with pp=%" PRIu32 "; expected pp=1 with --mesh all",
              layout->strategy->name, stages);
    return AR_OK;
}

/* Finds an earlier point of the same mesh whose step is the same by another name; the number of the
 * next point if there is none. */
static uint32_t find_same(struct adding_layouts *adding, const struct ar_scenario *scenario,
                          uint32_t number)
{
    const struct space *space = adding->space;
    const struct variants *variants = &space->variants;
    const struct points *steps = &space->steps;
    size_t meshes = space->request->first.count > 0 ? space->request->first.count : 1;
    uint32_t each = variants->count / (uint32_t)meshes;
    uint64_t hash = AR_HASH_BEGIN;
    uint32_t condition = variants_condition(variants, number);
    ar_hash_bytes(&hash, &condition, sizeof condition);
    ar_layout_hash(&scenario->layout, &hash);
    ar_hash_bytes(&hash, &scenario->async.staleness, sizeof scenario->async.staleness);
    adding->hashes = ar_arena_grow(&adding->space->variants.arena, adding->hashes, steps->count, 1,
                                   sizeof *adding->hashes);
    adding->hashes[steps->count] = hash;
    bool is_model = scenario->layout.model != NULL; /* others differ in more than their layout */
    for (size_t i = steps->count;
         is_model && i-- > 0 && steps->list[i].variant / each == number / each;) {
        if (adding->hashes[i] == hash && steps->list[i].same_as == i) {
            return (uint32_t)i;
        }
    }
    return (uint32_t)steps->count;
}

struct limit *layouts_limit(const struct space_request *request, uint64_t gpus, uint32_t condition)
{
    for (size_t i = 0; i < request->limits_count; i++) {
        if (request->limits[i].gpus == gpus && request->limits[i].condition == condition) {
            return &request->limits[i];
        }
    }
    return NULL;
}

static enum ar_status add_layout(struct adding_layouts *adding, uint32_t number,
                                 struct ar_error *err)
{
    struct space *space = adding->space;
    const struct ar_scenario *scenario;
    AR_TRY(variants_scenario(&space->variants, number, &scenario, err));
    AR_TRY(check_usual(space, &scenario->layout, err));
    AR_TRY(check_memory(adding, scenario, err));
    const struct point point = {.shape = {.x = scenario->gpus, .y = 1},
                                .variant = number,
                                .cost_s = (float)AR_POOL_CHEAP_S,
                                .least_s = ar_scenario_least_s(scenario),
                                .same_as = find_same(adding, scenario, number)};
    adding->is_added = true;
    const struct limit *limit =
        layouts_limit(space->request, scenario->gpus, variants_condition(&space->variants, number));
    if ((limit != NULL && point.least_s > limit->most_s) ||
        (space->request->is_planned && point.same_as != space->steps.count)) {
        return AR_OK; /* too slow, or a step that another layout shows */
    }
    ar_hash_text(&space->fingerprint, scenario->cluster_name);
    ar_hash_text(&space->fingerprint, scenario->engine->name);
    ar_hash_text(&space->fingerprint, ar_algorithm_name(scenario->algorithm));
    ar_scenario_hash(scenario, &space->fingerprint);
    if (space->steps.count == 0 && scenario->layout.recorded != NULL) {
        ar_note_before(space->request->notes, scenario, 0);
    }
    return point_append(space, &space->steps, &point, err);
}

/* Counts a refused layout under the reason that its error begins with. */
static void count_refusal(struct adding_layouts *adding, const struct ar_error *err)
{
    AR_EACH(struct refusal, refusal, adding->refusals, REASONS_MAX) {
        if (refusal->count == 0) {
            refusal->first = *err;
        }
        if (strncmp(refusal->first.text, err->text, REASON_WORDS) == 0) {
            refusal->count++;
            refusal->differs |= strcmp(refusal->first.text, err->text) != 0;
            return;
        }
    }
}

/* Reports the commonest reason where every layout was refused; alone if it is that of all, such as
 * an option that is missing. */
static enum ar_status refuse_all(const struct adding_layouts *adding, struct ar_error *err)
{
    const struct refusal *most = &adding->refusals[0];
    size_t all = 0;
    for (size_t i = 0; i < REASONS_MAX; i++) {
        all += adding->refusals[i].count;
        most = adding->refusals[i].count > most->count ? &adding->refusals[i] : most;
    }
    struct ar_error first = most->first;
    const char *gpus = adding->space->request->gpus;
    bool is_of_all = most->count == all && !most->differs;
    return is_of_all ? (*err = first).status
                     : ar_error_set(err, first.status,
                                    "%s%.60s: none of %zu layouts can be; %zu of them as this one: "
                                    "%.300s",
                                    gpus != NULL ? "--gpus " : "--mesh", gpus != NULL ? gpus : "",
                                    all, most->count, first.text);
}

/* Reports the smallest layout where none fits, and which options would make some fit. */
static enum ar_status refuse_unfit(const struct space *space, struct ar_error *err)
{
    const struct unfit *unfit = &space->unfit;
    char hint[120] = "more GPUs";
    bool has_all = space->request->first.count > 0 && space->request->first.key == AR_KEY_MESH;
    if (!space->request->is_planned && unfit->fit_recomputed > 0) {
        snprintf(hint, sizeof hint, "--recompute full, with which %zu of them fit",
                 unfit->fit_recomputed);
    } else if (!space->request->is_planned && unfit->fit_sharded > 0) {
        snprintf(hint, sizeof hint,
                 "--recompute full with --strategy zero1 or zero3, with which %zu of them fit",
                 unfit->fit_sharded);
    } else if (!has_all) {
        snprintf(hint, sizeof hint, "--mesh all with --best, more stages, or more GPUs");
    }
    return ar_error_set(err, AR_USAGE,
                        "--mesh: no layout fits: %zu divide the model, of which the smallest (%s, "
                        "%s, recompute %s) takes %s on the fullest GPU; expected at most %s, "
                        "gpu.memory: try %s",
                        unfit->count, unfit->least_mesh, unfit->least_strategy,
                        unfit->least_recompute, AR_SHOW_BYTES((uint64_t)unfit->least_bytes),
                        AR_SHOW_BYTES((uint64_t)unfit->room_bytes), hint);
}

/* Counts the variants of the group that begins here; the first that fits becomes a point. */
static uint32_t group_size(const struct space *space, uint32_t variant)
{
    const struct space_request *request = space->request;
    for (size_t i = request->refined_count; i-- > 0;) {
        if (variant >= request->refined[i].begin && variant < request->refined[i].end) {
            return request->refined[i].group;
        }
    }
    return request->is_planned ? planned_count(&space->variants, 0) : 1;
}

/* Adds the layouts that divide and fit; an error if there is none. */
static enum ar_status layouts_add(struct space *space, struct ar_error *err)
{
    struct adding_layouts adding = {.space = space};
    const char *gpus = space->request->gpus;
    space->has_steps = true;
    AR_TRY(check_values(&space->variants, err));
    size_t meshes = space->request->first.count > 0 ? space->request->first.count : 1;
    for (uint32_t i = 0; i < space->variants.count / meshes; i++) { /* is each cluster right? */
        const struct ar_scenario *scenario;
        AR_TRY(variants_cluster(&space->variants, i, &scenario, err));
        AR_TRY(gpus == NULL ? AR_OK
                            : list_counts(&space->lists, "--gpus", gpus,
                                          ar_cluster_gpus_count(scenario->cluster), &space->gpus,
                                          &space->gpus_count, err));
    }
    /* The plainest layout is the last of the first schedule: if it is refused, so is the mesh. */
    uint32_t plainest = space->request->is_planned ? planned_count(&space->variants, 1) - 1 : 0;
    for (uint32_t i = 0; i < space->variants.count;) {
        /* The rest of a group behind a range that is refined ends where the group does. */
        uint32_t begin = i, size = group_size(space, i), end = i - i % size + size;
        adding.is_added = adding.is_full = false;
        if (plainest > 0 && end - begin == size && size > plainest) {
            const struct ar_scenario *plain;
            enum ar_status status =
                variants_scenario(&space->variants, begin + plainest, &plain, err);
            status = status == AR_OK ? check_usual(space, &plain->layout, err) : status;
            if (status == AR_USAGE) {
                count_refusal(&adding, err);
                i = end;
            }
        }
        for (; i < end && !adding.is_added; i++) {
            enum ar_status status = add_layout(&adding, i, err);
            if (status != AR_OK && status != AR_USAGE) {
                return status;
            }
            if (status != AR_OK && (!space->request->is_planned || i == begin + plainest)) {
                count_refusal(&adding, err);
            }
        }
        space->unfit.count += adding.is_full && !adding.is_added;
        i = end;
    }
    space->steps_count = space->steps.count;
    if (space->steps.count > 0) {
        return AR_OK;
    }
    return space->unfit.count > 0 ? refuse_unfit(space, err) : refuse_all(&adding, err);
}

const struct sweep_kind sweep_of_layouts = {.items_name = "layouts",
                                            .file = "layouts.csv",
                                            .axes = layout_axes,
                                            .is_ranked = true,
                                            .add_points = layouts_add};
