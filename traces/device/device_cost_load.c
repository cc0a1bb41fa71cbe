/* Reads a device cost table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_file.h"
#include "ar_text.h"

static const char *const quantity_names[] = {
#define X(symbol, name, unit, min, max, group) name,
    AR_COST_LIST(X)
#undef X
        NULL};

static const struct quantity {
    const char *unit;
    double min, max;
    enum ar_cost_group group;
} quantities[] = {
#define X(symbol, name, unit, min, max, group) {unit, min, max, group},
    AR_COST_LIST(X)
#undef X
};

/* What a row speaks for: a precision, or all that others name. */
enum { ANY = AR_PRECISIONS_COUNT };
static const char *const precision_names[] = {
#define X(symbol, name, bytes, stored) name,
    AR_PRECISION_LIST(X)
#undef X
        [ANY] = "any",
    NULL};

struct row {
    enum ar_cost quantity;
    unsigned precision;
    double value;
    const char *unit;
    const char *source;
};

static const struct ar_column columns[] = {
    AR_COLUMN(choice, struct row, quantity, "quantity", "", .names = quantity_names),
    AR_COLUMN(choice, struct row, precision, "precision", "", .names = precision_names),
    AR_COLUMN(number, struct row, value, "value", ""),
    AR_COLUMN(string, struct row, unit, "unit", ""),
    AR_COLUMN(string, struct row, source, "source", "where the value comes from"),
};

struct head {
    const char *source;
    const char *convolutions;
};

static const struct ar_column directives[] = {
    AR_COLUMN(string, struct head, source, "source", "", .may_be_empty = true,
              .may_be_missing = true),
    AR_COLUMN(string, struct head, convolutions, "convolutions", "a file", .may_be_missing = true),
};

static enum ar_status take_row(const struct ar_csv *csv, size_t number, const struct row *row,
                               struct ar_device_cost *cost, struct ar_error *err)
{
    char expected[128];
    const char *name = quantity_names[row->quantity];
    const struct quantity *quantity = &quantities[row->quantity];
    unsigned first = row->precision == ANY ? 0 : row->precision;
    unsigned last = row->precision == ANY ? AR_PRECISIONS_COUNT - 1 : row->precision;
    if (strcmp(row->unit, quantity->unit) != 0) {
        snprintf(expected, sizeof expected, "%s, the unit of %s", quantity->unit, name);
        return ar_csv_error(csv, number, "unit", expected, err);
    }
    if (row->value < quantity->min || row->value > quantity->max) {
        snprintf(expected, sizeof expected, "a number from %g to %g", quantity->min, quantity->max);
        return ar_csv_error(csv, number, "value", expected, err);
    }
    for (unsigned i = first; i <= last; i++) {
        if (!isnan(cost->value[row->quantity][i])) {
            return ar_csv_error(csv, number, "quantity", "each quantity once for each precision",
                                err);
        }
        cost->value[row->quantity][i] = row->value;
    }
    return AR_OK;
}

/* The groups that a precision must have: kernels, those of which it has a quantity, and one of
 * convolutions and products. */
static void find_groups(const struct ar_device_cost *cost, unsigned precision,
                        bool has_group[AR_COST_GROUPS_COUNT])
{
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        bool has_value = !isnan(cost->value[i][precision]);
        has_group[quantities[i].group] = has_group[quantities[i].group] || has_value;
    }
    has_group[AR_COST_OF_KERNELS] = true;
    has_group[AR_COST_OF_CONVOLUTIONS] =
        has_group[AR_COST_OF_CONVOLUTIONS] || !has_group[AR_COST_OF_PRODUCTS];
}

static enum ar_status check_missing(const char *path, const struct ar_device_cost *cost,
                                    unsigned precision, struct ar_error *err)
{
    bool has_group[AR_COST_GROUPS_COUNT] = {false};
    find_groups(cost, precision, has_group);
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        if (has_group[quantities[i].group] && isnan(cost->value[i][precision])) {
            return ar_error_set(err, AR_BAD_DATA, "%s: quantity \"%s\" is missing for %s", path,
                                quantity_names[i], ar_precision_names[precision]);
        }
    }
    return AR_OK;
}

static void forget_precision(struct ar_device_cost *cost, unsigned precision)
{
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        cost->value[i][precision] = (double)NAN;
    }
}

static enum ar_status read_rows(const struct ar_csv *csv, struct ar_arena *arena,
                                struct ar_device_cost *cost, struct ar_error *err)
{
    bool is_named[AR_PRECISIONS_COUNT + 1] = {false};
    bool is_any_named = false;
    struct row *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *rows);
    AR_NEED(rows, err, csv->path);
    for (unsigned i = 0; i < AR_PRECISIONS_COUNT; i++) {
        forget_precision(cost, i);
    }
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), rows, sizeof *rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(take_row(csv, i, &rows[i], cost, err));
        is_named[rows[i].precision] = true;
        is_any_named = is_any_named || rows[i].precision != ANY;
    }
    for (unsigned i = 0; i < AR_PRECISIONS_COUNT; i++) {
        if (is_named[i] || !is_any_named) {
            AR_TRY(check_missing(csv->path, cost, i, err));
        } else {
            forget_precision(cost, i);
        }
    }
    return AR_OK;
}

/* The file of convolutions lies beside the cost table. */
static enum ar_status read_convolutions(const char *name, const char *beside,
                                        struct ar_arena *arena, struct ar_conv_points *points,
                                        struct ar_error *err)
{
    const char *slash = strrchr(beside, '/');
    if (!ar_file_is_below(name)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: convolutions: found \"%.100s\"; expected a file beside it or "
                            "below it",
                            beside, name);
    }
    int folder_bytes = slash == NULL ? 0 : (int)(slash - beside) + 1;
    const char *path = ar_arena_format(arena, "%.*s%s", folder_bytes, beside, name);
    return path == NULL ? ar_error_no_memory(err, beside)
                        : ar_conv_points_load(path, arena, points, err);
}

enum ar_status ar_device_cost_load(const char *path, struct ar_arena *arena,
                                   struct ar_device_cost **cost, struct ar_error *err)
{
    struct head head = {.source = ""};
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_device_cost *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, path);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(directives), &head, err));
    AR_TRY(read_rows(csv, arena, made, err));
    ar_copy_stem(made->name, sizeof made->name, path, ".cost.csv");
    made->source = head.source;
    if (head.convolutions != NULL) {
        AR_TRY(read_convolutions(head.convolutions, path, arena, &made->points, err));
    }
    *cost = made;
    return AR_OK;
}
