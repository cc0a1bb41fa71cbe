/* explain: every term of a prediction, each parameter with its source. */
#include <inttypes.h>
#include <math.h>

#include "ar_kind.h"
#include "ar_note.h"
#include "ar_output.h"
#include "cmd_run.h"
#include "commands.h"
#include "explain.h"
#include "made_by.h"
#include "pipeline.h"

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
                           const struct ar_timing *timing, struct ar_row row, struct ar_error *err)
{
    struct parameters parameters = {0};
    struct ar_output *tasks, *rows;
    if (options->out == NULL) {
        return AR_OK;
    }
    row.wall_s = NAN; /* the same step gives the same file */
    AR_TRY(ar_output_begin_in(options->out, names[0], options->arena, &tasks, err));
    AR_TRY(ar_output_begin_in(options->out, names[1], options->arena, &rows, err));
    AR_TRY(pipeline_write(tasks->file, timing, err));
    ar_rows_write(rows->file, AR_VIEW(AR_FORMAT_CSV), &row, 1);
    AR_TRY(ar_output_commit(tasks, err));
    AR_TRY(ar_output_commit(rows, err));
    parameters_add_scenario(&parameters, scenario, options->arena);
    AR_TRY(made_by_sign(options, NULL, &parameters, err));
    if (scenario->trace != NULL || timing->graph == NULL) {
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
                                struct ar_job *job, struct ar_error *err)
{
    bool has_timeline = job->kind == &ar_kind_servers && options->out != NULL;
    uint64_t spans = has_timeline ? pipeline_spans(scenario) : 0;
    job->async.spans_room = (uint32_t)spans;
    return spans <= PIPELINE_SPANS_MAX
               ? AR_OK
               : ar_scenario_refuse(scenario, AR_KEY_GPUS, err,
                                    "found %" PRIu32 " workers, too many for --out with %" PRIu32
                                    " steps; expected fewer",
                                    scenario->gpus, scenario->iterations_count);
}

static enum ar_status explain_timing(const struct ar_scenario *scenario,
                                     const struct ar_timing *timing, const struct ar_row *row,
                                     struct ar_error *err)
{
    const struct ar_kind *kind = timing->job->kind;
    if (kind == &ar_kind_servers) {
        explain_servers(timing, row);
        return AR_OK;
    }
    return kind->is_collective ? explain_collective(scenario, timing, row, err)
           : kind->has_layout  ? explain_layout(scenario, timing, row, err)
                               : explain_step(scenario, timing, err);
}

enum ar_status command_explain(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_timing timing;
    struct ar_row row;
    FILE *notes = option_notes(options);
    bool is_laid_out = option_is_laid_out(options);
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_TRY(is_laid_out ? AR_OK : option_require_work(options, err));
    AR_TRY(options_load(options, &scenario, err));
    AR_TRY(check_out(options, err));
    struct ar_job job = ar_scenario_job(&scenario);
    bool is_step = !job.kind->is_collective;
    bool has_times = !job.kind->has_layout; /* whose cost is that of messages */
    bool has_terms = is_step && has_times &&
                     (option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario.terms.count > 0 ||
                      scenario.rates != NULL);
    if (!is_step) {
        AR_TRY(ar_scenario_check_payload(&scenario, err));
    }
    AR_TRY(make_room(options, &scenario, &job, err));
    ar_note_before(notes, &scenario,
                   is_step && job.kind != &ar_kind_servers ? options->inputs : NULL,
                   (has_times ? ar_run_cost_s(&scenario) : 0) +
                       (has_terms ? explain_terms_cost_s(&scenario) : 0));
    ar_note_flush(notes);
    AR_TRY(ar_run_job(&scenario, &job, options->arena, &timing, &row, err));
    if (is_step) {
        AR_TRY(save(options, &scenario, &timing, row, err));
    }
    if (timing.async.spans_room > 0 && pipeline_workers(&timing.async) < timing.async.workers) {
        ar_note(notes, "--out: of %" PRIu32 " workers the first %" PRIu32, timing.async.workers,
                pipeline_workers(&timing.async));
        ar_note_flush(notes);
    }
    AR_TRY(explain_timing(&scenario, &timing, &row, err));
    return has_terms ? explain_terms(&scenario, options->inputs, timing.iteration_s,
                                     option_shows_progress(options), err)
                     : AR_OK;
}
