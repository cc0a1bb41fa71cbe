/** \file reproduce_rows.h
 * Published runs: what was measured, the parameters of the run, and what of it is not known.
 *
 * A file is a CSV with one row per published number; validate/data/published/README.md has its
 * columns.
 */
#ifndef AR_REPRODUCE_ROWS_H
#define AR_REPRODUCE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "ar_csv.h"
#include "options.h"
#include "reproduce_range.h"

/** Columns of a file of published runs, in the order in which they are listed. */
#define PUBLISHED_COLUMN_LIST(X)                                                                   \
    X(row)                                                                                         \
    X(title)                                                                                       \
    X(quantity)                                                                                    \
    X(measured)                                                                                    \
    X(measured_error)                                                                              \
    X(source)                                                                                      \
    X(how_read)                                                                                    \
    X(cluster)                                                                                     \
    X(gpus)                                                                                        \
    X(algorithm)                                                                                   \
    X(shape)                                                                                       \
    X(trace)                                                                                       \
    X(batch)                                                                                       \
    X(precision)                                                                                   \
    X(framework)                                                                                   \
    X(images_per_s_at)                                                                             \
    X(bucket)                                                                                      \
    X(channels)                                                                                    \
    X(window)                                                                                      \
    X(engine)                                                                                      \
    X(jitter)                                                                                      \
    X(baseline)                                                                                    \
    X(set)                                                                                         \
    X(term)                                                                                        \
    X(run)                                                                                         \
    X(assume)

enum published_column {
#define X(name) PUBLISHED_##name,
    PUBLISHED_COLUMN_LIST(X)
#undef X
        PUBLISHED_COLUMNS_COUNT
};

/** The column of a name; PUBLISHED_COLUMNS_COUNT if there is none. */
enum published_column published_column_find(const char *name);

/** Quantities: name in files, unit, unit of the table for people and its factor. */
#define QUANTITY_LIST(X)                                                                           \
    X(efficiency_frac, "1", "%", 100)                                                              \
    X(images_per_s, "images/s", "images/s", 1)                                                     \
    X(iteration_s, "s", "ms", 1000)                                                                \
    X(train_s, "s", "s", 1)

enum quantity {
#define X(name, unit, shown, factor) QUANTITY_##name,
    QUANTITY_LIST(X)
#undef X
        QUANTITIES_COUNT
};

const char *quantity_name(enum quantity quantity);
const char *quantity_unit(enum quantity quantity);
const char *quantity_shown_unit(enum quantity quantity);
double quantity_shown_factor(enum quantity quantity);

enum { RANGES_MAX = 32, TABLES_MAX = ARGUMENTS_MAX };

struct published {
    const char *path;
    uint64_t line;
    const char *cells[PUBLISHED_COLUMNS_COUNT]; /**< "" for none */
    enum quantity quantity;
    double measured;                 /**< NAN: none, a row for context only */
    double measured_error;           /**< half width, 0 if none is given */
    struct range ranges[RANGES_MAX]; /**< what is not known of it: first its own */
    size_t ranges_count;
};

/** Rows of all files, in order. */
struct published_rows {
    struct published *rows;
    size_t count;
    struct ar_csv *tables[TABLES_MAX]; /**< own the texts */
    size_t tables_count;
};

static inline const char *published_cell(const struct published *row, enum published_column column)
{
    return row->cells[column];
}

/** Whether a row is listed but not predicted: there is no model of its cluster. */
static inline bool published_is_context(const struct published *row)
{
    return row->cells[PUBLISHED_cluster][0] == '\0';
}

/** `path:line: row "name"` for error lines; returns `where`. */
enum { PUBLISHED_WHERE = 200 };
const char *published_where(const struct published *row, char where[PUBLISHED_WHERE]);

/** Reads the files of the command line, all shipped ones if there are none; takes the rows that
 * `--rows` asks for and adds the ranges of ranges.csv that concern them. A range of a parameter
 * that `--set`, `--term` or `--engine` fixes is dropped. Freed with published_free(), on failure
 * too. */
enum ar_status published_read(const struct options *options, struct published_rows *rows,
                              struct ar_error *err);
void published_free(struct published_rows *rows);

/** Appends the rows of a file. */
enum ar_status published_read_file(const char *path, struct published_rows *rows,
                                   struct ar_error *err);

/** Adds to each row the ranges of a file with the columns cluster (`*`: any), key, low, high,
 * source and, if it likes, given: a column of the row without which the range does not count. The
 * range of a named cluster, or with a given column, takes the place of a more general one; those of
 * the row itself stay. */
enum ar_status published_add_ranges(const char *path, const struct options *options,
                                    struct published_rows *rows, struct ar_error *err);

#endif
