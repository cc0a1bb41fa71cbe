/* Layouts of a workload, or of operators, as points of a sweep: a variant each, those that divide
 * and fit into the memory of the GPUs. */
#include <inttypes.h>

#include "ar_hash.h"
#include "ar_kind.h"
#include "ar_note.h"
#include "ar_pool.h"
#include "ar_run.h"
#include "ar_units.h"
#include "lists.h"
#include "space.h"

/* --- the first axis --------------------------------------------------------------------------- */

static enum ar_status add_value(struct ar_arena *arena, const char *value, struct axis *axis,
                                struct ar_error *err)
{
    const char **values = ar_arena_grow(arena, axis->values, axis->count, 1, sizeof *values);
    AR_NEED(value && values, err, "the layouts");
    axis->values = values;
    values[axis->count++] = value;
    return AR_OK;
}

/* All meshes of so many GPUs: pp, dp, ep and tp that multiply to it. ep is 1 without experts. */
static enum ar_status add_meshes(struct ar_arena *arena, uint32_t gpus, bool has_experts,
                                 struct axis *axis, struct ar_error *err)
{
    for (uint32_t tp = 1; tp <= gpus; tp++) {
        uint32_t most = has_experts ? gpus : 1;
        for (uint32_t ep = 1; gpus % tp == 0 && ep <= most && ep <= gpus / tp; ep++) {
            uint32_t rest = gpus / tp / ep;
            for (uint32_t pp = 1; rest * ep * tp == gpus && pp <= rest; pp++) {
                if (rest % pp == 0) {
                    AR_TRY(add_value(arena,
                                     ar_arena_format(arena,
                                                     "pp=%" PRIu32 ",dp=%" PRIu32 ",ep=%" PRIu32
                                                     ",tp=%" PRIu32,
                                                     pp, rest / pp, ep, tp),
                                     axis, err));
                }
            }
        }
    }
    return AR_OK;
}

/* Whether the workload has experts; that of a file may have some. */
static enum ar_status find_experts(const struct variants_request *request, bool *has_experts,
                                   struct ar_error *err)
{
    const struct ar_input *input;
    const struct ar_transformer *model;
    const struct ar_scenario *base = &request->base;
    *has_experts =
        base->workload_name != NULL && resource_is_path(RESOURCE_RECORDED, base->workload_name);
    if (*has_experts || base->workload_name == NULL) {
        return AR_OK;
    }
    AR_TRY(ar_inputs_find(request->inputs, RESOURCE_WORKLOADS, "--workload", "transformers", &input,
                          err));
    struct ar_error ignored; /* the scenario says what else it is */
    *has_experts = ar_transformers_find(input->transformers, "--workload", base->workload_name,
                                        &model, &ignored) == AR_OK &&
                   (model->experts > 0 || base->model.experts > 0);
    return AR_OK;
}

enum ar_status space_list_meshes(const struct space_request *request, bool has_all,
                                 struct axis *first, struct ar_error *err)
{
    struct ar_arena *arena = request->variants.base.arena;
    uint64_t *gpus;
    size_t count;
    bool has_experts = false;
    *first = (struct axis){.name = has_all ? "mesh" : "gpus",
                           .key = has_all ? AR_KEY_MESH : AR_KEY_GPUS};
    AR_TRY(list_counts(arena, "--gpus", request->gpus, UINT32_MAX, &gpus, &count, err));
    if (has_all) {
        AR_TRY(find_experts(&request->variants, &has_experts, err));
    }
    for (size_t i = 0; i < count; i++) {
        AR_TRY(has_all ? add_meshes(arena, (uint32_t)gpus[i], has_experts, first, err)
                       : add_value(arena, ar_arena_format(arena, "%" PRIu64, gpus[i]), first, err));
    }
    return AR_OK;
}

/* --- the points ------------------------------------------------------------------------------- */

/* What is wrong with a value is wrong with all layouts that have it. */
static enum ar_status check_values(const struct variants *variants, struct ar_error *err)
{
    for (size_t i = variants->request->first.count > 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        for (size_t j = 0; j < axis->count; j++) {
            struct ar_scenario scratch = variants->request->base;
            AR_TRY(ar_scenario_set(&scratch, axis->key, NULL, axis->values[j], err));
            if (axis->key == AR_KEY_STRATEGY && !ar_scenario_kind(&scratch)->has_layout) {
                return ar_error_set(err, AR_USAGE,
                                    "--strategy: found %s beside strategies that put parts of a "
                                    "model on GPUs; expected a sweep for each",
                                    axis->values[j]);
            }
        }
    }
    return AR_OK;
}

/* Operators are placed where there is room. */
static enum ar_status check_fits(struct space *space, const struct ar_scenario *scenario,
                                 struct ar_error *err)
{
    char needed[AR_UNIT_TEXT], room[AR_UNIT_TEXT];
    if (scenario->layout.placed != NULL) {
        return AR_OK;
    }
    struct ar_layout_memory memory = ar_layout_memory(&scenario->layout);
    double bytes = memory.states_bytes + memory.activations_bytes;
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    if (there <= 0 || bytes <= there) {
        return AR_OK;
    }
    space->too_large++;
    return ar_error_set(err, AR_USAGE,
                        "--mesh: no layout fits: the last one takes %s on the fullest GPU; "
                        "expected at most %s, gpu.memory",
                        ar_format_bytes((uint64_t)bytes, needed),
                        ar_format_bytes((uint64_t)there, room));
}

static enum ar_status add_layout(struct space *space, uint32_t number, struct ar_error *err)
{
    const struct ar_scenario *scenario;
    AR_TRY(variants_scenario(&space->variants, number, &scenario, err));
    const struct point point = {.shape = {.x = scenario->gpus, .y = 1},
                                .variant = number,
                                .cost_s = (float)AR_POOL_CHEAP_S,
                                .twin = (uint32_t)space->steps.count};
    AR_TRY(check_fits(space, scenario, err));
    ar_hash_text(&space->fingerprint, scenario->cluster_name);
    ar_hash_text(&space->fingerprint, scenario->engine->name);
    ar_hash_text(&space->fingerprint, ar_algorithm_name(scenario->algorithm));
    AR_TRY(ar_scenario_hash(scenario, &space->fingerprint, err));
    if (space->steps.count == 0 && scenario->layout.recorded != NULL) {
        ar_note_before(space->request->notes, scenario, NULL, 0);
    }
    return space_append(space, &space->steps, &point, err);
}

/* What is refused of one layout of many is left out. */
enum ar_status space_add_layouts(struct space *space, struct ar_error *err)
{
    AR_TRY(check_values(&space->variants, err));
    if (space->request->gpus != NULL) {
        AR_TRY(list_counts(&space->lists, "--gpus", space->request->gpus, UINT32_MAX, &space->gpus,
                           &space->gpus_count, err));
    }
    for (uint32_t i = 0; i < space->variants.count; i++) {
        enum ar_status status = add_layout(space, i, err);
        if (status != AR_OK && status != AR_USAGE) {
            return status;
        }
    }
    space->steps_count = space->steps.count;
    return space->steps.count > 0 ? AR_OK : err->status;
}
