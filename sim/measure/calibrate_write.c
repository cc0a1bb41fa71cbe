/* Calibrations as they are printed, and as files: a copy of the cluster's file with other values of
 * some keys and their history at its head; of a library its cost table, too. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "ar_output.h"
#include "ar_text.h"
#include "ar_topo.h"
#include "calibration.h"

/* --- printed ------------------------------------------------------------------------------- */

#define COLUMN(kind, field, name, ...)                                                             \
    AR_COLUMN(kind, struct fitted_parameter, field, name, __VA_ARGS__)

static const struct ar_column table_columns[] = {
    COLUMN(string, parameter, "", "", .heading = "parameter"),
    COLUMN(string, value_text, "", "", .heading = "value"),
    COLUMN(number, relative_standard_error, "", "", .heading = "+- (%)", .factor = 100,
           .decimals = 1),
    COLUMN(string, state, "", "", .heading = "what the rows say"),
    COLUMN(string, prior_text, "", "", .heading = "prior"),
    COLUMN(string, prior_source, "", "", .heading = "source of the prior"),
};

/* JSON has all but `kind`, CSV all but `state`. */
enum { STATE = 6, PARAMETER_COLUMNS = 9 };

static const struct ar_column columns[PARAMETER_COLUMNS] = {
    COLUMN(string, kind, "kind", "parameter or accuracy"),
    COLUMN(string, parameter, "parameter", "of the fit"),
    COLUMN(number, value, "value", "that was fitted"),
    COLUMN(string, unit, "unit", "of value and prior"),
    COLUMN(number, relative_standard_error, "relative_standard_error", "of the value"),
    COLUMN(flag, identified, "identified", "the rows say more of it than the prior",
           .is_boolean = true),
    COLUMN(string, state, "state", "what the rows say of it"),
    COLUMN(number, prior, "prior", "where the fit starts"),
    COLUMN(string, prior_source, "prior_source", "where that is from"),
};

/* A line of the CSV: a parameter leaves the columns of errors empty, and the other way round. */
struct csv_line {
    struct fitted_parameter parameter;
    struct ar_compared_error error;
};

static void print_csv(const struct calibration *calibration)
{
    struct ar_column list[PARAMETER_COLUMNS - 1 + AR_COMPARED_ERROR_COLUMNS];
    struct csv_line empty;
    struct ar_records records;
    memcpy(list, columns, STATE * sizeof *columns);
    memcpy(list + STATE, columns + STATE + 1, (PARAMETER_COLUMNS - STATE - 1) * sizeof *columns);
    ar_compared_error_columns(calibration->compared.is_by_gpus, offsetof(struct csv_line, error),
                              list + PARAMETER_COLUMNS - 1);
    memset(&empty, 0, sizeof empty);
    ar_record_clear(AR_COLUMNS(list), &empty);
    empty.error.set = AR_COMPARED_SETS;
    ar_records_begin(&records, stdout, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(list));
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        struct csv_line line = {.parameter = calibration->parameters[i], .error = empty.error};
        ar_records_add(&records, &line);
    }
    for (size_t i = 0; i < calibration->compared.errors_count; i++) {
        struct csv_line line = {.parameter = empty.parameter,
                                .error = calibration->compared.errors[i]};
        line.parameter.kind = "accuracy";
        ar_records_add(&records, &line);
    }
    ar_records_end(&records);
}

static void print_json(const struct calibration *calibration)
{
#define HEAD(kind, name, help) AR_COLUMN(kind, struct calibration, name, #name, help)
    static const struct ar_column head[] = {
        HEAD(string, tuning, "NCCL's release and machine"),
        HEAD(number, node_bus_Bps, "of its rings in a node"),
        HEAD(number, net_bus_Bps, "across the network"),
        AR_COLUMN(count, struct calibration, rows_count, "rows", "that were fitted"),
        HEAD(number, residual_frac, "scatter of the fitted rows")};
#define RUN(kind, field, name, help) AR_COLUMN(kind, struct ar_measured_run, field, name, help)
    static const struct ar_column of_run[] = {
        RUN(string, path, "path", "of the log"), RUN(count, line, "line", "where the run begins"),
        RUN(count, nodes, "nodes", "of the run"), RUN(count, ranks, "gpus", "of the run"),
        RUN(count, rows_count, "rows", "that are used")};
    const struct ar_measured *measured = calibration->measured;
    printf("{");
    ar_json_members(stdout, AR_COLUMNS(head), calibration);
    printf(",\n  \"runs\": ");
    ar_json_array(stdout, AR_COLUMNS(of_run), measured->runs, measured->runs_count,
                  sizeof *measured->runs);
    printf(",\n  \"parameters\": ");
    ar_json_array(stdout, (struct ar_columns){columns + 1, PARAMETER_COLUMNS - 1},
                  calibration->parameters, calibration->parameters_count,
                  sizeof *calibration->parameters);
    printf(",\n  \"accuracy\": ");
    ar_comparison_write_errors(stdout, AR_VIEW(AR_FORMAT_JSON), &calibration->compared);
    printf("\n}\n");
}

void calibration_print(const struct calibration *calibration, const struct ar_view *view)
{
    if (view->format == AR_FORMAT_CSV) {
        print_csv(calibration);
        return;
    }
    if (view->format == AR_FORMAT_JSON) {
        print_json(calibration);
        return;
    }
    printf("%s; %" PRIu64 " rows fitted, residual %.2f %%\n\n", calibration->model,
           calibration->rows_count, calibration->residual_frac * 100);
    ar_records_write(stdout, view, AR_COLUMNS(table_columns), calibration->parameters,
                     calibration->parameters_count, sizeof *calibration->parameters);
    if (calibration->compared.errors_count > 0) {
        printf("\n");
        ar_comparison_write_errors(stdout, view, &calibration->compared);
    }
}

/* --- comments ------------------------------------------------------------------------------ */

enum { COMMENT_SIZE = 400, VALUE_MAX = 200 /* of a cluster file */ };

struct comments {
    struct ar_arena *arena;
    const char **lines; /* with room for all */
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void comment_add(struct comments *comments,
                                                              const char *format, ...)
{
    char text[COMMENT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = text; *at != '\0'; at++) { /* a comment is one line, whatever a log says */
        *at = (char)((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
    }
    comments->lines[comments->count++] = ar_arena_text(comments->arena, text);
}

/* `1, 2, 4`, or `none` */
static const char *counts_text(const struct ar_library_nodes *counts, const char *separator,
                               char text[COMMENT_SIZE / 2])
{
    size_t used = 0;
    snprintf(text, COMMENT_SIZE / 2, "none");
    for (size_t i = 0; i < counts->count && used + 12 < COMMENT_SIZE / 2; i++) {
        used += (size_t)snprintf(text + used, COMMENT_SIZE / 2 - used, "%s%" PRIu32,
                                 i > 0 ? separator : "", counts->counts[i]);
    }
    return text;
}

/* A line of errors: `error, 8 nodes held out, 24 rows: median 4.0 %, ...`. */
static void comment_error(struct comments *comments, const struct ar_compared_error *line,
                          const char *unit)
{
    static const char *const verbs[] = {[AR_COMPARED_FITTED] = "fitted",
                                        [AR_COMPARED_HELD_OUT] = "held out",
                                        [AR_COMPARED_FOLD] = "held out in turn"};
    char nodes[32], tuning[96] = "";
    if (line->nodes == AR_NO_COUNT) {
        snprintf(nodes, sizeof nodes, "all %s counts", unit);
    } else {
        snprintf(nodes, sizeof nodes, "%" PRIu64 " %s%s", line->nodes, unit,
                 line->nodes == 1 ? "" : "s");
    }
    if (line->tuning.count > 0) {
        snprintf(tuning, sizeof tuning, "; NCCL's own constants: %.1f, %.1f, %.1f %%",
                 line->tuning.median_frac * 100, line->tuning.mean_frac * 100,
                 line->tuning.p95_frac * 100);
    }
    comment_add(comments,
                "error, %s %s, %zu rows: median %.1f %%, mean %.1f %%, 95th percentile %.1f %%%s",
                nodes, verbs[line->set], line->model.count, line->model.median_frac * 100,
                line->model.mean_frac * 100, line->model.p95_frac * 100, tuning);
}

/* Comments at the head: program and date, the measured runs, the fitted counts, and the errors. */
static struct comments make_comments(const struct calibration *calibration,
                                     const struct ar_calibrate_request *request,
                                     struct ar_arena *arena)
{
    const struct ar_measured *measured = calibration->measured;
    const char *counts = measured->is_by_gpus ? "GPU counts" : "nodes";
    const struct {
        const char *what, *text;
    } facts[] = {
        {"backend", measured->backend}, {"library", measured->library}, {"GPU", measured->gpu}};
    char date[16], text[COMMENT_SIZE / 2];
    time_t now = time(NULL);
    struct tm utc;
    size_t capacity = measured->runs_count + calibration->compared.errors_count +
                      calibration->parameters_count + 16;
    struct comments comments = {.arena = arena,
                                .lines = ar_arena_alloc(arena, capacity, sizeof *comments.lines)};
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    comment_add(&comments, "made by: %s", request->made_by);
    comment_add(&comments, "program: allreckon " AR_VERSION ", %s", date);
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        comment_add(&comments,
                    "measured: %.240s, line %" PRIu64 ": %zu rows of %" PRIu32 " GPUs on %" PRIu32
                    " node%s",
                    run->path, run->line, run->rows_count, run->ranks, run->nodes,
                    run->nodes == 1 ? "" : "s");
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].text[0] != '\0') {
            comment_add(&comments, "measured %s: %s", facts[i].what, facts[i].text);
        }
    }
    comment_add(&comments, "times: %s; cluster: %.200s; model: %s", measured->time,
                request->rows.scenario->cluster_name, calibration->model);
    if (calibration->fitted.count > 0) {
        comment_add(&comments, "%s fitted: %s", counts,
                    counts_text(&calibration->fitted, ", ", text));
        comment_add(&comments, "%s held out: %s", counts,
                    counts_text(&calibration->held_out, ", ", text));
    }
    comment_add(&comments, "residual of the fitted rows: %.1f %%",
                calibration->residual_frac * 100);
    for (size_t i = 0; i < calibration->compared.errors_count; i++) {
        comment_error(&comments, &calibration->compared.errors[i], ar_measured_unit(measured));
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        if (!calibration->parameters[i].identified) {
            comment_add(&comments, "%s: %s", calibration->parameters[i].parameter,
                        calibration->parameters[i].state);
        }
    }
    return comments;
}

/* --- the copy ------------------------------------------------------------------------------ */

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"
#define AT_THE_HEAD "'allreckon calibrate', see the head of the file"

enum { COPY_PATH_SIZE = 3700 };

enum ar_status ar_calibrate_check_out(struct ar_calibrate_request *request, struct ar_arena *arena,
                                      struct ar_error *err)
{
    const char *path = request->out;
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    size_t plain =
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    struct stat a, b;
    if (length < 6 || length > 60 || plain != length || base[0] == '.' ||
        strcmp(base + length - 5, ".topo") != 0 || strlen(path) > COPY_PATH_SIZE) {
        return ar_error_set(
            err, AR_USAGE,
            "--out: found \"%.200s\"; expected NAME.topo, with a NAME of at most 55 "
            "letters, digits, '-', '_' and '.'",
            path);
    }
    if (stat(request->source_path, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\", the cluster that is calibrated; expected "
                            "another file",
                            path);
    }
    request->name = ar_arena_format(arena, "%.*s", (int)(length - 5), base);
    request->table_path = ar_arena_format(arena, "%.*s.library.csv", (int)strlen(path) - 5, path);
    return AR_OK;
}

/* Writes `nodes 1 2 of allreduce/ring ...`: the counts that were fitted and, where a value has room
 * for all of them, the algorithms. */
static void fitted_text(const struct calibration *calibration, char text[COMMENT_SIZE])
{
    const struct ar_measured *measured = calibration->measured;
    char counts[COMMENT_SIZE / 2];
    size_t begin =
        (size_t)snprintf(text, COMMENT_SIZE, "%s %s", measured->is_by_gpus ? "gpus" : "nodes",
                         counts_text(&calibration->fitted, " ", counts));
    size_t used = begin;
    for (size_t i = 0; i < measured->rows_count && used <= VALUE_MAX; i++) {
        const struct ar_measured_row *row = &measured->rows[i];
        char name[AR_MEASURED_ALGORITHM];
        if (!row->is_call && ar_estimate_takes(row) &&
            ar_library_nodes_have(&calibration->fitted, ar_measured_group(measured, row)) &&
            !ar_text_has_word(text + begin, ar_measured_algorithm(row, name))) {
            used += (size_t)snprintf(text + used, COMMENT_SIZE - used, "%s %s",
                                     used == begin ? " of" : "", name);
        }
    }
    text[used <= VALUE_MAX ? used : begin] = '\0';
}

/* Sets the fitted numbers of links, and the rows that they were fitted to. */
static enum ar_status set_links(const struct calibration *calibration, struct ar_topo *topo,
                                struct ar_error *err)
{
    char text[COMMENT_SIZE];
    if (calibration->fitted.count > 0) {
        fitted_text(calibration, text);
        AR_TRY(ar_topo_set(topo, "links.fitted", text, AT_THE_HEAD, err));
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        const struct fitted_parameter *parameter = &calibration->parameters[i];
        if (isfinite(parameter->relative_standard_error)) {
            snprintf(text, sizeof text, "fitted, +-%.1f %%%s, 'allreckon calibrate'; before: %s",
                     parameter->relative_standard_error * 100,
                     parameter->identified ? "" : ", not identified by the rows",
                     parameter->prior_text);
            AR_TRY(ar_topo_set(topo, parameter->parameter, parameter->value_text, text, err));
        }
    }
    return AR_OK;
}

/* The file of the cluster with the settings of the request, another name, `..., NCCL fitted to 72
 * rows` in its description in place of one from earlier, and what was fitted. */
static enum ar_status make_copy(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, const struct comments *comments,
                                struct ar_arena *arena, struct ar_topo **copy, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->rows.scenario;
    const char *description = ar_cluster_facts(cluster)->description;
    struct ar_topo *topo;
    AR_TRY(ar_topo_load(request->source_path, arena, &topo, err));
    *copy = topo;
    AR_TRY(ar_topo_set_head(topo, BLOCK_BEGIN, comments->lines, comments->count, BLOCK_END, err));
    for (size_t i = 0; i < scenario->settings.count; i++) {
        const char *text = scenario->settings.list[i].text;
        const char *equals = strchr(text, '='); /* the cluster took the setting */
        const char *key = ar_arena_format(arena, "%.*s", (int)(equals - text), text);
        AR_TRY(ar_topo_set(topo, key, equals + 1, "--set of 'allreckon calibrate'", err));
    }
    AR_TRY(ar_topo_set(topo, "name", request->name, "name of this file", err));
    char text[200], mark[40];
    snprintf(mark, sizeof mark, ", %s fitted to ", calibration->what);
    const char *earlier = strstr(description, mark);
    size_t length = earlier != NULL ? (size_t)(earlier - description) : strlen(description);
    snprintf(text, sizeof text, "%.*s%s%" PRIu64 " rows", (int)(length < 150 ? length : 150),
             description, mark, calibration->rows_count);
    AR_TRY(ar_topo_set(topo, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'",
                       err));
    if (calibration->table == NULL) {
        return set_links(calibration, topo, err);
    }
    AR_TRY(ar_topo_set(topo, "library.cost_table", request->name, AT_THE_HEAD, err));
    return scenario->release == NULL ? AR_OK
                                     : ar_topo_set(topo, "library.release", scenario->release,
                                                   "--tuning of 'allreckon calibrate'", err);
}

enum ar_status calibration_save(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_error *err)
{
    struct comments comments = make_comments(calibration, request, arena);
    struct ar_topo *topo = NULL;
    struct ar_cluster *read;
    struct ar_error why;
    struct ar_output *file;
    struct ar_output *table;
    AR_TRY(make_copy(calibration, request, cluster, &comments, arena, &topo, err));
    if (ar_cluster_create(topo, (struct ar_settings){0}, arena, &read, &why) != AR_OK) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.100s: not written: no machine has the fitted numbers: %.360s",
                            request->out, why.text);
    }
    AR_TRY(ar_output_begin(request->out, arena, &file, err));
    ar_topo_write(topo, file->file);
    if (calibration->table != NULL) { /* first: a cluster file never names one that is not there */
        AR_TRY(ar_output_begin(request->table_path, arena, &table, err));
        ar_library_table_write(calibration->table, comments.lines, comments.count, table->file);
        AR_TRY(ar_output_commit(table, err));
    }
    return ar_output_commit(file, err);
}
