#include "plot_condition.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_alike(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    return a->batch_per_gpu == b->batch_per_gpu && a->gradient_scale == b->gradient_scale &&
           strcmp(a->precision, b->precision) == 0;
}

static int compare(const void *left, const void *right)
{
    const struct ar_plot_row *a = *(const struct ar_plot_row *const *)left;
    const struct ar_plot_row *b = *(const struct ar_plot_row *const *)right;
    if (a->batch_per_gpu != b->batch_per_gpu) {
        return a->batch_per_gpu < b->batch_per_gpu ? -1 : 1;
    }
    if (a->gradient_scale != b->gradient_scale) {
        return a->gradient_scale < b->gradient_scale ? -1 : 1;
    }
    return strcmp(a->precision, b->precision);
}

static enum ar_status count_conditions(const struct ar_plot_table *table, size_t *count,
                                       struct ar_error *err)
{
    const struct ar_plot_row **rows = calloc(table->rows_count, sizeof(*rows));
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of the pictures");
    }
    for (size_t i = 0; i < table->rows_count; i++) {
        rows[i] = &table->rows[i];
    }
    qsort(rows, table->rows_count, sizeof(*rows), compare);
    *count = 0;
    for (size_t i = 0; i < table->rows_count; i++) {
        *count += i == 0 || !is_alike(rows[i - 1], rows[i]);
    }
    free(rows);
    return AR_OK;
}

static const struct ar_plot_row *find_first(const struct ar_plot_table *table)
{
    for (size_t i = 0; i < table->rows_count; i++) {
        if (table->rows[i].gradient_scale == 1) {
            return &table->rows[i];
        }
    }
    return &table->rows[0];
}

enum ar_status ar_plot_condition_choose(const struct ar_plot_table *table,
                                        struct ar_plot_table *chosen, size_t *count,
                                        struct ar_error *err)
{
    enum ar_status status = count_conditions(table, count, err);
    if (status != AR_OK) {
        return status;
    }
    struct ar_plot_row *rows = calloc(table->rows_count, sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of the pictures");
    }
    const struct ar_plot_row *first = find_first(table);
    *chosen = *table;
    chosen->rows = rows;
    chosen->rows_count = 0;
    for (size_t i = 0; i < table->rows_count; i++) {
        if (is_alike(first, &table->rows[i])) {
            rows[chosen->rows_count++] = table->rows[i];
        }
    }
    return AR_OK;
}
