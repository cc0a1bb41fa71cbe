/* A copy of a cluster file with other values. */
#include "cluster_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BLOCK_BEGIN "# --- calibrated by 'allreckon calibrate' ---"
#define BLOCK_END   "# --- end of what was calibrated ---"

/* --- remarks ------------------------------------------------------------------------------ */

void remark(struct remarks *remarks, const char *format, ...)
{
    char text[COPY_REMARK_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (remarks->count == COPY_REMARKS_MAX) {
        return;
    }
    for (char *at = text; *at != '\0'; at++) { /* a comment is one line, whatever a log says */
        *at = (char)((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
    }
    remarks->lines[remarks->count] = strdup(text);
    remarks->is_short_of_memory |= remarks->lines[remarks->count] == NULL;
    remarks->count += remarks->lines[remarks->count] != NULL;
}

void remark_counts(struct remarks *remarks, const char *what, const struct ar_library_nodes *nodes)
{
    char text[COPY_REMARK_SIZE / 2] = "none";
    size_t used = 0;
    for (size_t i = 0; i < nodes->count && used + 12 < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i > 0 ? ", " : "",
                                 nodes->counts[i]);
    }
    remark(remarks, "%s: %s", what, text);
}

void remark_program(struct remarks *remarks)
{
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    remark(remarks, "program: allreckon " AR_VERSION ", %s", date);
}

void remark_measured(const struct ar_measured *measured, struct remarks *remarks)
{
    for (size_t i = 0; i < measured->runs_count; i++) {
        const struct ar_measured_run *run = &measured->runs[i];
        remark(remarks,
               "measured: %.240s, line %" PRIu64 ": %zu rows of %" PRIu32 " GPUs on %" PRIu32
               " node%s",
               run->path, run->line, run->rows_count, run->ranks, run->nodes,
               run->nodes == 1 ? "" : "s");
    }
    if (measured->backend[0] != '\0') {
        remark(remarks, "measured backend: %s", measured->backend);
    }
    if (measured->library[0] != '\0') {
        remark(remarks, "measured library: %s", measured->library);
    }
    if (measured->gpu[0] != '\0') {
        remark(remarks, "measured GPU: %s", measured->gpu);
    }
}

void remarks_free(struct remarks *remarks)
{
    for (size_t i = 0; i < remarks->count; i++) {
        free(remarks->lines[i]);
    }
    free(remarks);
}

/* --- values ------------------------------------------------------------------------------- */

/* Cuts the blanks around a key. */
static void take_key(const char *from, size_t length, char key[COPY_NAME_SIZE])
{
    while (length > 0 && strchr(" \t", *from) != NULL) {
        from++;
        length--;
    }
    while (length > 0 && strchr(" \t", from[length - 1]) != NULL) {
        length--;
    }
    snprintf(key, COPY_NAME_SIZE, "%.*s", (int)length, from);
}

void copy_set(struct cluster_copy *copy, const char *key, const char *value, const char *source)
{
    size_t place = 0;
    while (place < copy->entries_count && strcmp(copy->entries[place].key, key) != 0) {
        place++;
    }
    copy->entries_count += place == copy->entries_count;
    struct copy_entry *entry = &copy->entries[place];
    snprintf(entry->key, sizeof entry->key, "%s", key);
    snprintf(entry->line, sizeof entry->line, "%s = %s ; %s", key, value, source);
}

void copy_settings(struct cluster_copy *copy, const struct ar_calibrate_request *request)
{
    for (size_t i = 0; i < request->settings_count; i++) {
        const char *equals = strchr(request->settings[i], '=');
        char key[COPY_NAME_SIZE];
        take_key(request->settings[i], (size_t)(equals - request->settings[i]), key);
        copy_set(copy, key, equals + 1 + strspn(equals + 1, " \t"),
                 "--set of 'allreckon calibrate'");
    }
}

void copy_describe(struct cluster_copy *copy, const char *description, const char *what,
                   size_t rows_count)
{
    char text[200];
    char mark[40];
    snprintf(mark, sizeof mark, ", %s fitted to ", what);
    const char *earlier = strstr(description, mark);
    size_t length = earlier != NULL ? (size_t)(earlier - description) : strlen(description);
    snprintf(text, sizeof text, "%.*s%s%zu rows", (int)(length < 150 ? length : 150), description,
             mark, rows_count);
    copy_set(copy, "description", text + (length == 0 ? 2 : 0), "'allreckon calibrate'");
}

/* --- lines -------------------------------------------------------------------------------- */

static struct copy_entry *entry_of_line(struct cluster_copy *copy, const char *line)
{
    const char *equals = strchr(line, '=');
    char key[COPY_NAME_SIZE];
    if (line[strspn(line, " \t")] == '#' || equals == NULL) {
        return NULL;
    }
    take_key(line, (size_t)(equals - line), key);
    for (size_t i = 0; i < copy->entries_count; i++) {
        if (strcmp(copy->entries[i].key, key) == 0) {
            return &copy->entries[i];
        }
    }
    return NULL;
}

static void write_block(FILE *target, const struct remarks *remarks)
{
    fprintf(target, "%s\n", BLOCK_BEGIN);
    for (size_t i = 0; i < remarks->count; i++) {
        fprintf(target, "# %s\n", remarks->lines[i]);
    }
    fprintf(target, "%s\n", BLOCK_END);
}

/* Copies the lines; the block of an earlier calibration is left out. */
static void copy_lines(FILE *source, FILE *target, const struct remarks *remarks,
                       struct cluster_copy *copy)
{
    char line[COPY_LINE_SIZE];
    bool is_in_block = false;
    write_block(target, remarks);
    while (fgets(line, sizeof line, source) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        bool begins = strcmp(line, BLOCK_BEGIN) == 0;
        bool ends = is_in_block && strcmp(line, BLOCK_END) == 0;
        struct copy_entry *entry = entry_of_line(copy, line);
        if (!begins && !is_in_block) {
            fprintf(target, "%s\n", entry != NULL ? entry->line : line);
        }
        if (entry != NULL) {
            entry->is_written = true;
        }
        is_in_block = (is_in_block || begins) && !ends;
    }
    for (size_t i = 0; i < copy->entries_count; i++) {
        if (!copy->entries[i].is_written) {
            fprintf(target, "%s\n", copy->entries[i].line);
        }
    }
}

enum ar_status copy_write(struct cluster_copy *copy, const struct remarks *remarks,
                          const char *source_path, FILE *target, struct ar_error *err)
{
    FILE *source = fopen(source_path, "re");
    if (source == NULL) {
        return ar_error_set(err, AR_NO_INPUT, "%.300s: cannot read: %s", source_path,
                            strerror(errno));
    }
    copy_lines(source, target, remarks, copy);
    bool is_read = ferror(source) == 0;
    fclose(source);
    return is_read ? AR_OK : ar_error_set(err, AR_NO_INPUT, "%.300s: cannot read", source_path);
}

enum ar_status copy_check_path(const char *source, const char *path, char name[COPY_NAME_SIZE],
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
