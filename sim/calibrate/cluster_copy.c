#include "cluster_copy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"

enum { COMMENT_SIZE = 400 };

/* --- comments ----------------------------------------------------------------------------- */

static bool make_room(struct comments *comments)
{
    if (comments->count < comments->capacity) {
        return true;
    }
    size_t capacity = 2 * comments->capacity + 32;
    const char **lines = ar_arena_alloc(comments->arena, capacity, sizeof *lines);
    if (lines != NULL && comments->count > 0) {
        memcpy(lines, comments->lines, comments->count * sizeof *lines);
    }
    comments->lines = lines != NULL ? lines : comments->lines;
    comments->capacity = lines != NULL ? capacity : comments->capacity;
    return lines != NULL;
}

void comment_add(struct comments *comments, const char *format, ...)
{
    char text[COMMENT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = text; *at != '\0'; at++) { /* a comment is one line, whatever a log says */
        *at = (char)((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
    }
    const char *line = make_room(comments) ? ar_arena_text(comments->arena, text) : NULL;
    comments->is_short_of_memory |= line == NULL;
    if (line != NULL) {
        comments->lines[comments->count++] = line;
    }
}

void comment_counts(struct comments *comments, const char *what,
                    const struct ar_library_nodes *counts)
{
    char text[COMMENT_SIZE / 2] = "none";
    size_t used = 0;
    for (size_t i = 0; i < counts->count && used + 12 < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i > 0 ? ", " : "",
                                 counts->counts[i]);
    }
    comment_add(comments, "%s: %s", what, text);
}

void comment_measured(struct comments *comments, const struct ar_measured *measured)
{
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    comment_add(comments, "program: allreckon " AR_VERSION ", %s", date);
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        comment_add(comments,
                    "measured: %.240s, line %" PRIu64 ": %zu rows of %" PRIu32 " GPUs on %" PRIu32
                    " node%s",
                    run->path, run->line, run->rows_count, run->ranks, run->nodes,
                    run->nodes == 1 ? "" : "s");
    }
    if (measured->backend[0] != '\0') {
        comment_add(comments, "measured backend: %s", measured->backend);
    }
    if (measured->library[0] != '\0') {
        comment_add(comments, "measured library: %s", measured->library);
    }
    if (measured->gpu[0] != '\0') {
        comment_add(comments, "measured GPU: %s", measured->gpu);
    }
}

/* --- the copy ----------------------------------------------------------------------------- */

static enum ar_status check_path(const char *source, const char *path, char name[COPY_NAME_SIZE],
                                 struct ar_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    size_t plain =
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (length < 6 || length > 60 || plain != length || base[0] == '.' ||
        strcmp(base + length - 5, ".topo") != 0 || strlen(path) > COPY_PATH_SIZE) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\"; expected NAME.topo, with a NAME of letters, "
                            "digits, '-', '_' and '.'",
                            path);
    }
    struct stat a;
    struct stat b;
    if (stat(source, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.200s\", the cluster that is calibrated; expected "
                            "another file",
                            path);
    }
    snprintf(name, COPY_NAME_SIZE, "%.*s", (int)(length - 5), base);
    return AR_OK;
}

static enum ar_status set_settings(const struct ar_calibrate_request *request,
                                   struct ar_arena *arena, struct ar_topo *topo,
                                   struct ar_error *err)
{
    for (size_t i = 0; i < request->settings.count; i++) {
        char *key = ar_arena_text(arena, request->settings.list[i].text);
        char *equals = key != NULL ? strchr(key, '=') : NULL;
        if (equals == NULL) { /* the cluster took the setting */
            return ar_error_no_memory(err, "the cluster file");
        }
        *equals = '\0';
        AR_TRY(ar_topo_set(topo, key, equals + 1, "--set of 'allreckon calibrate'", err));
    }
    return AR_OK;
}

static enum ar_status set_description(const struct cluster_copy *copy, struct ar_topo *topo,
                                      struct ar_error *err)
{
    char text[200];
    char mark[40];
    snprintf(mark, sizeof mark, ", %s fitted to ", copy->what);
    const char *earlier = strstr(copy->description, mark);
    size_t length =
        earlier != NULL ? (size_t)(earlier - copy->description) : strlen(copy->description);
    snprintf(text, sizeof text, "%.*s%s%zu rows", (int)(length < 150 ? length : 150),
             copy->description, mark, copy->rows_count);
    return ar_topo_set(topo, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'",
                       err);
}

static void destroy_topo(void *topo)
{
    ar_topo_destroy(topo);
}

enum ar_status cluster_copy_make(const struct cluster_copy *copy, const struct comments *comments,
                                 struct ar_arena *arena, struct ar_topo **topo,
                                 char name[COPY_NAME_SIZE], struct ar_error *err)
{
    const struct ar_calibrate_request *request = copy->request;
    struct ar_topo *made = NULL;
    AR_TRY(check_path(request->source_path, request->out, name, err));
    AR_TRY(ar_topo_load(request->source_path, &made, err));
    if (ar_arena_own(arena, made, destroy_topo) == NULL || comments->is_short_of_memory) {
        return ar_error_no_memory(err, "the cluster file");
    }
    AR_TRY(ar_topo_set_head(made, BLOCK_BEGIN, comments->lines, comments->count, BLOCK_END, err));
    AR_TRY(set_settings(request, arena, made, err));
    AR_TRY(ar_topo_set(made, "name", name, "name of this file", err));
    AR_TRY(set_description(copy, made, err));
    *topo = made;
    return AR_OK;
}
