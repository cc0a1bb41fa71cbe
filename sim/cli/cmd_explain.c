/* explain: every term of a prediction, each parameter with its source. */
#include <inttypes.h>
#include <math.h>

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

static const char *const names[] = {"pipeline.csv", "step.csv", NULL};

/* Before anything is computed. */
static enum ar_status check_out(const struct options *options, struct ar_error *err)
{
    return options->out == NULL || option_key(options, AR_KEY_PAYLOAD) == NULL
               ? made_by_check_directory(options, names, NULL, err)
               : ar_error_set(err, AR_USAGE,
                              "--out: found with --payload; expected it with the trace or the "
                              "workload of a step");
}

/* Leaves what 'allreckon report' takes: the row, the tasks, the parameters; of a workload also a
 * picture of its stages. */
static enum ar_status save(const struct options *options, const struct ar_scenario *scenario,
                           const struct ar_step *step, struct ar_row row, struct ar_error *err)
{
    struct parameters parameters = {0};
    struct ar_output *tasks, *rows;
    if (options->out == NULL) {
        return AR_OK;
    }
    row.wall_s = NAN; /* the same step gives the same file */
    AR_TRY(ar_output_begin_in(options->out, names[0], options->arena, &tasks, err));
    AR_TRY(ar_output_begin_in(options->out, names[1], options->arena, &rows, err));
    AR_TRY(pipeline_write(tasks->file, step, err));
    ar_rows_write(rows->file, AR_VIEW(AR_FORMAT_CSV), &row, 1);
    AR_TRY(ar_output_commit(tasks, err));
    AR_TRY(ar_output_commit(rows, err));
    parameters_add_scenario(&parameters, scenario, options->arena);
    AR_TRY(made_by_sign(options, NULL, &parameters, err));
    if (scenario->trace != NULL || step->graph == NULL) {
        return AR_OK;
    }
    char *subject =
        ar_arena_format(options->arena, "%s, %s, %s, micro-batch %" PRIu64 ", %s", row.trace,
                        row.mesh, row.schedule, row.micro_batch, row.cluster);
    return subject != NULL ? option_draw(options, AR_PLOT_PIPELINE, subject, err)
                           : ar_error_no_memory(err, "a picture");
}

/* A timeline of workers needs room. */
static enum ar_status make_room(const struct options *options, const struct ar_scenario *scenario,
                                struct ar_step *step, struct ar_error *err)
{
    bool has_servers = scenario->layout.strategy->is_asynchronous;
    uint64_t spans = has_servers && options->out != NULL ? pipeline_spans(scenario) : 0;
    step->async.spans_room = (uint32_t)spans;
    return spans <= PIPELINE_SPANS_MAX
               ? AR_OK
               : ar_scenario_refuse(scenario, AR_KEY_GPUS, err,
                                    "found %" PRIu32 " workers, too many for --out with %" PRIu32
                                    " steps; expected fewer",
                                    scenario->gpus, scenario->iterations_count);
}

static enum ar_status explain(const struct ar_scenario *scenario, const struct ar_step *step,
                              const struct ar_row *row, struct ar_error *err)
{
    if (scenario->layout.strategy->is_asynchronous) {
        explain_servers(step, row);
        return AR_OK;
    }
    return ar_scenario_is_laid_out(scenario) ? explain_layout(scenario, step, row, err)
                                             : explain_step(scenario, step, err);
}

enum ar_status command_explain(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_row row;
    FILE *notes = option_notes(options);
    bool is_laid_out = option_is_laid_out(options);
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(is_laid_out ? AR_OK : option_require_work(options, err));
    AR_TRY(options_load(options, &scenario, err));
    AR_TRY(check_out(options, err));
    if (ar_scenario_is_bare(&scenario)) {
        return explain_bare(options, &scenario, err);
    }
    bool has_servers = scenario.layout.strategy->is_asynchronous;
    bool has_terms = !is_laid_out && !has_servers &&
                     (option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario.terms.count > 0 ||
                      scenario.rates != NULL);
    struct ar_step step AR_STEP_ENDS_HERE = ar_scenario_step(&scenario);
    AR_TRY(make_room(options, &scenario, &step, err));
    ar_note_before(notes, &scenario, has_servers ? NULL : options->inputs,
                   (is_laid_out || has_servers ? 0 : ar_run_cost_s(&scenario)) +
                       (has_terms ? explain_terms_cost_s(&scenario) : 0));
    ar_note_flush(notes);
    AR_TRY(ar_run_step(&scenario, &step, &row, err));
    AR_TRY(save(options, &scenario, &step, row, err));
    if (step.async.spans_room > 0 && pipeline_workers(&step.async) < step.async.workers) {
        ar_note(notes, "--out: of %" PRIu32 " workers the first %" PRIu32, step.async.workers,
                pipeline_workers(&step.async));
        ar_note_flush(notes);
    }
    AR_TRY(explain(&scenario, &step, &row, err));
    return has_terms ? explain_terms(&scenario, options->inputs, step.iteration_s,
                                     option_shows_progress(options), err)
                     : AR_OK;
}
