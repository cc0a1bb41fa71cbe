#include "condition.h"

/* The first ones are those that a table of payloads and batches shows. */
static const enum ar_plot_column conditions[] = {AR_COL_BATCH,  AR_COL_PRECISION, AR_COL_SCALE,
                                                 AR_COL_WIRE,   AR_COL_FRAMEWORK, AR_COL_SETTINGS,
                                                 AR_COL_JITTER, AR_COL_SEED,      AR_COL_END};
enum { BATCHES = 3 };

static size_t first_row(const struct ar_plot_table *table)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        if (ar_plot_value(table, table->rows.rows[i], AR_COL_SCALE) == 1) {
            return table->rows.rows[i];
        }
    }
    return table->rows.rows[0];
}

void ar_plot_condition_keep(const struct ar_plot_table *table, bool has_all_batches,
                            struct ar_plot_rows *rows)
{
    for (size_t i = has_all_batches ? BATCHES : 0; conditions[i] != AR_COL_END && rows->count > 0;
         i++) {
        double value = ar_plot_value(table, first_row(table), conditions[i]);
        ar_plot_rows_within(table, conditions[i], value, value, rows);
    }
}

void ar_plot_condition_say(const struct ar_plot_table *table, struct ar_plot_rows rows, char *text,
                           size_t size)
{
    size_t first = first_row(table);
    ar_plot_rows_best(table, conditions, AR_COL_ITERATION,
                      &rows); /* one row for each combination */
    text[0] = '\0';
    if (rows.count < 2) {
        return;
    }
    FILE *file = fmemopen(text, size, "w");
    const char *before = "all pictures but crossover are of";
    for (size_t i = 0; file != NULL && conditions[i] != AR_COL_END; i++) {
        if (ar_plot_rows_vary(table, conditions[i], rows)) {
            const char *cell = ar_plot_cell(table, first, conditions[i]);
            fprintf(file, "%s %s %s", before, ar_plot_column_name(conditions[i]),
                    cell[0] == '\0' ? "none" : cell);
            before = ",";
        }
    }
    if (file != NULL) {
        fprintf(file, ", one of %zu combinations", rows.count);
        fclose(file);
        text[size - 1] = '\0';
    }
}
