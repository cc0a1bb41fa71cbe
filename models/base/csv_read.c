/* From bytes to cells: lines, comments, directives and libcsv. */
#include "ar_csv.h"

#include <csv.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"

struct loader {
    struct ar_csv *csv;
    struct csv_parser parser;
    char *room;        /* for texts: no more bytes than the file has, and an end */
    uint64_t line;     /* where the line begins, which quotes may make longer */
    size_t line_cells; /* of it */
    bool ends_in_line; /* the file ends in it, without a newline */
    struct ar_error *err;
};

/* A terminated copy. */
static const char *keep_text(struct loader *loader, const char *text, size_t bytes)
{
    char *copy = loader->room;
    if (bytes > 0) {
        memcpy(copy, text, bytes);
    }
    copy[bytes] = '\0';
    loader->room += bytes + 1;
    return copy;
}

static void take_cell(void *text, size_t bytes, void *data)
{
    struct loader *loader = data;
    struct ar_csv *csv = loader->csv;
    loader->line_cells++;
    csv->cells[csv->cells_count++] = keep_text(loader, text, bytes);
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

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

/* Bytes of the key of `# key = value` or `# key: value`; 0 for a comment without. */
static size_t key_size(const struct loader *loader, const char *text, size_t bytes)
{
    bool is_fact = loader->csv->comments == AR_CSV_FACTS;
    size_t size = 0;
    while (size < bytes &&
           (is_fact ? text[size] != ':' && !is_blank(text[size])
                    : text[size] == '_' || (text[size] >= 'a' && text[size] <= 'z') ||
                          (text[size] >= '0' && text[size] <= '9'))) {
        size++;
    }
    size_t mark = size;
    while (!is_fact && mark < bytes && is_blank(text[mark])) {
        mark++;
    }
    return mark < bytes && text[mark] == (is_fact ? ':' : '=') ? size : 0;
}

static enum ar_status read_comment(struct loader *loader, const char *text, size_t bytes)
{
    struct ar_csv *csv = loader->csv;
    const char *end = text + bytes;
    while (text < end && (*text == '#' || is_blank(*text))) {
        text++;
    }
    size_t size = key_size(loader, text, (size_t)(end - text));
    if (size == 0 && loader->csv->comments == AR_CSV_DIRECTIVES) {
        return AR_OK;
    }
    if (csv->columns_count > 0 && loader->csv->comments == AR_CSV_DIRECTIVES) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": directive after the header (line %" PRIu64
                            "), where it would be ignored; expected it before",
                            csv->path, loader->line, csv->header_line);
    }
    struct ar_csv_directive *directive = &csv->directives[csv->directives_count++];
    directive->line = loader->line;
    directive->key = keep_text(loader, text, size);
    for (text += size; size > 0 && is_blank(*text); text++) {
    }
    text += size > 0; /* the mark */
    while (text < end && is_blank(*text)) {
        text++;
    }
    while (end > text && is_blank(end[-1])) {
        end--;
    }
    directive->value = keep_text(loader, text, (size_t)(end - text));
    return AR_OK;
}

static enum ar_status check_is_text(struct loader *loader, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < 0x20 && strchr("\t\r\n", byte) == NULL) || byte == 0 || byte == 0x7f) {
            return ar_error_set(loader->err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": byte 0x%02x is not text; expected a CSV file",
                                loader->csv->path, loader->line, byte);
        }
    }
    return AR_OK;
}

static size_t line_size(const char *text, size_t bytes)
{
    size_t size = 0;
    while (size < bytes && text[size] != '\n' && text[size] != '\r') {
        size++;
    }
    return size;
}

static size_t newline_size(const char *text, size_t bytes)
{
    return bytes > 1 && text[0] == '\r' && text[1] == '\n' ? 2 : bytes > 0 ? 1 : 0;
}

/* Bytes of the line of cells at `text`: within quotes it goes on behind its end. */
static size_t row_size(const char *text, size_t bytes, uint64_t *lines)
{
    bool is_quoted = false;
    size_t size = 0;
    for (size_t at = 0; at < bytes; at = size) {
        size_t end = at + line_size(text + at, bytes - at);
        for (; at < end; at++) {
            is_quoted ^= text[at] == '"';
        }
        if (!is_quoted) {
            return end;
        }
        size = end + newline_size(text + end, bytes - end);
        *lines += size > end;
    }
    return size;
}

static enum ar_status read_lines(struct loader *loader, const char *text, size_t bytes)
{
    uint64_t next_line = 1;
    while (bytes > 0) {
        size_t size = line_size(text, bytes);
        size_t blanks = 0;
        while (blanks < size && is_blank(text[blanks])) {
            blanks++;
        }
        bool is_comment = blanks < size && text[blanks] == '#';
        loader->line = next_line++;
        size = is_comment ? size : row_size(text, bytes, &next_line);
        loader->ends_in_line = size == bytes;
        AR_TRY(check_is_text(loader, text, size));
        if (is_comment) {
            AR_TRY(read_comment(loader, text, size));
        } else if (blanks < size) {
            AR_TRY(read_row(loader, text, size));
        }
        size += newline_size(text + size, bytes - size);
        text += size;
        bytes -= size;
    }
    return AR_OK;
}

/* Room for as many cells, directives and rows as there can be. */
static enum ar_status make_room(struct loader *loader, struct ar_arena *arena, const char *text,
                                size_t bytes)
{
    struct ar_csv *csv = loader->csv;
    size_t cells = 2;
    size_t lines = 2;
    size_t comments = 1;
    for (size_t i = 0; i < bytes; i++) {
        bool is_end = text[i] == '\n' || text[i] == '\r';
        lines += is_end;
        cells += is_end || text[i] == ',';
        comments += text[i] == '#';
    }
    loader->room = ar_arena_alloc(arena, bytes + 3, 1);
    csv->cells = ar_arena_alloc(arena, cells, sizeof *csv->cells);
    csv->lines = ar_arena_alloc(arena, lines, sizeof *csv->lines);
    csv->directives = ar_arena_alloc(arena, comments, sizeof *csv->directives);
    bool has_room =
        loader->room != NULL && csv->cells != NULL && csv->lines != NULL && csv->directives != NULL;
    return has_room ? AR_OK : ar_error_no_memory(loader->err, csv->path);
}

static enum ar_status parse(struct ar_csv *csv, struct ar_arena *arena, const char *text,
                            size_t bytes, struct ar_error *err)
{
    struct loader loader = {.csv = csv, .err = err};
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    AR_TRY(make_room(&loader, arena, text, bytes));
    if (csv_init(&loader.parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        return ar_error_no_memory(err, csv->path);
    }
    enum ar_status status = read_lines(&loader, text + mark, bytes - mark);
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
    if (parsed == NULL || kept == NULL) {
        return ar_error_no_memory(err, path);
    }
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
    AR_TRY(ar_file_read(path, AR_CSV_BYTES_MAX, "a CSV file", &text, &bytes, err));
    enum ar_status status = ar_csv_parse(path, text, bytes, AR_CSV_DIRECTIVES, arena, csv, err);
    free(text);
    return status;
}
