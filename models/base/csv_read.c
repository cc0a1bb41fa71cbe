/* From bytes to cells: lines, comments, directives and libcsv. */
#include "ar_csv.h"

#include <csv.h>
#include <inttypes.h>
#include <string.h>

#include "ar_file.h"

#define BLANKS " \t"

struct loader {
    struct ar_csv *csv;
    struct csv_parser parser;
    char *room;        /* for cells: no more bytes than the file has, and an end */
    uint64_t line;     /* where the line begins, which quotes may make longer */
    size_t line_cells; /* of it */
    bool ends_in_line; /* the file ends in it, without a newline */
    struct ar_error *err;
};

/* Whether a line ends here: with LF, CRLF or CR, of which the last byte counts. */
static bool is_newline(const char *text)
{
    return *text == '\n' || (*text == '\r' && text[1] != '\n');
}

static void take_cell(void *text, size_t bytes, void *data)
{
    struct loader *loader = data;
    struct ar_csv *csv = loader->csv;
    loader->line_cells++;
    csv->cells[csv->cells_count++] = loader->room;
    loader->room = mempcpy(loader->room, bytes > 0 ? text : "", bytes) + 1; /* all zeros before */
}

static enum ar_status finish_header(struct loader *loader)
{
    struct ar_csv *csv = loader->csv;
    if (loader->line_cells > AR_CSV_COLUMNS_MAX) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": %zu columns; expected at most %d", csv->path,
                            loader->line, loader->line_cells, AR_CSV_COLUMNS_MAX);
    }
    csv->columns_count = loader->line_cells;
    csv->header_line = loader->line;
    return AR_OK;
}

static enum ar_status finish_line(struct loader *loader)
{
    struct ar_csv *csv = loader->csv;
    if (loader->line_cells == 0) {
        return AR_OK;
    }
    if (csv->columns_count == 0) {
        return finish_header(loader);
    }
    if (loader->line_cells != csv->columns_count) {
        const char *cut = loader->ends_in_line && loader->line_cells < csv->columns_count
                              ? "; the file ends in the middle of this line"
                              : "";
        return ar_error_set(
            loader->err, AR_BAD_DATA,
            "%s:%" PRIu64 ": %zu cells; expected %zu as in the header (line %" PRIu64 ")%s",
            csv->path, loader->line, loader->line_cells, csv->columns_count, csv->header_line, cut);
    }
    csv->lines[csv->rows_count++] = loader->line;
    return AR_OK;
}

/* libcsv does not count lines, so it sees one at a time. */
static enum ar_status read_row(struct loader *loader, const char *text, size_t bytes)
{
    struct csv_parser *parser = &loader->parser;
    loader->line_cells = 0;
    bool is_parsed = csv_parse(parser, text, bytes, take_cell, NULL, loader) == bytes &&
                     csv_fini(parser, take_cell, NULL, loader) == 0;
    if (!is_parsed && csv_error(parser) == CSV_ENOMEM) {
        return ar_error_no_memory(loader->err, loader->csv->path);
    }
    if (!is_parsed) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": a quote is out of place or not closed; expected cells "
                            "separated by commas",
                            loader->csv->path, loader->line);
    }
    return finish_line(loader);
}

/* Bytes of the key of `# key = value` or `# key: value`, and where its mark is; 0 for a comment
 * without. */
static size_t key_size(enum ar_csv_comments comments, const char *text, size_t *mark)
{
    bool is_fact = comments == AR_CSV_FACTS;
    size_t size =
        is_fact ? strcspn(text, ":" BLANKS) : strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    *mark = size + (is_fact ? 0 : strspn(text + size, BLANKS));
    return text[*mark] == (is_fact ? ':' : '=') ? size : 0;
}

/* Keeps a directive or a fact where it stands. */
static enum ar_status read_comment(struct loader *loader, char *text)
{
    struct ar_csv *csv = loader->csv;
    size_t mark;
    text += strspn(text, "#" BLANKS);
    size_t size = key_size(csv->comments, text, &mark);
    if (size == 0 && csv->comments == AR_CSV_DIRECTIVES) {
        return AR_OK;
    }
    if (csv->columns_count > 0 && csv->comments == AR_CSV_DIRECTIVES) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": directive after the header (line %" PRIu64
                            "), where it would be ignored; expected it before",
                            csv->path, loader->line, csv->header_line);
    }
    char *value = size > 0 ? text + mark + 1 : text;
    value += strspn(value, BLANKS);
    for (char *end = strchr(value, '\0'); end > value && strchr(BLANKS, end[-1]) != NULL;) {
        *--end = '\0';
    }
    text[size] = size > 0 ? '\0' : text[size];
    csv->directives[csv->directives_count++] = (struct ar_csv_directive){
        .key = size > 0 ? text : "", .value = value, .line = loader->line};
    return AR_OK;
}

/* The end of the line of cells at `text`: within quotes it goes on behind ends of lines. */
static char *row_end(char *text, uint64_t *lines)
{
    bool is_quoted = false;
    for (; *text != '\0' && (is_quoted || strchr("\r\n", *text) == NULL); text++) {
        is_quoted ^= *text == '"';
        *lines += is_newline(text);
    }
    return text;
}

static enum ar_status read_lines(struct loader *loader, char *text)
{
    uint64_t next_line = 1;
    while (*text != '\0') {
        char *first = text + strspn(text, BLANKS);
        loader->line = next_line++;
        char *end = *first == '#' ? first + strcspn(first, "\r\n") : row_end(text, &next_line);
        char *next = end + (end[0] == '\r' && end[1] == '\n') + (*end != '\0');
        loader->ends_in_line = *end == '\0';
        *end = '\0';
        if (*first == '#') {
            AR_TRY(read_comment(loader, first));
        } else if (*first != '\0') {
            AR_TRY(read_row(loader, text, strlen(text)));
        }
        text = next;
    }
    return AR_OK;
}

static enum ar_status check_is_text(const struct ar_csv *csv, const char *text, size_t bytes,
                                    struct ar_error *err)
{
    uint64_t line = 1;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < 0x20 && strchr("\t\r\n", byte) == NULL) || byte == 0 || byte == 0x7f) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": byte 0x%02x is not text; expected a CSV file",
                                csv->path, line, byte);
        }
        line += is_newline(text + i);
    }
    return AR_OK;
}

/* Room for as many cells, directives and rows as there can be. */
static enum ar_status make_room(struct loader *loader, struct ar_arena *arena, const char *text)
{
    struct ar_csv *csv = loader->csv;
    size_t cells = 2;
    size_t lines = 2;
    size_t comments = 1;
    size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes; i++) {
        bool is_end = is_newline(text + i);
        lines += is_end;
        cells += is_end || text[i] == ',';
        comments += text[i] == '#';
    }
    loader->room = ar_arena_alloc(arena, bytes + 3, 1);
    csv->cells = ar_arena_alloc(arena, cells, sizeof *csv->cells);
    csv->lines = ar_arena_alloc(arena, lines, sizeof *csv->lines);
    csv->directives = ar_arena_alloc(arena, comments, sizeof *csv->directives);
    AR_NEED(!arena->is_broken, loader->err, csv->path);
    return AR_OK;
}

static enum ar_status parse(struct ar_csv *csv, struct ar_arena *arena, const char *text,
                            size_t bytes, struct ar_error *err)
{
    struct loader loader = {.csv = csv, .err = err};
    char *copy = ar_arena_alloc(arena, bytes + 1, 1);
    AR_NEED(copy, err, csv->path);
    memcpy(copy, text, bytes);
    AR_TRY(check_is_text(csv, copy, bytes, err));
    AR_TRY(make_room(&loader, arena, copy));
    if (csv_init(&loader.parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        return ar_error_no_memory(err, csv->path);
    }
    enum ar_status status = read_lines(&loader, copy);
    csv_free(&loader.parser);
    if (status == AR_OK && csv->columns_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: no header line in %zu bytes; expected a CSV file", csv->path,
                            bytes);
    }
    return status;
}

enum ar_status ar_csv_parse(const char *path, const char *text, size_t bytes,
                            enum ar_csv_comments comments, struct ar_arena *arena,
                            struct ar_csv **csv, struct ar_error *err)
{
    struct ar_csv *parsed = ar_arena_alloc(arena, 1, sizeof *parsed);
    const char *kept = ar_arena_text(arena, path);
    AR_NEED(parsed && kept, err, path);
    *parsed = (struct ar_csv){.path = kept, .comments = comments};
    AR_TRY(parse(parsed, arena, text, bytes, err));
    *csv = parsed;
    return AR_OK;
}

enum ar_status ar_csv_load(const char *path, struct ar_arena *arena, struct ar_csv **csv,
                           struct ar_error *err)
{
    char *text;
    size_t bytes;
    AR_TRY(ar_file_read(path, AR_CSV_BYTES_MAX, "a CSV file", arena, &text, &bytes, err));
    return ar_csv_parse(path, text, bytes, AR_CSV_DIRECTIVES, arena, csv, err);
}
