#include "ar_plot_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct order {
    const struct ar_plot_table *table;
    size_t columns[AR_PLOT_KEYS_MAX];
    size_t columns_count;
    size_t least;
};

static struct order order_by(const struct ar_plot_table *table, const char *const *keys)
{
    struct order order = {.table = table};
    while (keys[order.columns_count] != NULL) {
        order.columns[order.columns_count] = ar_plot_column(table, keys[order.columns_count]);
        order.columns_count++;
    }
    return order;
}

static int compare_values(const struct order *order, size_t column, size_t a, size_t b)
{
    double left = ar_plot_value(order->table, a, column);
    double right = ar_plot_value(order->table, b, column);
    return (left > right) - (left < right);
}

static int compare_keys(const struct order *order, size_t a, size_t b)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < order->columns_count; i++) {
        result = compare_values(order, order->columns[i], a, b);
    }
    return result;
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    int result = compare_keys(order, a, b);
    if (result == 0) {
        result = compare_values(order, order->least, a, b);
    }
    return result != 0 ? result : (a > b) - (a < b);
}

enum ar_status ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena,
                                struct ar_plot_rows *rows, struct ar_error *err)
{
    size_t count = table->rows.count;
    rows->rows = ar_arena_alloc(arena, count + 1, sizeof *rows->rows);
    if (rows->rows == NULL) {
        return ar_error_no_memory(err, "the rows of a picture");
    }
    if (count > 0) {
        memcpy(rows->rows, table->rows.rows, count * sizeof *rows->rows);
    }
    rows->count = count;
    return AR_OK;
}

void ar_plot_rows_best(const struct ar_plot_table *table, const char *const *keys,
                       const char *least, struct ar_plot_rows *rows)
{
    struct order order = order_by(table, keys);
    size_t kept = 0;
    order.least = ar_plot_column(table, least);
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_rows, &order);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept == 0 || compare_keys(&order, rows->rows[kept - 1], rows->rows[i]) != 0) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

void ar_plot_rows_within(const struct ar_plot_table *table, const char *column, double min,
                         double max, struct ar_plot_rows *rows)
{
    size_t of = ar_plot_column(table, column);
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double value = ar_plot_value(table, rows->rows[i], of);
        if (value >= min && value <= max) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

void ar_plot_rows_of(const struct ar_plot_table *table, const char *column, const char *text,
                     struct ar_plot_rows *rows)
{
    size_t of = ar_plot_column(table, column);
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(ar_plot_cell(table, rows->rows[i], of), text) == 0) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

static int compare_magnitudes(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    double difference = fabs(ar_plot_value(order->table, b, order->least)) -
                        fabs(ar_plot_value(order->table, a, order->least));
    int result = compare_keys(order, a, b);
    if (result == 0) {
        result = (difference > 0) - (difference < 0);
    }
    return result != 0 ? result : (a > b) - (a < b);
}

void ar_plot_rows_largest(const struct ar_plot_table *table, const char *column, const char *group,
                          size_t max, struct ar_plot_rows *rows)
{
    struct order order = {.table = table, .least = ar_plot_column(table, column)};
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_magnitudes, &order);
    rows->count = rows->count < max ? rows->count : max;
    while (rows->count > 0 && ar_plot_value(table, rows->rows[rows->count - 1], order.least) == 0) {
        rows->count--;
    }
    order.columns[order.columns_count++] = ar_plot_column(table, group);
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_magnitudes, &order);
}

size_t ar_plot_rows_groups(const struct ar_plot_table *table, const char *const *keys,
                           struct ar_plot_rows rows)
{
    struct order order = order_by(table, keys);
    size_t groups = 0;
    for (size_t i = 0; i < rows.count; i++) {
        groups += i == 0 || compare_keys(&order, rows.rows[i - 1], rows.rows[i]) != 0;
    }
    return groups;
}

bool ar_plot_rows_vary(const struct ar_plot_table *table, size_t column, struct ar_plot_rows rows)
{
    struct order order = {.table = table};
    for (size_t i = 1; i < rows.count; i++) {
        if (compare_values(&order, column, rows.rows[0], rows.rows[i]) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether group `group` of `groups` is one of `wanted` that are spread evenly. */
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
    static ar_plot_keys gpus = {"gpus", NULL};
    struct order order = order_by(table, gpus);
    size_t groups = ar_plot_rows_groups(table, gpus, *rows);
    size_t group = 0;
    size_t kept = 0;
    for (size_t i = 0, before = 0; i < rows->count; i++) {
        size_t row = rows->rows[i];
        group += i > 0 && compare_keys(&order, before, row) != 0;
        before = row;
        if (is_spread(group, groups, wanted)) {
            rows->rows[kept++] = row;
        }
    }
    rows->count = kept;
}
