#include "ar_measured.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_note.h"
#include "ar_text.h"

/* --- one run ------------------------------------------------------------------------------ */

static enum ar_status check_places(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                   struct ar_error *err)
{
    if (run->nodes == 0) {
        return ar_log_refuse(run, run->first_line, err,
                             "the log does not say on how many nodes it ran; expected it to");
    }
    if (run->nodes > facts->nodes_count) {
        return ar_log_refuse(run, run->first_line, err,
                             "found %" PRIu32 " nodes; expected at most %" PRIu32
                             ", all that cluster %s has",
                             run->nodes, facts->nodes_count, facts->name);
    }
    if (run->ranks % run->nodes != 0 || run->ranks / run->nodes > facts->gpus_per_node) {
        return ar_log_refuse(
            run, run->first_line, err,
            "found %" PRIu32 " ranks on %" PRIu32 " node%s; expected equally many on "
            "each, at most %" PRIu32 ", the GPUs of a node of cluster %s",
            run->ranks, run->nodes, run->nodes == 1 ? "" : "s", facts->gpus_per_node, facts->name);
    }
    return AR_OK;
}

/* The backend nccl also runs algorithms composed of its calls, and probes of links; only what the
 * library chose by itself can be fitted to its choice. */
static bool is_of_library(const struct ar_log *run)
{
    return run->format != AR_LOG_HARNESS ||
           (strcmp(run->tool, "nccl") == 0 && strcmp(run->algorithm, "nccl-allreduce") == 0);
}

static enum ar_status check_run(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                struct ar_error *err)
{
    AR_TRY(ar_log_check(run, AR_LOG_ALL_REDUCE, 1, err));
    bool has_end = run->format == AR_LOG_NCCL_TEXT || run->format == AR_LOG_NCCL_JSON;
    if (has_end && !run->is_complete) {
        return ar_log_refuse(run, run->first_line, err,
                             "found no end of the run; expected the closing lines of nccl-tests "
                             "(is the log cut off?)");
    }
    return check_places(run, facts, err);
}

/* What the runs say of the machine must be the same in all that say it. */
static enum ar_status check_same(const struct ar_log *run, const char *what, const char *found,
                                 char known[AR_LOG_TEXT], struct ar_error *err)
{
    if (found[0] == '\0' || strcmp(found, known) == 0) {
        return AR_OK;
    }
    if (known[0] == '\0') {
        ar_copy_text(known, AR_LOG_TEXT, found);
        return AR_OK;
    }
    return ar_log_refuse(run, run->first_line, err,
                         "found %s \"%.80s\"; expected \"%.80s\", as in the runs before", what,
                         found, known);
}

/* --- rows --------------------------------------------------------------------------------- */

static enum ar_status pick_time(enum ar_measured_time time, const struct ar_log *run,
                                const struct ar_log_row *row, double *time_s, struct ar_error *err)
{
    double out_s = row->out_of_place.time_s;
    double in_s = row->in_place.time_s;
    *time_s = time == AR_TIME_IN_PLACE       ? in_s
              : time == AR_TIME_OUT_OF_PLACE ? out_s
                                             : (in_s + out_s) / 2;
    if (!(*time_s > 0) || !isfinite(*time_s)) {
        return ar_log_refuse(run, row->line, err,
                             "found no time for --time %s; expected one in every row",
                             ar_measured_time_names[time]);
    }
    return AR_OK;
}

/* `collective` is what a run of our own algorithms ran. */
static enum ar_status add_rows(struct ar_measured *measured, const struct ar_log *run,
                               enum ar_measured_time time, const struct ar_collective *collective,
                               struct ar_error *err)
{
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        double time_s;
        if (row->payload_bytes == 0) {
            continue; /* nothing to reduce: only the cost of a call */
        }
        AR_TRY(pick_time(time, run, row, &time_s, err));
        measured->rows[measured->rows_count] = (struct ar_library_row){
            .time_s = time_s,
            .calls = AR_CALLS_ANY,
            .run = {.nodes = run->nodes, .ranks = run->ranks, .bytes = (double)row->payload_bytes}};
        measured->own[measured->rows_count++] =
            (struct ar_link_row){.collective = *collective,
                                 .elements = row->count,
                                 .bytes = (double)row->payload_bytes,
                                 .time_s = time_s};
    }
    AR_TRY(ar_library_nodes_add(&measured->nodes, run->nodes, err));
    return measured->is_own ? ar_library_nodes_add(&measured->gpus, run->ranks, err) : AR_OK;
}

/* Rows are of one kind: what is fitted to them differs. */
static enum ar_status check_kind(struct ar_measured *measured, const struct ar_log *run,
                                 struct ar_error *err)
{
    bool is_own = measured_run_is_own(run);
    if (measured->runs_count > 0 && is_own != measured->is_own) {
        return ar_log_refuse(
            run, run->first_line, err,
            "found all-reduces of %s beside some of %s (%.80s:%" PRIu64
            "); expected one kind: a library is fitted to the one, links to the other",
            is_own ? "our own algorithms" : "NCCL", is_own ? "NCCL" : "our own algorithms",
            measured->runs[0].path, measured->runs[0].line);
    }
    measured->is_own = is_own;
    return is_own ? check_same(run, "backend", run->tool, measured->backend, err) : AR_OK;
}

/* Runs of one file on the same GPUs that follow each other count as one. */
static void note_run(struct ar_measured *measured, const struct ar_log *run, size_t rows_count)
{
    struct ar_measured_run *last =
        measured->runs_count > 0 ? &measured->runs[measured->runs_count - 1] : NULL;
    if (measured->is_own && last != NULL && last->path == run->path && last->ranks == run->ranks &&
        last->nodes == run->nodes) {
        last->rows_count += rows_count;
        return;
    }
    measured->runs[measured->runs_count++] = (struct ar_measured_run){.path = run->path,
                                                                      .line = run->first_line,
                                                                      .nodes = run->nodes,
                                                                      .ranks = run->ranks,
                                                                      .rows_count = rows_count};
}

static enum ar_status add_run(const struct ar_calibrate_request *request, const struct ar_log *run,
                              const struct ar_cluster *cluster, uint32_t window,
                              struct ar_measured *measured, struct ar_error *err)
{
    size_t before = measured->rows_count;
    struct ar_collective collective = {.algorithm = NULL};
    AR_TRY(check_kind(measured, run, err));
    AR_TRY(check_run(run, ar_cluster_facts(cluster), err));
    AR_TRY(check_same(run, "library", run->library, measured->library, err));
    AR_TRY(check_same(run, "GPU", run->gpu, measured->gpu, err));
    if (measured->is_own) {
        AR_TRY(measured_own_collective(run, window, cluster, &collective, err));
    }
    AR_TRY(add_rows(measured, run, request->time, &collective, err));
    note_run(measured, run, measured->rows_count - before);
    return AR_OK;
}

static enum ar_status add_log(const struct ar_calibrate_request *request,
                              const struct ar_logs *logs, const struct ar_cluster *cluster,
                              struct ar_measured *measured, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->scenario;
    uint32_t window = measured_own_window(logs);
    if (window == 0 || ar_scenario_has(scenario, AR_KEY_WINDOW)) {
        window = scenario->window; /* what is asked for, else the standard one */
    }
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        if (is_of_library(run) || measured_run_is_own(run)) {
            AR_TRY(add_run(request, run, cluster, window, measured, err));
        } else {
            ar_note(request->notes, "%s:%" PRIu64 ": %s of backend %s not used", run->path,
                    run->first_line, run->algorithm, run->tool);
        }
    }
    return AR_OK;
}

static enum ar_status check_paths(const struct ar_calibrate_request *request, struct ar_error *err)
{
    if (request->paths_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "%s: no log; expected files of nccl-tests, of the harness or of "
                            "published measurements",
                            request->command);
    }
    for (size_t i = 0; i < request->paths_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(request->paths[i], request->paths[j]) == 0) {
                return ar_error_set(err, AR_USAGE, "%s: found log \"%.200s\" twice; expected once",
                                    request->command, request->paths[i]);
            }
        }
    }
    return AR_OK;
}

uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_library_run *run)
{
    return measured->is_by_gpus ? run->ranks : run->nodes;
}

static void destroy(void *logs)
{
    ar_logs_destroy(logs);
}

/* Loads the logs; returns how many runs they have. */
static enum ar_status load_logs(const struct ar_calibrate_request *request, struct ar_arena *arena,
                                struct ar_measured *measured, size_t *runs, struct ar_error *err)
{
    for (size_t i = 0; i < request->paths_count; i++) {
        struct ar_logs *logs;
        AR_TRY(ar_logs_load(request->paths[i], &logs, err));
        measured->logs[i] = ar_arena_own(arena, logs, destroy);
        if (measured->logs[i] == NULL) {
            return ar_error_no_memory(err, request->paths[i]);
        }
        for (size_t k = 0; k < logs->runs_count; k++) {
            measured->rows_capacity += logs->runs[k].rows_count;
        }
        *runs += logs->runs_count;
    }
    return AR_OK;
}

enum ar_status ar_measured_load(const struct ar_calibrate_request *request, struct ar_arena *arena,
                                struct ar_measured **measured, struct ar_error *err)
{
    size_t runs = 0;
    struct ar_measured *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_TRY(check_paths(request, err));
    if (made == NULL ||
        (made->logs = ar_arena_alloc(arena, request->paths_count, sizeof *made->logs)) == NULL) {
        return ar_error_no_memory(err, "the logs");
    }
    AR_TRY(load_logs(request, arena, made, &runs, err));
    made->groups = &made->nodes;
    made->unit = "node";
    made->is_pair = request->pair != NULL || ar_log_is_pair(&made->logs[0]->runs[0]);
    made->runs = ar_arena_alloc(arena, runs, sizeof *made->runs);
    made->rows = ar_arena_alloc(arena, made->rows_capacity, sizeof *made->rows);
    made->own = ar_arena_alloc(arena, made->rows_capacity, sizeof *made->own);
    if (made->runs == NULL || made->rows == NULL || made->own == NULL) {
        return ar_error_no_memory(err, "the measured rows");
    }
    *measured = made;
    return AR_OK;
}

enum ar_status ar_measured_take(const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_measured *measured,
                                struct ar_error *err)
{
    measured->time = ar_measured_time_names[request->time];
    for (size_t i = 0; i < request->paths_count; i++) {
        AR_TRY(add_log(request, measured->logs[i], cluster, measured, err));
    }
    measured->is_by_gpus = measured->is_own && measured->nodes.count == 1;
    if (measured->is_by_gpus) {
        measured->groups = &measured->gpus;
        measured->unit = "GPU";
    }
    return measured->rows_count > 0
               ? AR_OK
               : ar_error_set(
                     err, AR_BAD_DATA,
                     "%s: found no all-reduce by NCCL's own choice in the logs; expected "
                     "some (of the harness: backend nccl, algorithm nccl-allreduce), or our "
                     "own algorithms by another backend of the harness",
                     request->command);
}

void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes)
{
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        ar_note(notes, "%s:%" PRIu64 ": %zu %s of %" PRIu32 " GPUs on %" PRIu32 " node%s used",
                run->path, run->line, run->rows_count,
                measured->rows_count > 0 ? "all-reduces" : "sizes", run->ranks, run->nodes,
                run->nodes == 1 ? "" : "s");
    }
    if (release != NULL && measured->library[0] != '\0' &&
        strstr(measured->library, release) == NULL) {
        ar_note(notes, "the logs are of %s; choices and priors are those of NCCL %s",
                measured->library, release);
    }
}
