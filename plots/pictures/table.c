#include "ar_plot_table.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a cell may hold. */
enum content {
    TEXT,
    STATUS, /* `ok`; other rows are skipped and counted */
    NAME,   /* plain ASCII without blanks: compared with names in scripts */
    SHAPE,  /* the same, or empty */
    COUNT,  /* from here on numbers, COUNT and BYTES whole ones */
    BYTES,
    DURATION,
    POSITIVE,
    FRACTION,
    RATE,
    NUMBER
};

/* Bits of files. */
enum {
#define X(symbol, ...) symbol = 1 << AR_PLOT_##symbol,
    AR_PLOT_FILE_LIST(X)
#undef X
        SWEEPS = STEPS | COLLECTIVES
};

static const struct {
    const char *name;
    enum content content;
    unsigned files;    /* that have it, */
    unsigned optional; /* may be without, */
    unsigned empty;    /* may have no number, or name, there */
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

/* A row as it is read. */
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

/* Reads columns of a file as texts into rows of texts, or those of numbers into rows of values. */
static enum ar_status read_columns(const struct ar_csv *csv, unsigned file, bool is_of_numbers,
                                   void *rows, struct ar_error *err)
{
    struct ar_column list[AR_COLS] = {AR_COLUMN_OTHERS};
    size_t count = 0;
    for (size_t i = AR_COL_STATUS; i < AR_COLS; i++) {
        enum content content = columns[i].content;
        bool is_whole = content == COUNT || content == BYTES;
        bool may_be_empty = !is_of_numbers || (columns[i].empty & file) != 0;
        if ((columns[i].files & file) == 0 || (is_of_numbers && content < COUNT)) {
            continue;
        }
        list[count] = (struct ar_column){.name = columns[i].name,
                                         .kind = AR_COLUMN_string,
                                         .offset = i * sizeof(const char *),
                                         .size = sizeof(const char *),
                                         .may_be_empty = may_be_empty,
                                         .may_be_missing = (columns[i].optional & file) != 0};
        if (is_of_numbers) {
            list[count].kind = is_whole ? AR_COLUMN_count : AR_COLUMN_number;
            list[count].offset = i * sizeof(double);
            list[count].size = sizeof(double);
            list[count].min = numbers[content].min;
            list[count].max = numbers[content].max;
            list[count].help = numbers[content].expected;
        }
        count++;
    }
    list[count++] = (struct ar_column)AR_COLUMN_OTHERS;
    return ar_csv_read_rows(csv, (struct ar_columns){list, count}, rows,
                            is_of_numbers ? sizeof(values_of_row) : sizeof(texts_of_row), err);
}

/* Leaves the rows with status ok. */
static enum ar_status drop_failed(struct ar_csv *csv, bool has_status, texts_of_row *texts,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    size_t kept = 0;
    for (size_t row = 0; row < csv->rows_count && has_status; row++) {
        if (texts[row][AR_COL_STATUS] == NULL || strcmp(texts[row][AR_COL_STATUS], "ok") != 0) {
            table->failed_line = table->failed_count++ == 0 ? csv->lines[row] : table->failed_line;
            continue;
        }
        memmove(texts[kept], texts[row], sizeof *texts);
        ar_csv_move_row(csv, row, kept++);
    }
    csv->rows_count = has_status ? kept : csv->rows_count;
    if (kept > 0 || !has_status) {
        return AR_OK;
    }
    if (table->failed_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a header and no rows; expected one row at least", csv->path);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%llu: column \"status\" is not ok here nor in any other row (%llu); "
                        "expected one ok row at least",
                        csv->path, (unsigned long long)table->failed_line,
                        (unsigned long long)table->failed_count);
}

/* Steps without an all-reduce are named by their strategy. */
static void name_steps(texts_of_row *texts, size_t count)
{
    for (size_t row = 0; row < count; row++) {
        const char *algorithm = texts[row][AR_COL_ALGORITHM];
        if (algorithm == NULL || algorithm[0] == '\0') {
            texts[row][AR_COL_ALGORITHM] = texts[row][AR_COL_EXCHANGE];
        }
    }
}

/* --- values ------------------------------------------------------------------------------- */

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

static double grid_x(const char *shape)
{
    unsigned x;
    unsigned y;
    int end = 0;
    bool is_grid = sscanf(shape, "%9ux%9u%n", &x, &y, &end) == 2 && shape[end] == '\0';
    return is_grid && x > 0 && y > 0 ? x : 0;
}

/* The number of a text: that of the first row that has it. */
static double number_text(const struct ar_plot_table *table, size_t row, enum ar_plot_column column)
{
    size_t first = 0;
    while (strcmp(ar_plot_cell(table, first, column), ar_plot_cell(table, row, column)) != 0) {
        first++;
    }
    return (double)first;
}

static enum ar_status check_text(const struct ar_plot_table *table, size_t row,
                                 enum ar_plot_column column, unsigned file, struct ar_error *err)
{
    const char *name = columns[column].name;
    const char *text = ar_plot_cell(table, row, column);
    enum content content = columns[column].content;
    bool is_named = text[0] != '\0' || (columns[column].empty & file) != 0;
    if (content == NAME && (!is_named || !is_plain_name(text))) {
        return ar_csv_error(table->csv, row, name,
                            "a name in ASCII without blanks, quotes and commas", err);
    }
    if (content == SHAPE && !is_plain_name(text)) {
        return ar_csv_error(table->csv, row, name, "a shape such as 32x32, or -", err);
    }
    return AR_OK;
}

static enum ar_status value_texts(const struct ar_plot_table *table, unsigned file,
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
            AR_TRY(check_text(table, row, i, file, err));
        } else if (content <= BYTES && !isnan(*value)) {
            memcpy(&whole, value, sizeof whole); /* as it was read */
            *value = (double)whole;
        }
    }
    return AR_OK;
}

/* A sweep without steps: no row has a trace. */
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
    AR_NEED(texts && values && rows, err, path);
    struct ar_plot_table result = {.csv = csv, .texts = texts, .values = values};
    AR_TRY(read_columns(csv, bit, false, texts, err));
    if (bit == STEPS) {
        name_steps(texts, csv->rows_count);
    }
    AR_TRY(drop_failed(csv, (columns[AR_COL_STATUS].files & bit) != 0, texts, &result, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        rows[row] = row;
        for (size_t i = 0; i < AR_COLS; i++) {
            values[row][i] = (columns[i].empty & bit) != 0 ? (double)NAN : 0;
        }
    }
    result.rows = (struct ar_plot_rows){rows, csv->rows_count};
    AR_TRY(read_columns(csv, bit, true, values, err));
    AR_TRY(value_texts(&result, bit, err));
    *table = result;
    return AR_OK;
}

/* --- questions ---------------------------------------------------------------------------- */

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
