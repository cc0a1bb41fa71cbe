#include "layouts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_hash.h"
#include "ar_note.h"
#include "ar_pool.h"
#include "ar_run.h"
#include "ar_text.h"
#include "ar_units.h"

const enum ar_key layouts_axes[LAYOUTS_AXES] = {
#define X(key) key,
    LAYOUTS_AXIS_LIST(X)
#undef X
};

enum { VALUES_MAX = 32 };

/* One layout: its mesh, and which value of each axis it has. */
struct candidate {
    uint32_t gpus;
    const char *mesh; /* NULL: all GPUs are replicas */
    uint8_t values[LAYOUTS_AXES];
};

struct layouts_search {
    const struct layouts_request *request;
    struct layouts *layouts;
    const char *values[LAYOUTS_AXES][VALUES_MAX];
    size_t values_count[LAYOUTS_AXES];
    struct candidate *list;
    struct ar_error why; /* the last one is none */
    struct journal journal;
};

/* --- candidates --------------------------------------------------------------------------------
 */

static enum ar_status read_lists(struct layouts_search *search, struct ar_error *err)
{
    struct ar_arena *arena = search->request->base.arena;
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        const char *list = search->request->lists[i];
        char *rest = list != NULL ? ar_arena_text(arena, list) : NULL;
        if (list != NULL && rest == NULL) {
            return ar_error_no_memory(err, "the layouts");
        }
        for (char *part; rest != NULL && (part = ar_next_part(&rest, ',')) != NULL;) {
            if (search->values_count[i] == VALUES_MAX) {
                return ar_error_set(err, AR_USAGE, "%s: found more than %d values",
                                    ar_keys[layouts_axes[i]].option, VALUES_MAX);
            }
            struct ar_scenario scratch = search->request->base;
            const struct ar_origin origin = {.where = ar_keys[layouts_axes[i]].option,
                                             .status = AR_USAGE};
            AR_TRY(ar_scenario_set(&scratch, layouts_axes[i], &origin, part, err));
            if (layouts_axes[i] == AR_KEY_STRATEGY && !ar_scenario_is_laid_out(&scratch)) {
                return ar_error_set(err, AR_USAGE,
                                    "--strategy: found %s beside strategies that put parts of a "
                                    "model on GPUs; expected a sweep for each",
                                    part);
            }
            search->values[i][search->values_count[i]++] = part;
        }
    }
    return AR_OK;
}

/* The scenario of a candidate, loaded, in an arena of its own. */
static enum ar_status make_scenario(const struct layouts_search *search,
                                    const struct candidate *candidate, struct ar_arena *arena,
                                    struct ar_scenario *scenario, struct ar_error *err)
{
    char gpus[16];
    *scenario = search->request->base;
    scenario->arena = arena;
    struct ar_origin origin = {.where = "--gpus", .status = AR_USAGE};
    if (candidate->gpus > 0) {
        snprintf(gpus, sizeof gpus, "%" PRIu32, candidate->gpus);
        AR_TRY(ar_scenario_set(scenario, AR_KEY_GPUS, &origin, gpus, err));
    }
    if (candidate->mesh != NULL) {
        origin.where = "--mesh";
        AR_TRY(ar_scenario_set(scenario, AR_KEY_MESH, &origin, candidate->mesh, err));
    }
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        if (search->values_count[i] > 0) {
            origin.where = ar_keys[layouts_axes[i]].option;
            AR_TRY(ar_scenario_set(scenario, layouts_axes[i], &origin,
                                   search->values[i][candidate->values[i]], err));
        }
    }
    return ar_scenario_load(scenario, search->request->inputs, err);
}

static enum ar_status keep(struct layouts_search *search, const struct candidate *candidate,
                           const struct ar_scenario *scenario, struct ar_error *err)
{
    uint64_t *hash = &search->layouts->fingerprint;
    ar_hash_text(hash, scenario->cluster_name);
    ar_hash_text(hash, scenario->engine->name);
    ar_hash_text(hash, ar_algorithm_name(scenario->algorithm));
    AR_TRY(ar_scenario_hash(scenario, hash, err));
    if (search->layouts->count == 0 && scenario->layout.recorded != NULL) {
        ar_note_workload(search->request->notes, scenario);
    }
    struct candidate *list = ar_arena_grow(search->request->base.arena, search->list,
                                           search->layouts->count, 1, sizeof *list);
    AR_NEED(list, err, "the layouts");
    search->list = list;
    search->list[search->layouts->count++] = *candidate;
    return AR_OK;
}

/* Takes a candidate that divides and fits. What is refused of one mesh of many is left out, but not
 * what is wrong with all. */
static enum ar_status consider(struct layouts_search *search, const struct candidate *candidate,
                               struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct ar_scenario scenario;
    enum ar_status status = make_scenario(search, candidate, &arena, &scenario, &search->why);
    if (status == AR_OK && ar_scenario_is_placed(&scenario)) {
        search->layouts->tried++;
        status = keep(search, candidate, &scenario, err);
    } else if (status == AR_OK) {
        struct ar_layout_memory memory = ar_layout_memory(&scenario.layout);
        double bytes = memory.states_bytes + memory.activations_bytes;
        double there = ar_cluster_facts(scenario.cluster)->gpu_memory_bytes;
        char needed[AR_UNIT_TEXT], room[AR_UNIT_TEXT];
        search->layouts->tried++;
        if (there > 0 && bytes > there) {
            search->layouts->too_large++;
            (void)ar_error_set(&search->why, AR_USAGE,
                               "--mesh: no layout fits: the last one takes %s on the fullest GPU; "
                               "expected at most %s, gpu.memory",
                               ar_format_bytes((uint64_t)bytes, needed),
                               ar_format_bytes((uint64_t)there, room));
        } else {
            status = keep(search, candidate, &scenario, err);
        }
    }
    bool is_left_out = status == AR_USAGE;
    if (status != AR_OK && !is_left_out) {
        *err = search->why;
    }
    return is_left_out ? AR_OK : status;
}

/* All combinations of the axes. */
static enum ar_status consider_values(struct layouts_search *search, struct candidate *candidate,
                                      int axis, struct ar_error *err)
{
    if (axis == LAYOUTS_AXES) {
        return consider(search, candidate, err);
    }
    size_t count = search->values_count[axis] > 0 ? search->values_count[axis] : 1;
    for (size_t i = 0; i < count; i++) {
        candidate->values[axis] = (uint8_t)i;
        AR_TRY(consider_values(search, candidate, axis + 1, err));
    }
    return AR_OK;
}

/* All meshes of so many GPUs: pp, dp, ep and tp that multiply to it. ep is 1 without experts. */
static enum ar_status consider_meshes(struct layouts_search *search, uint32_t gpus,
                                      bool has_experts, struct ar_error *err)
{
    for (uint32_t tp = 1; tp <= gpus; tp++) {
        uint32_t most = has_experts ? gpus : 1;
        for (uint32_t ep = 1; gpus % tp == 0 && ep <= most && ep <= gpus / tp; ep++) {
            uint32_t rest = gpus / tp / ep;
            for (uint32_t pp = 1; rest * ep * tp == gpus && pp <= rest; pp++) {
                if (rest % pp != 0) {
                    continue;
                }
                const char *mesh =
                    ar_arena_format(search->request->base.arena,
                                    "pp=%" PRIu32 ",dp=%" PRIu32 ",ep=%" PRIu32 ",tp=%" PRIu32, pp,
                                    rest / pp, ep, tp);
                struct candidate candidate = {.gpus = gpus, .mesh = mesh};
                AR_TRY(mesh == NULL ? ar_error_no_memory(err, "the layouts")
                                    : consider_values(search, &candidate, 0, err));
            }
        }
    }
    return AR_OK;
}

/* Whether the workload has experts. */
static enum ar_status find_experts(const struct layouts_search *search, bool *has_experts,
                                   struct ar_error *err)
{
    const struct ar_input *input;
    const struct ar_transformer *model;
    const struct ar_scenario *base = &search->request->base;
    if (resource_is_path(RESOURCE_RECORDED, base->workload_name)) { /* it may have some */
        *has_experts = true;
        return AR_OK;
    }
    AR_TRY(ar_inputs_find(search->request->inputs, RESOURCE_WORKLOADS, "--workload", "transformers",
                          &input, err));
    struct ar_error ignored; /* the scenario says what else it is */
    *has_experts = ar_transformers_find(input->transformers, "--workload", base->workload_name,
                                        &model, &ignored) == AR_OK &&
                   (model->experts > 0 || base->model.experts > 0);
    return AR_OK;
}

static enum ar_status consider_all(struct layouts_search *search, struct ar_error *err)
{
    const struct layouts_request *request = search->request;
    bool has_all = request->mesh != NULL && strcmp(request->mesh, "all") == 0;
    bool has_experts = false;
    if (has_all) {
        AR_TRY(find_experts(search, &has_experts, err));
    }
    struct candidate candidate = {.mesh = request->mesh};
    if (request->gpus_count == 0) {
        return consider_values(search, &candidate, 0, err);
    }
    for (size_t i = 0; i < request->gpus_count; i++) {
        candidate.gpus = (uint32_t)request->gpus[i];
        AR_TRY(has_all ? consider_meshes(search, candidate.gpus, has_experts, err)
                       : consider_values(search, &candidate, 0, err));
    }
    return AR_OK;
}

/* --- predictions -------------------------------------------------------------------------------
 */

static uint32_t compute(void *context, uint32_t item, char *line)
{
    const struct layouts_search *search = context;
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct ar_scenario scenario;
    struct ar_row row;
    struct ar_error err;
    ar_row_clear(&row);
    if (make_scenario(search, &search->list[item], &arena, &scenario, &err) == AR_OK) {
        (void)ar_run(&scenario, &row, &err); /* the row says how it went */
    } else {
        ar_copy_text(row.status, sizeof row.status, err.text);
    }
    return journal_format(item, &row, line);
}

static enum ar_status take(void *context, const struct ar_pool_answer *answer, struct ar_error *err)
{
    struct layouts_search *search = context;
    char line[JOURNAL_LINE_MAX];
    struct ar_row row;
    if (!answer->is_lost) {
        return journal_add(&search->journal, answer->bytes, answer->bytes_count, err);
    }
    ar_row_clear(&row);
    ar_copy_text(row.status, sizeof row.status, answer->bytes);
    return journal_add(&search->journal, line, journal_format(answer->item, &row, line), err);
}

/* By number of GPUs, then the fastest first; what is equal stays in the order of its numbers. */
static int compare_rows(const void *a, const void *b)
{
    const struct ar_row *one = *(const struct ar_row *const *)a;
    const struct ar_row *other = *(const struct ar_row *const *)b;
    if (one->gpus != other->gpus) {
        return one->gpus < other->gpus ? -1 : 1;
    }
    if (one->iteration_s != other->iteration_s) {
        return one->iteration_s < other->iteration_s ? -1 : 1;
    }
    int order = strcmp(one->mesh, other->mesh);
    return order != 0 ? order : (one > other) - (one < other);
}

enum ar_status layouts_find(const struct layouts_request *request, struct layouts *layouts,
                            struct ar_error *err)
{
    struct layouts_search *search = ar_arena_alloc(request->base.arena, 1, sizeof *search);
    AR_NEED(search, err, "the layouts");
    *layouts = (struct layouts){.search = search, .fingerprint = AR_HASH_BEGIN};
    search->request = request;
    search->layouts = layouts;
    AR_TRY(read_lists(search, err));
    AR_TRY(consider_all(search, err));
    if (layouts->count == 0) {
        *err = search->why;
        return err->status;
    }
    return AR_OK;
}

/* Runs the layouts without a row, and those that failed. */
static enum ar_status run_missing(struct layouts_search *search, struct ar_error *err)
{
    const struct layouts_request *request = search->request;
    struct layouts *layouts = search->layouts;
    struct ar_pool_queue queue;
    const struct ar_pool_work work = {.context = search,
                                      .items_name = "layouts",
                                      .bytes_max = JOURNAL_LINE_MAX,
                                      .compute = compute,
                                      .take = take,
                                      .shows_progress = request->shows_progress};
    uint32_t *missing = ar_arena_alloc(request->base.arena, layouts->count, sizeof *missing);
    size_t count = 0;
    AR_NEED(missing, err, "the layouts");
    for (uint32_t i = 0; i < layouts->count; i++) {
        missing[count] = i;
        count += !journal_has_row(&search->journal, i);
    }
    if (request->resumes) {
        ar_note(request->notes, "%zu of %zu rows are there, %zu to compute", layouts->count - count,
                layouts->count, count);
    }
    AR_TRY(ar_pool_queue_create(request->base.arena, &work, missing, count, &queue, err));
    return ar_pool_run(&work, request->jobs, &queue, err);
}

static enum ar_status read_rows(struct layouts_search *search, struct ar_error *err)
{
    struct layouts *layouts = search->layouts;
    struct ar_arena *arena = search->request->base.arena;
    struct ar_row *read = ar_arena_alloc(arena, layouts->count, sizeof *read);
    struct ar_row **sorted = ar_arena_alloc(arena, layouts->count, sizeof *sorted);
    layouts->rows = ar_arena_alloc(arena, layouts->count, sizeof *layouts->rows);
    AR_NEED(read && sorted && layouts->rows, err, "the layouts");
    for (uint32_t i = 0; i < layouts->count; i++) {
        sorted[i] = &read[i];
        AR_TRY(journal_read_row(&search->journal, i, &read[i], err));
        if (strcmp(read[i].status, "ok") != 0) {
            return ar_error_set(
                err, AR_INTERNAL, "%zu of %zu layouts failed; the first, %s: %s%s",
                search->journal.failed_count, layouts->count,
                search->list[i].mesh != NULL ? search->list[i].mesh : "replicas", read[i].status,
                search->journal.path[0] != '\0' ? "; --resume tries them again" : "");
        }
    }
    qsort(sorted, layouts->count, sizeof *sorted, compare_rows);
    for (uint32_t i = 0; i < layouts->count; i++) {
        layouts->rows[i] = *sorted[i];
    }
    return AR_OK;
}

enum ar_status layouts_run(struct layouts *layouts, struct ar_error *err)
{
    struct layouts_search *search = layouts->search;
    const struct layouts_request *request = search->request;
    const struct journal_request journal = {.directory = request->directory,
                                            .fingerprint = layouts->fingerprint,
                                            .points_count = layouts->count,
                                            .resumes = request->resumes,
                                            .forces = request->forces};
    AR_TRY(journal_open(&journal, request->base.arena, &search->journal, err));
    enum ar_status status = run_missing(search, err);
    if (status == AR_INTERRUPTED) {
        return journal_report_interrupt(&search->journal, "layouts", err);
    }
    AR_TRY(status);
    return read_rows(search, err);
}

void layouts_keep_best(struct layouts *layouts)
{
    size_t kept = 0;
    for (size_t i = 0; i < layouts->count; i++) {
        if (i == 0 || layouts->rows[i].gpus != layouts->rows[kept - 1].gpus) {
            layouts->rows[kept++] = layouts->rows[i];
        }
    }
    layouts->count = kept;
}

void layouts_close(struct layouts *layouts, bool is_finished)
{
    journal_close(&layouts->search->journal, is_finished);
}
