/* What a fit of NCCL to measured calls is printed as. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_units.h"
#include "calibration.h"

#define RESIDUAL_MAX 0.5

/* Rows that are nothing like the model still have a best fit. */
static enum ar_status check_residual(const struct ar_library *library, struct ar_error *err)
{
    if (library->residual_frac < RESIDUAL_MAX) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "fit: found a residual of %.0f %% over %" PRIu32 " rows; expected less "
                        "than %.0f %%, all-reduces that resemble those of %s with such rings",
                        library->residual_frac * 100, library->rows_count, RESIDUAL_MAX * 100,
                        library->tuning.release->name);
}

/* --- what came of it ---------------------------------------------------------------------- */

static const char *value_text(enum ar_library_parameter parameter, double value,
                              struct ar_arena *arena)
{
    char text[AR_UNIT_TEXT];
    const char *unit = ar_library_parameters[parameter].unit;
    if (strcmp(unit, "1") == 0) {
        return ar_arena_format(arena, "%.4g", value);
    }
    return ar_arena_text(arena, strcmp(unit, "s") == 0 ? ar_format_seconds(value, text)
                                : strcmp(unit, "B") == 0
                                    ? ar_format_bytes((uint64_t)llround(value), text)
                                    : ar_format_rate(value, text));
}

static struct parameter parameter_of(const struct ar_library *library,
                                     enum ar_library_parameter parameter, struct ar_arena *arena)
{
    double prior = ar_library_parameter_prior(&library->tuning, parameter);
    bool is_identified = library->is_identified[parameter];
    return (struct parameter){
        .kind = "parameter",
        .parameter = ar_library_parameters[parameter].name,
        .value = library->values[parameter],
        .unit = ar_library_parameters[parameter].unit,
        .relative_standard_error = sqrt(library->covariance[parameter][parameter]),
        .identified = is_identified,
        .state = is_identified ? "identified" : "not identified",
        .prior = prior,
        .prior_source = ar_library_parameter_prior_source(&library->tuning, parameter),
        .value_text = value_text(parameter, library->values[parameter], arena),
        .prior_text = value_text(parameter, prior, arena),
    };
}

enum ar_status calibration_take_library(struct calibration *calibration,
                                        const struct ar_library *library, struct ar_arena *arena,
                                        struct ar_error *err)
{
    const struct ar_tuning *tuning = &library->tuning;
    char node[AR_UNIT_TEXT];
    char net[AR_UNIT_TEXT];
    AR_TRY(check_residual(library, err));
    calibration->what = "NCCL";
    calibration->model = ar_arena_format(
        arena, "%s with rings of %s in a node and %s across the network", tuning->release->name,
        ar_format_rate(tuning->node_bus_Bps, node),
        tuning->net_bus_Bps > 0 ? ar_format_rate(tuning->net_bus_Bps, net) : "none");
    calibration->tuning = tuning->release->name;
    calibration->node_bus_Bps = tuning->node_bus_Bps;
    calibration->net_bus_Bps = tuning->net_bus_Bps;
    calibration->rows_count = library->rows_count;
    calibration->residual_frac = library->residual_frac;
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        calibration->parameters[calibration->parameters_count++] =
            parameter_of(library, (enum ar_library_parameter)i, arena);
    }
    return calibration->model != NULL ? AR_OK : ar_error_no_memory(err, "a fit");
}
