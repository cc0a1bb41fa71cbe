/* explain: every term of a prediction, each parameter with its source. */
#include <inttypes.h>

#include "ar_note.h"
#include "ar_output.h"
#include "cmd_run.h"
#include "commands.h"
#include "explain.h"
#include "made_by.h"
#include "pipeline.h"

static enum ar_status explain_bare(const struct options *options,
                                   const struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_bare_run run;
    struct ar_row row;
    AR_TRY(ar_scenario_check_payload(scenario, err));
    ar_note_before(option_notes(options), scenario, NULL, ar_run_cost_s(scenario));
    ar_note_flush(option_notes(options));
    AR_TRY(ar_run_bare(scenario, &run, &row, err));
    enum ar_status status = explain_collective(scenario, &run, &row, err);
    ar_bare_run_end(&run);
    return status;
}

static enum ar_status draw_pipeline(const struct options *options, const struct ar_step *step,
                                    const struct ar_row *row, struct ar_error *err)
{
    static const char *const names[] = {"pipeline.csv", NULL};
    struct ar_output *output;
    char *path = ar_arena_format(options->arena, "%s/pipeline.csv", options->out);
    char *subject =
        ar_arena_format(options->arena, "%s, %s, %s, micro-batch %" PRIu64 ", %s", row->trace,
                        row->mesh, row->schedule, row->micro_batch, row->cluster);
    if (path == NULL || subject == NULL) {
        return ar_error_no_memory(err, "a picture");
    }
    AR_TRY(made_by_check_directory(options, names, NULL, err));
    AR_TRY(ar_output_begin(path, options->arena, &output, err));
    AR_TRY(pipeline_write(output->file, step, err));
    AR_TRY(ar_output_commit(output, err));
    AR_TRY(option_draw(options, AR_PLOT_PIPELINE, subject, err));
    return made_by_sign(options, NULL, err);
}

static enum ar_status explain_with_servers(const struct options *options,
                                           const struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_row row;
    struct ar_step step = ar_scenario_step(scenario);
    if (options->out != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found with strategy %s, which has no pipeline; expected "
                            "'allreckon export --format chrome-trace'",
                            scenario->layout.strategy->name);
    }
    ar_note_before(option_notes(options), scenario, NULL, 0);
    ar_note_flush(option_notes(options));
    AR_TRY(ar_run_step(scenario, &step, &row, err));
    explain_servers(&step, &row);
    ar_step_destroy(&step);
    return AR_OK;
}

static enum ar_status explain_workload(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_inputs *inputs;
    struct ar_row row;
    AR_TRY(options_load(options, 0, &scenario, &inputs, err));
    if (scenario.layout.strategy->is_asynchronous) {
        return explain_with_servers(options, &scenario, err);
    }
    ar_note_before(option_notes(options), &scenario, inputs, 0);
    ar_note_flush(option_notes(options));
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_run_step(&scenario, &step, &row, err));
    enum ar_status status = AR_OK;
    if (options->out != NULL) {
        status = draw_pipeline(options, &step, &row, err);
    }
    status = status == AR_OK ? explain_layout(&scenario, &step, &row, err) : status;
    ar_step_destroy(&step);
    return status;
}

enum ar_status command_explain(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_inputs *inputs;
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    if (option_key(options, AR_KEY_WORKLOAD) != NULL) {
        return explain_workload(options, err);
    }
    if (options->out != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found without --workload; expected it with the workload whose "
                            "pipeline is drawn");
    }
    AR_TRY(option_require_work(options, err));
    AR_TRY(options_load(options, 0, &scenario, &inputs, err));
    if (scenario.trace == NULL) {
        return explain_bare(options, &scenario, err);
    }
    if (scenario.layout.strategy->is_asynchronous) {
        return explain_with_servers(options, &scenario, err);
    }
    bool has_terms = option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario.terms.count > 0 ||
                     scenario.rates != NULL;
    ar_note_before(option_notes(options), &scenario, inputs,
                   ar_run_cost_s(&scenario) + (has_terms ? explain_terms_cost_s(&scenario) : 0));
    ar_note_flush(option_notes(options));
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_step_run(&step, err));
    enum ar_status status = explain_step(&scenario, &step, err);
    double iteration_s = step.iteration_s;
    ar_step_destroy(&step);
    AR_TRY(status);
    return has_terms
               ? explain_terms(&scenario, inputs, iteration_s, option_shows_progress(options), err)
               : AR_OK;
}
