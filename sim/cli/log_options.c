#include "log_options.h"

#include "ar_text.h"

enum ar_status log_options_parse(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_calibrate_request *request, struct ar_error *err)
{
    unsigned time;
    AR_TRY(ar_error_as_usage(
        ar_parse_choice("--time", options->time, ar_measured_time_names, &time, err), err));
    *request = (struct ar_calibrate_request){
        .command = options->command->name,
        .paths = options->arguments,
        .paths_count = options->arguments_count,
        .notes = option_notes(options),
        .window = ar_scenario_has(scenario, AR_KEY_WINDOW) ? scenario->window : 0,
        .time = (enum ar_measured_time)time,
        .scenario = scenario,
        .folds = options->folds,
        .pair = options->pair,
        .out = options->out};
    return AR_OK;
}
