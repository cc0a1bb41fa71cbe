#include "log_options.h"

#include <string.h>

static enum ar_status parse_time(const char *text, enum ar_measured_time *time,
                                 struct ar_error *err)
{
    for (int i = 0; i < AR_TIMES_COUNT; i++) {
        if (strcmp(text, ar_measured_time_names[i]) == 0) {
            *time = (enum ar_measured_time)i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "--time: found \"%s\"; expected out-of-place, in-place or mean", text);
}

enum ar_status log_options_parse(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_calibrate_request *request, struct ar_error *err)
{
    *request = (struct ar_calibrate_request){
        .command = options->command->name,
        .paths = options->arguments,
        .paths_count = options->arguments_count,
        .notes = option_notes(options),
        .window = ar_scenario_has(scenario, AR_KEY_WINDOW) ? scenario->window : 0,
        .scenario = scenario,
        .folds = options->folds,
        .pair = options->pair,
        .out = options->out};
    return parse_time(options->time, &request->time, err);
}
