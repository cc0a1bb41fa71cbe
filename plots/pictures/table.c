#include "ar_plot_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_plot_text.h"
#include "ar_text.h"

const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES] = {
    [AR_PLOT_STEPS] = {"sweep.csv", AR_PLOT_SWEEP, true,
                       "status cluster trace algorithm shape engine gpus iteration_s",
                       AR_PLOT_BATCHES " cluster trace operation baseline wire framework settings "
                                       "jitter_frac seed",
                       "strategy bucket channels window engine"},
    [AR_PLOT_COLLECTIVES] = {"payload.csv", AR_PLOT_SWEEP, false,
                             "status cluster algorithm shape engine gpus payload_bytes allreduce_s",
                             "precision cluster operation mesh along root settings",
                             "channels window engine"},
    [AR_PLOT_COMPARED] = {"compare.csv", AR_PLOT_COMPARE, true,
                          "nodes gpus set payload_bytes measured_s predicted_s error_frac", "", ""},
    [AR_PLOT_RESULTS] = {"reproduce.csv", AR_PLOT_PUBLISHED, true,
                         "row title table gpus measured_s predicted_s", "", ""},
    [AR_PLOT_LAYER_TIMES] = {"layers.csv", AR_PLOT_LAYERS, true,
                             "layer kind forward_measured_s forward_predicted_s "
                             "backward_measured_s backward_predicted_s",
                             "", ""},
    [AR_PLOT_SETS] = {"sets.csv", AR_PLOT_ACCURACY, true, "set", "", ""},
    [AR_PLOT_TASKS] = {"pipeline.csv", AR_PLOT_PIPELINE, true, "stage kind stream begin_s end_s",
                       "", ""},
    [AR_PLOT_LAID_OUT] = {"layouts.csv", AR_PLOT_LAYOUTS, true,
                          "status cluster trace engine gpus mesh iteration_s memory_bytes",
                          "precision cluster trace wire", "engine"},
    [AR_PLOT_EXPECTED] = {"expect.csv", AR_PLOT_EXPECT, true,
                          "operation nodes gpus payload_bytes measured_s expected_s low_s high_s "
                          "suspect_s suspect",
                          "", ""},
};

/* --- reading ------------------------------------------------------------------------------ */

/* Leaves the rows with status ok. */
static enum ar_status drop_failed_rows(struct ar_csv *csv, uint64_t *failed_count,
                                       struct ar_error *err)
{
    size_t kept = 0;
    for (size_t row = 0; row < csv->rows_count; row++) {
        if (strcmp(ar_csv_text(csv, row, "status"), "ok") == 0) {
            ar_csv_move_row(csv, row, kept++);
        }
    }
    *failed_count = csv->rows_count - kept;
    csv->rows_count = kept;
    AR_REFUSE(kept == 0, err, AR_BAD_DATA,
              "%s: found %llu rows, none of them with status ok; expected one ok row at least",
              csv->path, (unsigned long long)*failed_count);
    return AR_OK;
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

/* Whether the cells of a column are numbers: it has a unit, or it counts. */
static bool has_numbers(const char *column)
{
    return ar_plot_unit_of(column, 0).name[0] != '\0' ||
           ar_text_has_word("gpus nodes batch_per_gpu global_batch micro_batch gradient_scale "
                            "stage measured predicted low high",
                            column);
}

/* Whether a cell is axes with their sizes, such as `dp=8,tp=8`; pictures split it. */
static bool is_mesh(const char *cell)
{
    while (cell[0] != '\0') {
        size_t name = strcspn(cell, ",=");
        size_t digits = cell[name] == '=' ? strspn(cell + name + 1, "0123456789") : 0;
        cell += name + 1 + digits;
        if (name == 0 || digits == 0 || digits > 9 || (cell[0] != ',' && cell[0] != '\0')) {
            return false;
        }
        cell += cell[0] == ',';
    }
    return true;
}

enum ar_status ar_plot_check_numbers(const struct ar_csv *csv, struct ar_error *err)
{
    for (size_t i = 0; i < csv->columns_count; i++) {
        const char *name = csv->cells[i];
        for (size_t row = 0; row < csv->rows_count && strcmp(name, "mesh") == 0; row++) {
            AR_CSV_REFUSE(!is_mesh(ar_csv_cell(csv, row, i)), csv, row, name, err,
                          "axes such as dp=16,tp=8");
        }
        for (size_t row = 0; row < csv->rows_count && has_numbers(name); row++) {
            const char *cell = ar_csv_cell(csv, row, i);
            double number = ar_plot_number_of(cell);
            bool may_be_below_0 = strstr(name, "error") != NULL || strstr(name, "signed") != NULL ||
                                  strcmp(name, "explained_frac") == 0;
            AR_CSV_REFUSE(cell[0] != '\0' && (!isfinite(number) || (number < 0 && !may_be_below_0)),
                          csv, row, name, err, may_be_below_0 ? "a number" : "a number >= 0");
        }
    }
    return AR_OK;
}

enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file *file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err)
{
    struct ar_plot_table result = {.csv = NULL};
    AR_TRY(ar_csv_load(path, arena, &result.csv, err));
    struct ar_csv *csv = result.csv;
    bool has_steps = csv->rows_count == 0 || ar_csv_find_column(csv, "trace") == SIZE_MAX;
    for (size_t row = 0; row < csv->rows_count && !has_steps; row++) {
        has_steps = ar_csv_text(csv, row, "trace")[0] != '\0';
    }
    if (*file == AR_PLOT_STEPS && !has_steps) { /* a sweep of collectives alone */
        *file = AR_PLOT_COLLECTIVES;
    }
    AR_TRY(ar_csv_check(csv, ar_plot_sources[*file].columns, err));
    if (ar_text_has_word(ar_plot_sources[*file].columns, "status")) {
        AR_TRY(drop_failed_rows(csv, &result.failed_count, err));
    }
    AR_TRY(ar_plot_check_numbers(csv, err));
    size_t columns = csv->columns_count, algorithm = ar_csv_find_column(csv, "algorithm");
    for (size_t row = 0; *file == AR_PLOT_STEPS && row < csv->rows_count; row++) {
        const char **cell = &csv->cells[(row + 1) * columns + algorithm];
        if ((*cell)[0] == '\0') { /* a step without an all-reduce is named by its strategy */
            *cell = ar_csv_text(csv, row, "strategy");
        }
    }
    result.values = ar_arena_alloc(arena, csv->rows_count * columns + 1, sizeof *result.values);
    for (size_t i = 0; i < columns; i++) {
        bool are_numbers = has_numbers(csv->cells[i]);
        bool are_shapes = strcmp(csv->cells[i], "shape") == 0;
        for (size_t row = 0; row < csv->rows_count; row++) {
            const char *cell = ar_csv_cell(csv, row, i);
            double number = are_shapes ? grid_x(cell) : ar_plot_number_of(cell);
            size_t first = 0; /* row with this text: its index is the number of the text */
            while (!are_numbers && isnan(number) && strcmp(ar_csv_cell(csv, first, i), cell) != 0) {
                first++;
            }
            result.values[row * columns + i] =
                are_numbers || !isnan(number) ? number : (double)first;
        }
    }
    *table = result;
    return AR_OK;
}

static double value_at(const struct ar_plot_table *table, size_t row, size_t place)
{
    return place != SIZE_MAX ? table->values[row * table->csv->columns_count + place] : 0;
}

double ar_plot_value(const struct ar_plot_table *table, size_t row, const char *column)
{
    return value_at(table, row, ar_csv_find_column(table->csv, column));
}

/* --- rows --------------------------------------------------------------------------------- */

/* How rows are sorted: by the keys, then by the value of `least`. */
struct order {
    const struct ar_plot_table *table;
    size_t keys[AR_CSV_COLUMNS_MAX], count, least; /* places of columns */
};

static struct order order_of(const struct ar_plot_table *table, const char *keys, const char *least)
{
    struct order order = {.table = table, .least = ar_csv_find_column(table->csv, least)};
    AR_EACH_WORD(key, keys) {
        order.keys[order.count++] = ar_csv_find_column(table->csv, key);
    }
    return order;
}

static int compare_keys(const struct order *order, size_t a, size_t b)
{
    for (size_t i = 0; i < order->count; i++) {
        double left = value_at(order->table, a, order->keys[i]);
        double right = value_at(order->table, b, order->keys[i]);
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
        value_at(order->table, a, order->least) - value_at(order->table, b, order->least);
    result = result != 0 ? result : (difference > 0) - (difference < 0);
    return result != 0 ? result : (a > b) - (a < b);
}

struct ar_plot_rows ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena)
{
    size_t count = table->csv->rows_count;
    struct ar_plot_rows rows = {ar_arena_alloc(arena, count + 1, sizeof *rows.rows), count};
    for (size_t row = 0; row < count; row++) {
        rows.rows[row] = row;
    }
    return rows;
}

void ar_plot_rows_sort(const struct ar_plot_table *table, const char *keys, const char *least,
                       struct ar_plot_rows *rows)
{
    struct order order = order_of(table, keys, least);
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_row_order, &order);
}

void ar_plot_rows_best(const struct ar_plot_table *table, const char *keys, const char *least,
                       struct ar_plot_rows *rows)
{
    size_t kept = 0;
    ar_plot_rows_sort(table, keys, least, rows);
    for (size_t i = 0; i < rows->count; i += ar_plot_rows_alike(table, keys, *rows, i)) {
        rows->rows[kept++] = rows->rows[i];
    }
    rows->count = kept;
}

void ar_plot_rows_within(const struct ar_plot_table *table, const char *column, double min,
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

size_t ar_plot_rows_alike(const struct ar_plot_table *table, const char *keys,
                          struct ar_plot_rows rows, size_t first)
{
    struct order order = order_of(table, keys, "");
    size_t count = 1;
    while (first + count < rows.count &&
           compare_keys(&order, rows.rows[first], rows.rows[first + count]) == 0) {
        count++;
    }
    return count;
}

bool ar_plot_rows_vary(const struct ar_plot_table *table, const char *column,
                       struct ar_plot_rows rows)
{
    return rows.count > 0 && ar_plot_rows_alike(table, column, rows, 0) < rows.count;
}

size_t ar_plot_rows_counts(const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    size_t counts = 0;
    for (size_t i = 0; i < rows.count; i += ar_plot_rows_alike(table, "gpus", rows, i)) {
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
        count = ar_plot_rows_alike(table, "gpus", *rows, i);
        for (size_t k = 0; k < count && is_spread(group, groups, wanted); k++) {
            rows->rows[kept++] = rows->rows[i + k];
        }
    }
    rows->count = kept;
}
