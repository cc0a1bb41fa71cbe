/* compare: predictions beside measured rows. */
#include <stdlib.h>
#include <string.h>

#include "ar_comparison.h"
#include "ar_measured_set.h"
#include "ar_note.h"
#include "ar_output.h"
#include "ar_plot.h"
#include "commands.h"
#include "log_options.h"
#include "plan.h"
#include "resource.h"

static enum ar_status draw(const struct options *options, const struct plan *plan,
                           struct ar_error *err)
{
    char templates[RESOURCE_PATH];
    char subject[160];
    struct ar_plot_report report;
    snprintf(subject, sizeof subject, "cluster %.60s, predicted by engine %.40s",
             ar_cluster_facts(plan->cluster)->name, plan->engine->name);
    const struct ar_plot_request request = {.set = AR_PLOT_COMPARE,
                                            .path = options->out,
                                            .template_dir = templates,
                                            .subject = subject};
    AR_TRY(resource_plots(templates, err));
    AR_TRY(ar_plot_draw(&request, &report, err));
    for (size_t i = 0; i < report.pictures_count; i++) {
        plan_note(options, "%s/%s.svg and .png written", options->out, report.pictures[i].name);
    }
    return AR_OK;
}

static enum ar_status write_out(const struct options *options, const struct plan *plan,
                                const struct ar_comparison *comparison, struct ar_arena *arena,
                                struct ar_error *err)
{
    if (strlen(options->out) + 64 > RESOURCE_PATH) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long", options->out);
    }
    AR_TRY(ar_make_directory(options->out, err));
    AR_TRY(ar_comparison_save(comparison, options->out, arena, err));
    return draw(options, plan, err);
}

/* Whose constants are the reference: those of `--tuning`, of the cluster or of its table. */
static const struct ar_tuning *reference_of(const struct plan *plan)
{
    if (plan->constants != NULL) {
        return &plan->constants->tuning;
    }
    return plan->library != NULL ? &plan->library->library.tuning : NULL;
}

static enum ar_status find_model(const struct options *options, const struct plan *plan,
                                 struct ar_comparison_model *model, struct ar_error *err)
{
    const char *standard = plan->engine->needs_library ? "auto" : "ring";
    const char *name = options->algorithm != NULL ? options->algorithm : standard;
    *model = (struct ar_comparison_model){
        .engine = plan->engine,
        .option_asked = options->algorithm != NULL  ? "algorithm"
                        : options->channels != NULL ? "channels"
                                                    : NULL,
        .collective = {.operation = &ar_operation_all_reduce,
                       .cluster = plan->cluster,
                       .channels = plan->channels,
                       .window = plan->window,
                       .element_bytes = ar_precision_bytes(plan->precision)},
        .library = plan_library(plan),
        .fit = plan->library,
        .reference = reference_of(plan)};
    return ar_algorithm_find_or_auto("--algorithm", name, &model->algorithm, err);
}

static enum ar_status run(const struct options *options, const struct plan *plan,
                          enum ar_format format, struct ar_arena *arena, struct ar_error *err)
{
    struct ar_calibrate_request request;
    struct ar_comparison_model model;
    struct ar_measured *measured;
    struct ar_comparison comparison;
    AR_TRY(log_options_parse(options, &request, err));
    AR_TRY(find_model(options, plan, &model, err));
    AR_TRY(ar_measured_read(&request, plan->cluster, arena, &measured, err));
    AR_TRY(ar_comparison_run(&request, &model, measured, arena, &comparison, err));
    if (options->out != NULL) {
        AR_TRY(write_out(options, plan, &comparison, arena, err));
    }
    const char *release = model.reference != NULL ? ar_tuning_release(model.reference) : NULL;
    ar_measured_note(measured, release, request.notes);
    return ar_comparison_write(stdout, format, &comparison, arena, err);
}

/* The cluster of the measured set that the first file is; NULL if it is none. */
static enum ar_status find_cluster(const struct options *options, struct ar_arena *arena,
                                   const char **cluster, struct ar_error *err)
{
    struct ar_measured_set *sets;
    size_t count;
    char path[RESOURCE_PATH];
    AR_TRY(resource_find(RESOURCE_SETS, "compare", "index", path, err));
    AR_TRY(ar_measured_sets_read(path, arena, &sets, &count, err));
    const struct ar_measured_set *set = ar_measured_set_of(sets, count, options->arguments[0]);
    if (set != NULL) {
        *cluster = set->cluster;
        ar_note(options->quiet ? NULL : stderr, "measured set %s: --cluster %s", set->name,
                set->cluster);
    }
    return AR_OK;
}

static enum ar_status compare(const struct options *given, enum ar_format format,
                              struct ar_arena *arena, struct ar_error *err)
{
    struct plan plan;
    struct options *options = ar_arena_alloc(arena, 1, sizeof *options);
    if (options == NULL) {
        return ar_error_no_memory(err, "options");
    }
    *options = *given;
    if (options->cluster == NULL && options->arguments_count > 0) {
        AR_TRY(find_cluster(options, arena, &options->cluster, err));
    }
    AR_TRY(plan_create(options, false, &plan, err));
    enum ar_status status = run(options, &plan, format, arena, err);
    plan_destroy(&plan);
    return status;
}

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    enum ar_format format;
    struct ar_arena arena = {0};
    AR_TRY(ar_format_parse("--format", options->format, &format, err));
    enum ar_status status = compare(options, format, &arena, err);
    ar_arena_end(&arena);
    return status;
}
