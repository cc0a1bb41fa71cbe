#include "ar_measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

static enum ar_status check_run(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                struct ar_error *err)
{
    if (measured_operation(run) == NULL && run->rows_count > 0) {
        return ar_log_refuse(run, run->first_line, err,
                             "a run of %s; expected one of 'allreckon list operations'",
                             run->collective == AR_LOG_OTHER && run->collective_name[0] != '\0'
                                 ? run->collective_name
                                 : ar_log_collective_name(run->collective));
    }
    AR_TRY(ar_log_check(run, run->collective, 1, err));
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

/* What a call was left to choose from: of an operation that has no such algorithm, everything. */
static enum ar_calls asked_calls(const struct ar_calibrate_request *request,
                                 const struct ar_operation *operation)
{
    const struct ar_algorithm *algorithm = NULL;
    struct ar_error ignored;
    if (request->algorithm_name != NULL) {
        (void)ar_algorithm_find_or_auto("algorithm", operation, request->algorithm_name, &algorithm,
                                        &ignored);
    }
    return ar_algorithm_calls(algorithm);
}

static enum ar_status add_rows(struct ar_measured *measured,
                               const struct ar_calibrate_request *request, const struct ar_log *run,
                               size_t path, enum measured_kind kind,
                               const struct ar_collective *collective, struct ar_error *err)
{
    const struct ar_operation *operation = measured_operation(run);
    const struct ar_cluster_facts *facts = ar_cluster_facts(request->scenario->cluster);
    uint32_t hcas = measured_hcas(facts, run->ranks / run->nodes);
    struct ar_library_row call = {
        .calls = asked_calls(request, operation),
        .run = {.nodes = run->nodes,
                .ranks = run->ranks,
                .sharers = run->nodes > 1 && hcas > 0 ? facts->hcas_per_node / hcas : 1}};
    (void)ar_library_call_find(operation, &call.run.call);
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        if (row->payload_bytes == 0) {
            measured->empty_count++; /* nothing to reduce: only the cost of a call */
            continue;
        }
        AR_TRY(pick_time(request->time, run, row, &call.time_s, err));
        call.run.bytes = (double)row->payload_bytes;
        struct ar_collective messages = *collective;
        if (kind == MEASURED_MESSAGES && run->algorithm[0] == '\0' &&
            messages.algorithm->nccl_chunks != NULL) { /* a call of NCCL, forced to it */
            messages.shape.parts = messages.algorithm->nccl_chunks(
                &messages.shape, row->payload_bytes, messages.channels);
        }
        measured->rows[measured->rows_count++] = (struct ar_measured_row){
            .run = run,
            .row = row,
            .operation = operation,
            .is_call = kind == MEASURED_CALL,
            .call = call,
            .messages = {.collective = messages,
                         .elements = (row->payload_bytes + messages.element_bytes - 1) /
                                     (messages.element_bytes > 0 ? messages.element_bytes : 4),
                         .bytes = call.run.bytes,
                         .time_s = call.time_s},
            .path = path};
        measured->calls_count += kind == MEASURED_CALL;
    }
    AR_TRY(ar_library_nodes_add(&measured->nodes, run->nodes, err));
    return ar_library_nodes_add(&measured->gpus, run->ranks, err);
}

/* Runs of one file on the same GPUs that follow each other count as one. */
static void note_run(struct ar_measured *measured, const struct ar_log *run,
                     enum measured_kind kind, size_t rows_count)
{
    struct ar_measured_run *last =
        measured->runs_count > 0 ? &measured->runs[measured->runs_count - 1] : NULL;
    if (kind == MEASURED_MESSAGES && last != NULL && last->path == run->path &&
        last->ranks == run->ranks && last->nodes == run->nodes) {
        last->rows_count += rows_count;
        return;
    }
    measured->runs[measured->runs_count++] = (struct ar_measured_run){.path = run->path,
                                                                      .line = run->first_line,
                                                                      .nodes = run->nodes,
                                                                      .ranks = run->ranks,
                                                                      .rows_count = rows_count};
}

static enum ar_status add_run(const struct ar_calibrate_request *request,
                              const struct ar_logs *logs, size_t path, const struct ar_log *run,
                              struct ar_cluster *cluster, struct ar_arena *arena,
                              struct ar_measured *measured, struct ar_error *err)
{
    size_t before = measured->rows_count;
    struct ar_collective collective = {.algorithm = NULL};
    enum measured_kind kind = MEASURED_UNUSED;
    bool is_table = run->format == AR_LOG_PUBLISHED; /* of several libraries */
    AR_TRY(
        measured_collective(request, logs, run, cluster, arena, measured, &kind, &collective, err));
    if (kind == MEASURED_UNUSED) {
        ar_note(request->notes, "%s:%" PRIu64 ": %s of backend %s not used", run->path,
                run->first_line, run->algorithm, run->tool);
        return AR_OK;
    }
    bool is_left = kind < MEASURED_REASONS;
    if (is_left && is_table) {
        bool is_asked =
            path >= request->known_count || request->known_count == request->paths_count;
        if (is_asked) {
            ar_measured_leave(&measured->left[kind], run);
        }
        return AR_OK;
    }
    AR_TRY(check_run(
        run, ar_cluster_facts(kind == MEASURED_MESSAGES ? collective.cluster : cluster), err));
    if (is_left) {
        const struct ar_operation *operation = measured_operation(run);
        return ar_log_refuse(run, run->first_line, err,
                             "found rows of %s, which has no algorithm \"%.40s\" here; expected "
                             "rows of an operation that has it",
                             operation != NULL ? operation->command : "no operation",
                             request->algorithm_name != NULL ? request->algorithm_name : "linear");
    }
    if (kind == MEASURED_MESSAGES && run->format == AR_LOG_HARNESS) {
        AR_TRY(check_same(run, "backend", run->tool, measured->backend, err));
    }
    if (!is_table) {
        AR_TRY(check_same(run, "library", run->library, measured->library, err));
        AR_TRY(check_same(run, "GPU", run->gpu, measured->gpu, err));
    }
    AR_TRY(add_rows(measured, request, run, path, kind, &collective, err));
    note_run(measured, run, kind, measured->rows_count - before);
    return AR_OK;
}

static enum ar_status add_log(const struct ar_calibrate_request *request, size_t path,
                              struct ar_cluster *cluster, struct ar_arena *arena,
                              struct ar_measured *measured, struct ar_error *err)
{
    const struct ar_logs *logs = measured->logs[path];
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        if (ar_measured_takes(request, run)) {
            AR_TRY(add_run(request, logs, path, run, cluster, arena, measured, err));
        } else if (request->known_count == 0) { /* else each of several sets takes its own */
            ar_measured_leave(&measured->left[MEASURED_OTHER_SYSTEM], run);
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
    for (size_t i = request->known_count; i < request->paths_count; i++) {
        for (size_t j = request->known_count; j < i; j++) {
            if (strcmp(request->paths[i], request->paths[j]) == 0) {
                return ar_error_set(err, AR_USAGE, "%s: found log \"%.200s\" twice; expected once",
                                    request->command, request->paths[i]);
            }
        }
    }
    return AR_OK;
}

uint32_t ar_measured_group(const struct ar_measured *measured, const struct ar_measured_row *row)
{
    return measured->is_by_gpus ? row->call.run.ranks : row->call.run.nodes;
}

const char *ar_measured_algorithm(const struct ar_measured_row *row,
                                  char text[AR_MEASURED_ALGORITHM])
{
    snprintf(text, AR_MEASURED_ALGORITHM, "%s/%s", row->operation->command,
             row->messages.collective.algorithm->name);
    return text;
}

const char *ar_measured_choice(const struct ar_measured_row *row, struct ar_arena *arena)
{
    char shape[AR_SHAPE_TEXT];
    return row->is_call ? NULL
                        : ar_arena_format(arena, "%s %s", row->messages.collective.algorithm->name,
                                          ar_shape_format(&row->messages.collective.shape, shape));
}

/* Loads the logs; returns how many runs they have. */
static enum ar_status load_logs(const struct ar_calibrate_request *request, struct ar_arena *arena,
                                struct ar_measured *measured, size_t *runs, struct ar_error *err)
{
    for (size_t i = 0; i < request->paths_count; i++) {
        struct ar_logs *logs;
        AR_TRY(ar_logs_load(request->paths[i], arena, &logs, err));
        measured->logs[i] = logs;
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
    made->machines = ar_arena_alloc(arena, runs + 1, sizeof *made->machines);
    AR_NEED(made->runs && made->rows && made->machines, err, "the measured rows");
    *measured = made;
    return AR_OK;
}

enum ar_status ar_measured_take(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_measured *measured, struct ar_error *err)
{
    measured->time = ar_measured_time_names[request->time];
    AR_TRY(measured_check_systems(request, measured, err));
    for (size_t i = 0; i < request->paths_count; i++) {
        AR_TRY(add_log(request, i, cluster, arena, measured, err));
    }
    measured->is_by_gpus = measured->calls_count == 0 && measured->nodes.count == 1;
    if (measured->is_by_gpus) {
        measured->groups = &measured->gpus;
        measured->unit = "GPU";
    }
    for (int i = 0; i < MEASURED_REASONS; i++) {
        ar_measured_note_left(request->command, (enum measured_kind)i, &measured->left[i],
                              request->notes);
    }
    return measured->rows_count > 0 ? AR_OK : measured_refuse_all(request, measured, err);
}

void ar_measured_note(const struct ar_measured *measured, const char *release, FILE *notes)
{
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        ar_note(notes, "%s:%" PRIu64 ": %zu %s of %" PRIu32 " GPUs on %" PRIu32 " node%s used",
                run->path, run->line, run->rows_count, measured->rows_count > 0 ? "rows" : "sizes",
                run->ranks, run->nodes, run->nodes == 1 ? "" : "s");
    }
    if (release != NULL && measured->library[0] != '\0' &&
        strstr(measured->library, release) == NULL) {
        ar_note(notes, "the logs are of %s; choices and priors are those of NCCL %s",
                measured->library, release);
    }
}
