#include "ar_calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_note.h"
#include "ar_units.h"
#include "calibration.h"

#define ERROR_NOTED    0.15 /* median, of rows that were not fitted */
#define FACTOR_NOTED   10   /* of a number and its prior */
#define RESIDUAL_NOTED 0.5
#define RESIDUAL_MAX   0.5 /* of calls: rows that are nothing like the model have a best fit, too */

/* --- parameters ---------------------------------------------------------------------------- */

/* The value of a parameter of NCCL with its unit. */
static const char *library_value_text(enum ar_library_parameter parameter, double value,
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

/* Takes a fitted cost model of NCCL. */
static enum ar_status take_library(struct calibration *calibration,
                                   const struct ar_library *library, struct ar_arena *arena,
                                   struct ar_error *err)
{
    const struct ar_tuning *tuning = &library->tuning;
    char node[AR_UNIT_TEXT], net[AR_UNIT_TEXT];
    struct ar_library_table *table = ar_arena_alloc(arena, 1, sizeof *table);
    if (library->residual_frac >= RESIDUAL_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "fit: found a residual of %.0f %% over %" PRIu32 " rows; expected less "
                            "than %.0f %%, all-reduces that resemble those of %s with such rings",
                            library->residual_frac * 100, library->rows_count, RESIDUAL_MAX * 100,
                            tuning->release->name);
    }
    *table = (struct ar_library_table){
        .library = *library, .fitted = calibration->fitted, .held_out = calibration->held_out};
    calibration->table = table;
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
        enum ar_library_parameter parameter = (enum ar_library_parameter)i;
        double prior = ar_library_parameter_prior(tuning, parameter);
        bool is_identified = library->is_identified[i];
        calibration->parameters[calibration->parameters_count++] = (struct fitted_parameter){
            .kind = "parameter",
            .parameter = ar_library_parameters[i].name,
            .value = library->values[i],
            .unit = ar_library_parameters[i].unit,
            .relative_standard_error = sqrt(library->covariance[i][i]),
            .identified = is_identified,
            .state = is_identified ? "identified" : "not identified",
            .prior = prior,
            .prior_source = ar_library_parameter_prior_source(tuning, parameter),
            .value_text = library_value_text(parameter, library->values[i], arena),
            .prior_text = library_value_text(parameter, prior, arena)};
    }
    return AR_OK;
}

/* Takes fitted numbers of links. A prior is that of a setting, or of `sources` (NULL: none), or of
 * the file. */
static void take_links(struct calibration *calibration, const char *model,
                       const struct ar_link_fit *fit, const char *const *sources,
                       const struct ar_settings *settings, struct ar_arena *arena)
{
    static const char *const states[] = {[AR_LINK_ABSENT] = "not in the file",
                                         [AR_LINK_ZERO] = "zero, stays",
                                         [AR_LINK_UNUSED] = "not used by the rows",
                                         [AR_LINK_UNIDENTIFIED] = "not identified",
                                         [AR_LINK_IDENTIFIED] = "identified"};
    static const struct { /* a unit, and how a cluster file takes it */
        const char *name, *suffix;
        double factor;
    } units[] = {[AR_LINK_SECONDS] = {"s", "us", 1e6},
                 [AR_LINK_RATE] = {"B/s", "GB/s", 1e-9},
                 [AR_LINK_SECONDS_PER_BYTE] = {"s/B", "ns/B", 1e9}};
    bool has_library = calibration->model != NULL;
    calibration->what = has_library ? "NCCL and links" : "links";
    calibration->model =
        has_library ? ar_arena_format(arena, "%s; %s", calibration->model, model) : model;
    calibration->residual_frac = has_library ? calibration->residual_frac : fit->residual_frac;
    calibration->rows_count += fit->rows_count;
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        enum ar_link_cost cost = (enum ar_link_cost)i;
        const struct ar_link_number *number = &fit->numbers[i];
        const struct ar_setting *setting = ar_estimate_setting(settings, cost);
        int unit = (int)ar_link_cost_unit(cost);
        const char *source = sources != NULL && sources[i] != NULL ? sources[i] : "cluster file";
        if (setting != NULL) { /* of the command line, or of the index of sets */
            source = setting->status == AR_USAGE ? setting->where : "measured set";
        }
        if (number->state == AR_LINK_ABSENT) {
            continue;
        }
        calibration->parameters[calibration->parameters_count++] = (struct fitted_parameter){
            .kind = "parameter",
            .parameter = ar_link_cost_key(cost),
            .value = number->value,
            .unit = units[unit].name,
            .relative_standard_error = number->error_frac,
            .identified = number->state == AR_LINK_IDENTIFIED,
            .state = states[number->state],
            .prior = number->prior,
            .prior_source = source,
            .value_text = ar_arena_format(arena, "%.6g%s", number->value * units[unit].factor,
                                          units[unit].suffix),
            .prior_text = ar_arena_format(arena, "%.6g%s", number->prior * units[unit].factor,
                                          units[unit].suffix)};
    }
}

/* --- collectives --------------------------------------------------------------------------- */

/* Splits the counts of the rows into fitted and held out: as the request asks; else held out are
 * those above the limit of the measured set, or all but the largest, and with one count none. */
static enum ar_status split_counts(const struct ar_calibrate_request *request,
                                   struct calibration *calibration, struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    const struct ar_library_nodes *groups = ar_measured_groups(measured);
    const char *unit = ar_measured_unit(measured);
    bool has_default = request->held_out_count == 0 && !request->is_all_fitted;
    uint32_t max = request->rows.fitted_nodes_max;
    if (measured->is_by_gpus || max < groups->counts[0] ||
        max >= groups->counts[groups->count - 1]) {
        max = groups->counts[groups->count > 1 ? groups->count - 2 : 0];
    }
    for (size_t i = 0; i < request->held_out_count; i++) {
        if (!ar_library_nodes_have(groups, (uint32_t)request->held_out[i])) {
            return ar_error_set(err, AR_USAGE,
                                "--hold-out: found %" PRIu64 " %ss, which no log has; expected %s "
                                "counts of the logs, or none",
                                request->held_out[i], unit, unit);
        }
        AR_TRY(ar_library_nodes_add(&calibration->held_out, (uint32_t)request->held_out[i], err));
    }
    if (has_default && groups->count == 1) {
        ar_note(
            request->rows.notes,
            "all rows are of one %s count: none is held out, so the error on other counts is not "
            "known",
            unit);
    }
    for (size_t i = 0; i < groups->count; i++) {
        uint32_t count = groups->counts[i];
        if (has_default && count > max) {
            AR_TRY(ar_library_nodes_add(&calibration->held_out, count, err));
        }
        if (!ar_library_nodes_have(&calibration->held_out, count)) {
            AR_TRY(ar_library_nodes_add(&calibration->fitted, count, err));
        }
    }
    return calibration->fitted.count > 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "--hold-out: found all %s counts of the logs; expected some left to "
                              "fit",
                              unit);
}

/* Fits to all rows but those of `left_out`, and marks those that are fitted. */
static enum ar_status fit_without(const struct ar_measured_request *request,
                                  const struct ar_measured *measured,
                                  const struct ar_library_nodes *left_out, struct ar_arena *arena,
                                  bool **marks, struct ar_estimate **estimate, struct ar_error *err)
{
    bool *is_fitted = *marks = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] =
            !ar_library_nodes_have(left_out, ar_measured_group(measured, &measured->rows[i]));
    }
    return ar_estimate_run(request, measured, is_fitted, arena, estimate, err);
}

/* Adds the predictions of all rows or, of a fold, those of the count that it leaves out. */
static void add_compared(struct calibration *calibration, const struct ar_estimate *estimate,
                         const uint32_t *fold)
{
    const struct ar_measured *measured = calibration->measured;
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        uint32_t count = ar_measured_group(measured, row);
        bool is_fitted =
            ar_library_nodes_have(&calibration->fitted, count) && ar_estimate_takes(row);
        if (fold == NULL || count == *fold) {
            ar_comparison_add(&calibration->compared, row,
                              fold != NULL ? AR_COMPARED_FOLD
                              : is_fitted  ? AR_COMPARED_FITTED
                                           : AR_COMPARED_HELD_OUT,
                              &estimate->predictions[i],
                              estimate->has_library ? &estimate->library.tuning : NULL);
        }
    }
}

/* Notes how much better `compare FILE` and `accuracy` are than the saved files: they correct each
 * row by the fitted ones beside it. */
static enum ar_status note_residuals(const struct ar_calibrate_request *request,
                                     const struct calibration *calibration, const bool *is_fitted,
                                     struct ar_arena *arena, struct ar_estimate *estimate,
                                     struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    struct ar_comparison corrected = ar_comparison_begin(measured->rows_count, arena);
    AR_TRY(ar_estimate_correct(measured, is_fitted, arena, estimate, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (is_fitted[i] && ar_estimate_takes(&measured->rows[i])) {
            ar_comparison_add(&corrected, &measured->rows[i], AR_COMPARED_FITTED,
                              &estimate->predictions[i], NULL);
        }
    }
    ar_comparison_sum(ar_measured_groups(measured), measured->is_by_gpus, &corrected);
    ar_note(
        request->rows.notes,
        "%s has the fitted numbers: fitted rows are %.1f %% off in the median. 'compare FILE' and "
        "'accuracy' of a measured set also correct each row by the fitted ones beside it: %.1f %%",
        request->out, ar_comparison_median(&calibration->compared, AR_COMPARED_FITTED) * 100,
        ar_comparison_median(&corrected, AR_COMPARED_FITTED) * 100);
    return AR_OK;
}

/* Fits to the rows that are not held out, and compares all; with --folds again each count in turn
 * by a fit to all others. */
static enum ar_status fit_collectives(const struct ar_calibrate_request *request,
                                      struct ar_cluster *cluster, struct ar_arena *arena,
                                      struct calibration *calibration, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->rows.scenario;
    struct ar_measured *measured = calibration->measured;
    struct ar_estimate *estimate, *fold;
    bool *is_fitted, *ignored;
    AR_TRY(ar_measured_take(&request->rows, cluster, arena, measured, err));
    const struct ar_library_nodes *groups = ar_measured_groups(measured);
    if (measured->calls_count == 0 && scenario->release != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--tuning: found rows that name their algorithms; expected calls of "
                            "NCCL");
    }
    AR_TRY(split_counts(request, calibration, err));
    AR_TRY(fit_without(&request->rows, measured, &calibration->held_out, arena, &is_fitted,
                       &estimate, err));
    if (estimate->has_library) {
        AR_TRY(take_library(calibration, &estimate->library, arena, err));
    }
    if (estimate->has_links) {
        take_links(calibration, "closed form of algorithms", &estimate->links, estimate->sources,
                   &scenario->settings, arena);
    }
    calibration->compared = ar_comparison_begin(2 * measured->rows_count, arena);
    add_compared(calibration, estimate, NULL);
    for (size_t i = 0; request->folds && i < groups->count; i++) {
        struct ar_error why;
        struct ar_library_nodes left_out = {.counts = {groups->counts[i]}, .count = 1};
        enum ar_status status =
            fit_without(&request->rows, measured, &left_out, arena, &ignored, &fold, &why);
        if (status != AR_OK) {
            return ar_error_set(err, status, "--folds: without %" PRIu32 " %ss: %.400s",
                                groups->counts[i], ar_measured_unit(measured), why.text);
        }
        add_compared(calibration, fold, &groups->counts[i]);
    }
    ar_comparison_sum(groups, measured->is_by_gpus, &calibration->compared);
    return request->out != NULL
               ? note_residuals(request, calibration, is_fitted, arena, estimate, err)
               : AR_OK;
}

/* --- the whole ----------------------------------------------------------------------------- */

/* Notes doubts about the fit: scatter, held-out errors, numbers far from their priors. */
static void note_doubts(const struct calibration *calibration, FILE *notes)
{
    const struct fitted_parameter *farthest = NULL;
    double held_out_frac = ar_comparison_median(&calibration->compared, AR_COMPARED_HELD_OUT);
    double away = log(FACTOR_NOTED);
    if (calibration->residual_frac > RESIDUAL_NOTED) {
        ar_note(notes,
                "the fitted rows scatter by %.0f %% around the model: they do not resemble it on "
                "this cluster",
                calibration->residual_frac * 100);
    }
    if (held_out_frac > ERROR_NOTED) {
        ar_note(notes,
                "rows that were held out are predicted with a median error of %.0f %%: do not rely "
                "on %s counts that were not fitted",
                held_out_frac * 100, ar_measured_unit(calibration->measured));
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        const struct fitted_parameter *parameter = &calibration->parameters[i];
        if (parameter->prior > 0 && fabs(log(parameter->value / parameter->prior)) > away) {
            farthest = parameter;
            away = fabs(log(parameter->value / parameter->prior));
        }
    }
    if (farthest != NULL) {
        ar_note(notes,
                "%s is %.3g times its prior: is it this machine, and are times and rates in the "
                "units that they are read in?",
                farthest->parameter, farthest->value / farthest->prior);
    }
}

enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, const struct ar_view *view,
                                struct ar_arena *arena, struct ar_error *err)
{
    FILE *notes = request->rows.notes;
    struct calibration *made = ar_arena_alloc(arena, 1, sizeof *made);
    made->node_bus_Bps = made->net_bus_Bps = NAN;
    AR_TRY(ar_measured_load(&request->rows, arena, &made->measured, err));
    AR_TRY(fit_collectives(request, cluster, arena, made, err));
    if (request->out != NULL) {
        AR_TRY(calibration_save(made, request, cluster, arena, err));
    }
    ar_measured_note(made->measured,
                     made->table != NULL ? made->table->library.tuning.release->release : NULL,
                     notes);
    note_doubts(made, notes);
    ar_note_flush(notes);
    calibration_print(made, view);
    return AR_OK;
}
