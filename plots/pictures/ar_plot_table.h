/** \file ar_plot_table.h
 * The files that pictures are drawn from: which columns they need, and their cells as numbers.
 */
#ifndef AR_PLOT_TABLE_H
#define AR_PLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_csv.h"
#include "ar_error.h"

/** The commands that leave files for pictures. */
enum ar_plot_set { AR_PLOT_SWEEP, AR_PLOT_COMPARE, AR_PLOT_PUBLISHED };

/** The files, in the order of reading. */
enum ar_plot_file {
    AR_PLOT_STEPS,       /**< sweep.csv: training steps */
    AR_PLOT_COLLECTIVES, /**< payload.csv: single collectives */
    AR_PLOT_COMPARED,    /**< compare.csv: measured and predicted calls */
    AR_PLOT_ROWS,        /**< reproduce.csv: published results */
    AR_PLOT_CURVES,      /**< curves.csv: predictions of published rows at many GPU counts */
    AR_PLOT_CHANGES,     /**< sensitivity.csv: what assumptions change */
    AR_PLOT_FILES
};

/** What a cell may hold. */
enum ar_plot_content {
    AR_PLOT_TEXT,     /**< any text */
    AR_PLOT_STATUS,   /**< `ok`; other rows are skipped and counted */
    AR_PLOT_SAME,     /**< text that all rows agree on */
    AR_PLOT_NAME,     /**< plain ASCII without blanks: compared with names in scripts */
    AR_PLOT_SHAPE,    /**< the same, or empty; as a number: X of a grid XxY, 0 of another shape */
    AR_PLOT_COUNT,    /**< whole number of at least 1 */
    AR_PLOT_BYTES,    /**< whole number */
    AR_PLOT_DURATION, /**< seconds >= 0 */
    AR_PLOT_POSITIVE, /**< number > 0 */
    AR_PLOT_FRACTION, /**< number >= 0 */
    AR_PLOT_NUMBER    /**< any number */
};

struct ar_plot_column {
    const char *name;
    enum ar_plot_content content;
    bool is_optional;  /**< files without it are allowed */
    bool may_be_empty; /**< a number then is NAN */
};

enum { AR_PLOT_COLUMNS_MAX = 32 };

struct ar_plot_source {
    const char *name; /**< without directory */
    enum ar_plot_set set;
    const struct ar_plot_column *columns;
    size_t columns_count; /**< at most AR_PLOT_COLUMNS_MAX */
};

extern const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES];

/** Numbers of rows, as ar_csv_cell() counts them. */
struct ar_plot_rows {
    size_t *rows;
    size_t count;
};

/** A file that was read; all zero: there is none. */
struct ar_plot_table {
    const struct ar_csv *csv;
    const struct ar_plot_source *source;
    const size_t *places; /**< of its columns in the file; SIZE_MAX: not there */
    const double *values; /**< row after row, a value per column of the source: a number as it is, a
                               text as a number that equal texts share, in order of appearance */
    struct ar_plot_rows rows; /**< those with status ok */
    uint64_t failed_count;    /**< the others */
    uint64_t failed_line;     /**< line of the first of them; 0: none */
};

/** Reads a file; all that is made belongs to the arena. Errors: AR_NO_INPUT, AR_BAD_DATA (a missing
 * or doubled column, a wrong cell, no row with status ok; the line begins `file:line:`),
 * AR_NO_MEMORY. */
enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err);

/** Whether the file has a column of the source. */
bool ar_plot_has_column(const struct ar_plot_table *table, const char *name);

/** Place of a column among those of the source; it must be one of them. */
size_t ar_plot_column(const struct ar_plot_table *table, const char *name);

/** A cell as a number, by ar_plot_column(). */
double ar_plot_value(const struct ar_plot_table *table, size_t row, size_t column);

/** A cell as text; empty when the file has no such column. */
const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, size_t column);

#endif
