/* The files of a calibrated cluster: a copy of its file with other values of some keys and what is
 * said of them at its head; of a library its cost table, too. */
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

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"
#define AT_THE_HEAD "'allreckon calibrate', see the head of the file"

enum { COPY_PATH_SIZE = 3700, COMMENT_SIZE = 400, VALUE_MAX = 200 /* of a cluster file */ };

/* --- comments ----------------------------------------------------------------------------- */

/* Lines with room for all, in the memory of an arena. */
struct comments {
    struct ar_arena *arena;
    const char **lines;
    size_t count;
    bool is_short_of_memory;
};

__attribute__((format(printf, 2, 3))) static void comment(struct comments *comments,
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
    const char *line = ar_arena_text(comments->arena, text);
    comments->is_short_of_memory |= line == NULL;
    comments->lines[comments->count++] = line;
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

/* Program and date, which runs were measured, and on what. */
static void comment_measured(struct comments *comments, const struct ar_measured *measured)
{
    const struct {
        const char *what, *text;
    } facts[] = {
        {"backend", measured->backend}, {"library", measured->library}, {"GPU", measured->gpu}};
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    comment(comments, "program: allreckon " AR_VERSION ", %s", date);
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        comment(comments,
                "measured: %.240s, line %" PRIu64 ": %zu rows of %" PRIu32 " GPUs on %" PRIu32
                " node%s",
                run->path, run->line, run->rows_count, run->ranks, run->nodes,
                run->nodes == 1 ? "" : "s");
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].text[0] != '\0') {
            comment(comments, "measured %s: %s", facts[i].what, facts[i].text);
        }
    }
}

static enum ar_status make_comments(const struct calibration *calibration,
                                    const struct ar_calibrate_request *request,
                                    struct ar_arena *arena, struct comments *comments,
                                    struct ar_error *err)
{
    const struct ar_measured *measured = calibration->measured;
    const char *unit = measured->is_by_gpus ? "GPU counts" : "nodes";
    char text[COMMENT_SIZE / 2];
    size_t capacity = measured->runs_count + calibration->compared.errors_count +
                      calibration->parameters_count + 16;
    *comments = (struct comments){
        .arena = arena, .lines = ar_arena_alloc(arena, capacity, sizeof *comments->lines)};
    AR_NEED(comments->lines, err, "the cluster file");
    comment(comments, "made by: %s", request->made_by);
    comment_measured(comments, measured);
    comment(comments, "times: %s; cluster: %.200s; model: %s", measured->time,
            request->scenario->cluster_name, calibration->model);
    if (calibration->fitted.count > 0) {
        comment(comments, "%s fitted: %s", unit, counts_text(&calibration->fitted, ", ", text));
        comment(comments, "%s held out: %s", unit, counts_text(&calibration->held_out, ", ", text));
    }
    comment(comments, "residual of the fitted rows: %.1f %%", calibration->residual_frac * 100);
    for (size_t i = 0; i < calibration->compared.errors_count; i++) {
        const char *line = ar_comparison_text(&calibration->compared, i, arena);
        comment(comments, "error, %s", line != NULL ? line : "");
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        if (!calibration->parameters[i].identified) {
            comment(comments, "%s: %s", calibration->parameters[i].parameter,
                    calibration->parameters[i].state);
        }
    }
    return comments->is_short_of_memory ? ar_error_no_memory(err, "the cluster file") : AR_OK;
}

/* --- the copy ----------------------------------------------------------------------------- */

enum ar_status ar_calibrate_check_out(struct ar_calibrate_request *request, struct ar_arena *arena,
                                      struct ar_error *err)
{
    const char *path = request->out;
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    size_t plain =
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (length < 6 || length > 60 || plain != length || base[0] == '.' ||
        strcmp(base + length - 5, ".topo") != 0 || strlen(path) > COPY_PATH_SIZE) {
        return ar_error_set(
            err, AR_USAGE,
            "--out: found \"%.200s\"; expected NAME.topo, with a NAME of at most 55 "
            "letters, digits, '-', '_' and '.'",
            path);
    }
    struct stat a;
    struct stat b;
    if (stat(request->source_path, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\", the cluster that is calibrated; expected "
                            "another file",
                            path);
    }
    request->name = ar_arena_format(arena, "%.*s", (int)(length - 5), base);
    request->table_path = ar_arena_format(arena, "%.*s.library.csv", (int)strlen(path) - 5, path);
    return request->name != NULL && request->table_path != NULL ? AR_OK
                                                                : ar_error_no_memory(err, "a name");
}

static enum ar_status set_settings(const struct ar_settings *settings, struct ar_arena *arena,
                                   struct ar_topo *topo, struct ar_error *err)
{
    for (size_t i = 0; i < settings->count; i++) {
        char *key = ar_arena_text(arena, settings->list[i].text);
        char *equals = key != NULL ? strchr(key, '=') : NULL;
        if (equals == NULL) { /* the cluster took the setting */
            return ar_error_no_memory(err, "the cluster file");
        }
        *equals = '\0';
        AR_TRY(ar_topo_set(topo, key, equals + 1, "--set of 'allreckon calibrate'", err));
    }
    return AR_OK;
}

/* `..., NCCL fitted to 72 rows`, in place of one from earlier. */
static enum ar_status set_description(const struct calibration *calibration,
                                      const char *description, struct ar_topo *topo,
                                      struct ar_error *err)
{
    char text[200];
    char mark[40];
    snprintf(mark, sizeof mark, ", %s fitted to ", calibration->what);
    const char *earlier = strstr(description, mark);
    size_t length = earlier != NULL ? (size_t)(earlier - description) : strlen(description);
    snprintf(text, sizeof text, "%.*s%s%" PRIu64 " rows", (int)(length < 150 ? length : 150),
             description, mark, calibration->rows_count);
    return ar_topo_set(topo, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'",
                       err);
}

/* Adds ` of allreduce/ring ...`, the algorithms of the fitted rows, where a value has room for all.
 */
static void add_algorithms(const struct calibration *calibration, char text[COMMENT_SIZE])
{
    const struct ar_measured *measured = calibration->measured;
    size_t begin = strlen(text);
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

/* Of links: the numbers that were fitted, and to what (`links.fitted = gpus 2 3 of
 * allreduce/ring`). */
static enum ar_status set_links(const struct calibration *calibration, struct ar_topo *topo,
                                struct ar_error *err)
{
    char counts[COMMENT_SIZE / 2];
    char text[COMMENT_SIZE];
    if (calibration->fitted.count > 0) {
        snprintf(text, sizeof text, "%s %s", calibration->compared.is_by_gpus ? "gpus" : "nodes",
                 counts_text(&calibration->fitted, " ", counts));
        add_algorithms(calibration, text);
        AR_TRY(ar_topo_set(topo, "links.fitted", text, AT_THE_HEAD, err));
    }
    for (size_t i = 0; i < calibration->parameters_count; i++) {
        const struct parameter *parameter = &calibration->parameters[i];
        if (!isfinite(parameter->relative_standard_error)) {
            continue;
        }
        snprintf(text, sizeof text, "fitted, +-%.1f %%%s, 'allreckon calibrate'; before: %s",
                 parameter->relative_standard_error * 100,
                 parameter->identified ? "" : ", not identified by the rows",
                 parameter->prior_text);
        AR_TRY(ar_topo_set(topo, parameter->parameter, parameter->value_text, text, err));
    }
    return AR_OK;
}

static enum ar_status make_copy(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, const struct comments *comments,
                                struct ar_arena *arena, struct ar_topo **copy, struct ar_error *err)
{
    const struct ar_scenario *scenario = request->scenario;
    struct ar_topo *topo;
    AR_TRY(ar_topo_load(request->source_path, arena, &topo, err));
    AR_TRY(ar_topo_set_head(topo, BLOCK_BEGIN, comments->lines, comments->count, BLOCK_END, err));
    AR_TRY(set_settings(&scenario->settings, arena, topo, err));
    AR_TRY(ar_topo_set(topo, "name", request->name, "name of this file", err));
    AR_TRY(set_description(calibration, ar_cluster_facts(cluster)->description, topo, err));
    *copy = topo;
    if (calibration->table == NULL) {
        return set_links(calibration, topo, err);
    }
    AR_TRY(ar_topo_set(topo, "library.cost_table", request->name, AT_THE_HEAD, err));
    return scenario->release == NULL ? AR_OK
                                     : ar_topo_set(topo, "library.release", scenario->release,
                                                   "--tuning of 'allreckon calibrate'", err);
}

/* --- files -------------------------------------------------------------------------------- */

enum ar_status calibration_save(const struct calibration *calibration,
                                const struct ar_calibrate_request *request,
                                const struct ar_cluster *cluster, struct ar_arena *arena,
                                struct ar_error *err)
{
    struct comments comments;
    struct ar_topo *topo = NULL;
    struct ar_cluster *read;
    struct ar_error why;
    struct ar_output *file;
    struct ar_output *table;
    AR_TRY(make_comments(calibration, request, arena, &comments, err));
    AR_TRY(make_copy(calibration, request, cluster, &comments, arena, &topo, err));
    if (ar_cluster_create(topo, (struct ar_settings){0}, arena, &read, &why) != AR_OK) {
        return ar_error_set(err, AR_BAD_DATA, "%.100s: not written, no machine is so: %.380s",
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
