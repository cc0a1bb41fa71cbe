/* sweep: all combinations of GPU counts, algorithms, grids and the axes of variants.h, or all
 * layouts of a workload, in parallel processes. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_row.h"
#include "ar_step_errors.h"
#include "commands.h"
#include "made_by.h"
#include "sweep.h"

/* The strategies of --mesh all without --strategy: most meshes do not fit without sharding. */
#define STRATEGIES "data,zero1,zero3"
/* Plans cut longer sequences into such parts or larger ones, as Llama 3 does (arXiv:2407.21783). */
enum { CP_TOKENS = 8192 };

/* A sweep while it is read, run and signed. */
struct sweep_command {
    const struct options *options;
    const struct options *given; /* those of the command line, which files name */
    const struct sweep_kind *kind;
    uint32_t cp;           /* --mesh all, or all,cp=N; 0: neither */
    uint32_t cp_max;       /* more than that in plans of long sequences with --mesh all */
    bool tries_strategies; /* those above */
    struct sweep_request request;
    struct space_request points;
    struct space space;
};

/* Checks a sweep of steps of a trace, or of collectives of several payloads. */
static enum ar_status check_points(const struct options *options, struct ar_error *err)
{
    bool has_trace = option_key(options, AR_KEY_TRACE) != NULL;
    AR_REFUSE(!has_trace && options->payloads == NULL, err, AR_USAGE,
              "sweep: option --trace is missing, and --payload; expected --trace or --workload "
              "for training steps, or --payload for collectives alone");
    AR_REFUSE(has_trace && options->operation != NULL, err, AR_USAGE,
              "--operation: found with a trace, whose steps are all-reduces of all GPUs; expected "
              "it with --payload alone");
    if (!has_trace) {
        key_set allowed = ~(key_bits(AR_KEY_OF_STEP) & ~key_bits(AR_KEY_OF_COLLECTIVE));
        AR_TRY(option_refuse_others(options, allowed, "--payload alone", err));
    }
    return option_key(options, AR_KEY_MESH) != NULL
               ? AR_OK
               : option_required(options, "gpus", options->gpus_list, err);
}

/* Checks a sweep of layouts: some options are of traces and payloads alone. */
static enum ar_status check_layouts(const struct sweep_command *sweep, struct ar_error *err)
{
    const struct options *options = sweep->options;
    const char *other = options->payloads != NULL                 ? "--payload"
                        : options->operation != NULL              ? "--operation"
                        : strcmp(options->algorithms, "all") != 0 ? "--algorithms"
                        : strcmp(options->shapes, "all") != 0     ? "--shapes"
                                                                  : NULL;
    AR_REFUSE(other != NULL, err, AR_USAGE,
              "%s: found with %s; expected it with a trace or a payload", other,
              option_key(options, AR_KEY_WORKLOAD) != NULL ? "--workload" : "operators");
    return option_key(options, AR_KEY_MESH) == NULL || sweep->cp > 0
               ? option_required(options, "gpus", options->gpus_list, err)
               : AR_OK;
}

static enum ar_status read_space(struct sweep_command *sweep, struct ar_error *err)
{
    const struct options *options = sweep->options;
    struct space_request *request = &sweep->points;
    struct ar_scenario settings;
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    request->kind = sweep->kind;
    request->notes = sweep->request.notes;
    request->operations = options->operation;
    request->gpus = options->gpus_list;
    request->algorithms = options->algorithms;
    request->shapes = options->shapes;
    request->payloads = options->payloads;
    AR_TRY(sweep->kind->is_ranked ? check_layouts(sweep, err) : check_points(options, err));
    /* Keys that may be lists stay texts; the others have one value for all points. */
    key_set axes = KEY_BIT(AR_KEY_SET) | (sweep->cp > 0 ? KEY_BIT(AR_KEY_MESH) : 0);
    for (const enum ar_key *key = sweep->kind->axes; *key != AR_KEYS_COUNT; key++) {
        const char *text = option_key(options, *key);
        bool is_condition = *key == AR_KEY_CLUSTER ||
                            (sweep->kind->is_ranked && keys_have(layout_conditions, *key));
        if (!is_condition || (text != NULL && key_is_list(*key, text))) {
            request->lists[*key] = text;
            axes |= KEY_BIT(*key);
        }
    }
    if (sweep->tries_strategies) {
        request->lists[AR_KEY_STRATEGY] = STRATEGIES;
    }
    const struct planned_key *planned = planned_keys;
    for (; request->is_planned && planned->values != NULL; planned++) {
        if (request->lists[planned->key] == NULL) {
            request->lists[planned->key] = planned->values;
        }
    }
    AR_TRY(options_scenario(options, axes, &request->base, err));
    struct ar_runner library;
    if (option_key(options, AR_KEY_RUNNABLE_BY) == NULL &&
        ar_runner_parse("", options->algorithms, &library, AR_IGNORED) == AR_OK) {
        /* --algorithms nccl: where NCCL runs them */
        AR_TRY(ar_scenario_set(&request->base, AR_KEY_RUNNABLE_BY, NULL, options->algorithms, err));
    }
    AR_TRY(options_scenario(options, ~KEY_BIT(AR_KEY_SET), &settings, err));
    request->settings = settings.settings;
    bool is_long = request->is_planned && strcmp(option_key(options, AR_KEY_MESH), "all") == 0;
    uint32_t parts = is_long ? request->base.model.seq / CP_TOKENS : 0;
    sweep->cp_max = parts > sweep->cp ? parts : sweep->cp;
    return sweep->kind->is_ranked && request->gpus != NULL
               ? space_list_meshes(request, sweep->cp, sweep->cp_max, &request->first, err)
               : AR_OK;
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Notes what all steps have in common; columns of the rows show what varies. */
static enum ar_status note_steps(FILE *notes, struct space *space, struct ar_error *err)
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
                "%zu points, %" PRIu32 " combinations of options and settings; efficiency: 100 %% "
                "is %s",
                space->points_count, last + 1, ar_note_baseline(scenario->baseline));
    }
    if (is_ideal == ar_scenario_is_ideal(scenario)) { /* as all between the first and the last */
        ar_note_how_sure(notes, scenario);
    }
    for (uint32_t i = 0; i <= last; i++) {
        AR_TRY(variants_scenario(&space->variants, i, &scenario, err));
        if (ar_note_trace(notes, scenario)) {
            break; /* one combination is enough */
        }
    }
    return AR_OK;
}

static void note_collectives(FILE *notes, const struct space *space)
{
    ar_note(notes, "%zu point%s, %" PRIu32 " combination%s of options and settings",
            space->points_count, space->points_count == 1 ? "" : "s", space->variants.count,
            space->variants.count == 1 ? "" : "s");
    for (size_t i = 0; i < space->operations_count; i++) {
        if (space->operations[i]->has_root &&
            !ar_scenario_has(&space->request->base, AR_KEY_ROOT)) {
            ar_note(notes, "the root is rank 0%s (--root)",
                    space->request->base.mesh.axes_count > 0 ? " of each group" : "");
            return;
        }
    }
}

/* Notes which options a plan varied, and which ones had one value. */
static void note_plan(FILE *notes, const struct sweep_command *sweep)
{
    const struct variants *variants = &sweep->space.variants;
    char *varied = "", *held = "";
    for (const enum ar_key *key = sweep->kind->axes; *key != AR_KEYS_COUNT; key++) {
        size_t i = 0;
        while (i < variants->axes_count && variants->axes[i].key != *key) {
            i++;
        }
        bool is_varied = i < variants->axes_count && variants->axes[i].count > 1;
        const char *text = is_varied ? sweep->points.lists[*key] : option_key(sweep->options, *key);
        text = text != NULL ? text : ar_keys[*key].standard;
        if (text != NULL && ar_key_is(*key, AR_KEY_OF_LAYOUT) &&
            (is_varied || !keys_have(layout_conditions, *key))) {
            char **list = is_varied ? &varied : &held;
            *list = ar_arena_format(sweep->options->arena, "%s%s%s %s", *list,
                                    **list != '\0' ? "; " : "", ar_key_name(*key), text);
        }
    }
    size_t slow = sweep->request.slow_count;
    ar_note(
        notes,
        "varied: %s%s: one layout of each mesh%s, all schedules of the fastest meshes, all "
        "overlaps of the fastest of those, each with the least recomputation that fits; held: %s%s",
        varied,
        sweep->cp_max > sweep->cp
            ? ar_arena_format(sweep->options->arena, "; cp powers of 2 to %u", sweep->cp_max)
            : "",
        slow > 0
            ? ar_arena_format(sweep->options->arena,
                              " but %zu, which compute longer than the fastest steps take", slow)
            : "",
        sweep->cp_max == 1 ? "cp 1 (--mesh all,cp=N tries another); " : "", held);
}

static enum ar_status note_layouts(FILE *notes, struct sweep_command *sweep, struct ar_error *err)
{
    struct space *space = &sweep->space;
    const struct unfit *unfit = &space->unfit;
    const struct ar_scenario *scenario;
    size_t points = sweep->points.is_planned ? sweep->request.planned_count : space->points_count;
    size_t count = points + unfit->count;
    const char *gpus = sweep->points.gpus;
    bool has_counts = gpus != NULL && key_is_list(AR_KEY_GPUS, gpus);
    const char *fit =
        unfit->room_bytes > 0 && unfit->count > 0
            ? ar_arena_format(sweep->options->arena,
                              "%zu of them do not fit into the memory of a GPU", unfit->count)
        : unfit->room_bytes > 0 ? "within the memory of a GPU"
        : unfit->is_asked
            ? "and nobody knows which of them fit: the cluster has no gpu.memory (--set)"
            : "and are placed where there is room";
    AR_TRY(variants_scenario(&space->variants, space->points[0].variant, &scenario, err));
    ar_note(
        notes, "%zu %s%s the model, %s; %sthe fastest first; kernels: what %s is left out", count,
        sweep->points.is_planned ? count == 1 ? "mesh with a strategy" : "meshes with strategies"
        : count == 1             ? "layout"
                                 : "layouts",
        count == 1 ? " divides" : " divide", fit, has_counts ? "by number of GPUs, " : "",
        ar_note_left_out(scenario));
    ar_note_assumed(notes, scenario);
    if (has_counts && unfit->is_asked && sweep->request.take == NULL) {
        ar_note(notes, "efficiency: 100 %% is the fastest layout on the fewest GPUs, per GPU");
    }
    ar_note_step_errors(notes, scenario);
    if (sweep->points.is_planned) {
        note_plan(notes, sweep);
    } else if (sweep->tries_strategies) {
        ar_note(notes, "strategies that were tried: " STRATEGIES
                       " (--strategy); --best varies schedule, recomputation and overlaps, too");
    }
    const struct point *last = &space->points[space->points_count - 1]; /* on the most GPUs */
    AR_TRY(variants_scenario(&space->variants, last->variant, &scenario, err));
    ar_note_links(notes, scenario, scenario->gpus);
    return AR_OK;
}

static enum ar_status note_space(struct sweep_command *sweep, struct ar_error *err)
{
    FILE *notes = sweep->request.notes;
    struct space *space = &sweep->space;
    const struct ar_scenario *scenario;
    if (sweep->kind->is_ranked) {
        return note_layouts(notes, sweep, err);
    }
    if (space->has_steps) {
        AR_TRY(note_steps(notes, space, err));
    } else {
        note_collectives(notes, space);
    }
    AR_TRY(variants_scenario(&space->variants, space->variants.count - 1, &scenario, err));
    ar_note_assumed(notes, scenario);
    ar_note_sweep(notes, scenario, space->gpus, space->gpus_count);
    return AR_OK;
}

/* --- the directory ---------------------------------------------------------------------------- */

/* Signs the directory with the inputs of all points: a value that the first and the last
 * combination do not share varies. */
static enum ar_status sign_sweep(void *context, struct ar_error *err)
{
    struct sweep_command *sweep = context;
    const struct options *options = sweep->options;
    struct variants *variants = &sweep->space.variants;
    const uint32_t ends[] = {0, variants->count - 1};
    struct parameters parameters = {.arena = options->arena};
    if (sweep->request.mark == NULL) {
        return AR_OK;
    }
    if (sweep->cp > 0 && option_key(sweep->given, AR_KEY_MESH) == NULL) {
        parameters_add(&parameters, (struct parameter){"--mesh", "all", "default"});
    }
    if (sweep->tries_strategies) {
        parameters_add(&parameters, (struct parameter){"--strategy", STRATEGIES, "default"});
    }
    for (size_t i = 0; i < 2; i++) {
        const struct ar_scenario *scenario; /* the layouts at both ends may be impossible */
        AR_TRY(sweep->kind->is_ranked ? variants_cluster(variants, ends[i], &scenario, err)
                                      : variants_scenario(variants, ends[i], &scenario, err));
        parameters_add_scenario(&parameters, scenario);
    }
    return made_by_sign(sweep->given, sweep->request.mark, &parameters, err);
}

static enum ar_status prepare_sweep(struct sweep_command *sweep, struct ar_error *err)
{
    const struct options *options = sweep->options;
    const struct ar_scenario *scenario;
    struct sweep_request *request = &sweep->request;
    uint64_t jobs = request->launcher.local_ranks > 1 ? 1 : ar_pool_processors();
    AR_TRY(option_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err));
    request->jobs = (uint32_t)jobs;
    AR_TRY(option_view(options, ar_row_columns, &request->view, err));
    AR_REFUSE(options->resume && options->out == NULL, err, AR_USAGE,
              "sweep: found --resume without --out; expected --out DIR of the sweep to go on with");
    AR_TRY(read_space(sweep, err));
    AR_TRY(space_create(&sweep->points, &sweep->space, err));
    if (sweep->kind->is_ranked && request->notes != NULL) { /* before what may take long */
        AR_TRY(variants_scenario(&sweep->space.variants, sweep->space.points[0].variant, &scenario,
                                 err));
        ar_note_model(request->notes, scenario);
        ar_note_flush(request->notes);
    }
    if (sweep->points.is_planned) {
        AR_TRY(sweep_plan(request, &sweep->points, &sweep->space, options->arena, err));
    }
    if (options->out != NULL && request->launcher.rank == 0) {
        /* Refuses the output of another command, and finds out whether this sweep is complete
         * there. A directory with a journal has an unfinished sweep; the journal knows which. */
        const char *files = "sweep.csv payload.csv layouts.csv advice.csv";
        bool has_journal =
            access(ar_arena_format(options->arena, "%s/sweep.journal", options->out), F_OK) == 0;
        const char *rows =
            ar_arena_format(options->arena, "%s/%s", options->out, sweep->kind->file);
        const char *mark = ar_arena_format(options->arena, "sweep %016" PRIx64 " of %zu points",
                                           sweep->space.fingerprint, sweep->space.points_count);
        sweep->request.mark = mark;
        sweep->request.is_complete = options->resume && !has_journal && made_by_is_file(rows) &&
                                     made_by_has_mark(options, mark);
        AR_TRY(made_by_check_directory(sweep->given, has_journal ? "" : files, mark, err));
    }
    return note_space(sweep, err);
}

enum ar_status command_sweep(const struct options *options, struct ar_error *err)
{
    return command_sweep_for(options, options, NULL, NULL, err);
}

enum ar_status command_sweep_for(const struct options *options, const struct options *given,
                                 sweep_taker take, void *taker, struct ar_error *err)
{
    struct sweep_command *sweep = ar_arena_alloc(options->arena, 1, sizeof *sweep);
    /* Under mpirun all ranks run a sweep, but other commands on rank 0 alone. */
    const struct launcher launcher = take == NULL ? launcher_find() : (struct launcher){.ranks = 1};
    const char *mesh = option_key(options, AR_KEY_MESH);
    static const char all_with_cp[] = "all,cp=";
    sweep->options = options;
    sweep->given = given;
    sweep->kind = option_needs_no_trace(options) ? &sweep_of_layouts : &sweep_of_points;
    sweep->cp = mesh != NULL && strcmp(mesh, "all") == 0 ? 1 : 0;
    if (mesh != NULL && strncmp(mesh, all_with_cp, strlen(all_with_cp)) == 0) {
        uint64_t cp;
        AR_TRY(option_count("--mesh all,cp", mesh + strlen(all_with_cp), 1, 1000000, &cp, err));
        sweep->cp = (uint32_t)cp;
    }
    sweep->tries_strategies =
        sweep->kind->is_ranked && sweep->cp > 0 && option_key(options, AR_KEY_STRATEGY) == NULL;
    sweep->request =
        (struct sweep_request){.notes = launcher.rank > 0 ? NULL : option_notes(options),
                               .shows_progress = option_notes(options) != NULL,
                               .directory = options->out,
                               .resumes = options->resume,
                               .forces = options->force || take != NULL,
                               .is_best = options->best,
                               .launcher = launcher,
                               .sign = sign_sweep,
                               .context = sweep,
                               .take = take,
                               .taker = taker};
    sweep->points.is_planned =
        options->best && sweep->cp > 0 && option_key(options, AR_KEY_WORKLOAD) != NULL;
    enum ar_status status = prepare_sweep(sweep, err);
    status = sweep_run(&sweep->request, &sweep->space, status, err);
    space_destroy(&sweep->space);
    return status;
}
