#include "ar_pair_calibration.h"

#include <stdlib.h>

#include "ar_log.h"
#include "ar_note.h"
#include "ar_pair_fit.h"

struct rows {
    struct ar_pair_row *list;
    size_t count;
    bool has_latency;
};

static bool is_pair(const struct ar_log *run)
{
    return run->collective == AR_LOG_LATENCY || run->collective == AR_LOG_BANDWIDTH;
}

enum ar_status ar_pair_calibration_is_meant(const struct ar_calibrate_request *request,
                                            bool *is_meant, struct ar_error *err)
{
    struct ar_logs *logs;
    *is_meant = request->pair != NULL && request->paths_count > 0;
    if (*is_meant || request->paths_count == 0) {
        return AR_OK;
    }
    enum ar_status status = ar_logs_load(request->paths[0], &logs, err);
    if (status == AR_OK) {
        *is_meant = logs->runs_count > 0 && is_pair(&logs->runs[0]);
        ar_logs_destroy(logs);
    }
    return status;
}

/* --- rows --------------------------------------------------------------------------------- */

static enum ar_status add_run(const struct ar_log *run, struct rows *rows, struct ar_error *err)
{
    bool is_alone = run->collective == AR_LOG_LATENCY;
    AR_TRY(ar_log_check(run, is_pair(run) ? run->collective : AR_LOG_LATENCY, 1, err));
    struct ar_pair_row *list =
        realloc(rows->list, (rows->count + run->rows_count + 1) * sizeof *list);
    if (list == NULL) {
        return ar_error_no_memory(err, "the rows of a fit");
    }
    rows->list = list;
    for (size_t i = 0; i < run->rows_count; i++) {
        double time_s = run->rows[i].out_of_place.time_s;
        if (time_s > 0) { /* a bandwidth of 0 bytes has none */
            list[rows->count++] = (struct ar_pair_row){.time_s = time_s,
                                                       .bytes = (double)run->rows[i].payload_bytes,
                                                       .is_alone = is_alone};
            rows->has_latency = rows->has_latency || is_alone;
        }
    }
    return AR_OK;
}

static enum ar_status add_runs(const struct ar_logs *logs, const char *path,
                               const struct ar_pair_link *link, struct ar_measured *measured,
                               struct rows *rows, struct ar_error *err)
{
    for (size_t i = 0; i < logs->runs_count; i++) {
        size_t before = rows->count;
        AR_TRY(add_run(&logs->runs[i], rows, err));
        struct ar_measured_run run = {.path = path,
                                      .line = logs->runs[i].first_line,
                                      .nodes = link->nodes,
                                      .ranks = 2,
                                      .rows_count = rows->count - before};
        AR_TRY(ar_measured_add_run(measured, run, err));
    }
    return AR_OK;
}

/* --- the whole ---------------------------------------------------------------------------- */

static enum ar_status check_request(const struct ar_calibrate_request *request,
                                    struct ar_error *err)
{
    const char *name = request->hold_out != AR_HOLD_OUT_LARGEST ? "--hold-out"
                       : request->folds                         ? "--folds"
                       : request->release != NULL               ? "--tuning"
                                                                : NULL;
    return name == NULL ? AR_OK
                        : ar_error_set(err, AR_USAGE,
                                       "%s: found messages between two processes; expected "
                                       "all-reduces",
                                       name);
}

static enum ar_status fit_logs(const struct ar_calibrate_request *request,
                               const struct ar_cluster *cluster, struct rows *rows,
                               struct ar_measured *measured,
                               struct ar_link_calibration *calibration, struct ar_error *err)
{
    const struct ar_pair_link *link = NULL;
    AR_TRY(check_request(request, err));
    AR_TRY(ar_pair_link_find("--pair", request->pair, cluster, &link, err));
    for (size_t i = 0; i < request->paths_count; i++) {
        struct ar_logs *logs;
        AR_TRY(ar_logs_load(request->paths[i], &logs, err));
        enum ar_status status = add_runs(logs, request->paths[i], link, measured, rows, err);
        ar_logs_destroy(logs);
        AR_TRY(status);
    }
    calibration->model = link->model;
    AR_TRY(ar_pair_fit(link, cluster, rows->list, rows->count, &calibration->fit, err));
    if (rows->has_latency) {
        ar_note(request->notes,
                "%s is that of a message between two processes; a hop of a collective takes longer "
                "(topologies/README.md)",
                ar_link_cost_key(link->latency));
    }
    return AR_OK;
}

enum ar_status ar_pair_calibration_run(const struct ar_calibrate_request *request,
                                       const struct ar_cluster *cluster, struct ar_arena *arena,
                                       struct ar_measured **measured,
                                       struct ar_link_calibration *calibration,
                                       struct ar_error *err)
{
    struct rows rows = {.count = 0};
    *calibration = (struct ar_link_calibration){.fit.rows_count = 0};
    AR_TRY(ar_measured_create(arena, measured, err));
    (*measured)->time = "of one message";
    enum ar_status status = fit_logs(request, cluster, &rows, *measured, calibration, err);
    free(rows.list);
    return status;
}
