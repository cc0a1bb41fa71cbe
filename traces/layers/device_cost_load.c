/* Reads a device cost table and the measured convolutions that it names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_file.h"
#include "ar_text.h"

/* --- measured convolutions ----------------------------------------------------------------- */

#define COUNT(field)                                                                               \
    AR_COLUMN(count, struct ar_conv_point, field, #field, "", .min = 1, .max = 1000000)
#define TIME(pass, name)                                                                           \
    AR_COLUMN(number, struct ar_conv_point, time_s[pass], name,                                    \
              "seconds > 0 and at most 10, as of one kernel", .min = 1e-12, .max = 10)

static const struct ar_column point_columns[] = {
    AR_COLUMN(choice, struct ar_conv_point, precision, "precision", "",
              .names = ar_precision_names),
    COUNT(batch),
    COUNT(width),
    COUNT(channels_in),
    COUNT(channels_out),
    COUNT(kernel),
    COUNT(stride),
    TIME(AR_CONV_FORWARD, "forward_s"),
    TIME(AR_CONV_BACKWARD_DATA, "backward_data_s"),
    TIME(AR_CONV_BACKWARD_WEIGHTS, "backward_weights_s"),
};

static const struct ar_column point_directives[] = {{.name = "source",
                                                     .kind = AR_COLUMN_string,
                                                     .help = "",
                                                     .may_be_empty = true,
                                                     .may_be_missing = true}};

static int compare_shapes(const struct ar_conv_point *a, const struct ar_conv_point *b)
{
    const uint32_t left[] = {a->precision,    a->width,  a->channels_in,
                             a->channels_out, a->kernel, a->stride};
    const uint32_t right[] = {b->precision,    b->width,  b->channels_in,
                              b->channels_out, b->kernel, b->stride};
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof left / sizeof left[0]; i++) {
        order = (left[i] > right[i]) - (left[i] < right[i]);
    }
    return order;
}

static int compare_points(const void *a, const void *b)
{
    const struct ar_conv_point *left = a;
    const struct ar_conv_point *right = b;
    int order = compare_shapes(left, right);
    return order != 0 ? order : (left->batch > right->batch) - (left->batch < right->batch);
}

static enum ar_status check_points_differ(const char *path, const struct ar_conv_points *points,
                                          struct ar_error *err)
{
    for (size_t i = 1; i < points->count; i++) {
        const struct ar_conv_point *point = &points->list[i];
        if (compare_points(point - 1, point) == 0) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s: %s convolution of width %" PRIu32 ", channels %" PRIu32
                                " to %" PRIu32 ", batch %" PRIu32
                                " is given twice; expected it once",
                                path, ar_precision_names[point->precision], point->width,
                                point->channels_in, point->channels_out, point->batch);
        }
    }
    return AR_OK;
}

enum ar_status ar_conv_points_load(const char *path, struct ar_arena *arena,
                                   struct ar_conv_points *points, struct ar_error *err)
{
    const char *source; /* for people, not used */
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_conv_points made = {.count = csv->rows_count};
    made.list = ar_arena_alloc(arena, made.count + 1, sizeof *made.list);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(point_directives), &source, err));
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(point_columns), made.list, sizeof *made.list, err));
    qsort(made.list, made.count, sizeof *made.list, compare_points);
    AR_TRY(check_points_differ(path, &made, err));
    *points = made;
    return AR_OK;
}

size_t ar_conv_points_find(const struct ar_conv_points *points, const struct ar_conv_point *shape,
                           const struct ar_conv_point **found)
{
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (compare_shapes(&points->list[i], shape) == 0) {
            *found = count == 0 ? &points->list[i] : *found;
            count++;
        }
    }
    return count;
}

/* --- the cost table ------------------------------------------------------------------------ */

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

/* The precision of a row: one of the list, or ANY for all that other rows name. */
enum { ANY = AR_PRECISIONS_COUNT };
static const char *const precision_names[] = {
#define X(symbol, name, bytes, stored) name,
    AR_PRECISION_LIST(X)
#undef X
        [ANY] = "any",
    NULL};

struct cost_row {
    enum ar_cost quantity;
    unsigned precision;
    double value;
    const char *unit;
    const char *source;
};

static const struct ar_column cost_columns[] = {
    AR_COLUMN(choice, struct cost_row, quantity, "quantity", "", .names = quantity_names),
    AR_COLUMN(choice, struct cost_row, precision, "precision", "", .names = precision_names),
    AR_COLUMN(number, struct cost_row, value, "value", ""),
    AR_COLUMN(string, struct cost_row, unit, "unit", ""),
    AR_COLUMN(string, struct cost_row, source, "source", "where the value comes from"),
};

struct cost_head {
    const char *source;
    const char *convolutions;
};

static const struct ar_column cost_directives[] = {
    AR_COLUMN(string, struct cost_head, source, "source", "", .may_be_empty = true,
              .may_be_missing = true),
    AR_COLUMN(string, struct cost_head, convolutions, "convolutions", "a file",
              .may_be_missing = true),
};

static enum ar_status set_device_cost(const struct ar_csv *csv, size_t number,
                                      const struct cost_row *row, struct ar_device_cost *cost,
                                      struct ar_error *err)
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
static void find_needed_groups(const struct ar_device_cost *cost, unsigned precision,
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

static enum ar_status check_costs_complete(const char *path, const struct ar_device_cost *cost,
                                           unsigned precision, struct ar_error *err)
{
    bool has_group[AR_COST_GROUPS_COUNT] = {false};
    find_needed_groups(cost, precision, has_group);
    for (size_t i = 0; i < AR_COSTS_COUNT; i++) {
        if (has_group[quantities[i].group] && isnan(cost->value[i][precision])) {
            return ar_error_set(err, AR_BAD_DATA, "%s: quantity \"%s\" is missing for %s", path,
                                quantity_names[i], ar_precision_names[precision]);
        }
    }
    return AR_OK;
}

static enum ar_status read_costs(const struct ar_csv *csv, struct ar_arena *arena,
                                 struct ar_device_cost *cost, struct ar_error *err)
{
    bool is_named[AR_PRECISIONS_COUNT + 1] = {false};
    bool is_any_named = false;
    struct cost_row *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *rows);
    for (int i = 0; i < AR_COSTS_COUNT * AR_PRECISIONS_COUNT; i++) {
        cost->value[i / AR_PRECISIONS_COUNT][i % AR_PRECISIONS_COUNT] = (double)NAN;
    }
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(cost_columns), rows, sizeof *rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(set_device_cost(csv, i, &rows[i], cost, err));
        is_named[rows[i].precision] = true;
        is_any_named = is_any_named || rows[i].precision != ANY;
    }
    for (unsigned i = 0; i < AR_PRECISIONS_COUNT; i++) {
        if (is_named[i] || !is_any_named) {
            AR_TRY(check_costs_complete(csv->path, cost, i, err));
        }
        for (int k = 0; !is_named[i] && is_any_named && k < AR_COSTS_COUNT; k++) {
            cost->value[k][i] = (double)NAN; /* rows of ANY speak for precisions of the table */
        }
    }
    return AR_OK;
}

/* The file of convolutions lies beside the cost table. */
static enum ar_status load_convolutions_beside(const char *name, const char *beside,
                                               struct ar_arena *arena,
                                               struct ar_conv_points *points, struct ar_error *err)
{
    const char *slash = strrchr(beside, '/');
    if (!ar_file_is_below(name)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s: convolutions: found \"%.100s\"; expected a file beside it or "
                            "below it",
                            beside, name);
    }
    int folder_bytes = slash == NULL ? 0 : (int)(slash - beside) + 1;
    return ar_conv_points_load(ar_arena_format(arena, "%.*s%s", folder_bytes, beside, name), arena,
                               points, err);
}

enum ar_status ar_device_cost_load(const char *path, struct ar_arena *arena,
                                   struct ar_device_cost **cost, struct ar_error *err)
{
    struct cost_head head = {.source = ""};
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_device_cost *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(cost_directives), &head, err));
    AR_TRY(read_costs(csv, arena, made, err));
    ar_copy_stem(made->name, sizeof made->name, path, ".cost.csv");
    made->source = head.source;
    if (head.convolutions != NULL) {
        AR_TRY(load_convolutions_beside(head.convolutions, path, arena, &made->points, err));
    }
    *cost = made;
    return AR_OK;
}
