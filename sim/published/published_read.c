/* Reading files of published runs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "published_rows.h"
#include "resource.h"

static const char *const column_names[] = {
#define X(name) #name,
    PUBLISHED_COLUMN_LIST(X)
#undef X
};

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

/* Whether a column is a key that published runs have. */
static enum ar_key find_key(const char *name)
{
    enum ar_key key = ar_key_find(name);
    return key != AR_KEYS_COUNT && ar_key_is(key, AR_KEY_IN_PUBLISHED) ? key : AR_KEYS_COUNT;
}

/* Where the columns of a table are; SIZE_MAX for those that are not there. */
struct places {
    size_t columns[PUBLISHED_COLUMNS_COUNT];
    size_t keys[AR_KEYS_COUNT];
};

static enum ar_status report_column(const struct ar_csv *csv, const char *name,
                                    struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    const char *names[PUBLISHED_COLUMNS_COUNT + AR_KEYS_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < PUBLISHED_COLUMNS_COUNT; i++) {
        names[count++] = column_names[i];
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IN_PUBLISHED)) {
            names[count++] = ar_key_name((enum ar_key)i);
        }
    }
    snprintf(where, sizeof where, "%.120s:%" PRIu64, csv->path, csv->header_line);
    return ar_error_unknown(err, AR_BAD_DATA, where, "column", name, names, count);
}

static enum ar_status find_columns(const struct ar_csv *csv, struct places *places,
                                   struct ar_error *err)
{
    static const enum published_column needed[] = {PUBLISHED_row, PUBLISHED_quantity,
                                                   PUBLISHED_measured, PUBLISHED_source};
    memset(places, 0xff, sizeof *places); /* SIZE_MAX all over */
    for (size_t i = 0; i < csv->columns_count; i++) {
        const char *name = ar_csv_column_name(csv, i);
        enum ar_key key = find_key(name);
        size_t column = 0;
        while (column < PUBLISHED_COLUMNS_COUNT && strcmp(name, column_names[column]) != 0) {
            column++;
        }
        size_t *place = key != AR_KEYS_COUNT               ? &places->keys[key]
                        : column < PUBLISHED_COLUMNS_COUNT ? &places->columns[column]
                                                           : NULL;
        if (place == NULL) {
            return report_column(csv, name, err);
        }
        if (*place != SIZE_MAX) {
            return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": column \"%s\" is given twice",
                                csv->path, csv->header_line, name);
        }
        *place = i;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (places->columns[needed[i]] == SIZE_MAX) {
            return ar_error_set(err, AR_BAD_DATA, "%s:%" PRIu64 ": column \"%s\" is missing",
                                csv->path, csv->header_line, column_names[needed[i]]);
        }
    }
    return AR_OK;
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

/* Reads one text of `assume`. */
static enum ar_status add_assumption(struct ar_arena *arena, const char *text,
                                     struct published *row, struct ar_error *err)
{
    char where[PUBLISHED_WHERE];
    struct range *range = &row->ranges[row->ranges_count];
    published_where(row, where);
    if (row->ranges_count == RANGES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found more than %d ranges in \"assume\"", where,
                            RANGES_MAX);
    }
    AR_TRY(range_parse(arena, where, text, "row", range, err));
    for (size_t i = 0; i < row->ranges_count; i++) {
        if (range_is_same(&row->ranges[i], range)) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found %s twice in \"assume\"", where,
                                range->parameter);
        }
    }
    row->ranges_count++;
    return AR_OK;
}

static enum ar_status read_assumptions(struct ar_arena *arena, struct published *row,
                                       struct ar_error *err)
{
    char *rest = ar_arena_text(arena, row->cells[PUBLISHED_assume]);
    row->ranges = ar_arena_alloc(arena, RANGES_MAX + 1, sizeof *row->ranges);
    if (rest == NULL || row->ranges == NULL) {
        return ar_error_no_memory(err, "the ranges of a published run");
    }
    for (char *part; (part = ar_next_part(&rest, ';')) != NULL;) {
        if (part[0] != '\0') {
            AR_TRY(add_assumption(arena, part, row, err));
        }
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
    bool has_batch = row->keys[AR_KEY_BATCH][0] != '\0';
    for (size_t i = 0; i < row->ranges_count; i++) {
        has_batch = has_batch || range_is_of(&row->ranges[i], AR_KEY_BATCH);
    }
    if (row->quantity == QUANTITY_train_s && has_batch) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a batch; expected none, the run file has those of its "
                            "phases (assume run=A|B for others)",
                            published_where(row, where));
    }
    return AR_OK;
}

static const char *cell_at(const struct ar_csv *csv, size_t number, size_t place)
{
    return place == SIZE_MAX ? "" : ar_csv_cell(csv, number, place);
}

static enum ar_status read_numbers(const struct ar_csv *csv, size_t number, const size_t *places,
                                   struct published *row, struct ar_error *err)
{
    if (row->cells[PUBLISHED_measured][0] != '\0') {
        AR_TRY(ar_csv_number(csv, number, places[PUBLISHED_measured], 1e-12, 1e15,
                             "a number above 0, in the unit of the quantity", &row->measured, err));
    }
    if (row->cells[PUBLISHED_measured_error][0] != '\0') {
        AR_TRY(ar_csv_number(csv, number, places[PUBLISHED_measured_error], 0, 1e15,
                             "half the width of an error bar, >= 0", &row->measured_error, err));
    }
    return AR_OK;
}

static enum ar_status read_row(struct ar_arena *arena, const struct ar_csv *csv, size_t number,
                               const struct places *places, struct published *row,
                               struct ar_error *err)
{
    *row = (struct published){.path = csv->path, .line = csv->lines[number], .measured = NAN};
    for (size_t i = 0; i < PUBLISHED_COLUMNS_COUNT; i++) {
        row->cells[i] = cell_at(csv, number, places->columns[i]);
    }
    for (size_t i = 0; i < AR_KEYS_COUNT; i++) {
        row->keys[i] = cell_at(csv, number, places->keys[i]);
    }
    if (row->cells[PUBLISHED_row][0] == '\0') {
        return ar_csv_cell_error(csv, number, places->columns[PUBLISHED_row], "a name", err);
    }
    if (parse_quantity(row->cells[PUBLISHED_quantity], &row->quantity) != AR_OK) {
        return ar_csv_cell_error(csv, number, places->columns[PUBLISHED_quantity],
                                 "efficiency_frac, images_per_s, iteration_s or train_s", err);
    }
    AR_TRY(read_numbers(csv, number, places->columns, row, err));
    AR_TRY(check_row(row, err));
    AR_TRY(read_assumptions(arena, row, err));
    return check_batch(row, err);
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
    struct places places;
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, &rows->arena, &csv, err)); /* the rows point into it */
    AR_TRY(find_columns(csv, &places, err));
    struct published *all =
        ar_arena_alloc(&rows->arena, rows->count + csv->rows_count, sizeof *all);
    if (all == NULL) {
        return ar_error_no_memory(err, "the published runs");
    }
    for (size_t i = 0; i < rows->count; i++) {
        all[i] = rows->rows[i];
    }
    rows->rows = all;
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(read_row(&rows->arena, csv, i, &places, &all[rows->count], err));
        AR_TRY(check_name(rows, &all[rows->count], err));
        rows->count++;
    }
    return AR_OK;
}

void published_free(struct published_rows *rows)
{
    ar_arena_end(&rows->arena);
    *rows = (struct published_rows){.count = 0};
}
