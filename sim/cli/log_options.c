#include "log_options.h"

#include <string.h>

#include "ar_collective.h"
#include "ar_units.h"

static bool is_given(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->given_count; i++) {
        if (strcmp(options->given[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum ar_status parse_time(const char *text, enum ar_measured_time *time,
                                 struct ar_error *err)
{
    for (int i = 0; i < AR_TIMES_COUNT; i++) {
        if (strcmp(text, ar_measured_time_name((enum ar_measured_time)i)) == 0) {
            *time = (enum ar_measured_time)i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "--time: found \"%s\"; expected out-of-place, in-place or mean", text);
}

enum ar_status log_options_parse(const struct options *options,
                                 struct ar_calibrate_request *request, struct ar_error *err)
{
    struct ar_calibrate_request made = {.command = options->command->name,
                                        .paths = options->arguments,
                                        .paths_count = options->arguments_count,
                                        .notes = options->quiet ? NULL : stderr,
                                        .release = options->tuning,
                                        .cluster = options->cluster};
    AR_TRY(parse_time(options->time, &made.time, err));
    if (options->window != NULL && is_given(options, "window")) {
        uint64_t window;
        AR_TRY(option_status(
            ar_parse_count("--window", options->window, 1, AR_WINDOW_MAX, &window, err), err));
        made.window = (uint32_t)window;
    }
    *request = made;
    return AR_OK;
}
