/* Reading files of published runs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "reproduce_rows.h"
#include "resource.h"

static const char *const column_names[] = {
#define X(name) #name,
    PUBLISHED_COLUMN_LIST(X)
#undef X
};

enum published_column published_column_find(const char *name)
{
    size_t column = 0;
    while (column < PUBLISHED_COLUMNS_COUNT && strcmp(name, column_names[column]) != 0) {
        column++;
    }
    return (enum published_column)column;
}

static const struct {
    const char *name;
    const char *unit;
    const char *shown_unit;
    double shown_factor;
} quantities[] = {
#define X(name, unit, shown, factor) {#name, unit, shown, factor},
    QUANTITY_LIST(X)
#undef X
};

const char *quantity_name(enum quantity quantity)
{
    return quantities[quantity].name;
}

const char *quantity_unit(enum quantity quantity)
{
    return quantities[quantity].unit;
}

const char *quantity_shown_unit(enum quantity quantity)
{
    return quantities[quantity].shown_unit;
}

double quantity_shown_factor(enum quantity quantity)
{
    return quantities[quantity].shown_factor;
}

const char *published_where(const struct published *row, char where[PUBLISHED_WHERE])
{
    snprintf(where, PUBLISHED_WHERE, "%.100s:%" PRIu64 ": row \"%.40s\"", row->path, row->line,
             row->cells[PUBLISHED_row]);
    return where;
}

/* Fills in where the columns of a table are; SIZE_MAX for those that are not there. */
static enum ar_status find_columns(const struct ar_csv *csv, size_t places[PUBLISHED_COLUMNS_COUNT],
                                   struct ar_error *err)
{
    const char *names[PUBLISHED_COLUMNS_COUNT];
    size_t found[PUBLISHED_COLUMNS_COUNT];
    size_t count = 0;
    char where[PUBLISHED_WHERE];
    snprintf(where, sizeof where, "%.120s:%" PRIu64, csv->path, csv->header_line);
    for (size_t i = 0; i < csv->columns_count; i++) {
        const char *name = csv->cells[i];
        if (published_column_find(name) == PUBLISHED_COLUMNS_COUNT) {
            return ar_error_unknown(err, AR_BAD_DATA, where, "column", name, column_names,
                                    PUBLISHED_COLUMNS_COUNT);
        }
    }
    for (size_t i = 0; i < PUBLISHED_COLUMNS_COUNT; i++) {
        bool is_needed = i == PUBLISHED_row || i == PUBLISHED_quantity || i == PUBLISHED_measured ||
                         i == PUBLISHED_source;
        if (is_needed || ar_csv_has_column(csv, column_names[i])) {
            names[count++] = column_names[i];
        }
    }
    enum ar_status status = ar_csv_find_columns(csv, names, count, found, err);
    for (size_t i = 0, next = 0; status == AR_OK && i < PUBLISHED_COLUMNS_COUNT; i++) {
        bool is_there = next < count && strcmp(names[next], column_names[i]) == 0;
        places[i] = is_there ? found[next] : SIZE_MAX;
        next += is_there;
    }
    return status;
}

static enum ar_status parse_quantity(const char *text, enum quantity *quantity)
{
    for (int i = 0; i < QUANTITIES_COUNT; i++) {
        if (strcmp(text, quantities[i].name) == 0) {
            *quantity = (enum quantity)i;
            return AR_OK;
        }
    }
    return AR_BAD_DATA;
}

/* Cuts the texts of `assume` at the semicolons. */
static enum ar_status read_assumptions(struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    char text[RANGE_TEXT + 1];
    const char *at = row->cells[PUBLISHED_assume] + strspn(row->cells[PUBLISHED_assume], " ;");
    published_where(row, where);
    while (*at != '\0') {
        size_t length = strcspn(at, ";");
        size_t kept = length < sizeof text ? length : sizeof text - 1;
        memcpy(text, at, kept);
        for (text[kept] = '\0'; kept > 0 && text[kept - 1] == ' '; text[--kept] = '\0') {
        }
        if (row->ranges_count == RANGES_MAX) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found more than %d ranges in \"assume\"",
                                where, RANGES_MAX);
        }
        struct range *range = &row->ranges[row->ranges_count];
        enum ar_status status = range_parse(where, text, "row", range, err);
        for (size_t i = 0; status == AR_OK && i < row->ranges_count; i++) {
            if (strcmp(range_key(&row->ranges[i]), range_key(range)) == 0) {
                status = ar_error_set(err, AR_BAD_DATA, "%s: found %s twice in \"assume\"", where,
                                      range_key(range));
            }
        }
        if (status != AR_OK) {
            return status;
        }
        row->ranges_count++;
        at += length + strspn(at + length, " ;");
    }
    return AR_OK;
}

/* What a row says must fit together, whatever its cluster. */
static enum ar_status check_row(const struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    bool is_train = row->quantity == QUANTITY_train_s;
    published_where(row, where);
    if (row->cells[PUBLISHED_source][0] == '\0') {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found no source; expected where the number was published", where);
    }
    if (!published_is_context(row) && isnan(row->measured)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found no measured value; expected one, or no cluster", where);
    }
    if (!published_is_context(row) && is_train != (row->cells[PUBLISHED_run][0] != '\0')) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found quantity %s and run \"%.40s\"; expected a run file with "
                            "train_s and with no other quantity",
                            where, quantity_name(row->quantity), row->cells[PUBLISHED_run]);
    }
    return AR_OK;
}

/* The batch of a whole run is that of its phases. */
static enum ar_status check_batch(const struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    bool has_batch = row->cells[PUBLISHED_batch][0] != '\0';
    for (size_t i = 0; i < row->ranges_count; i++) {
        has_batch = has_batch || strcmp(range_key(&row->ranges[i]), "batch") == 0;
    }
    if (row->quantity == QUANTITY_train_s && has_batch) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a batch; expected none, the run file has those of its "
                            "phases (assume run=A|B for others)",
                            published_where(row, where));
    }
    return AR_OK;
}

static enum ar_status read_row(const struct ar_csv *csv, size_t number, const size_t *places,
                               struct published *row, struct ar_error *err)
{
    *row = (struct published){.path = csv->path, .line = csv->lines[number], .measured = NAN};
    for (size_t i = 0; i < PUBLISHED_COLUMNS_COUNT; i++) {
        row->cells[i] = places[i] == SIZE_MAX ? "" : ar_csv_cell(csv, number, places[i]);
    }
    if (row->cells[PUBLISHED_row][0] == '\0') {
        return ar_csv_cell_error(csv, number, places[PUBLISHED_row], "a name", err);
    }
    if (parse_quantity(row->cells[PUBLISHED_quantity], &row->quantity) != AR_OK) {
        return ar_csv_cell_error(csv, number, places[PUBLISHED_quantity],
                                 "efficiency_frac, images_per_s, iteration_s or train_s", err);
    }
    enum ar_status status = AR_OK;
    if (row->cells[PUBLISHED_measured][0] != '\0') {
        status =
            ar_csv_number(csv, number, places[PUBLISHED_measured], 1e-12, 1e15,
                          "a number above 0, in the unit of the quantity", &row->measured, err);
    }
    if (status == AR_OK && row->cells[PUBLISHED_measured_error][0] != '\0') {
        status = ar_csv_number(csv, number, places[PUBLISHED_measured_error], 0, 1e15,
                               "half the width of an error bar, >= 0", &row->measured_error, err);
    }
    if (status == AR_OK) {
        status = check_row(row, err);
    }
    if (status == AR_OK) {
        status = read_assumptions(row, err);
    }
    return status == AR_OK ? check_batch(row, err) : status;
}

static enum ar_status check_name(const struct published_rows *rows, const struct published *row,
                                 struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i].cells[PUBLISHED_row], row->cells[PUBLISHED_row]) == 0) {
            return ar_error_set(
                err, AR_BAD_DATA, "%s: found the name again; expected it once (%.100s:%" PRIu64 ")",
                published_where(row, where), rows->rows[i].path, rows->rows[i].line);
        }
    }
    return AR_OK;
}

enum ar_status published_read_file(const char *path, struct published_rows *rows,
                                   struct ar_error *err)
{
    size_t places[PUBLISHED_COLUMNS_COUNT];
    struct ar_csv *csv;
    enum ar_status status = ar_csv_load(path, &csv, err);
    if (status != AR_OK) {
        return status;
    }
    rows->tables[rows->tables_count++] = csv;
    status = find_columns(csv, places, err);
    if (status != AR_OK || csv->rows_count == 0) {
        return status;
    }
    void *grown = realloc(rows->rows, (rows->count + csv->rows_count) * sizeof *rows->rows);
    if (grown == NULL) {
        return ar_error_no_memory(err, "the published runs");
    }
    rows->rows = grown;
    for (size_t i = 0; status == AR_OK && i < csv->rows_count; i++) {
        struct published *row = &rows->rows[rows->count];
        status = read_row(csv, i, places, row, err);
        if (status == AR_OK) {
            status = check_name(rows, row, err);
        }
        rows->count += status == AR_OK;
    }
    return status;
}

void published_free(struct published_rows *rows)
{
    for (size_t i = 0; i < rows->tables_count; i++) {
        ar_csv_destroy(rows->tables[i]);
    }
    free(rows->rows);
    *rows = (struct published_rows){.count = 0};
}
