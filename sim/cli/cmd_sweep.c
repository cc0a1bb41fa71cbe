/* sweep: all combinations of GPU counts, algorithms, grids and the axes of variants.h, or all
 * layouts of a workload, in parallel processes. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_note.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "made_by.h"
#include "sweep.h"

/* What all meshes are tried with unless --strategy says it: without sharding most do not fit. */
#define STRATEGIES "data,zero1,zero3"

static enum ar_status read_request(const struct options *options, struct sweep_request *request,
                                   struct ar_error *err)
{
    uint64_t jobs = request->launcher.local_ranks > 1 ? 1 : ar_pool_processors();
    AR_TRY(option_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err));
    request->jobs = (uint32_t)jobs;
    AR_TRY(option_view(options, ar_row_columns, &request->view, err));
    return option_check_resume(options, err);
}

/* Steps of a trace, or collectives of several payloads. */
static enum ar_status check_kind(const struct options *options, struct ar_error *err)
{
    bool has_trace = option_key(options, AR_KEY_TRACE) != NULL;
    if (!has_trace && options->payloads == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "sweep: option --trace is missing, and --payload; expected --trace for "
                            "training steps, or --payload for collectives alone");
    }
    if (has_trace && options->operation != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--operation: found with a trace, whose steps are all-reduces of all "
                            "GPUs; expected it with --payload alone");
    }
    if (!has_trace) {
        key_set allowed = ~(key_bits(AR_KEY_OF_STEP) & ~key_bits(AR_KEY_OF_COLLECTIVE));
        AR_TRY(option_refuse_others(options, allowed, "--payload alone", err));
    }
    return option_key(options, AR_KEY_MESH) != NULL
               ? AR_OK
               : option_required(options, "gpus", options->gpus_list, err);
}

/* What layouts have no use for. */
static enum ar_status refuse_others(const struct options *options, struct ar_error *err)
{
    static const char *const names[] = {"--payload", "--operation", "--algorithms", "--shapes"};
    const bool found[] = {options->payloads != NULL, options->operation != NULL,
                          strcmp(options->algorithms, "all") != 0,
                          strcmp(options->shapes, "all") != 0};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i]) {
            return ar_error_set(
                err, AR_USAGE, "%s: found with %s; expected it with a trace or a payload", names[i],
                option_key(options, AR_KEY_WORKLOAD) != NULL ? "--workload" : "operators");
        }
    }
    return AR_OK;
}

static bool tries_all(const struct options *options)
{
    const char *mesh = option_key(options, AR_KEY_MESH);
    return mesh != NULL && strcmp(mesh, "all") == 0;
}

/* Whether the strategies are those of the list above. */
static bool tries_strategies(const struct options *options)
{
    return option_is_laid_out(options) && tries_all(options) &&
           option_key(options, AR_KEY_STRATEGY) == NULL;
}

/* Keys that may be lists stay texts; the others are those of all points. */
static enum ar_status read_variants(const struct options *options, struct variants_request *request,
                                    struct ar_error *err)
{
    key_set axes = request->is_laid_out ? 0 : KEY_BIT(AR_KEY_SET);
    axes |= tries_all(options) && request->is_laid_out ? KEY_BIT(AR_KEY_MESH) : 0;
    for (const enum ar_key *key = variants_keys(request->is_laid_out); *key != AR_KEYS_COUNT;
         key++) {
        request->lists[*key] = option_key(options, *key);
        axes |= KEY_BIT(*key);
    }
    if (tries_strategies(options)) {
        request->lists[AR_KEY_STRATEGY] = STRATEGIES;
    }
    return options_scenario(options, axes, &request->base, err);
}

static enum ar_status read_layouts(const struct options *options, struct space_request *request,
                                   struct ar_error *err)
{
    struct variants_request *variants = &request->variants;
    bool has_all = tries_all(options);
    AR_TRY(refuse_others(options, err));
    if (option_key(options, AR_KEY_MESH) == NULL || has_all) {
        AR_TRY(option_required(options, "gpus", options->gpus_list, err));
    }
    AR_TRY(read_variants(options, variants, err));
    AR_TRY(ar_scenario_load_cluster(&variants->base, variants->inputs, err));
    return request->gpus != NULL ? space_list_meshes(request, has_all, &variants->first, err)
                                 : AR_OK;
}

static enum ar_status read_space(const struct options *options, struct space_request *request,
                                 struct ar_error *err)
{
    struct variants_request *variants = &request->variants;
    struct ar_scenario settings;
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    variants->inputs = options->inputs;
    request->operations = options->operation;
    request->gpus = options->gpus_list;
    request->algorithms = options->algorithms;
    request->shapes = options->shapes;
    request->payloads = options->payloads;
    variants->is_laid_out = option_is_laid_out(options);
    if (variants->is_laid_out) {
        return read_layouts(options, request, err);
    }
    AR_TRY(check_kind(options, err));
    AR_TRY(read_variants(options, variants, err));
    AR_TRY(options_scenario(options, ~KEY_BIT(AR_KEY_SET), &settings, err));
    variants->settings = settings.settings;
    variants->has_jitter = option_key(options, AR_KEY_FRAMEWORK) != NULL ||
                           option_key(options, AR_KEY_STRATEGY) != NULL ||
                           variants->base.terms.count > 0;
    return AR_OK;
}

/* What the steps have in common; what varies is in the rows. */
static enum ar_status describe_steps(FILE *notes, struct space *space, struct ar_error *err)
{
    const struct ar_scenario *scenario;
    uint32_t last = space->variants.count - 1;
    AR_TRY(variants_scenario(&space->variants, 0, &scenario, err));
    bool is_ideal = ar_scenario_is_ideal(scenario);
    AR_TRY(variants_scenario(&space->variants, last, &scenario, err));
    ar_note_framework(notes, scenario);
    if (last == 0) {
        ar_note_points(notes, scenario, space->points_count);
    } else {
        ar_note(notes,
                "%zu points, %" PRIu32 " combinations of options and settings; efficiency: 100 "
                "%% is %s",
                space->points_count, last + 1, ar_note_baseline(scenario->baseline));
    }
    if (is_ideal) { /* and if the last one is, too, all are: an axis ends with another value */
        ar_note_ideal(notes, scenario, NULL);
    }
    for (uint32_t i = 0; i <= last; i++) {
        AR_TRY(variants_scenario(&space->variants, i, &scenario, err));
        if (ar_note_trace(notes, scenario)) {
            break; /* of one combination is enough */
        }
    }
    return AR_OK;
}

static bool has_layout(const struct space *space, uint64_t gpus)
{
    size_t i = 0;
    while (i < space->points_count && ar_shape_ranks(&space->points[i].shape) != gpus) {
        i++;
    }
    return i < space->points_count;
}

/* Numbers of GPUs that have no row. */
static void note_empty(const struct space *space)
{
    char text[128];
    size_t length = 0;
    for (size_t i = 0; i < space->gpus_count && length < 80; i++) {
        if (!has_layout(space, space->gpus[i])) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64,
                                       length > 0 ? ", " : "", space->gpus[i]);
        }
    }
    if (length > 0) {
        ar_note(space->request->notes, "no layout divides and fits on so many GPUs: %s%s", text,
                length < 80 ? "" : ", ...");
    }
}

static void describe_layouts(const struct options *options, const struct space *space)
{
    FILE *notes = space->request->notes;
    ar_note(notes,
            "%zu layouts divide, %zu of them do not fit; %sthe fastest first, without what a "
            "framework adds between kernels",
            space->points_count + space->too_large, space->too_large,
            space->gpus_count > 1 ? "by number of GPUs, " : "");
    note_empty(space);
    if (tries_strategies(options)) {
        ar_note(notes, "strategies that were tried: " STRATEGIES " (--strategy)");
    }
}

/* Notes on all rows, by the last combination. */
static enum ar_status describe(const struct options *options, struct space *space,
                               struct ar_error *err)
{
    FILE *notes = space->request->notes;
    const struct ar_scenario *scenario;
    const struct ar_scenario *base = &space->request->variants.base;
    if (space->request->variants.is_laid_out) {
        describe_layouts(options, space);
        return AR_OK;
    }
    if (space->has_steps) {
        AR_TRY(describe_steps(notes, space, err));
    } else {
        ar_note(notes, "%zu points, %" PRIu32 " combination%s of options and settings",
                space->points_count, space->variants.count, space->variants.count == 1 ? "" : "s");
        for (size_t i = 0; i < space->operations_count; i++) {
            if (space->operations[i]->has_root && !ar_scenario_has(base, AR_KEY_ROOT)) {
                ar_note(notes, "the root is rank 0 of each group (--root)");
                break; /* once */
            }
        }
    }
    AR_TRY(variants_scenario(&space->variants, space->variants.count - 1, &scenario, err));
    ar_note_platform(notes, scenario);
    ar_note_sweep(notes, scenario, space->gpus, space->gpus_count);
    return AR_OK;
}

static bool has_file(const struct options *options, const char *name)
{
    const char *path = ar_arena_format(options->arena, "%s/%s", options->out, name);
    return path != NULL && access(path, F_OK) == 0;
}

/* Refuses the output of another command; finds out whether it is that of this sweep, all of it. A
 * directory with a journal is that of the sweep that did not finish, which the journal knows. */
static enum ar_status check_directory(const struct options *options, const char *const *names,
                                      const struct space *space, const char **mark,
                                      bool *is_complete, struct ar_error *err)
{
    static const char *const none[] = {NULL};
    bool has_journal = has_file(options, "sweep.journal");
    *mark = ar_arena_format(options->arena, "sweep %016" PRIx64 " of %zu points",
                            space->fingerprint, space->points_count);
    *is_complete = options->resume && !has_journal && made_by_has_mark(options, *mark) &&
                   sweep_files_are_whole(options->out, space);
    return made_by_check_directory(options, has_journal ? none : names, *mark, err);
}

static enum ar_status prepare(const struct options *options, struct sweep_request *request,
                              struct space_request *points, struct space *space, const char **mark,
                              struct ar_error *err)
{
    static const char *const of_points[] = {"sweep.csv", "payload.csv", "layouts.csv", NULL};
    static const char *const of_layouts[] = {"layouts.csv", "sweep.csv", "payload.csv", NULL};
    points->notes = request->notes;
    AR_TRY(read_request(options, request, err));
    AR_TRY(read_space(options, points, err));
    AR_TRY(space_create(points, space, err));
    if (options->out != NULL && request->launcher.rank == 0) {
        AR_TRY(check_directory(options, points->variants.is_laid_out ? of_layouts : of_points,
                               space, mark, &request->is_complete, err));
    }
    return describe(options, space, err);
}

struct signing {
    const struct options *options;
    struct space *space;
    const char *mark; /* NULL: no files */
};

/* What all layouts have; of points what has another value in the last combination varies. */
static enum ar_status add_parameters(const struct options *options, struct space *space,
                                     struct parameters *parameters, struct ar_error *err)
{
    const struct parameter tried = {"--strategy", STRATEGIES, "default"};
    const uint32_t ends[] = {0, space->variants.count - 1};
    const struct ar_scenario *scenario = &space->request->variants.base;
    if (space->request->variants.is_laid_out) {
        if (tries_strategies(options)) {
            parameters_add(parameters, tried, options->arena);
        }
        parameters_add_scenario(parameters, scenario, options->arena);
        return AR_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        AR_TRY(variants_scenario(&space->variants, ends[i], &scenario, err));
        parameters_add_scenario(parameters, scenario, options->arena);
    }
    return AR_OK;
}

static enum ar_status sign(void *context, struct ar_error *err)
{
    const struct signing *signing = context;
    struct parameters parameters = {0};
    if (signing->mark == NULL) {
        return AR_OK;
    }
    AR_TRY(add_parameters(signing->options, signing->space, &parameters, err));
    return made_by_sign(signing->options, signing->mark, &parameters, err);
}

enum ar_status command_sweep(const struct options *options, struct ar_error *err)
{
    struct sweep_request request = {.items_name =
                                        option_is_laid_out(options) ? "layouts" : "points",
                                    .directory = options->out,
                                    .resumes = options->resume,
                                    .forces = options->force,
                                    .is_best = options->best,
                                    .launcher = launcher_find()};
    struct space_request *points = ar_arena_alloc(options->arena, 1, sizeof *points);
    struct space *space = ar_arena_alloc(options->arena, 1, sizeof *space);
    request.notes = request.launcher.rank > 0 ? NULL : option_notes(options); /* one talks */
    struct signing signing = {.options = options, .space = space};
    request.sign = sign;
    request.context = &signing;
    enum ar_status status = prepare(options, &request, points, space, &signing.mark, err);
    status = sweep_run(&request, space, status, err);
    space_destroy(space);
    return status;
}
