/* Reads CSV from bytes to cells, by libcsv, and cells into records by lists of columns. */
#include "ar_csv.h"

#include <assert.h>
#include <csv.h>
#include <inttypes.h>
#include <string.h>

#include "ar_file.h"
#include "ar_text.h"

#define BLANKS " \t"

struct loader {
    struct ar_csv *csv;
    struct ar_arena *arena;
    struct csv_parser parser;
    char *room;        /* for cells: the line, of which they have been read before */
    uint64_t line;     /* where the line begins, which quotes may make longer */
    size_t line_cells; /* of it */
    bool ends_in_line; /* the file ends in it, without a newline */
    struct ar_error *err;
};

static void take_cell(void *text, size_t bytes, void *data)
{
    struct loader *loader = data;
    struct ar_csv *csv = loader->csv;
    loader->line_cells++;
    *AR_ARENA_ADD(loader->arena, csv->cells, csv->cells_count) = loader->room;
    loader->room = mempcpy(loader->room, bytes > 0 ? text : "", bytes);
    *loader->room++ = '\0';
}

/* libcsv does not count lines, so it sees one at a time. */
static enum ar_status read_row(struct loader *loader, char *text, size_t bytes)
{
    struct csv_parser *parser = &loader->parser;
    struct ar_csv *csv = loader->csv;
    loader->line_cells = 0;
    loader->room = text;
    bool is_parsed = csv_parse(parser, text, bytes, take_cell, NULL, loader) == bytes &&
                     csv_fini(parser, take_cell, NULL, loader) == 0;
    if (!is_parsed && csv_error(parser) == CSV_ENOMEM) {
        ar_memory_fail(csv->path);
    }
    AR_REFUSE(!is_parsed, loader->err, AR_BAD_DATA,
              "%s:%" PRIu64
              ": a quote is out of place or not closed; expected cells separated by commas",
              csv->path, loader->line);
    if (loader->line_cells == 0) {
        return AR_OK;
    }
    if (csv->columns_count == 0) {
        csv->columns_count = loader->line_cells;
        csv->header_line = loader->line;
        AR_REFUSE_LINE(csv->columns_count > AR_CSV_COLUMNS_MAX, loader->err, csv->path,
                       loader->line, "%zu columns; expected at most %d", loader->line_cells,
                       AR_CSV_COLUMNS_MAX);
        return AR_OK;
    }
    if (loader->line_cells != csv->columns_count) {
        const char *cut = loader->ends_in_line && loader->line_cells < csv->columns_count
                              ? "; the file ends in the middle of this line"
                              : "";
        return ar_error_in_line(loader->err, csv->path, loader->line,
                                "%zu cells; expected %zu as in the header (line %" PRIu64 ")%s",
                                loader->line_cells, csv->columns_count, csv->header_line, cut);
    }
    *AR_ARENA_ADD(loader->arena, csv->lines, csv->rows_count) = loader->line;
    return AR_OK;
}

/* Keeps a directive, `# key = value`, or a fact, `# key: value` or other text; it stays there. */
static enum ar_status read_comment(struct loader *loader, char *text)
{
    struct ar_csv *csv = loader->csv;
    bool is_fact = csv->comments == AR_CSV_FACTS;
    text += strspn(text, "#" BLANKS);
    size_t size =
        is_fact ? strcspn(text, ":" BLANKS) : strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    size_t mark = size + (is_fact ? 0 : strspn(text + size, BLANKS));
    size = text[mark] == (is_fact ? ':' : '=') ? size : 0;
    if (size == 0 && !is_fact) {
        return AR_OK;
    }
    AR_REFUSE_LINE(csv->columns_count > 0 && !is_fact, loader->err, csv->path, loader->line,
                   "directive after the header (line %" PRIu64
                   "), where it would be ignored; expected it before",
                   csv->header_line);
    char *value = size > 0 ? text + mark + 1 : text;
    value = ar_trim(value);
    text[size] = size > 0 ? '\0' : text[size];
    *AR_ARENA_ADD(loader->arena, csv->directives, csv->directives_count) =
        (struct ar_csv_directive){size > 0 ? text : "", value, loader->line};
    return AR_OK;
}

enum ar_status ar_csv_parse(const char *path, const char *text, size_t bytes,
                            enum ar_csv_comments comments, struct ar_arena *arena,
                            struct ar_csv **csv, struct ar_error *err)
{
    struct ar_csv *parsed = ar_arena_alloc(arena, 1, sizeof *parsed);
    *parsed =
        (struct ar_csv){.arena = arena, .path = ar_arena_text(arena, path), .comments = comments};
    struct loader loader = {.csv = parsed, .arena = arena, .err = err};
    char *copy = ar_arena_room(arena, bytes + 1, 1);
    *(char *)mempcpy(copy, text, bytes) = '\0';
    /* Lines end with LF, CRLF or CR, of which the last byte counts. */
    uint64_t line = 1;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)copy[i];
        if (byte >= 0x20 && byte != 0x7f) {
            continue;
        }
        AR_REFUSE_LINE(strchr("\t\r\n", byte) == NULL || byte == 0, err, parsed->path, line,
                       "byte 0x%02x is not text; expected a CSV file", byte);
        line += byte == '\n' || (byte == '\r' && copy[i + 1] != '\n');
    }
    ar_memory_require(csv_init(&loader.parser, CSV_STRICT | CSV_STRICT_FINI) == 0, path);
    enum ar_status status = AR_OK;
    line = 1;
    while (*copy != '\0' && status == AR_OK) {
        char *first = copy + strspn(copy, BLANKS);
        bool is_comment = *first == '#', is_quoted = false;
        char *end = copy + strcspn(copy, is_comment ? "\r\n" : "\r\n\"");
        loader.line = line++;
        /* Within quotes a line of cells goes on behind ends of lines. */
        for (; *end != '\0' && (is_quoted || (*end != '\r' && *end != '\n'));
             end += 1 + strcspn(end + 1, "\r\n\"")) {
            is_quoted ^= *end == '"' && !is_comment;
            line += *end == '\n' || (*end == '\r' && end[1] != '\n');
        }
        char *next = end + (end[0] == '\r' && end[1] == '\n') + (*end != '\0');
        loader.ends_in_line = *end == '\0';
        *end = '\0';
        if (is_comment) {
            status = read_comment(&loader, first);
        } else if (*first != '\0') {
            status = read_row(&loader, copy, strlen(copy));
        }
        copy = next;
    }
    csv_free(&loader.parser);
    AR_TRY(status);
    AR_REFUSE(parsed->columns_count == 0, err, AR_BAD_DATA,
              "%s: no header line in %zu bytes; expected a CSV file", path, bytes);
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

/* --- questions to a table ------------------------------------------------------------------- */

const char *ar_csv_show(const char *text, char shown[64])
{
    snprintf(shown, 64, "%.40s%s", text, strlen(text) > 40 ? "..." : "");
    size_t size;
    for (char *letter = shown; *letter != '\0'; letter += size) {
        size = ar_utf8_size(letter);
        if (size == 0 || (unsigned char)*letter < 0x20) {
            *letter = '?'; /* no text, or the end of a line in quotes */
            size = 1;
        }
    }
    return shown;
}

const struct ar_csv_directive *ar_csv_find_directive(const struct ar_csv *csv, const char *key)
{
    for (size_t i = 0; i < csv->directives_count; i++) {
        if (strcmp(csv->directives[i].key, key) == 0) {
            return &csv->directives[i];
        }
    }
    return NULL;
}

size_t ar_csv_find_column(const struct ar_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns_count; i++) {
        if (strcmp(csv->cells[i], name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* --- cells into records ------------------------------------------------------------------ */

bool ar_csv_has_columns(const struct ar_csv *csv, struct ar_columns columns)
{
    for (size_t i = 0; i < columns.count; i++) {
        const char *alias = columns.list[i].alias;
        if (ar_csv_find_column(csv, columns.list[i].name) == SIZE_MAX &&
            (alias == NULL || ar_csv_find_column(csv, alias) == SIZE_MAX)) {
            return false;
        }
    }
    return true;
}

enum ar_status ar_csv_check(const struct ar_csv *csv, const char *columns, struct ar_error *err)
{
    AR_EACH_WORD(name, columns) {
        AR_REFUSE_LINE(ar_csv_find_column(csv, name) == SIZE_MAX, err, csv->path, csv->header_line,
                       "column \"%s\" is missing; expected it in the header", name);
    }
    return AR_OK;
}

static enum ar_status wrong_text(const struct ar_csv *csv, uint64_t line, const char *noun,
                                 const char *name, const char *text, const char *expected,
                                 struct ar_error *err)
{
    return ar_error_in_line(err, csv->path, line, "%s \"%s\" is \"%s\"; expected %s", noun, name,
                            AR_SHOW_CELL(text), expected);
}

/* Reads the directives, or the cells of all rows, into records: finds where each column of the list
 * is, SIZE_MAX if nowhere, then reads what is there. */
static enum ar_status read_records(const struct ar_csv *csv, bool is_directive,
                                   struct ar_columns columns, void *records, struct ar_error *err)
{
    size_t places[AR_CSV_COLUMNS_MAX];
    const char *noun = is_directive ? "directive" : "column", *names[AR_CSV_COLUMNS_MAX];
    size_t listed = columns.count;
    listed -= listed > 0 && columns.list[listed - 1].name == NULL;
    assert(columns.count <= AR_CSV_COLUMNS_MAX);
    for (size_t i = 0; i < columns.count; i++) {
        places[i] = SIZE_MAX;
        names[i] = columns.list[i].name;
    }
    for (size_t i = 0; i < (is_directive ? csv->directives_count : csv->columns_count); i++) {
        const char *name = is_directive ? csv->directives[i].key : csv->cells[i];
        uint64_t line = is_directive ? csv->directives[i].line : csv->header_line;
        char where[AR_CSV_WHERE];
        size_t column = 0;
        for (; column < listed; column++) {
            const char *alias = columns.list[column].alias;
            if (strcmp(names[column], name) == 0 || (alias != NULL && strcmp(alias, name) == 0)) {
                break;
            }
        }
        snprintf(where, sizeof where, "%.280s:%" PRIu64, csv->path, line);
        AR_REFUSE_BY(column == columns.count,
                     ar_error_unknown(err, AR_BAD_DATA, where, noun, AR_SHOW_CELL(name), names,
                                      columns.count));
        AR_REFUSE(column < listed && places[column] != SIZE_MAX, err, AR_BAD_DATA,
                  "%s: %s \"%s\" is given twice; expected it once", where, noun, name);
        if (column < listed) {
            places[column] = i;
        }
    }
    for (size_t i = 0; i < listed; i++) {
        bool is_missing = places[i] == SIZE_MAX && !columns.list[i].may_be_missing;
        AR_TRY(is_missing && !is_directive ? ar_csv_check(csv, names[i], err) : AR_OK);
        AR_REFUSE(is_missing, err, AR_BAD_DATA,
                  "%s: directive \"%s\" is missing; expected it as \"# KEY%s VALUE\" before the "
                  "header",
                  csv->path, names[i], csv->comments == AR_CSV_FACTS ? ":" : " =");
    }
    for (size_t row = 0; row < (is_directive ? 1 : csv->rows_count); row++) {
        void *record = (char *)records + row * columns.list[0].record_size;
        const char **cells = csv->cells + (row + 1) * csv->columns_count;
        for (size_t i = 0; i < columns.count; i++) {
            const struct ar_column *column = &columns.list[i];
            if (places[i] == SIZE_MAX) {
                continue;
            }
            const char *text = is_directive ? csv->directives[places[i]].value : cells[places[i]];
            uint64_t line = is_directive ? csv->directives[places[i]].line : csv->lines[row];
            bool is_read =
                text[0] == '\0' ? column->may_be_empty : ar_record_read_cell(column, text, record);
            AR_TRY(is_read ? AR_OK
                           : wrong_text(csv, line, noun, column->name, text,
                                        AR_SHOW_EXPECTED(column), err));
        }
    }
    return AR_OK;
}

enum ar_status ar_csv_read_directives(const struct ar_csv *csv, struct ar_columns columns,
                                      void *record, struct ar_error *err)
{
    return read_records(csv, true, columns, record, err);
}

enum ar_status ar_csv_read_rows(const struct ar_csv *csv, struct ar_columns columns,
                                const void *begin, void *records, struct ar_error *err)
{
    size_t size = columns.list[0].record_size;
    char *made = ar_arena_alloc(csv->arena, csv->rows_count + 1, size);
    for (size_t i = 0; begin != NULL && i < csv->rows_count; i++) {
        memcpy(made + i * size, begin, size);
    }
    memcpy(records, &made, sizeof made);
    return read_records(csv, false, columns, made, err);
}

enum ar_status ar_csv_load_list(const char *path, struct ar_arena *arena, struct ar_columns columns,
                                struct ar_csv_list **list, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_csv_list *made = *list = ar_arena_alloc(arena, 1, sizeof *made);
    *made = (struct ar_csv_list){.count = csv->rows_count, .size = columns.list[0].record_size};
    return ar_csv_read_rows(csv, columns, NULL, &made->rows, err);
}

const void *ar_csv_list_find(const struct ar_csv_list *list, const char *where, const char *noun,
                             const char *name, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    const char **names = ar_arena_alloc(&arena, list->count + 1, sizeof *names);
    for (size_t i = 0; i < list->count; i++) {
        const char *row = (const char *)list->rows + i * list->size;
        names[i] = *(const char *const *)(const void *)row;
        if (strcmp(names[i], name) == 0) {
            return row;
        }
    }
    if (err != NULL) {
        ar_error_unknown(err, AR_NO_INPUT, where, noun, name, names, list->count);
    }
    return NULL;
}

enum ar_status ar_csv_directive_error(const struct ar_csv *csv, const char *key,
                                      const char *expected, struct ar_error *err)
{
    const struct ar_csv_directive *found = ar_csv_find_directive(csv, key);
    return wrong_text(csv, found->line, "directive", key, found->value, expected, err);
}

enum ar_status ar_csv_error(const struct ar_csv *csv, size_t row, const char *column,
                            struct ar_error *err, const char *expected, ...)
{
    const char *text = ar_csv_cell(csv, row, ar_csv_find_column(csv, column));
    char all[256];
    AR_PRINT_ARGUMENTS(all, expected);
    return wrong_text(csv, csv->lines[row], "column", column, text, all, err);
}

/* --- the rest ---------------------------------------------------------------------------- */

const char *ar_csv_where(const struct ar_csv *csv, size_t row, char where[AR_CSV_WHERE])
{
    snprintf(where, AR_CSV_WHERE, "%.280s:%" PRIu64, csv->path, csv->lines[row]);
    return where;
}

const char *ar_csv_cell(const struct ar_csv *csv, size_t row, size_t column)
{
    return csv->cells[(row + 1) * csv->columns_count + column];
}

const char *ar_csv_text(const struct ar_csv *csv, size_t row, const char *column)
{
    size_t place = ar_csv_find_column(csv, column);
    return place != SIZE_MAX ? ar_csv_cell(csv, row, place) : "";
}

void ar_csv_move_row(struct ar_csv *csv, size_t from, size_t to)
{
    memmove(csv->cells + (to + 1) * csv->columns_count,
            csv->cells + (from + 1) * csv->columns_count, csv->columns_count * sizeof *csv->cells);
    csv->lines[to] = csv->lines[from];
}

void ar_csv_write_cell(FILE *file, const char *text, bool is_first)
{
    size_t bytes = strlen(text);
    bool has_outer_blank =
        bytes > 0 && (strchr(" \t", text[0]) != NULL || strchr(" \t", text[bytes - 1]) != NULL);
    bool is_comment = is_first && text[0] == '#';
    fputs(is_first ? "" : ",", file);
    if (has_outer_blank || is_comment || strpbrk(text, ",\"\n\r") != NULL) {
        csv_fwrite(file, text, bytes);
    } else {
        fputs(text, file);
    }
}
