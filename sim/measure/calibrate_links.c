/* Fits of links: what one to messages of algorithms is printed as, and one to messages of a pair.
 */
#include <math.h>

#include "ar_link_fit.h"
#include "ar_log.h"
#include "ar_note.h"
#include "calibration.h"

/* --- numbers ------------------------------------------------------------------------------ */

/* A unit of numbers, and how a cluster file takes them. */
static const struct {
    const char *name, *suffix;
    double factor;
} units[] = {[AR_LINK_SECONDS] = {"s", "us", 1e6},
             [AR_LINK_RATE] = {"B/s", "GB/s", 1e-9},
             [AR_LINK_SECONDS_PER_BYTE] = {"s/B", "ns/B", 1e9}};

/* As a cluster file takes it. */
static const char *text_of(double value, int unit, struct ar_arena *arena)
{
    return ar_arena_format(arena, "%.6g%s", value * units[unit].factor, units[unit].suffix);
}

/* Where a prior is from. */
static const char *source_of(const char *const *sources, enum ar_link_cost cost,
                             const struct ar_settings *settings)
{
    const struct ar_setting *setting = ar_estimate_setting(settings, cost);
    if (setting != NULL) { /* of the command line, or of the index of sets */
        return setting->status == AR_USAGE ? setting->where : "measured set";
    }
    return sources != NULL && sources[cost] != NULL ? sources[cost] : "cluster file";
}

static struct parameter parameter_of(const struct ar_link_number *number,
                                     const char *const *sources, enum ar_link_cost cost,
                                     const struct ar_settings *settings, struct ar_arena *arena)
{
    static const char *const states[] = {[AR_LINK_ABSENT] = "not in the file",
                                         [AR_LINK_ZERO] = "zero, stays",
                                         [AR_LINK_UNUSED] = "not used by the rows",
                                         [AR_LINK_UNIDENTIFIED] = "not identified",
                                         [AR_LINK_IDENTIFIED] = "identified"};
    int unit = (int)ar_link_cost_unit(cost);
    return (struct parameter){
        .kind = "parameter",
        .parameter = ar_link_cost_key(cost),
        .value = number->value,
        .unit = units[unit].name,
        .relative_standard_error = number->error_frac,
        .identified = number->state == AR_LINK_IDENTIFIED,
        .state = states[number->state],
        .prior = number->prior,
        .prior_source = source_of(sources, cost, settings),
        .value_text = text_of(number->value, unit, arena),
        .prior_text = text_of(number->prior, unit, arena),
    };
}

enum ar_status calibration_take_links(struct calibration *calibration, const char *model,
                                      const struct ar_link_fit *fit, const char *const *sources,
                                      const struct ar_settings *settings, struct ar_arena *arena,
                                      struct ar_error *err)
{
    if (calibration->model == NULL) {
        calibration->what = "links";
        calibration->model = model;
        calibration->residual_frac = fit->residual_frac;
    } else {
        calibration->what = "NCCL and links";
        calibration->model = ar_arena_format(arena, "%s; %s", calibration->model, model);
    }
    calibration->rows_count += fit->rows_count;
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        if (fit->numbers[i].state != AR_LINK_ABSENT) {
            calibration->parameters[calibration->parameters_count++] =
                parameter_of(&fit->numbers[i], sources, (enum ar_link_cost)i, settings, arena);
        }
    }
    return calibration->model != NULL ? AR_OK : ar_error_no_memory(err, "a fit");
}

/* Refuses options that messages do not take. */
static enum ar_status check_options(const struct ar_calibrate_request *request,
                                    struct ar_error *err)
{
    bool has_hold_out = request->is_all_fitted || request->held_out_count > 0;
    const char *name = has_hold_out                         ? "--hold-out"
                       : request->folds                     ? "--folds"
                       : request->scenario->release != NULL ? "--tuning"
                                                            : NULL;
    return name == NULL
               ? AR_OK
               : ar_error_set(err, AR_USAGE,
                              "%s: found messages between two processes; expected collectives",
                              name);
}

/* --- messages between two processes ------------------------------------------------------- */

/* Writes the messages of a run; returns how many. */
static size_t take_rows(const struct ar_log *run, struct ar_pair_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < run->rows_count; i++) {
        double time_s = run->rows[i].out_of_place.time_s;
        if (time_s > 0) { /* a bandwidth of 0 bytes has none */
            rows[count++] = (struct ar_pair_row){.time_s = time_s,
                                                 .bytes = (double)run->rows[i].payload_bytes,
                                                 .is_alone = run->collective == AR_LOG_LATENCY};
        }
    }
    return count;
}

/* Takes the messages of all logs, `*count` in the end. */
static enum ar_status take_logs(const struct ar_calibrate_request *request,
                                const struct ar_pair_link *link, struct ar_measured *measured,
                                struct ar_pair_row *rows, size_t *count, struct ar_error *err)
{
    for (size_t i = 0; i < request->paths_count; i++) {
        for (size_t k = 0; k < measured->logs[i]->runs_count; k++) {
            const struct ar_log *run = &measured->logs[i]->runs[k];
            AR_TRY(
                ar_log_check(run, ar_log_is_pair(run) ? run->collective : AR_LOG_LATENCY, 1, err));
            size_t used = take_rows(run, rows + *count);
            *count += used;
            measured->runs[measured->runs_count++] =
                (struct ar_measured_run){.path = run->path,
                                         .line = run->first_line,
                                         .nodes = link->nodes,
                                         .ranks = 2,
                                         .rows_count = used};
        }
    }
    return AR_OK;
}

enum ar_status calibrate_pair(const struct ar_calibrate_request *request,
                              const struct ar_cluster *cluster, struct ar_arena *arena,
                              struct ar_measured *measured, struct calibration *calibration,
                              struct ar_error *err)
{
    const struct ar_pair_link *link = NULL;
    struct ar_link_fit fit;
    struct ar_pair_row *rows = ar_arena_alloc(arena, measured->rows_capacity, sizeof *rows);
    size_t count = 0;
    AR_TRY(check_options(request, err));
    AR_TRY(ar_pair_link_find("--pair", request->pair, cluster, &link, err));
    AR_NEED(rows, err, "the rows of a fit");
    measured->time = "of one message";
    AR_TRY(take_logs(request, link, measured, rows, &count, err));
    AR_TRY(ar_pair_fit(link, cluster, rows, count, &fit, err));
    if (isfinite(fit.numbers[link->latency].error_frac)) {
        ar_note(request->notes,
                "%s is that of a message between two processes; a hop of a collective takes longer "
                "(topologies/README.md)",
                ar_link_cost_key(link->latency));
    }
    return calibration_take_links(calibration, link->model, &fit, NULL,
                                  &request->scenario->settings, arena, err);
}
