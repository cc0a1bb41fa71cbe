/** \file column.h
 * The columns of tables of words, and members of JSON objects: what they are called, where they go.
 */
#ifndef AR_LOGS_COLUMN_H
#define AR_LOGS_COLUMN_H

#include "ar_log.h"
#include "ar_record.h"

/** A column of struct ar_log_row, or of its struct ar_log_timing. */
struct ar_log_column {
    struct ar_column cell;
    double unit; /**< of a number, in SI units; 0: the number has none */
    bool is_timing;
    const char *const *glued; /**< what it may hold where messages cut a row in two behind it; NULL
                                   ends them; NULL: anything */
};

struct ar_log_columns {
    const struct ar_log_column *list;
    size_t count;
};

#define AR_LOG_COLUMNS(array) ((struct ar_log_columns){(array), sizeof(array) / sizeof((array)[0])})

/** Columns of a row: without and with a unit; and of a timing. */
#define AR_LOG_ROW(kind, field, name)                                                              \
    {                                                                                              \
        AR_COLUMN(kind, struct ar_log_row, field, name, ""), 0, false, NULL                        \
    }
#define AR_LOG_ROW_NUMBER(field, name, unit)                                                       \
    {                                                                                              \
        AR_COLUMN(number, struct ar_log_row, field, name, "a number or N/A"), unit, false, NULL    \
    }
#define AR_LOG_TIMING(field, name, unit)                                                           \
    {                                                                                              \
        AR_COLUMN(number, struct ar_log_timing, field, name, "a number or N/A"), unit, true, NULL  \
    }

/** Sets the field of a row, or of one of its timings, from a word; `N/A` is no number. False when
 * the word is not what the column holds. */
bool ar_log_column_set(const struct ar_log_column *column, const char *word, bool is_in_place,
                       struct ar_log_row *row);

enum { AR_TABLE_COLUMNS_MAX = 40 };

/** The header of a table of words. */
struct ar_log_table {
    const struct ar_log_column *columns[AR_TABLE_COLUMNS_MAX]; /**< NULL: not read */
    bool is_in_place[AR_TABLE_COLUMNS_MAX];
    size_t count; /**< words that a row must have; 0: no table */
    uint64_t line;
};

/** Appends the column of a name, if there is room; a timing's that comes again is in place. */
void ar_log_table_add(struct ar_log_table *table, struct ar_log_columns columns, const char *name);

/** Sets the fields of a row from the words of its line, at least as many as the table has. */
enum ar_status ar_log_table_read(const struct ar_log_table *table, const struct ar_log *run,
                                 const char *const *words, struct ar_log_row *row,
                                 struct ar_error *err);

/** Refuses a row that has another number of words. */
enum ar_status ar_log_table_cut_off(const struct ar_log_table *table, const struct ar_log *run,
                                    uint64_t line, size_t words_count, struct ar_error *err);

#endif
