/* Questions to a table that csv_read.c has read. */
#include "ar_csv.h"

#include <assert.h>
#include <csv.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"

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

bool ar_csv_has_column(const struct ar_csv *csv, const char *name)
{
    return ar_csv_find_column(csv, name) != SIZE_MAX;
}

enum { NAMES_SHOWN = 8 };

/* --- schemas ----------------------------------------------------------------------------- */

static enum ar_status report_unknown(const char *where, const char *noun, const char *name,
                                     struct ar_columns columns, struct ar_error *err)
{
    const char *names[AR_CSV_COLUMNS_MAX];
    for (size_t i = 0; i < columns.count; i++) {
        names[i] = columns.list[i].name;
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, noun, name, names, columns.count);
}

static bool is_needed(const struct ar_column *column)
{
    return column->name != NULL && !column->may_be_missing;
}

/* All that is not there, in one line. */
static enum ar_status check_missing(const struct ar_csv *csv, bool is_directive,
                                    struct ar_columns columns, const size_t *places,
                                    struct ar_error *err)
{
    char list[256] = "";
    size_t used = 0;
    size_t count = 0;
    for (size_t i = 0; i < columns.count; i++) {
        if (places[i] == SIZE_MAX && is_needed(&columns.list[i]) && count++ < NAMES_SHOWN) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s \"%.24s\"",
                                     count > 1 ? "," : "", columns.list[i].name);
        }
    }
    if (count > NAMES_SHOWN) {
        snprintf(list + used, sizeof list - used, " and %zu more", count - NAMES_SHOWN);
    }
    const char *plural = count > 1 ? "s" : "";
    const char *verb = count > 1 ? "are" : "is";
    const char *pronoun = count > 1 ? "them" : "it";
    if (count > 0 && is_directive) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: directive%s%s %s missing; expected %s as \"# KEY%s VALUE\" before "
                            "the header",
                            csv->path, plural, list, verb, pronoun,
                            csv->comments == AR_CSV_FACTS ? ":" : " =");
    }
    return count == 0 ? AR_OK
                      : ar_error_set(err, AR_BAD_DATA,
                                     "%s:%" PRIu64 ": column%s%s %s missing; expected %s in the "
                                     "header",
                                     csv->path, csv->header_line, plural, list, verb, pronoun);
}

/* Where each column of a list is, among the directives or the columns of the file; SIZE_MAX:
 * nowhere. */
static enum ar_status place_all(const struct ar_csv *csv, bool is_directive,
                                struct ar_columns columns, size_t places[AR_CSV_COLUMNS_MAX],
                                struct ar_error *err)
{
    const char *noun = is_directive ? "directive" : "column";
    size_t listed = columns.count;
    listed -= listed > 0 && columns.list[listed - 1].name == NULL;
    assert(columns.count <= AR_CSV_COLUMNS_MAX);
    memset(places, 0xff, columns.count * sizeof *places);
    for (size_t i = 0; i < (is_directive ? csv->directives_count : csv->columns_count); i++) {
        const char *name = is_directive ? csv->directives[i].key : csv->cells[i];
        uint64_t line = is_directive ? csv->directives[i].line : csv->header_line;
        char where[AR_CSV_WHERE];
        char shown[64];
        size_t column = 0;
        while (column < listed && strcmp(columns.list[column].name, name) != 0) {
            column++;
        }
        snprintf(where, sizeof where, "%.280s:%" PRIu64, csv->path, line);
        if (column == columns.count) {
            return report_unknown(where, noun, ar_csv_show(name, shown), columns, err);
        }
        if (column < listed && places[column] != SIZE_MAX) {
            return ar_error_set(err, AR_BAD_DATA, "%s: %s \"%s\" is given twice; expected it once",
                                where, noun, name);
        }
        if (column < listed) {
            places[column] = i;
        }
    }
    return check_missing(csv, is_directive, columns, places, err);
}

static enum ar_status wrong_text(const struct ar_csv *csv, uint64_t line, const char *noun,
                                 const char *name, const char *text, const char *expected,
                                 struct ar_error *err)
{
    char shown[64];
    return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": %s \"%s\" is \"%s\"; expected %s",
                        csv->path, line, noun, name, ar_csv_show(text, shown), expected);
}

/* Of a long list of names only the nearest is said. */
static const char *expected_of(const struct ar_column *column, const char *text,
                               char expected[AR_COLUMN_EXPECTED])
{
    size_t count = 0;
    while (column->kind == AR_COLUMN_choice && column->names[count] != NULL) {
        count++;
    }
    const char *nearest = count > NAMES_SHOWN ? ar_nearest_name(text, column->names, count) : NULL;
    return nearest != NULL ? nearest : ar_column_expected(column, expected);
}

static bool read_field(const struct ar_column *column, const char *text, void *record)
{
    return text[0] == '\0' ? column->may_be_empty : ar_record_read_cell(column, text, record);
}

enum ar_status ar_csv_read_directives(const struct ar_csv *csv, struct ar_columns columns,
                                      void *record, struct ar_error *err)
{
    size_t places[AR_CSV_COLUMNS_MAX];
    char expected[AR_COLUMN_EXPECTED];
    AR_TRY(place_all(csv, true, columns, places, err));
    for (size_t i = 0; i < columns.count; i++) {
        const struct ar_column *column = &columns.list[i];
        const char *text = places[i] != SIZE_MAX ? csv->directives[places[i]].value : NULL;
        if (text != NULL && !read_field(column, text, record)) {
            return ar_csv_directive_error(csv, column->name, expected_of(column, text, expected),
                                          err);
        }
    }
    return AR_OK;
}

enum ar_status ar_csv_read_rows(const struct ar_csv *csv, struct ar_columns columns, void *records,
                                size_t size, struct ar_error *err)
{
    size_t places[AR_CSV_COLUMNS_MAX];
    char expected[AR_COLUMN_EXPECTED];
    AR_TRY(place_all(csv, false, columns, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        char *record = (char *)records + row * size;
        for (size_t i = 0; i < columns.count; i++) {
            const struct ar_column *column = &columns.list[i];
            const char *text = places[i] != SIZE_MAX ? ar_csv_cell(csv, row, places[i]) : NULL;
            if (text != NULL && !read_field(column, text, record)) {
                return ar_csv_error(csv, row, column->name, expected_of(column, text, expected),
                                    err);
            }
        }
    }
    return AR_OK;
}

enum ar_status ar_csv_load_rows(const char *path, struct ar_arena *arena, struct ar_columns columns,
                                size_t size, void **records, size_t *count, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    void *rows = ar_arena_alloc(arena, csv->rows_count + 1, size);
    AR_NEED(rows, err, path);
    AR_TRY(ar_csv_read_rows(csv, columns, rows, size, err));
    *records = rows;
    *count = csv->rows_count;
    return AR_OK;
}

enum ar_status ar_csv_directive_error(const struct ar_csv *csv, const char *key,
                                      const char *expected, struct ar_error *err)
{
    const struct ar_csv_directive *found = ar_csv_find_directive(csv, key);
    return wrong_text(csv, found->line, "directive", key, found->value, expected, err);
}

enum ar_status ar_csv_error(const struct ar_csv *csv, size_t row, const char *column,
                            const char *expected, struct ar_error *err)
{
    const char *text = ar_csv_cell(csv, row, ar_csv_find_column(csv, column));
    return wrong_text(csv, csv->lines[row], "column", column, text, expected, err);
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
