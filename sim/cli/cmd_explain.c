/* explain: every term of a prediction, each parameter with its source. */
#include "ar_note.h"
#include "cmd_run.h"
#include "commands.h"
#include "explain.h"

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

static enum ar_status explain_workload(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_inputs *inputs;
    struct ar_row row;
    AR_TRY(options_load(options, 0, &scenario, &inputs, err));
    ar_note_before(option_notes(options), &scenario, inputs, 0);
    ar_note_flush(option_notes(options));
    struct ar_graph_step step = ar_scenario_graph_step(&scenario);
    AR_TRY(ar_run_graph_step(&scenario, &step, &row, err));
    enum ar_status status = explain_layout(&scenario, &step, &row, err);
    ar_graph_step_destroy(&step);
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
    AR_TRY(option_require_work(options, err));
    AR_TRY(options_load(options, 0, &scenario, &inputs, err));
    if (scenario.trace == NULL) {
        return explain_bare(options, &scenario, err);
    }
    bool has_terms = option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario.terms.count > 0 ||
                     scenario.rates != NULL;
    ar_note_before(option_notes(options), &scenario, inputs,
                   ar_run_cost_s(&scenario) + (has_terms ? explain_terms_cost_s(&scenario) : 0));
    ar_note_flush(option_notes(options));
    struct ar_step step = ar_scenario_step(&scenario);
    AR_TRY(ar_step_run(&step, err));
    explain_step(&scenario, &step);
    double iteration_s = step.iteration_s;
    ar_step_destroy(&step);
    return has_terms
               ? explain_terms(&scenario, inputs, iteration_s, option_shows_progress(options), err)
               : AR_OK;
}
