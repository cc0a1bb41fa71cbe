#include "ar_link_calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_note.h"
#include "hold_out.h"
#include "report.h"

#define ERROR_NOTED    0.15 /* median, of rows that were not fitted */
#define FACTOR_NOTED   30   /* of a number and its prior */
#define RESIDUAL_NOTED 0.5

void link_choice(const struct ar_collective *collective, char text[AR_COMPARED_CHOICE])
{
    char shape[AR_SHAPE_TEXT];
    snprintf(text, AR_COMPARED_CHOICE, "%.12s %.10s", collective->algorithm->name,
             ar_shape_format(&collective->shape, shape));
}

/* --- what was fitted ---------------------------------------------------------------------- */

const char *links_fitted_text(bool is_by_gpus, const struct ar_library_nodes *counts,
                              char text[LINKS_FITTED_TEXT])
{
    size_t used = (size_t)snprintf(text, LINKS_FITTED_TEXT, "%s", is_by_gpus ? "gpus" : "nodes");
    for (size_t i = 0; i < counts->count && used + 12 < LINKS_FITTED_TEXT; i++) {
        used +=
            (size_t)snprintf(text + used, LINKS_FITTED_TEXT - used, " %" PRIu32, counts->counts[i]);
    }
    return text;
}

bool links_fitted_have(const char *text, const struct ar_library_run *run)
{
    uint32_t count = strncmp(text, "gpus ", 5) == 0 ? run->ranks : run->nodes;
    const char *at = strchr(text, ' ');
    while (at != NULL) {
        if (strtoul(at, NULL, 10) == count) {
            return true;
        }
        at = strchr(at + 1, ' ');
    }
    return false;
}

/* --- the fit ------------------------------------------------------------------------------ */

static bool is_fitted(const struct ar_link_calibration *calibration,
                      const struct ar_measured *measured, size_t row)
{
    return ar_library_nodes_have(&calibration->fitted,
                                 ar_measured_group(measured, &measured->rows[row].run));
}

static enum ar_status fit_rows(const struct ar_measured *measured, struct ar_cluster *cluster,
                               struct ar_arena *arena, struct ar_link_calibration *calibration,
                               struct ar_error *err)
{
    struct ar_link_row *rows = ar_arena_alloc(arena, measured->rows_count + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    for (size_t i = 0; i < measured->rows_count; i++) {
        if (is_fitted(calibration, measured, i)) {
            rows[count++] = measured->own[i];
        }
    }
    return ar_link_fit(cluster, rows, count, &calibration->fit, err);
}

/* Predictions beside all rows, by the fitted cluster. */
static enum ar_status compare_all(const struct ar_measured *measured,
                                  const struct ar_cluster *cluster, struct ar_arena *arena,
                                  struct ar_link_calibration *calibration, struct ar_error *err)
{
    size_t count = measured->rows_count;
    double *times_s = ar_arena_alloc(arena, count + 1, sizeof *times_s);
    struct ar_compared *compared = ar_arena_alloc(arena, count + 1, sizeof *compared);
    if (times_s == NULL || compared == NULL) {
        return ar_error_no_memory(err, "the compared rows");
    }
    AR_TRY(ar_link_predict(cluster, measured->own, count, times_s, err));
    for (size_t i = 0; i < count; i++) {
        bool has_fitted = is_fitted(calibration, measured, i);
        compared[i] =
            (struct ar_compared){.row = measured->rows[i],
                                 .set = has_fitted ? AR_COMPARED_FITTED : AR_COMPARED_HELD_OUT,
                                 .predicted_s = times_s[i],
                                 .low_s = NAN,
                                 .high_s = NAN,
                                 .tuning_s = NAN};
        link_choice(&measured->own[i].collective, compared[i].choice);
    }
    calibration->compared = compared;
    calibration->compared_count = count;
    return ar_compared_sum(compared, count, ar_measured_groups(measured), calibration->is_by_gpus,
                           arena, &calibration->errors, err);
}

enum ar_status ar_link_calibration_run(const struct ar_calibrate_request *request,
                                       struct ar_cluster *cluster,
                                       const struct ar_measured *measured, struct ar_arena *arena,
                                       struct ar_link_calibration *calibration,
                                       struct ar_error *err)
{
    *calibration = (struct ar_link_calibration){.model = "closed form of our own algorithms",
                                                .is_by_gpus = ar_measured_is_by_gpus(measured)};
    if (request->folds) {
        return ar_error_set(err, AR_USAGE,
                            "--folds: found rows of our own algorithms; expected all-reduces of "
                            "NCCL (--hold-out judges here)");
    }
    if (request->release != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--tuning: found rows of our own algorithms; expected all-reduces of "
                            "NCCL");
    }
    AR_TRY(hold_out_split(request, measured, &calibration->fitted, &calibration->held_out, err));
    AR_TRY(fit_rows(measured, cluster, arena, calibration, err));
    return compare_all(measured, cluster, arena, calibration, err);
}

void ar_link_calibration_note(const struct ar_link_calibration *calibration, FILE *notes)
{
    double held_out_frac = ar_compared_held_out(&calibration->errors);
    if (calibration->fit.residual_frac > RESIDUAL_NOTED) {
        ar_note(notes,
                "the fitted rows scatter by %.0f %% around the model: they do not resemble it on "
                "this cluster",
                calibration->fit.residual_frac * 100);
    }
    if (held_out_frac > ERROR_NOTED) {
        ar_note(notes,
                "rows that were held out are predicted with a median error of %.0f %%: do not rely "
                "on %s counts that were not fitted",
                held_out_frac * 100, calibration->is_by_gpus ? "GPU" : "node");
    }
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        const struct ar_link_number *number = &calibration->fit.numbers[i];
        double factor = number->prior > 0 ? number->value / number->prior : 1;
        if (factor > FACTOR_NOTED || factor < 1.0 / FACTOR_NOTED) {
            ar_note(notes, "%s is %.3g times that of the cluster file: is it this machine?",
                    ar_link_cost_key((enum ar_link_cost)i), factor);
        }
    }
}

/* --- the report --------------------------------------------------------------------------- */

static const char *unit_of(enum ar_link_cost cost)
{
    static const char *const units[] = {
        [AR_LINK_SECONDS] = "s", [AR_LINK_RATE] = "B/s", [AR_LINK_SECONDS_PER_BYTE] = "s/B"};
    return units[ar_link_cost_unit(cost)];
}

const char *link_state_name(enum ar_link_state state)
{
    static const char *const names[] = {[AR_LINK_ABSENT] = "not in the file",
                                        [AR_LINK_ZERO] = "zero, stays",
                                        [AR_LINK_UNUSED] = "not used by the rows",
                                        [AR_LINK_UNIDENTIFIED] = "not identified",
                                        [AR_LINK_IDENTIFIED] = "identified"};
    return names[state];
}

const char *link_number_text(enum ar_link_cost cost, double value, char text[AR_UNIT_TEXT])
{
    switch (ar_link_cost_unit(cost)) {
    case AR_LINK_SECONDS:
        snprintf(text, AR_UNIT_TEXT, "%.6gus", value * 1e6);
        break;
    case AR_LINK_RATE:
        snprintf(text, AR_UNIT_TEXT, "%.6gGB/s", value / 1e9);
        break;
    default:
        snprintf(text, AR_UNIT_TEXT, "%.6gns/B", value * 1e9);
        break;
    }
    return text;
}

static struct report_parameter parameter_of(const struct ar_link_number *number,
                                            enum ar_link_cost cost, struct ar_arena *arena)
{
    char text[AR_UNIT_TEXT];
    return (struct report_parameter){
        .kind = "parameter",
        .parameter = ar_link_cost_key(cost),
        .value = number->value,
        .unit = unit_of(cost),
        .relative_standard_error = number->error_frac,
        .identified = number->state == AR_LINK_IDENTIFIED,
        .state = link_state_name(number->state),
        .prior = number->prior,
        .prior_source = "cluster file",
        .value_text = ar_arena_text(arena, link_number_text(cost, number->value, text)),
        .prior_text = ar_arena_text(arena, link_number_text(cost, number->prior, text)),
    };
}

enum ar_status ar_link_calibration_print(const struct ar_link_calibration *calibration,
                                         const struct ar_measured *measured, enum ar_format format,
                                         struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_link_fit *fit = &calibration->fit;
    struct report_parameter parameters[AR_LINK_COSTS_COUNT];
    struct report report = {
        .head = ar_arena_format(arena, "%s; %zu rows fitted, residual %.2f %%", calibration->model,
                                fit->rows_count, fit->residual_frac * 100),
        .node_bus_Bps = NAN,
        .net_bus_Bps = NAN,
        .rows = fit->rows_count,
        .residual_frac = fit->residual_frac,
        .parameters = parameters,
        .errors = &calibration->errors,
        .measured = measured,
    };
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        if (fit->numbers[i].state != AR_LINK_ABSENT) {
            parameters[report.parameters_count++] =
                parameter_of(&fit->numbers[i], (enum ar_link_cost)i, arena);
        }
    }
    return report_print(&report, format, arena, err);
}
