/* compare: predictions beside measured rows. */
#include <stdlib.h>
#include <string.h>

#include "ar_comparison.h"
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
        .collective = {.cluster = plan->cluster,
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

enum ar_status command_compare(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    enum ar_format format;
    struct ar_arena arena = {0};
    AR_TRY(ar_format_parse("--format", options->format, &format, err));
    AR_TRY(plan_create(options, false, &plan, err));
    enum ar_status status = run(options, &plan, format, &arena, err);
    ar_arena_end(&arena);
    plan_destroy(&plan);
    return status;
}
