#include "ar_plot_table.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct ar_plot_table *table;
    const struct ar_csv *csv;
    size_t *places;
    double *values;
    const char **texts; /* the distinct texts of the column being read */
    size_t texts_count;
    struct ar_error *err;
};

/* --- columns ------------------------------------------------------------------------------ */

static enum ar_status find_columns(struct reader *reader)
{
    const struct ar_csv *csv = reader->csv;
    const struct ar_plot_source *source = reader->table->source;
    const char *names[AR_PLOT_COLUMNS_MAX];
    for (size_t i = 0; i < source->columns_count; i++) {
        names[i] = source->columns[i].name;
    }
    AR_TRY(ar_csv_place_columns(csv, names, source->columns_count, AR_CSV_AS_THERE_ARE,
                                reader->places, reader->err));
    for (size_t i = 0; i < source->columns_count; i++) {
        if (reader->places[i] == SIZE_MAX && !source->columns[i].is_optional) {
            return ar_error_set(reader->err, AR_BAD_DATA,
                                "%s:%llu: column \"%s\" is missing in the header; expected the "
                                "columns of a %s",
                                csv->path, (unsigned long long)csv->header_line, names[i],
                                source->name);
        }
    }
    return AR_OK;
}

/* --- cells -------------------------------------------------------------------------------- */

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

/* The number of a text: how many other texts of the column came before it. */
static double number_text(struct reader *reader, const char *text)
{
    size_t i = 0;
    while (i < reader->texts_count && strcmp(reader->texts[i], text) != 0) {
        i++;
    }
    if (i == reader->texts_count) {
        reader->texts[reader->texts_count++] = text;
    }
    return (double)i;
}

static double grid_x(const char *shape)
{
    unsigned x;
    unsigned y;
    int end = 0;
    bool is_grid = sscanf(shape, "%9ux%9u%n", &x, &y, &end) == 2 && shape[end] == '\0';
    return is_grid && x > 0 && y > 0 ? x : 0;
}

static enum ar_status read_text(struct reader *reader, size_t row, size_t place,
                                enum ar_plot_content content, double *value)
{
    const char *text = ar_csv_cell(reader->csv, row, place);
    *value = number_text(reader, text);
    if (content == AR_PLOT_SAME && *value > 0) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "\"%.60s\" as in the rows before (pictures compare like with like)",
                 reader->texts[0]);
        return ar_csv_cell_error(reader->csv, row, place, expected, reader->err);
    }
    if (content == AR_PLOT_NAME && (text[0] == '\0' || !is_plain_name(text))) {
        return ar_csv_cell_error(reader->csv, row, place,
                                 "a name in ASCII without blanks, quotes and commas", reader->err);
    }
    if (content == AR_PLOT_SHAPE) {
        *value = grid_x(text);
        return is_plain_name(text) ? AR_OK
                                   : ar_csv_cell_error(reader->csv, row, place,
                                                       "a shape such as 32x32, or -", reader->err);
    }
    return AR_OK;
}

static enum ar_status read_number(const struct reader *reader, size_t row, size_t place,
                                  enum ar_plot_content content, double *value)
{
    static const struct {
        double min;
        const char *expected;
    } kinds[] = {
        [AR_PLOT_COUNT] = {1, "a whole number of at least 1"},
        [AR_PLOT_BYTES] = {0, "a whole number of bytes"},
        [AR_PLOT_DURATION] = {0, "seconds >= 0"},
        [AR_PLOT_POSITIVE] = {DBL_MIN, "a number above 0"},
        [AR_PLOT_FRACTION] = {0, "a fraction >= 0"},
        [AR_PLOT_NUMBER] = {-DBL_MAX, "a number"},
    };
    double min = kinds[content].min;
    if (content != AR_PLOT_COUNT && content != AR_PLOT_BYTES) {
        return ar_csv_number(reader->csv, row, place, min, DBL_MAX, kinds[content].expected, value,
                             reader->err);
    }
    uint64_t count = 0; /* beyond 2^53 neither CSV readers nor gnuplot keep a count exact */
    AR_TRY(ar_csv_count(reader->csv, row, place, (uint64_t)min, UINT64_C(1) << 53,
                        kinds[content].expected, &count, reader->err));
    *value = (double)count;
    return AR_OK;
}

static enum ar_status read_cell(struct reader *reader, size_t row, size_t column, double *value)
{
    const struct ar_plot_column *of = &reader->table->source->columns[column];
    size_t place = reader->places[column];
    if (of->content < AR_PLOT_COUNT) {
        return read_text(reader, row, place, of->content, value);
    }
    if (of->may_be_empty && ar_csv_cell(reader->csv, row, place)[0] == '\0') {
        *value = NAN;
        return AR_OK;
    }
    return read_number(reader, row, place, of->content, value);
}

/* --- rows --------------------------------------------------------------------------------- */

static bool is_ok(const struct reader *reader, size_t row)
{
    const struct ar_plot_column *first = reader->table->source->columns;
    return first->content != AR_PLOT_STATUS ||
           strcmp(ar_csv_cell(reader->csv, row, reader->places[0]), "ok") == 0;
}

static enum ar_status list_rows(struct reader *reader)
{
    struct ar_plot_table *table = reader->table;
    const struct ar_csv *csv = reader->csv;
    for (size_t row = 0; row < csv->rows_count; row++) {
        if (is_ok(reader, row)) {
            table->rows.rows[table->rows.count++] = row;
        } else if (table->failed_count++ == 0) {
            table->failed_line = csv->lines[row];
        }
    }
    if (table->rows.count == 0 && table->failed_count > 0) {
        return ar_error_set(
            reader->err, AR_BAD_DATA,
            "%s:%llu: column \"status\" is not ok here nor in any other row (%llu); "
            "expected one ok row at least",
            csv->path, (unsigned long long)table->failed_line,
            (unsigned long long)table->failed_count);
    }
    if (table->rows.count == 0 && table->source->columns->content == AR_PLOT_STATUS) {
        return ar_error_set(reader->err, AR_BAD_DATA,
                            "%s: found a header and no rows; expected one row at least", csv->path);
    }
    return AR_OK;
}

static enum ar_status read_column(struct reader *reader, size_t column)
{
    const struct ar_plot_table *table = reader->table;
    reader->texts_count = 0;
    if (reader->places[column] == SIZE_MAX) {
        return AR_OK;
    }
    for (size_t i = 0; i < table->rows.count; i++) {
        size_t row = table->rows.rows[i];
        AR_TRY(read_cell(reader, row, column,
                         &reader->values[row * table->source->columns_count + column]));
    }
    return AR_OK;
}

static enum ar_status load(const char *path, struct ar_arena *arena, const struct ar_csv **csv,
                           struct ar_error *err)
{
    struct ar_csv *loaded = NULL;
    if (access(path, R_OK) != 0) {
        return ar_error_set(err, AR_NO_INPUT, "%s: cannot read: %s; expected a CSV file", path,
                            strerror(errno));
    }
    AR_TRY(ar_csv_load(path, arena, &loaded, err));
    *csv = loaded;
    return AR_OK;
}

enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    const struct ar_plot_source *source = &ar_plot_sources[file];
    struct ar_plot_table result = {.source = source};
    struct reader reader = {.table = &result, .err = err};
    AR_TRY(load(path, arena, &reader.csv, err));
    size_t rows_count = reader.csv->rows_count;
    reader.places = ar_arena_alloc(arena, source->columns_count, sizeof *reader.places);
    reader.values = ar_arena_alloc(arena, rows_count * source->columns_count + 1, sizeof(double));
    reader.texts = ar_arena_alloc(arena, rows_count + 1, sizeof *reader.texts);
    result.rows.rows = ar_arena_alloc(arena, rows_count + 1, sizeof *result.rows.rows);
    if (reader.places == NULL || reader.values == NULL || reader.texts == NULL ||
        result.rows.rows == NULL) {
        return ar_error_no_memory(err, path);
    }
    AR_TRY(find_columns(&reader));
    AR_TRY(list_rows(&reader));
    for (size_t column = 0; column < source->columns_count; column++) {
        AR_TRY(read_column(&reader, column));
    }
    result.csv = reader.csv;
    result.places = reader.places;
    result.values = reader.values;
    *table = result;
    return AR_OK;
}

/* --- questions ---------------------------------------------------------------------------- */

static size_t find_by_name(const struct ar_plot_source *source, const char *name)
{
    size_t column = 0;
    while (column < source->columns_count && strcmp(source->columns[column].name, name) != 0) {
        column++;
    }
    return column;
}

bool ar_plot_has_column(const struct ar_plot_table *table, const char *name)
{
    size_t column = find_by_name(table->source, name);
    return column < table->source->columns_count && table->places[column] != SIZE_MAX;
}

size_t ar_plot_column(const struct ar_plot_table *table, const char *name)
{
    size_t column = find_by_name(table->source, name);
    assert(column < table->source->columns_count);
    return column;
}

double ar_plot_value(const struct ar_plot_table *table, size_t row, size_t column)
{
    return table->values[row * table->source->columns_count + column];
}

const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, size_t column)
{
    size_t place = table->places[column];
    return place == SIZE_MAX ? "" : ar_csv_cell(table->csv, row, place);
}
