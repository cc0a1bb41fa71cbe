/* Reads a device cost table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_text.h"

static const struct quantity {
    const char *name;
    const char *unit;
    double min;
    double max;
} quantities[] = {
#define X(symbol, name, unit, min, max) {name, unit, min, max},
    AR_COST_LIST(X)
#undef X
};

static const char *const quantity_names[] = {
#define X(symbol, name, unit, min, max) name,
    AR_COST_LIST(X)
#undef X
};

static const char *const columns[] = {"quantity", "precision", "value", "unit", "source"};
enum { QUANTITY, PRECISION, VALUE, UNIT, SOURCE, COLUMNS_COUNT };

static enum ar_status find_quantity(const struct ar_csv *csv, size_t row, size_t column,
                                    size_t *found, struct ar_error *err)
{
    const char *name = ar_csv_cell(csv, row, column);
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        if (strcmp(name, quantity_names[i]) == 0) {
            *found = i;
            return AR_OK;
        }
    }
    const char *nearest = ar_nearest_name(name, quantity_names, AR_COSTS_COUNT);
    const char *expected = nearest == NULL ? "a quantity that ar_device_cost.h lists" : nearest;
    return ar_csv_cell_error(csv, row, column, expected, err);
}

/* The precisions that a row speaks for: first and one past the last. */
static enum ar_status find_precisions(const struct ar_csv *csv, size_t row, size_t column,
                                      size_t *first, size_t *end, struct ar_error *err)
{
    const char *name = ar_csv_cell(csv, row, column);
    enum ar_precision precision;
    struct ar_error ignored;
    if (strcmp(name, "any") == 0) {
        *first = 0;
        *end = AR_PRECISIONS_COUNT;
        return AR_OK;
    }
    if (ar_precision_parse("", name, &precision, &ignored) != AR_OK) {
        return ar_csv_cell_error(csv, row, column, "fp16, fp32 or any", err);
    }
    *first = precision;
    *end = *first + 1;
    return AR_OK;
}

static enum ar_status read_value(const struct ar_csv *csv, size_t row, const size_t *places,
                                 const struct quantity *quantity, double *value,
                                 struct ar_error *err)
{
    char expected[128];
    if (strcmp(ar_csv_cell(csv, row, places[UNIT]), quantity->unit) != 0) {
        snprintf(expected, sizeof expected, "%s, the unit of %s", quantity->unit, quantity->name);
        return ar_csv_cell_error(csv, row, places[UNIT], expected, err);
    }
    if (ar_csv_cell(csv, row, places[SOURCE])[0] == '\0') {
        return ar_csv_cell_error(csv, row, places[SOURCE], "where the value comes from", err);
    }
    snprintf(expected, sizeof expected, "a number from %g to %g", quantity->min, quantity->max);
    return ar_csv_number(csv, row, places[VALUE], quantity->min, quantity->max, expected, value,
                         err);
}

static enum ar_status read_row(const struct ar_csv *csv, size_t row, const size_t *places,
                               struct ar_device_cost *cost, bool (*is_given)[AR_PRECISIONS_COUNT],
                               struct ar_error *err)
{
    size_t index = 0, first = 0, end = 0;
    double value = 0;
    AR_TRY(find_quantity(csv, row, places[QUANTITY], &index, err));
    AR_TRY(find_precisions(csv, row, places[PRECISION], &first, &end, err));
    AR_TRY(read_value(csv, row, places, &quantities[index], &value, err));
    for (size_t i = first; i < end; i++) {
        if (is_given[index][i]) {
            return ar_csv_cell_error(csv, row, places[QUANTITY],
                                     "each quantity once for each precision", err);
        }
        is_given[index][i] = true;
        cost->value[index][i] = value;
    }
    return AR_OK;
}

static enum ar_status read_rows(const struct ar_csv *csv, struct ar_device_cost *cost,
                                struct ar_error *err)
{
    size_t places[COLUMNS_COUNT];
    bool is_given[AR_COSTS_COUNT][AR_PRECISIONS_COUNT] = {{false}};
    AR_TRY(ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(read_row(csv, row, places, cost, is_given, err));
    }
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        for (int precision = 0; precision < AR_PRECISIONS_COUNT; precision++) {
            if (!is_given[i][precision]) {
                return ar_error_set(err, AR_BAD_DATA, "%s: quantity \"%s\" is missing for %s",
                                    csv->path, quantity_names[i],
                                    ar_precision_name((enum ar_precision)precision));
            }
        }
    }
    return AR_OK;
}

/* The file of convolutions lies beside the cost table. */
static enum ar_status read_convolutions(const struct ar_csv *csv, struct ar_arena *arena,
                                        struct ar_device_cost *cost, struct ar_error *err)
{
    const char *name = ar_csv_directive_text(csv, "convolutions", NULL);
    const char *slash = strrchr(csv->path, '/');
    if (name == NULL) {
        return AR_OK;
    }
    int folder_bytes = slash == NULL || name[0] == '/' ? 0 : (int)(slash - csv->path) + 1;
    const char *path = ar_arena_format(arena, "%.*s%s", folder_bytes, csv->path, name);
    return path == NULL ? ar_error_no_memory(err, csv->path)
                        : ar_conv_points_load(path, &cost->points, err);
}

static enum ar_status read_table(const struct ar_csv *csv, struct ar_arena *arena,
                                 struct ar_device_cost *cost, struct ar_error *err)
{
    static const char *const directives[] = {"source", "convolutions"};
    AR_TRY(ar_csv_check_directives(csv, directives, 2, err));
    AR_TRY(read_rows(csv, cost, err));
    ar_copy_stem(cost->name, sizeof cost->name, csv->path, ".cost.csv");
    ar_copy_text(cost->source, sizeof cost->source, ar_csv_directive_text(csv, "source", ""));
    return read_convolutions(csv, arena, cost, err);
}

enum ar_status ar_device_cost_load(const char *path, struct ar_device_cost **cost,
                                   struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_arena arena = {NULL};
    AR_TRY(ar_csv_load(path, &arena, &csv, err));
    struct ar_device_cost *loaded = calloc(1, sizeof *loaded);
    enum ar_status status =
        loaded == NULL ? ar_error_no_memory(err, path) : read_table(csv, &arena, loaded, err);
    ar_arena_end(&arena);
    if (status != AR_OK) {
        ar_device_cost_destroy(loaded);
        return status;
    }
    *cost = loaded;
    return AR_OK;
}
