/** \file ar_csv.h
 * A CSV file with a named header and `#` comments, read by libcsv.
 *
 * Lines that begin with `#` (blanks may precede it) are comments, anywhere in the file. A comment
 * of the form `# word = value` (one lower-case word, one `=`) is a directive and must stand before
 * the header; of files that hold facts instead, all comments are kept: `# key: value`, and others
 * with an empty key. The first other line is the header. Every row has as many cells as the header.
 * Cells in quotes may have commas, doubled quotes and ends of lines. Spaces around other cells and
 * blank lines are ignored. Lines end with LF, CRLF or CR; a byte-order mark is skipped.
 *
 * Every error begins with `path:line:`, the line being that where the row begins in the file, or
 * with `path:` where no line is to blame. All text is the arena's, as the table is.
 *
 * A reader is a list of columns (ar_record.h) and a struct:
 *
 *     static const struct ar_column columns[] = {
 *         AR_COLUMN(string, struct layer, name, "layer", "a name"),
 *         AR_COLUMN(number, struct layer, forward_s, "forward_s", "seconds >= 0", .max = 1e9),
 *         AR_COLUMN(count, struct layer, stride, "stride", "", .min = 1, .may_be_missing = true)};
 *     AR_TRY(ar_csv_load(path, arena, &csv, err));
 *     struct layer *layers;
 *     AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), NULL, &layers, err));
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_record.h"

/** Limits of a file: far above any sensible one, low enough to stop `/dev/zero`. */
enum { AR_CSV_BYTES_MAX = 64 * 1024 * 1024, AR_CSV_COLUMNS_MAX = 256 };

/** How comments of a file are read. */
enum ar_csv_comments { AR_CSV_DIRECTIVES, AR_CSV_FACTS };

struct ar_csv_directive {
    const char *key, *value;
    uint64_t line;
};

struct ar_csv {
    struct ar_arena *arena;
    const char *path;
    enum ar_csv_comments comments;
    struct ar_csv_directive *directives; /**< or facts, in the order of the file */
    size_t directives_count;
    uint64_t header_line;
    size_t columns_count, rows_count;
    const char **cells; /**< the header, then row after row */
    size_t cells_count;
    uint64_t *lines; /**< of each row */
};

/** Reads a file into the arena. Comments may be directives; there is a header, maybe no rows. */
enum ar_status ar_csv_load(const char *path, struct ar_arena *arena, struct ar_csv **csv,
                           struct ar_error *err);

/** The same for a text in memory, which is copied; `path` begins error lines. */
enum ar_status ar_csv_parse(const char *path, const char *text, size_t bytes,
                            enum ar_csv_comments comments, struct ar_arena *arena,
                            struct ar_csv **csv, struct ar_error *err);

/** Reads the directives, or facts, named like `columns` into the fields of `record`. Refused are
 * those that are missing, unknown unless AR_COLUMN_OTHERS is last, given twice,
 * or other than their column says. Fields that the file does not give stay as they were: their
 * defaults. Strings point into the table. */
enum ar_status ar_csv_read_directives(const struct ar_csv *csv, struct ar_columns columns,
                                      void *record, struct ar_error *err);

/** The same of the cells: makes an array of `rows_count` records in the table's arena, which begin
 * as a copy of `begin` (NULL: as zeros); `records` is the address of the pointer to it. */
enum ar_status ar_csv_read_rows(const struct ar_csv *csv, struct ar_columns columns,
                                const void *begin, void *records, struct ar_error *err);

/** Rows of a file, each a struct of `size` bytes that begins with its name, a const char *. */
struct ar_csv_list {
    void *rows;
    size_t count, size;
};

/** Loads a file of nothing but such rows into the arena. */
enum ar_status ar_csv_load_list(const char *path, struct ar_arena *arena, struct ar_columns columns,
                                struct ar_csv_list **list, struct ar_error *err);

/** The row of a name. NULL if there is none: `err`, unless NULL too, gets the nearest known one. */
const void *ar_csv_list_find(const struct ar_csv_list *list, const char *where, const char *noun,
                             const char *name, struct ar_error *err);

/** Writes `path:17: column "backward_s" is "-0.003"; expected ...`, returns AR_BAD_DATA; the column
 * or directive must be there. For what no schema can say. */
enum ar_status ar_csv_error(const struct ar_csv *csv, size_t row, const char *column,
                            struct ar_error *err, const char *expected, ...)
    __attribute__((format(printf, 5, 6)));
#define AR_CSV_REFUSE(found, ...) AR_REFUSE_BY(found, ar_csv_error(__VA_ARGS__))
enum ar_status ar_csv_directive_error(const struct ar_csv *csv, const char *key,
                                      const char *expected, struct ar_error *err);

/** The directive `key`, or NULL. */
const struct ar_csv_directive *ar_csv_find_directive(const struct ar_csv *csv, const char *key);

/** The place of a column; SIZE_MAX: there is none of that name. */
size_t ar_csv_find_column(const struct ar_csv *csv, const char *name);

/** Whether the header has all columns of a list, each by its name or its alias. */
bool ar_csv_has_columns(const struct ar_csv *csv, struct ar_columns columns);

/** Refuses a file that lacks one of the columns, names with blanks between them. */
enum ar_status ar_csv_check(const struct ar_csv *csv, const char *columns, struct ar_error *err);

/** `path:line` of a row, which begins error lines; returns `where`. */
enum { AR_CSV_WHERE = 320 };
const char *ar_csv_where(const struct ar_csv *csv, size_t row, char where[AR_CSV_WHERE]);
#define AR_SHOW_WHERE(csv, row) ar_csv_where((csv), (row), (char[AR_CSV_WHERE]){""})

/** Text of a cell; that of a column by its name, empty if there is none. */
const char *ar_csv_cell(const struct ar_csv *csv, size_t row, size_t column);
const char *ar_csv_text(const struct ar_csv *csv, size_t row, const char *column);

/** Puts a row in place of an earlier one, whose cells are lost; the caller sets `rows_count`. */
void ar_csv_move_row(struct ar_csv *csv, size_t from, size_t to);

/** `text` made fit for an error line: cut at 40 bytes, what is no text as `?`. Returns `shown`. */
const char *ar_csv_show(const char *text, char shown[64]);
#define AR_SHOW_CELL(text) ar_csv_show((text), (char[64]){""})

/** Writes a cell, behind a comma unless it is the first of its line; in quotes where ar_csv_load()
 * would take it for something else. */
void ar_csv_write_cell(FILE *file, const char *text, bool is_first);
