/* sweep --workload: which layout of a transformer on some numbers of GPUs. */
#include <string.h>

#include "ar_note.h"
#include "ar_pool.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "layouts.h"
#include "lists.h"

/* Keys that are lists, and those that layouts are made of. */
static uint64_t own_keys(void)
{
    uint64_t bits = KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_GPUS);
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        bits |= KEY_BIT(layouts_axes[i]);
    }
    return bits;
}

static enum ar_status refuse_others(const struct options *options, struct ar_error *err)
{
    static const char *const names[] = {"--out", "--payload", "--operation", "--algorithms",
                                        "--shapes"};
    bool is_default = options->algorithms == NULL || strcmp(options->algorithms, "all") == 0;
    bool is_plain = options->shapes == NULL || strcmp(options->shapes, "all") == 0;
    const bool found[] = {options->out != NULL, options->payloads != NULL,
                          options->operation != NULL, !is_default, !is_plain};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i]) {
            return ar_error_set(err, AR_USAGE,
                                "%s: found with --workload; expected it with a trace or a payload",
                                names[i]);
        }
    }
    return AR_OK;
}

enum ar_status sweep_layouts(const struct options *options, struct ar_error *err)
{
    struct layouts_request request = {.mesh = option_key(options, AR_KEY_MESH),
                                      .is_best = options->best,
                                      .jobs = ar_pool_processors(),
                                      .shows_progress = option_shows_progress(options)};
    struct layouts layouts;
    struct ar_view view;
    uint64_t *gpus = NULL, jobs;
    AR_TRY(refuse_others(options, err));
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(option_view(options, ar_row_columns, &view, err));
    if (options->jobs != NULL) {
        AR_TRY(ar_error_as_usage(
            ar_parse_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err), err));
        request.jobs = (uint32_t)jobs;
    }
    if (request.mesh == NULL || strcmp(request.mesh, "all") == 0) {
        AR_TRY(option_required(options, "gpus", options->gpus_list, err));
    }
    if (options->gpus_list != NULL) {
        AR_TRY(list_counts(options->arena, "--gpus", options->gpus_list, UINT32_MAX, &gpus,
                           &request.gpus_count, err));
    }
    request.gpus = gpus;
    for (int i = 0; i < LAYOUTS_AXES; i++) {
        request.lists[i] = option_key(options, layouts_axes[i]);
    }
    AR_TRY(options_inputs(options, &request.inputs, err));
    AR_TRY(options_scenario(options, own_keys(), &request.base, err));
    AR_TRY(ar_scenario_load_cluster(&request.base, request.inputs, err));
    AR_TRY(layouts_run(&request, &layouts, err));
    ar_note(option_notes(options),
            "%zu layouts divide, %zu of them do not fit; the fastest first, without what a "
            "framework adds",
            layouts.tried, layouts.too_large);
    return ar_rows_write(stdout, &view, layouts.rows, layouts.count, err);
}
