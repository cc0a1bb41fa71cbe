/* sweep --workload: which layout of a transformer on some numbers of GPUs. */
#include <string.h>

#include "ar_note.h"
#include "ar_output.h"
#include "ar_pool.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "layouts.h"
#include "lists.h"
#include "made_by.h"

/* What all meshes are tried with unless --strategy says it: without sharding most do not fit. */
#define STRATEGIES "data,zero1,zero3"

/* Keys that are lists, and those that layouts are made of. */
static key_set own_keys(void)
{
    key_set bits = KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_GPUS);
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        bits |= KEY_BIT(layouts_axes[i]);
    }
    return bits;
}

static enum ar_status refuse_others(const struct options *options, struct ar_error *err)
{
    static const char *const names[] = {"--payload", "--operation", "--algorithms", "--shapes"};
    bool is_default = options->algorithms == NULL || strcmp(options->algorithms, "all") == 0;
    bool is_plain = options->shapes == NULL || strcmp(options->shapes, "all") == 0;
    const bool found[] = {options->payloads != NULL, options->operation != NULL, !is_default,
                          !is_plain};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i]) {
            return ar_error_set(
                err, AR_USAGE, "%s: found with %s; expected it with a trace or a payload", names[i],
                option_key(options, AR_KEY_WORKLOAD) != NULL ? "--workload" : "operators");
        }
    }
    return option_check_resume(options, err);
}

static bool tries_all(const struct options *options)
{
    const char *mesh = option_key(options, AR_KEY_MESH);
    return mesh != NULL && strcmp(mesh, "all") == 0;
}

/* Whether the strategies are those of the list above. */
static bool tries_strategies(const struct options *options)
{
    return tries_all(options) && option_key(options, AR_KEY_STRATEGY) == NULL;
}

static enum ar_status write_file(const struct options *options, const struct layouts *layouts,
                                 struct ar_error *err)
{
    struct ar_output *output;
    char *path = ar_arena_format(options->arena, "%s/layouts.csv", options->out);
    AR_NEED(path, err, "the layouts");
    AR_TRY(ar_output_begin(path, options->arena, &output, err));
    AR_TRY(ar_rows_write(output->file, AR_VIEW(AR_FORMAT_CSV), layouts->rows, layouts->count, err));
    return ar_output_commit(output, err);
}

/* A column has `_` where a key has `-`. */
static bool is_column_of(const struct ar_column *column, const char *key)
{
    size_t i = 0;
    while (column->name[i] != '\0' && (column->name[i] == key[i] || key[i] == '-')) {
        i++;
    }
    return column->name[i] == key[i];
}

/* What a list varies stays in a table that is too wide, also if the best rows have the same. */
static enum ar_status print_rows(const struct layouts_request *request,
                                 const struct layouts *layouts, const struct ar_view *view,
                                 struct ar_error *err)
{
    struct ar_columns columns = ar_row_columns_of(view, ar_row_kind_of(&layouts->rows[0]));
    struct ar_column *list = ar_arena_alloc(request->base.arena, columns.count, sizeof *list);
    AR_NEED(list, err, "the layouts");
    memcpy(list, columns.list, columns.count * sizeof *list);
    for (size_t i = 0; i < columns.count * LAYOUTS_AXES; i++) {
        struct ar_column *column = &list[i / LAYOUTS_AXES];
        const char *values = request->lists[i % LAYOUTS_AXES];
        if (values != NULL && strchr(values, ',') != NULL &&
            is_column_of(column, ar_key_name(layouts_axes[i % LAYOUTS_AXES]))) {
            column->priority = 0;
        }
    }
    columns.list = list;
    return ar_records_write(stdout, view, columns, layouts->rows, layouts->count,
                            sizeof *layouts->rows, err);
}

/* Predicts the layouts, and leaves them in the directory if there is one. */
static enum ar_status run(const struct options *options, const struct layouts_request *request,
                          struct layouts *layouts, struct ar_error *err)
{
    ar_note(option_notes(options),
            "%zu layouts divide, %zu of them do not fit; %sthe fastest first, without what a "
            "framework adds",
            layouts->tried, layouts->too_large,
            request->gpus_count > 1 ? "by number of GPUs, " : "");
    if (tries_strategies(options)) {
        ar_note(option_notes(options), "strategies that were tried: " STRATEGIES " (--strategy)");
    }
    ar_note_flush(option_notes(options));
    AR_TRY(layouts_run(layouts, err));
    return options->out != NULL ? write_file(options, layouts, err) : AR_OK;
}

/* What the rows were predicted with. */
static enum ar_status sign(const struct options *options, const struct layouts_request *request,
                           const char *mark, struct ar_error *err)
{
    struct parameters parameters = {0};
    if (tries_strategies(options)) {
        const struct parameter tried = {"--strategy", STRATEGIES, "default"};
        AR_TRY(parameters_add(&parameters, tried, options->arena, err));
    }
    AR_TRY(parameters_add_scenario(&parameters, &request->base, options->arena, err));
    return made_by_sign(options, mark, &parameters, err);
}

static enum ar_status find(const struct options *options, struct layouts_request *request,
                           struct layouts *layouts, struct ar_error *err)
{
    uint64_t *gpus = NULL, jobs = request->jobs;
    AR_TRY(option_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err));
    request->jobs = (uint32_t)jobs;
    if (request->mesh == NULL || tries_all(options)) {
        AR_TRY(option_required(options, "gpus", options->gpus_list, err));
    }
    if (options->gpus_list != NULL) {
        AR_TRY(list_counts(options->arena, "--gpus", options->gpus_list, UINT32_MAX, &gpus,
                           &request->gpus_count, err));
    }
    request->gpus = gpus;
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        request->lists[i] = option_key(options, layouts_axes[i]);
        if (layouts_axes[i] == AR_KEY_STRATEGY && tries_strategies(options)) {
            request->lists[i] = STRATEGIES;
        }
    }
    AR_TRY(options_inputs(options, &request->inputs, err));
    AR_TRY(options_scenario(options, own_keys(), &request->base, err));
    AR_TRY(ar_scenario_load_cluster(&request->base, request->inputs, err));
    return layouts_find(request, layouts, err);
}

enum ar_status sweep_layouts(const struct options *options, struct ar_error *err)
{
    static const char *const names[] = {"layouts.csv", NULL};
    struct layouts_request request = {.mesh = option_key(options, AR_KEY_MESH),
                                      .jobs = ar_pool_processors(),
                                      .shows_progress = option_shows_progress(options),
                                      .directory = options->out,
                                      .resumes = options->resume,
                                      .forces = options->force,
                                      .notes = option_notes(options)};
    struct layouts layouts;
    struct ar_view view;
    const char *mark = NULL;
    bool is_complete = false;
    AR_TRY(refuse_others(options, err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_view(options, ar_row_columns, &view, err));
    AR_TRY(find(options, &request, &layouts, err));
    if (options->out != NULL) {
        AR_TRY(sweep_check_directory(options, names, layouts.fingerprint, layouts.count, &mark,
                                     &is_complete, err));
    }
    if (is_complete) {
        ar_note(request.notes, "%s: complete, %zu rows; nothing to compute", options->out,
                layouts.count);
        return AR_OK;
    }
    enum ar_status status = run(options, &request, &layouts, err);
    layouts_close(&layouts, status == AR_OK);
    AR_TRY(status);
    if (mark != NULL) {
        AR_TRY(sign(options, &request, mark, err));
    }
    if (options->best) {
        layouts_keep_best(&layouts);
    }
    return print_rows(&request, &layouts, &view, err);
}
