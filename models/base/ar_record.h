/** \file ar_record.h
 * Records of columns, written as a table for people, as CSV or as JSON, and read back from CSV.
 *
 * A record is any struct; a list of columns says which fields it has, what they mean and how a
 * table shows them. A value that does not apply is empty in CSV, null in JSON and "-" in a table.
 * Unless a view names them, CSV and JSON have all, in SI units; a table those with a heading, in
 * the unit it names. A list is often written as an X-macro, which declares the struct as well:
 *
 *     #define LINK_LIST(X)                                                                 \
 *         X(text, name, "of the link", .heading = "link")                                  \
 *         X(number, busy_s, "time it is busy", .heading = "busy\n(ms)", .factor = 1e3)
 *     struct link {
 *         LINK_LIST(AR_LIST_FIELD)
 *     };
 *     #define COLUMN(kind, field, ...) AR_COLUMN(kind, struct link, field, #field, __VA_ARGS__),
 *     static const struct ar_column columns[] = {LINK_LIST(COLUMN)};
 *
 * Texts may be any bytes; in JSON what is no UTF-8 becomes U+FFFD. Numbers have nine significant
 * digits in CSV and JSON unless the column says otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_error.h"

enum { AR_CELL_TEXT = 320, AR_CELL_WORD = 64 };

/** "Does not apply": also an empty text, a NULL string, a number that is not finite. */
#define AR_NO_COUNT UINT64_MAX
#define AR_NO_FLAG  (-1)

typedef char ar_cell_text[AR_CELL_TEXT];
typedef char ar_cell_word[AR_CELL_WORD];
typedef const char *ar_cell_string;
typedef uint64_t ar_cell_count;
typedef double ar_cell_number;
typedef int8_t ar_cell_flag;

#define AR_LIST_FIELD(kind, name, ...) ar_cell_##kind name;

enum ar_column_kind {
    AR_COLUMN_text,                  /**< char[size] */
    AR_COLUMN_word = AR_COLUMN_text, /**< the same, of a name */
    AR_COLUMN_string,                /**< const char *; cannot be read back from a line */
    AR_COLUMN_count,                 /**< uint64_t, or uint32_t, which always applies */
    AR_COLUMN_number,                /**< double */
    AR_COLUMN_flag,                  /**< int8_t or bool: yes or no */
    AR_COLUMN_choice                 /**< an enum, or a bool: the place of a name in `names` */
};

struct ar_column {
    const char *name; /**< with its unit: `busy_s` */
    enum ar_column_kind kind;
    size_t offset;       /**< of the field in the record */
    size_t size;         /**< of the field, */
    size_t record_size;  /**< and of the record; that of the first column holds for all */
    const char *help;    /**< one line for the documentation; of what is read from files, what is
                              expected there: "seconds >= 0"; "": made from kind and limits */
    int digits;          /**< significant ones in CSV and JSON; 0: nine */
    const char *heading; /**< in tables, `\n` begins a second line; NULL: not in tables; a table
                              whose headings are all empty has none */
    double factor;       /**< from the SI unit to that of the heading; 0: 1 */
    int decimals;        /**< of a number in tables; AR_DECIMALS_NEEDED: up to ten digits */
    bool is_signed;      /**< in tables a plus is written, too */
    bool is_rare;        /**< left out of a table in which no record has it */
    int priority;        /**< of a table that is too wide: the highest goes first, 0 stays; columns
                              that are the same in all rows go before others, those of the same
                              priority together */
    const char *mark;    /**< what tables show where a flag is no; nothing where it is yes */
    const char *legend;  /**< explains the mark, below a table that has one */
    bool is_boolean;     /**< a flag that is true or false in JSON */
    const char *usual;   /**< a text that does not show a rare column: a status of "ok" */
    /* For reading: */
    double min, max; /**< of a count or a number; max 0: as much as the field holds, and min
                          0 with it: any number, also below 0 */
    const char *const *names; /**< of a choice; NULL ends them */
    bool may_be_empty;        /**< the field then stays as it was */
    bool may_be_missing;      /**< the same of a whole column, or a directive */
    const char *alias;        /**< another name that it may have in a file; NULL: none */
};

enum { AR_DECIMALS_NEEDED = -1 };

/** A column of `kind` for `field` of the struct `owner`; the rest are a help and initialisers. */
#define AR_COLUMN(kind_, owner, field, name_, ...)                                                 \
    {                                                                                              \
        .name = (name_), .kind = AR_COLUMN_##kind_, .offset = offsetof(owner, field),              \
        .size = sizeof(((owner *)NULL)->field), .record_size = sizeof(owner), .help = __VA_ARGS__  \
    }

struct ar_columns {
    const struct ar_column *list;
    size_t count;
};

/** The last of a list whose files may have others, too. */
#define AR_COLUMN_OTHERS                                                                           \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/** The columns of an array. */
#define AR_COLUMNS(array) ((struct ar_columns){(array), sizeof(array) / sizeof((array)[0])})

/** How records are written. */
enum ar_format { AR_FORMAT_TABLE, AR_FORMAT_CSV, AR_FORMAT_JSON };

/** How records are to be shown. */
struct ar_view {
    enum ar_format format;
    size_t width;        /**< of a table at most, in characters; 0: as wide as it is */
    const char *columns; /**< names separated by commas, in this order, or "all", with those that
                              tables do not show otherwise; NULL: by default */
};

/** The view that is nothing but a format. */
#define AR_VIEW(format_) (&(const struct ar_view){.format = (format_)})

/** The column whose name is the first `length` bytes of `name`; NULL: there is none. */
const struct ar_column *ar_column_find(struct ar_columns columns, const char *name, size_t length);

/** Refuses names of columns that are none of these; AR_USAGE. */
enum ar_status ar_view_check(const char *where, const struct ar_view *view,
                             struct ar_columns columns, struct ar_error *err);

/** Writes the columns of a view to `chosen`, which has room for all; returns how many. */
size_t ar_view_choose(const struct ar_view *view, struct ar_columns columns,
                      struct ar_column *chosen);

/** A writer of records. Private but for its size; it must stay where it was begun. */
struct ar_records {
    FILE *file;
    enum ar_format format;
    size_t width;
    struct ar_columns columns; /* that are shown */
    struct ar_arena memory;
    size_t count;
    FILE *cells; /* of a table, whose widths are known at its end */
    char *text;
    size_t text_bytes;
};

/** Begins a list of records: a CSV header, a JSON array. A table is written at the end. Write
 * errors are left for ferror(). Every begin needs one end. */
void ar_records_begin(struct ar_records *records, FILE *file, const struct ar_view *view,
                      struct ar_columns columns);

void ar_records_add(struct ar_records *records, const void *record);

void ar_records_end(struct ar_records *records);

/** A whole list: `count` records. */
void ar_records_write(FILE *file, const struct ar_view *view, struct ar_columns columns,
                      const void *records, size_t count);

/** The same as CSV, into a file of a directory that appears whole or not at all (ar_file.h). */
enum ar_status ar_records_save(const char *directory, const char *name, struct ar_columns columns,
                               const void *records, size_t count, struct ar_error *err);

/** Parts of JSON documents: the array of ar_records_write() without a newline behind it, a record
 * as an object on one line, a text with its quotes (null if it is empty). */
void ar_json_array(FILE *file, struct ar_columns columns, const void *records, size_t count);
void ar_json_object(FILE *file, struct ar_columns columns, const void *record);
void ar_json_text(FILE *file, const char *text);

/** Makes every field of the columns one that does not apply. */
void ar_record_clear(struct ar_columns columns, void *record);

/** Writes a record as one line of CSV, and reads it from one, with or without its newline. Reading
 * changes only fields of the columns; AR_BAD_DATA says which column is wrong. */
void ar_record_write_line(FILE *file, struct ar_columns columns, const void *record);
enum ar_status ar_record_read_line(struct ar_columns columns, const char *line, void *record,
                                   struct ar_error *err);

/** Writes a record as comments `# name: value`, which a CSV file may have as facts (ar_csv.h). A
 * text that is empty is left out if its column may be missing. */
void ar_record_write_facts(FILE *file, struct ar_columns columns, const void *record);

/** Reads the field of one column from the text of its cell; false if that is wrong. Empty text
 * makes it a field that does not apply. A string is not copied. */
bool ar_record_read_cell(const struct ar_column *column, const char *text, void *record);

/** The contents that a column wants: `a whole number from 1 to 16`; returns help or `text`. */
enum { AR_COLUMN_EXPECTED = 160 };
const char *ar_column_expected(const struct ar_column *column, char text[AR_COLUMN_EXPECTED]);
#define AR_SHOW_EXPECTED(column) ar_column_expected((column), (char[AR_COLUMN_EXPECTED]){""})

/** The kinds of columns in words: "count". */
extern const char *const ar_column_kind_names[];
