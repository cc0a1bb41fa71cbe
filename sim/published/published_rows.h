/** \file published_rows.h
 * Published runs: what was measured, the parameters of the run, and what of it is not known.
 *
 * A file is a CSV with one row per published number; validate/data/published/README.md has its
 * columns: those below and the keys of a scenario that published runs have.
 */
#ifndef AR_PUBLISHED_ROWS_H
#define AR_PUBLISHED_ROWS_H

#include "ar_csv.h"
#include "ar_scenario.h"
#include "published_range.h"

/** Columns that are no keys: what was measured, and where it is from. */
#define PUBLISHED_COLUMN_LIST(X)                                                                   \
    X(row)                                                                                         \
    X(title)                                                                                       \
    X(quantity)                                                                                    \
    X(measured)                                                                                    \
    X(measured_error)                                                                              \
    X(source)                                                                                      \
    X(how_read)                                                                                    \
    X(run)                                                                                         \
    X(assume)

enum published_column {
#define X(name) PUBLISHED_##name,
    PUBLISHED_COLUMN_LIST(X)
#undef X
        PUBLISHED_COLUMNS_COUNT
};

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

enum { RANGES_MAX = 32 };

struct published {
    const char *path;
    uint64_t line;
    const char *cells[PUBLISHED_COLUMNS_COUNT]; /**< "" for none */
    const char *keys[AR_KEYS_COUNT];            /**< the same */
    enum quantity quantity;
    double measured;       /**< NAN: none, a row for context only */
    double measured_error; /**< half width, 0 if none is given */
    struct range *ranges;  /**< what is not known of it: first its own; room for RANGES_MAX */
    size_t ranges_count;
};

/** Rows of all files, in order. */
struct published_rows {
    struct ar_arena arena;
    struct published *rows;
    size_t count;
};

/** What the command line asks for, and what it says is known. */
struct published_request {
    const char *const *files; /**< names or paths; none: all that are shipped */
    size_t files_count;
    const char *pattern;      /**< of names of rows; NULL: all */
    struct ar_scenario given; /**< its settings, terms and engine hold for all rows */
};

static inline const char *published_cell(const struct published *row, enum published_column column)
{
    return row->cells[column];
}

/** Whether a row is listed but not predicted: there is no model of its cluster. */
static inline bool published_is_context(const struct published *row)
{
    return row->keys[AR_KEY_CLUSTER][0] == '\0';
}

/** `path:line: row "name"` for error lines; returns `where`. */
enum { PUBLISHED_WHERE = 200 };
const char *published_where(const struct published *row, char where[PUBLISHED_WHERE]);

/** Reads the files of a request; takes the rows that it asks for and adds the ranges of ranges.csv
 * that concern them. A range of a parameter that the request fixes is dropped. Freed with
 * published_free(), on failure too. */
enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err);
void published_free(struct published_rows *rows);

/** Appends the rows of a file. */
enum ar_status published_read_file(const char *path, struct published_rows *rows,
                                   struct ar_error *err);

/** Adds to each row the ranges of a file with the columns cluster (`*`: any), key, low, high,
 * source and, if it likes, given: a column of the row without which the range does not count. The
 * range of a named cluster, or with a given column, takes the place of a more general one; those of
 * the row itself stay. */
enum ar_status published_add_ranges(const char *path, const struct published_request *request,
                                    struct published_rows *rows, struct ar_error *err);

#endif
