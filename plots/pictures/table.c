#include "ar_plot_table.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The contents of the cells of a column. */
enum content {
    TEXT,
    STATUS, /* `ok`; other rows are skipped and counted */
    NAME,   /* plain ASCII without blanks, since templates compare it with words */
    SHAPE,  /* a NAME, or empty */
    COUNT,  /* numbers begin here; COUNT and BYTES are whole */
    BYTES,
    DURATION,
    POSITIVE,
    FRACTION,
    RATE,
    NUMBER
};

/* Files as bits. */
enum {
#define X(symbol, ...) symbol = 1 << AR_PLOT_##symbol,
    AR_PLOT_FILE_LIST(X)
#undef X
        SWEEPS = STEPS | COLLECTIVES
};

static const struct {
    const char *name;
    enum content content;
    unsigned files;    /* files that have the column */
    unsigned optional; /* those of them that may lack it */
    unsigned empty;    /* those in which its cells may be empty */
} columns[AR_COLS] = {
#define X(symbol, name, content, files, optional, empty)                                           \
    [AR_COL_##symbol] = {name, content, files, optional, empty},
    AR_PLOT_COLUMN_LIST(X)
#undef X
};

const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES] = {
#define X(symbol, name, set, is_needed) {name, AR_PLOT_##set, is_needed},
    AR_PLOT_FILE_LIST(X)
#undef X
};

/* A row as it is read, by column. */
typedef const char *texts_of_row[AR_COLS];
typedef double values_of_row[AR_COLS];

static const struct {
    double min, max;
    const char *expected;
} numbers[] = {
    [COUNT] = {1, 0x1p53, "a whole number of at least 1"}, /* beyond, gnuplot is not exact */
    [BYTES] = {0, 0x1p53, "a whole number of bytes"},
    [DURATION] = {0, DBL_MAX, "seconds >= 0"},
    [POSITIVE] = {DBL_MIN, DBL_MAX, "a number above 0"},
    [FRACTION] = {0, DBL_MAX, "a fraction >= 0"},
    [RATE] = {0, DBL_MAX, "bytes per second >= 0"},
    [NUMBER] = {-DBL_MAX, DBL_MAX, "a number"},
};

/* --- reading ------------------------------------------------------------------------------ */

/* Reads the columns of texts into rows of texts, or those of numbers into rows of values. */
static enum ar_status read_columns(const struct ar_csv *csv, unsigned file, bool has_numbers,
                                   void *rows, struct ar_error *err)
{
    struct ar_column list[AR_COLS];
    size_t count = 0;
    for (size_t i = AR_COL_STATUS; i < AR_COLS; i++) {
        enum content content = columns[i].content;
        if ((columns[i].files & file) == 0 || (has_numbers && content < COUNT)) {
            continue;
        }
        struct ar_column *column = &list[count++];
        *column = (struct ar_column){.name = columns[i].name,
                                     .kind = AR_COLUMN_string,
                                     .offset = i * sizeof(const char *),
                                     .size = sizeof(const char *),
                                     .may_be_empty = true,
                                     .may_be_missing = (columns[i].optional & file) != 0};
        if (has_numbers) {
            column->kind = content <= BYTES ? AR_COLUMN_count : AR_COLUMN_number;
            column->offset = i * sizeof(double);
            column->size = sizeof(double);
            column->may_be_empty = (columns[i].empty & file) != 0;
            column->min = numbers[content].min;
            column->max = numbers[content].max;
            column->help = numbers[content].expected;
        }
    }
    list[count++] = (struct ar_column)AR_COLUMN_OTHERS;
    return ar_csv_read_rows(csv, (struct ar_columns){list, count}, rows,
                            has_numbers ? sizeof(values_of_row) : sizeof(texts_of_row), err);
}

/* Leaves the rows with status ok. */
static enum ar_status drop_failed_rows(struct ar_csv *csv, texts_of_row *texts,
                                       struct ar_plot_table *table, struct ar_error *err)
{
    size_t kept = 0;
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char *status = texts[row][AR_COL_STATUS];
        if (status == NULL || strcmp(status, "ok") != 0) {
            table->failed_line = table->failed_count++ == 0 ? csv->lines[row] : table->failed_line;
            continue;
        }
        memmove(texts[kept], texts[row], sizeof *texts);
        ar_csv_move_row(csv, row, kept++);
    }
    csv->rows_count = kept;
    if (kept == 0 && table->failed_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a header and no rows; expected one row at least", csv->path);
    }
    return kept > 0 ? AR_OK
                    : ar_error_set(err, AR_BAD_DATA,
                                   "%s:%llu: column \"status\" is not ok here nor in any other row "
                                   "(%llu); expected one ok row at least",
                                   csv->path, (unsigned long long)table->failed_line,
                                   (unsigned long long)table->failed_count);
}

/* Names go into gnuplot's data files, whose reader knows no doubled quotes, and are compared there
 * with words of the script. */
static bool is_plain_name(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == ',') {
            return false;
        }
    }
    return true;
}

static enum ar_status check_plain_name(const struct ar_plot_table *table, size_t row,
                                       enum ar_plot_column column, unsigned file,
                                       struct ar_error *err)
{
    const char *text = ar_plot_cell(table, row, column);
    bool is_shape = columns[column].content == SHAPE;
    bool may_be_empty = is_shape || (columns[column].empty & file) != 0;
    if (is_plain_name(text) && (text[0] != '\0' || may_be_empty)) {
        return AR_OK;
    }
    return ar_csv_error(table->csv, row, columns[column].name,
                        is_shape ? "a shape such as 32x32, or -"
                                 : "a name in ASCII without blanks, quotes and commas",
                        err);
}

/* X of a grid XxY; 0 of any other shape. */
static double grid_x(const char *shape)
{
    unsigned x;
    unsigned y;
    int end = 0;
    bool is_grid = sscanf(shape, "%9ux%9u%n", &x, &y, &end) == 2 && shape[end] == '\0';
    return is_grid && x > 0 && y > 0 ? x : 0;
}

/* A text as a number: the index of the first row that has it. */
static double number_text(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    size_t first = 0;
    while (strcmp(ar_plot_cell(table, first, column), ar_plot_cell(table, row, column)) != 0) {
        first++;
    }
    return (double)first;
}

/* Checks names, and makes numbers of texts and of the whole numbers that were read. */
static enum ar_status convert_values(const struct ar_plot_table *table, unsigned file,
                                     struct ar_error *err)
{
    for (size_t k = 0; k < table->rows.count * AR_COLS; k++) {
        size_t row = k / AR_COLS;
        enum ar_plot_column i = (enum ar_plot_column)(k % AR_COLS);
        enum content content = columns[i].content;
        double *value = &table->values[row][i];
        uint64_t whole;
        if ((columns[i].files & file) == 0) {
            continue;
        }
        if (content < COUNT) {
            *value =
                content == SHAPE ? grid_x(ar_plot_cell(table, row, i)) : number_text(table, row, i);
            AR_TRY(content >= NAME ? check_plain_name(table, row, i, file, err) : AR_OK);
        } else if (content <= BYTES && !isnan(*value)) {
            memcpy(&whole, value, sizeof whole); /* the reader stored an integer in this place */
            *value = (double)whole;
        }
    }
    return AR_OK;
}

/* Whether a sweep is one of collectives alone: no row has a trace. */
static bool has_no_steps(const struct ar_csv *csv)
{
    size_t trace = ar_csv_find_column(csv, columns[AR_COL_TRACE].name);
    bool is_empty = csv->rows_count > 0 && trace != SIZE_MAX;
    for (size_t row = 0; row < csv->rows_count && is_empty; row++) {
        is_empty = ar_csv_cell(csv, row, trace)[0] == '\0';
    }
    return is_empty;
}

enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file *file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    struct ar_csv *csv = NULL;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    if (*file == AR_PLOT_STEPS && has_no_steps(csv)) {
        *file = AR_PLOT_COLLECTIVES;
    }
    unsigned bit = 1u << *file;
    texts_of_row *texts = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *texts);
    values_of_row *values = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *values);
    size_t *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *rows);
    struct ar_plot_table result = {.csv = csv, .texts = texts, .values = values};
    AR_TRY(read_columns(csv, bit, false, texts, err));
    if ((columns[AR_COL_STATUS].files & bit) != 0) {
        AR_TRY(drop_failed_rows(csv, texts, &result, err));
    }
    for (size_t row = 0; row < csv->rows_count; row++) {
        const char **algorithm = &texts[row][AR_COL_ALGORITHM];
        if (bit == STEPS && (*algorithm == NULL || (*algorithm)[0] == '\0')) {
            *algorithm = texts[row][AR_COL_EXCHANGE]; /* a step without an all-reduce */
        }
        rows[row] = row;
        for (size_t i = 0; i < AR_COLS; i++) {
            values[row][i] = (columns[i].empty & bit) != 0 ? (double)NAN : 0;
        }
    }
    result.rows = (struct ar_plot_rows){rows, csv->rows_count};
    AR_TRY(read_columns(csv, bit, true, values, err));
    AR_TRY(convert_values(&result, bit, err));
    *table = result;
    return AR_OK;
}

const char *ar_plot_column_name(enum ar_plot_column column)
{
    return columns[column].name;
}

double ar_plot_value(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    return table->values[row][column];
}

const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    const char *text = table->texts[row][column];
    return text == NULL ? "" : text;
}

/* --- rows --------------------------------------------------------------------------------- */

/* How rows are sorted: by the keys, then by the value of `least`. */
struct order {
    const struct ar_plot_table *table;
    const enum ar_plot_column *keys;
    enum ar_plot_column least;
};

static const enum ar_plot_column by_gpus[] = {AR_COL_GPUS, AR_COL_END};

static int compare_keys(const struct order *order, size_t a, size_t b)
{
    for (const enum ar_plot_column *key = order->keys; *key != AR_COL_END; key++) {
        double left = ar_plot_value(order->table, a, *key);
        double right = ar_plot_value(order->table, b, *key);
        if (left < right || left > right) {
            return left > right ? 1 : -1;
        }
    }
    return 0;
}

/* By the keys, then by `least`, then in the order of the file. */
static int compare_row_order(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    int result = compare_keys(order, a, b);
    double difference =
        ar_plot_value(order->table, a, order->least) - ar_plot_value(order->table, b, order->least);
    result = result != 0 ? result : (difference > 0) - (difference < 0);
    return result != 0 ? result : (a > b) - (a < b);
}

struct ar_plot_rows ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena)
{
    size_t count = table->rows.count;
    struct ar_plot_rows rows = {ar_arena_alloc(arena, count + 1, sizeof *rows.rows), count};
    if (count > 0) {
        memcpy(rows.rows, table->rows.rows, count * sizeof *rows.rows);
    }
    return rows;
}

void ar_plot_rows_best(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                       enum ar_plot_column least, struct ar_plot_rows *rows)
{
    struct order order = {.table = table, .keys = keys, .least = least};
    size_t kept = 0;
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_row_order, &order);
    for (size_t i = 0; i < rows->count; i += ar_plot_rows_alike(table, keys, *rows, i)) {
        rows->rows[kept++] = rows->rows[i];
    }
    rows->count = kept;
}

void ar_plot_rows_within(const struct ar_plot_table *table, enum ar_plot_column column, double min,
                         double max, struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double value = ar_plot_value(table, rows->rows[i], column);
        if (value >= min && value <= max) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

void ar_plot_rows_of(const struct ar_plot_table *table, enum ar_plot_column column,
                     const char *text, const char *other, struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const char *cell = ar_plot_cell(table, rows->rows[i], column);
        if (strcmp(cell, text) == 0 || (other != NULL && strcmp(cell, other) == 0)) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

size_t ar_plot_rows_alike(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                          struct ar_plot_rows rows, size_t first)
{
    struct order order = {.table = table, .keys = keys};
    size_t count = 1;
    while (first + count < rows.count &&
           compare_keys(&order, rows.rows[first], rows.rows[first + count]) == 0) {
        count++;
    }
    return count;
}

bool ar_plot_rows_vary(const struct ar_plot_table *table, enum ar_plot_column column,
                       struct ar_plot_rows rows)
{
    const enum ar_plot_column keys[] = {column, AR_COL_END};
    return rows.count > 0 && ar_plot_rows_alike(table, keys, rows, 0) < rows.count;
}

size_t ar_plot_rows_counts(const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    size_t counts = 0;
    for (size_t i = 0; i < rows.count; i += ar_plot_rows_alike(table, by_gpus, rows, i)) {
        counts++;
    }
    return counts;
}

/* Whether group `group` of `groups` is among `wanted` ones that are spread evenly. */
static bool is_spread(size_t group, size_t groups, size_t wanted)
{
    if (groups <= wanted || wanted < 2) {
        return groups <= wanted || group == groups - 1;
    }
    for (size_t i = 0; i < wanted; i++) {
        if ((2 * i * (groups - 1) + wanted - 1) / (2 * (wanted - 1)) == group) {
            return true;
        }
    }
    return false;
}

void ar_plot_rows_spread(const struct ar_plot_table *table, size_t wanted,
                         struct ar_plot_rows *rows)
{
    size_t groups = ar_plot_rows_counts(table, *rows);
    size_t kept = 0;
    for (size_t i = 0, group = 0, count; i < rows->count; i += count, group++) {
        count = ar_plot_rows_alike(table, by_gpus, *rows, i);
        for (size_t k = 0; k < count && is_spread(group, groups, wanted); k++) {
            rows->rows[kept++] = rows->rows[i + k];
        }
    }
    rows->count = kept;
}
