#include "condition.h"

/* The first ones are those that a table of payloads and batches shows. */
static ar_plot_keys conditions = {"batch_per_gpu", "precision", "gradient_scale",
                                  "wire",          "framework", "settings",
                                  "jitter_frac",   "seed",      NULL};
enum { BATCHES = 3 };

static size_t first_row(const struct ar_plot_table *table)
{
    if (ar_plot_has_column(table, "gradient_scale")) {
        size_t scale = ar_plot_column(table, "gradient_scale");
        for (size_t i = 0; i < table->rows.count; i++) {
            if (ar_plot_value(table, table->rows.rows[i], scale) == 1) {
                return table->rows.rows[i];
            }
        }
    }
    return table->rows.rows[0];
}

void ar_plot_condition_keep(const struct ar_plot_table *table, bool has_all_batches,
                            struct ar_plot_rows *rows)
{
    for (size_t i = has_all_batches ? BATCHES : 0; conditions[i] != NULL && rows->count > 0; i++) {
        if (ar_plot_has_column(table, conditions[i])) {
            double value =
                ar_plot_value(table, first_row(table), ar_plot_column(table, conditions[i]));
            ar_plot_rows_within(table, conditions[i], value, value, rows);
        }
    }
}

void ar_plot_condition_say(const struct ar_plot_table *table, struct ar_plot_rows rows, char *text,
                           size_t size)
{
    size_t first = first_row(table);
    ar_plot_rows_best(table, conditions, "iteration_s", &rows); /* one row for each combination */
    text[0] = '\0';
    if (rows.count < 2) {
        return;
    }
    size_t length = (size_t)snprintf(text, size, "all pictures but crossover are of");
    for (size_t i = 0, said = 0; conditions[i] != NULL && length < size; i++) {
        size_t column = ar_plot_column(table, conditions[i]);
        if (ar_plot_rows_vary(table, column, rows)) {
            const char *cell = ar_plot_cell(table, first, column);
            length +=
                (size_t)snprintf(text + length, size - length, "%s %s %s", said++ == 0 ? "" : ",",
                                 conditions[i], cell[0] == '\0' ? "none" : cell);
        }
    }
    if (length < size) {
        snprintf(text + length, size - length, ", one of %zu combinations", rows.count);
    }
}
