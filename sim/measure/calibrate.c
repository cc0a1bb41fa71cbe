#include "ar_calibrate.h"

#include <inttypes.h>
#include <math.h>

#include "ar_cluster.h"
#include "ar_note.h"
#include "calibration.h"

#define ERROR_NOTED    0.15 /* median, of rows that were not fitted */
#define FACTOR_NOTED   10   /* of a number and its prior */
#define RESIDUAL_NOTED 0.5

const char *const ar_measured_time_names[] = {[AR_TIME_OUT_OF_PLACE] = "out-of-place",
                                              [AR_TIME_IN_PLACE] = "in-place",
                                              [AR_TIME_MEAN] = "mean",
                                              NULL};

/* --- what is fitted ----------------------------------------------------------------------- */

/* The largest count that is fitted by default: that of the set if there are more, else all but the
 * largest, and with one count that. */
static uint32_t default_max(const struct ar_calibrate_request *request,
                            const struct ar_measured *measured)
{
    const struct ar_library_nodes *groups = measured->groups;
    uint32_t max = request->fitted_nodes_max;
    bool is_between = max >= groups->counts[0] && max < groups->counts[groups->count - 1];
    return !measured->is_by_gpus && is_between
               ? max
               : groups->counts[groups->count > 1 ? groups->count - 2 : 0];
}

/* Splits the counts of the rows (`groups` of the measured rows) as the request says. */
static enum ar_status split(const struct ar_calibrate_request *request,
                            struct calibration *calibration, struct ar_error *err)
{
    const struct ar_library_nodes *groups = calibration->measured->groups;
    const char *unit = calibration->measured->unit;
    bool has_default = request->held_out_count == 0 && !request->is_all_fitted;
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
        ar_note(request->notes,
                "all rows are of one %s count: none is held out, and how well other "
                "counts are predicted cannot be said",
                unit);
    }
    for (size_t i = 0; i < groups->count; i++) {
        if (has_default && groups->counts[i] > default_max(request, calibration->measured)) {
            AR_TRY(ar_library_nodes_add(&calibration->held_out, groups->counts[i], err));
        }
        if (!ar_library_nodes_have(&calibration->held_out, groups->counts[i])) {
            AR_TRY(ar_library_nodes_add(&calibration->fitted, groups->counts[i], err));
        }
    }
    return calibration->fitted.count > 0
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "--hold-out: found all %s counts of the logs; expected some left to "
                              "fit",
                              unit);
}

/* What a measured row is to the fit. */
static enum ar_compared_set set_of(const struct calibration *calibration,
                                   const struct ar_measured_row *row)
{
    uint32_t count = ar_measured_group(calibration->measured, row);
    return ar_library_nodes_have(&calibration->fitted, count) && ar_estimate_takes(row)
               ? AR_COMPARED_FITTED
               : AR_COMPARED_HELD_OUT;
}

/* --- the whole ---------------------------------------------------------------------------- */

/* Notes what a reader of the fit should be wary of. */
static void note_doubts(const struct calibration *calibration, FILE *notes)
{
    const struct parameter *farthest = NULL;
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
                held_out_frac * 100, calibration->measured->unit);
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        const struct parameter *parameter = &calibration->parameters[i];
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

/* Predictions beside the rows of a set: all of them, or those of the fold that leaves `fold` out.
 */
static void compare(struct calibration *calibration, const struct ar_estimate *estimate,
                    const uint32_t *fold, struct ar_arena *arena)
{
    const struct ar_measured *measured = calibration->measured;
    for (size_t i = 0; i < measured->rows_count; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        const struct ar_library_prediction *prediction = &estimate->predictions[i];
        if (fold == NULL || ar_measured_group(measured, row) == *fold) {
            ar_comparison_add(&calibration->compared, row,
                              fold != NULL ? AR_COMPARED_FOLD : set_of(calibration, row),
                              ar_compared_choice(row, prediction, arena), prediction,
                              estimate->has_library ? &estimate->library.tuning : NULL);
        }
    }
}

/* Fits to all rows but those of `left_out`, and marks those that are fitted. */
static enum ar_status fit_without(const struct ar_calibrate_request *request,
                                  const struct ar_measured *measured,
                                  const struct ar_library_nodes *left_out, struct ar_arena *arena,
                                  bool **marks, struct ar_estimate **estimate, struct ar_error *err)
{
    bool *is_fitted = *marks = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *is_fitted);
    AR_NEED(is_fitted, err, "the rows of a fit");
    for (size_t i = 0; i < measured->rows_count; i++) {
        is_fitted[i] =
            !ar_library_nodes_have(left_out, ar_measured_group(measured, &measured->rows[i]));
    }
    return ar_estimate_run(request, measured, is_fitted, arena, estimate, err);
}

/* Each count in turn, by a fit to all others. */
static enum ar_status compare_folds(const struct ar_calibrate_request *request,
                                    struct ar_arena *arena, struct calibration *calibration,
                                    struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    for (size_t i = 0; request->folds && i < measured->groups->count; i++) {
        struct ar_error why;
        struct ar_estimate *estimate;
        bool *is_fitted;
        uint32_t count = measured->groups->counts[i];
        struct ar_library_nodes left_out = {.counts = {count}, .count = 1};
        enum ar_status status =
            fit_without(request, measured, &left_out, arena, &is_fitted, &estimate, &why);
        if (status != AR_OK) {
            return ar_error_set(err, status, "--folds: without %" PRIu32 " %ss: %.400s", count,
                                measured->unit, why.text);
        }
        compare(calibration, estimate, &count, arena);
    }
    return AR_OK;
}

/* Says what the saved files do not have of what `compare FILE` and `accuracy` predict by. */
static enum ar_status note_residuals(const struct ar_calibrate_request *request,
                                     const struct calibration *calibration, const bool *is_fitted,
                                     struct ar_arena *arena, struct ar_estimate *estimate,
                                     struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    struct ar_error_sum sum = {
        .errors = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *sum.errors)};
    AR_NEED(sum.errors, err, "the errors of a fit");
    AR_TRY(ar_estimate_correct(measured, is_fitted, arena, estimate, err));
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (is_fitted[i] && ar_estimate_takes(&measured->rows[i])) {
            ar_error_sum_add(&sum, measured->rows[i].call.time_s, &estimate->predictions[i]);
        }
    }
    ar_note(request->notes,
            "%s has what was fitted, not what single rows leave over, which 'compare FILE' and "
            "'accuracy' of a measured set take over: fitted rows by it %.1f %% off in the median, "
            "there %.1f %%",
            request->out, ar_comparison_median(&calibration->compared, AR_COMPARED_FITTED) * 100,
            ar_error_sum_end(&sum).median_frac * 100);
    return AR_OK;
}

static enum ar_status take(struct calibration *calibration, const struct ar_estimate *estimate,
                           const struct ar_settings *settings, struct ar_arena *arena,
                           struct ar_error *err)
{
    calibration->node_bus_Bps = calibration->net_bus_Bps = NAN;
    if (estimate->has_library) {
        struct ar_library_table *table = ar_arena_alloc(arena, 1, sizeof *table);
        AR_NEED(table, err, "a fit");
        *table = (struct ar_library_table){.library = estimate->library,
                                           .fitted = calibration->fitted,
                                           .held_out = calibration->held_out};
        calibration->table = table;
        AR_TRY(calibration_take_library(calibration, &estimate->library, arena, err));
    }
    return estimate->has_links
               ? calibration_take_links(calibration, "closed form of algorithms", &estimate->links,
                                        estimate->sources, settings, arena, err)
               : AR_OK;
}

static enum ar_status fit(const struct ar_calibrate_request *request, struct ar_cluster *cluster,
                          struct ar_arena *arena, struct calibration *calibration,
                          struct ar_error *err)
{
    struct ar_measured *measured;
    struct ar_estimate *estimate;
    bool *is_fitted;
    AR_TRY(ar_measured_load(request, arena, &measured, err));
    calibration->measured = measured;
    calibration->parameters = ar_arena_alloc(
        arena, AR_LIBRARY_PARAMETERS_COUNT + AR_LINK_COSTS_COUNT, sizeof *calibration->parameters);
    AR_NEED(calibration->parameters, err, "a fit");
    if (measured->is_pair) {
        calibration->node_bus_Bps = calibration->net_bus_Bps = NAN;
        return calibrate_pair(request, cluster, arena, measured, calibration, err);
    }
    AR_TRY(ar_measured_take(request, cluster, arena, measured, err));
    if (measured->calls_count == 0 && request->scenario->release != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--tuning: found rows of algorithms that say which; expected calls of "
                            "NCCL");
    }
    AR_TRY(split(request, calibration, err));
    AR_TRY(
        fit_without(request, measured, &calibration->held_out, arena, &is_fitted, &estimate, err));
    AR_TRY(take(calibration, estimate, &request->scenario->settings, arena, err));
    AR_TRY(ar_comparison_begin(2 * measured->rows_count, arena, &calibration->compared, err));
    compare(calibration, estimate, NULL, arena);
    AR_TRY(compare_folds(request, arena, calibration, err));
    AR_TRY(ar_comparison_sum(measured->groups, measured->is_by_gpus, arena, &calibration->compared,
                             err));
    return request->out != NULL
               ? note_residuals(request, calibration, is_fitted, arena, estimate, err)
               : AR_OK;
}

enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, const struct ar_view *view,
                                struct ar_arena *arena, struct ar_error *err)
{
    struct calibration *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, "a fit");
    AR_TRY(fit(request, cluster, arena, made, err));
    if (request->out != NULL) {
        AR_TRY(calibration_save(made, request, cluster, arena, err));
    }
    ar_measured_note(made->measured,
                     made->table != NULL ? made->table->library.tuning.release->release : NULL,
                     request->notes);
    note_doubts(made, request->notes);
    ar_note_flush(request->notes);
    calibration_print(made, view);
    return AR_OK;
}
