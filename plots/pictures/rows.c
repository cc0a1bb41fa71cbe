#include "ar_plot_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct order {
    const struct ar_plot_table *table;
    const enum ar_plot_column *keys;
    enum ar_plot_column least;
    bool is_largest; /* the largest magnitude comes first in place of the least value */
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

static double rank_of(const struct order *order, size_t row)
{
    double value = ar_plot_value(order->table, row, order->least);
    return order->is_largest ? -fabs(value) : value;
}

/* By the keys, then by what is to be least, then by place. */
static int compare_rows(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    int result = compare_keys(order, a, b);
    double difference = rank_of(order, a) - rank_of(order, b);
    result = result != 0 ? result : (difference > 0) - (difference < 0);
    return result != 0 ? result : (a > b) - (a < b);
}

enum ar_status ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena,
                                struct ar_plot_rows *rows, struct ar_error *err)
{
    size_t count = table->rows.count;
    rows->rows = ar_arena_alloc(arena, count + 1, sizeof *rows->rows);
    AR_NEED(rows->rows, err, "the rows of a picture");
    if (count > 0) {
        memcpy(rows->rows, table->rows.rows, count * sizeof *rows->rows);
    }
    rows->count = count;
    return AR_OK;
}

void ar_plot_rows_best(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                       enum ar_plot_column least, struct ar_plot_rows *rows)
{
    struct order order = {.table = table, .keys = keys, .least = least};
    size_t kept = 0;
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_rows, &order);
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

void ar_plot_rows_largest(const struct ar_plot_table *table, enum ar_plot_column column,
                          enum ar_plot_column group, double min, size_t max,
                          struct ar_plot_rows *rows)
{
    const enum ar_plot_column keys[] = {group, AR_COL_END};
    struct order order = {table, keys + 1, column, true};
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_rows, &order);
    rows->count = rows->count < max ? rows->count : max;
    while (rows->count > 0 &&
           fabs(ar_plot_value(table, rows->rows[rows->count - 1], column)) < min) {
        rows->count--;
    }
    order.keys = keys;
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_rows, &order);
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
