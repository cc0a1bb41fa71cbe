/* Cluster files: read, changed and written. */
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "topo_line.h"

enum { FILE_MAX = 1 << 20, PATH_MAX_IN_MESSAGES = 199 };

/* --- reading --------------------------------------------------------------------------------- */

static struct ar_topo_line *find_line(const struct ar_topo *topo, enum ar_topo_key key)
{
    for (size_t i = 0; i < topo->lines_count; i++) {
        if (topo->lines[i].is_entry && topo->lines[i].entry.key == key) {
            return &topo->lines[i];
        }
    }
    return NULL;
}

static enum ar_status add_line(struct ar_topo *topo, struct ar_topo_line line, struct ar_error *err)
{
    if (topo->lines_count == topo->lines_capacity) {
        size_t capacity = topo->lines_capacity * 2 + 64;
        struct ar_topo_line *lines = ar_arena_alloc(&topo->arena, capacity, sizeof *lines);
        if (lines == NULL) {
            return ar_error_no_memory(err, "the cluster file");
        }
        if (topo->lines_count > 0) {
            memcpy(lines, topo->lines, topo->lines_count * sizeof *lines);
        }
        topo->lines = lines;
        topo->lines_capacity = capacity;
    }
    topo->lines[topo->lines_count++] = line;
    return AR_OK;
}

static enum ar_status read_line(struct ar_topo *topo, uint32_t number, const char *text,
                                struct ar_error *err)
{
    struct ar_topo_line line = {.number = number};
    const char *where = ar_arena_format(&topo->arena, "%s:%u", topo->path, number);
    if (where == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    AR_TRY(ar_topo_read_line(where, text, &topo->arena, &line, err));
    const struct ar_topo_line *earlier = line.is_entry ? find_line(topo, line.entry.key) : NULL;
    if (earlier != NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%s\": found a second time; expected once (first in line %u)",
                            where, ar_topo_key_name(line.entry.key), earlier->number);
    }
    return add_line(topo, line, err);
}

/* Cuts the content into lines. */
static enum ar_status read_lines(struct ar_topo *topo, char *content, size_t size,
                                 struct ar_error *err)
{
    uint32_t number = 0;
    bool has_values = false;
    for (char *start = content; start < content + size;) {
        number++;
        char *end = memchr(start, '\n', (size_t)(content + size - start));
        if (end == NULL) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%u: found the end of the file within a line; expected a "
                                "newline (is the file cut off?)",
                                topo->path, number);
        }
        *end = '\0';
        if (end - start > AR_TOPO_LINE_MAX || strlen(start) != (size_t)(end - start)) {
            return ar_error_set(
                err, AR_BAD_DATA, "%s:%u: found %s; expected plain text lines", topo->path, number,
                end - start > AR_TOPO_LINE_MAX ? "more than 4000 characters in a line"
                                               : "the byte 0x00");
        }
        AR_TRY(read_line(topo, number, start, err));
        has_values = has_values || topo->lines[topo->lines_count - 1].is_entry;
        start = end + 1;
    }
    if (!has_values) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found no values; expected lines such as \"nodes = 4 ; source\"",
                            topo->path);
    }
    return AR_OK;
}

/* Keeps the end of a long path, which tells more than its start. */
static enum ar_status keep_path(const char *path, struct ar_topo *topo, struct ar_error *err)
{
    size_t length = strlen(path);
    topo->path =
        length <= PATH_MAX_IN_MESSAGES
            ? ar_arena_text(&topo->arena, path)
            : ar_arena_format(&topo->arena, "...%s", path + length - (PATH_MAX_IN_MESSAGES - 3));
    return topo->path != NULL ? AR_OK : ar_error_no_memory(err, "the cluster file");
}

static enum ar_status read_topo(const char *path, struct ar_topo *topo, struct ar_error *err)
{
    char *content = NULL;
    size_t size = 0;
    AR_TRY(keep_path(path, topo, err));
    AR_TRY(ar_file_read(path, FILE_MAX, "a cluster file", &content, &size, err));
    if (ar_arena_own(&topo->arena, content, free) == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    return read_lines(topo, content, size, err);
}

enum ar_status ar_topo_load(const char *path, struct ar_topo **topo, struct ar_error *err)
{
    struct ar_topo *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    enum ar_status status = read_topo(path, loaded, err);
    if (status != AR_OK) {
        ar_topo_destroy(loaded);
        return status;
    }
    *topo = loaded;
    return AR_OK;
}

void ar_topo_destroy(struct ar_topo *topo)
{
    if (topo != NULL) {
        ar_arena_end(&topo->arena);
        free(topo);
    }
}

/* --- changing and writing -------------------------------------------------------------------- */

enum ar_status ar_topo_set(struct ar_topo *topo, const char *key, const char *value,
                           const char *source, struct ar_error *err)
{
    static const char where[] = "cluster file";
    struct ar_topo_line line = {.is_entry = false};
    const char *text = ar_arena_format(&topo->arena, "%s = %s ; %s", key, value, source);
    if (text == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    if (strlen(text) > AR_TOPO_LINE_MAX || strchr(value, ';') != NULL || *key == '#') {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"%.200s\"; expected one line of at most %d characters, "
                            "without ';' in the value",
                            where, text, AR_TOPO_LINE_MAX);
    }
    AR_TRY(ar_error_as_usage(ar_topo_read_line(where, text, &topo->arena, &line, err), err));
    line.text = ar_arena_format(&topo->arena, "%s = %s ; %s", ar_topo_key_name(line.entry.key),
                                line.entry.text, line.entry.source);
    struct ar_topo_line *earlier = find_line(topo, line.entry.key);
    if (line.text == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    if (earlier == NULL) {
        return add_line(topo, line, err);
    }
    *earlier = line;
    return AR_OK;
}

/* Is a line this one, but for the end of lines of other systems? */
static bool is_line(const struct ar_topo_line *line, const char *text)
{
    size_t length = strcspn(line->text, "\r");
    return length == strlen(text) && strncmp(line->text, text, length) == 0;
}

/* Where an earlier block ends, if one begins at a line: behind its last line. */
static size_t end_of_block(const struct ar_topo *topo, size_t first, const char *begin,
                           const char *end)
{
    size_t last = first;
    if (!is_line(&topo->lines[first], begin)) {
        return first;
    }
    while (last < topo->lines_count && !topo->lines[last].is_entry &&
           !is_line(&topo->lines[last], end)) {
        last++;
    }
    return last < topo->lines_count && !topo->lines[last].is_entry ? last + 1 : first;
}

static enum ar_status add_comment(struct ar_topo *topo, const char *prefix, const char *text,
                                  struct ar_error *err)
{
    const char *line = ar_arena_format(&topo->arena, "%s%s", prefix, text);
    if (line == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    AR_TRY(ar_error_as_usage(ar_topo_check_text("comment", line, true, err), err));
    return add_line(topo, (struct ar_topo_line){.text = line}, err);
}

static enum ar_status add_block(struct ar_topo *topo, const char *begin, const char *const *texts,
                                size_t texts_count, const char *end, struct ar_error *err)
{
    AR_TRY(add_comment(topo, "", begin, err));
    for (size_t i = 0; i < texts_count; i++) {
        AR_TRY(add_comment(topo, "# ", texts[i], err));
    }
    return add_comment(topo, "", end, err);
}

enum ar_status ar_topo_set_head(struct ar_topo *topo, const char *begin, const char *const *texts,
                                size_t texts_count, const char *end, struct ar_error *err)
{
    struct ar_topo made = *topo;
    made.lines = NULL;
    made.lines_count = made.lines_capacity = 0;
    enum ar_status status = add_block(&made, begin, texts, texts_count, end, err);
    for (size_t i = 0; status == AR_OK && i < topo->lines_count;) {
        size_t behind = end_of_block(topo, i, begin, end);
        if (behind == i) {
            status = add_line(&made, topo->lines[i], err);
        }
        i = behind > i ? behind : i + 1;
    }
    topo->arena = made.arena; /* it has grown */
    if (status == AR_OK) {
        *topo = made;
    }
    return status;
}

void ar_topo_write(const struct ar_topo *topo, FILE *file)
{
    for (size_t i = 0; i < topo->lines_count; i++) {
        fprintf(file, "%s\n", topo->lines[i].text);
    }
}
