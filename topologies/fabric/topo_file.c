/* Cluster files: read, changed and written. */
#include <string.h>

#include "ar_file.h"
#include "topo_values.h"

enum { FILE_MAX = 1 << 20, PATH_MAX_IN_MESSAGES = 199 };

/* A line as read. */
struct line {
    const char *text; /* without its newline */
    uint32_t number;  /* from 1 on; 0: it was set */
    bool is_entry;    /* else it is a comment or empty */
    struct ar_topo_entry entry;
};

struct ar_topo {
    struct ar_arena *arena;
    const char *path;   /* for messages, shortened at its start if long */
    struct line *lines; /* has room for all keys more */
    size_t lines_count;
    const char *begin, *end; /* the block at the head; NULL: there is none */
    const char *const *texts;
    size_t texts_count;
};

/* --- reading ---------------------------------------------------------------------------------- */

static struct line *find_line(const struct ar_topo *topo, enum ar_topo_key key)
{
    for (size_t i = 0; i < topo->lines_count; i++) {
        if (topo->lines[i].is_entry && topo->lines[i].entry.key == key) {
            return &topo->lines[i];
        }
    }
    return NULL;
}

static enum ar_status read_line(const struct ar_topo *topo, const char *where, const char *text,
                                struct line *line, struct ar_error *err)
{
    char *assignment = ar_trim(ar_arena_text(topo->arena, text));
    AR_TRY(ar_topo_check_text(where, assignment, true, err));
    line->text = text;
    line->is_entry = *assignment != '#' && *assignment != '\0';
    if (!line->is_entry) {
        return AR_OK;
    }
    line->entry = (struct ar_topo_entry){.source = "", .where = where, .status = AR_BAD_DATA};
    char *semicolon = strchr(assignment, ';');
    if (semicolon != NULL) {
        *semicolon = '\0';
        line->entry.source = ar_trim(semicolon + 1);
    }
    return ar_topo_read_assignment(assignment, topo->arena, &line->entry, err);
}

const char *ar_topo_shown_path(const char *path, struct ar_arena *arena)
{
    size_t length = strlen(path);
    return length <= PATH_MAX_IN_MESSAGES
               ? ar_arena_text(arena, path)
               : ar_arena_format(arena, "...%s", path + length - (PATH_MAX_IN_MESSAGES - 3));
}

struct ar_topo *ar_topo_create(const char *path, size_t lines, struct ar_arena *arena)
{
    struct ar_topo *made = ar_arena_alloc(arena, 1, sizeof *made);
    made->arena = arena;
    made->lines = ar_arena_alloc(arena, lines + AR_TOPO_KEYS_COUNT, sizeof *made->lines);
    made->path = ar_topo_shown_path(path, arena);
    return made;
}

enum ar_status ar_topo_load(const char *path, struct ar_arena *arena, struct ar_topo **topo,
                            struct ar_error *err)
{
    char *content = NULL;
    size_t size = 0, lines = 1;
    AR_TRY(ar_file_read(path, FILE_MAX, "a cluster file", arena, &content, &size, err));
    for (size_t i = 0; i < size; i++) {
        lines += content[i] == '\n';
    }
    struct ar_topo *loaded = ar_topo_create(path, lines, arena);
    uint32_t number = 0;
    bool has_values = false;
    for (char *start = content; start < content + size;) {
        number++;
        char *end = memchr(start, '\n', (size_t)(content + size - start));
        end = end != NULL ? end : content + size; /* of a last line without a newline */
        *end = '\0';
        AR_REFUSE(end - start > AR_TOPO_LINE_MAX || strlen(start) != (size_t)(end - start), err,
                  AR_BAD_DATA, "%s:%u: found %s; expected plain text lines", loaded->path, number,
                  end - start > AR_TOPO_LINE_MAX ? "more than 4000 characters in a line"
                                                 : "the byte 0x00");
        struct line line = {.number = number};
        const char *where = ar_arena_format(loaded->arena, "%s:%u", loaded->path, number);
        AR_TRY(read_line(loaded, where, start, &line, err));
        const struct line *earlier = line.is_entry ? find_line(loaded, line.entry.key) : NULL;
        AR_REFUSE(earlier != NULL, err, AR_BAD_DATA,
                  "%s: found a second time; expected once (first in line %u)", line.entry.where,
                  earlier->number);
        loaded->lines[loaded->lines_count++] = line;
        has_values = has_values || line.is_entry;
        start = end + 1;
    }
    AR_REFUSE(!has_values, err, AR_BAD_DATA,
              "%s: found no values; expected lines such as \"nodes = 4 ; source\"", loaded->path);
    *topo = loaded;
    return AR_OK;
}

void ar_topo_take(const struct ar_topo *topo, struct ar_topo_entries *entries)
{
    entries->path = topo->path;
    for (size_t i = 0; i < topo->lines_count; i++) {
        if (topo->lines[i].is_entry) {
            ar_topo_entries_store(topo->lines[i].entry, entries);
        }
    }
}

/* --- changing and writing --------------------------------------------------------------------- */

enum ar_status ar_topo_set(struct ar_topo *topo, const char *key, const char *value,
                           const char *source, struct ar_error *err)
{
    struct line line = {.is_entry = false};
    const char *text = ar_arena_format(topo->arena, "%s = %s ; %s", key, value, source);
    AR_REFUSE(strlen(text) > AR_TOPO_LINE_MAX || strchr(value, ';') != NULL || *key == '#', err,
              AR_USAGE,
              "cluster file: found \"%.200s\"; expected one line of at most %d characters, without "
              "';' in the value",
              text, AR_TOPO_LINE_MAX);
    AR_TRY(ar_error_blame(read_line(topo, "cluster file", text, &line, err), AR_USAGE, err));
    line.text = ar_arena_format(topo->arena, "%s = %s ; %s", ar_topo_keys[line.entry.key].name,
                                line.entry.text, line.entry.source);
    struct line *place = find_line(topo, line.entry.key);
    *(place != NULL ? place : &topo->lines[topo->lines_count++]) = line;
    return AR_OK;
}

/* Whether a line has this text, whatever ends it on other systems. */
static bool line_has_text(const struct line *line, const char *text)
{
    size_t length = strcspn(line->text, "\r");
    return length == strlen(text) && strncmp(line->text, text, length) == 0;
}

enum ar_status ar_topo_set_head(struct ar_topo *topo, const char *begin, const char *const *texts,
                                size_t texts_count, const char *end, struct ar_error *err)
{
    for (size_t i = 0; i < texts_count; i++) {
        AR_TRY(ar_error_blame(ar_topo_check_text("comment", texts[i], true, err), AR_USAGE, err));
    }
    size_t kept = 0;
    for (size_t i = 0; i < topo->lines_count;) {
        /* Goes on behind the last line of an earlier block, if one begins here. */
        size_t last = line_has_text(&topo->lines[i], begin) ? i : topo->lines_count;
        while (last < topo->lines_count && !topo->lines[last].is_entry &&
               !line_has_text(&topo->lines[last], end)) {
            last++;
        }
        if (last < topo->lines_count && !topo->lines[last].is_entry) {
            i = last + 1;
        } else {
            topo->lines[kept++] = topo->lines[i++];
        }
    }
    topo->lines_count = kept;
    topo->begin = begin;
    topo->end = end;
    topo->texts = texts;
    topo->texts_count = texts_count;
    return AR_OK;
}

void ar_topo_write(const struct ar_topo *topo, FILE *file)
{
    if (topo->begin != NULL) {
        fprintf(file, "%s\n", topo->begin);
        for (size_t i = 0; i < topo->texts_count; i++) {
            fprintf(file, "# %s\n", topo->texts[i]);
        }
        fprintf(file, "%s\n", topo->end);
    }
    for (size_t i = 0; i < topo->lines_count; i++) {
        fprintf(file, "%s\n", topo->lines[i].text);
    }
}
