#include "ar_plot_best.h"

#include "ar_plot_quote.h"

static const enum ar_plot_column cell_keys[] = {AR_COL_OPERATION, AR_COL_GPUS, AR_COL_PAYLOAD,
                                                AR_COL_END};
static const enum ar_plot_column row_keys[] = {AR_COL_OPERATION, AR_COL_GPUS, AR_COL_PAYLOAD,
                                               AR_COL_ALGORITHM, AR_COL_END};

void ar_plot_best_pick(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_best(table, row_keys, AR_COL_ALLREDUCE, rows);
    if (!ar_plot_rows_vary(table, AR_COL_GPUS, *rows) ||
        !ar_plot_rows_vary(table, AR_COL_PAYLOAD, *rows) ||
        !ar_plot_rows_vary(table, AR_COL_ALGORITHM, *rows)) {
        rows->count = 0;
    }
}

/* The fastest of the rows that take longer than `least_s`, the first of equal ones; SIZE_MAX: none.
 * `alike` counts the others that are as fast. */
static size_t find_fastest(const struct ar_plot_table *table, struct ar_plot_rows rows,
                           double least_s, size_t *alike)
{
    size_t best = SIZE_MAX;
    double best_s = 0;
    *alike = 0;
    for (size_t i = 0; i < rows.count; i++) {
        double time_s = ar_plot_value(table, rows.rows[i], AR_COL_ALLREDUCE);
        if (time_s <= least_s * (1 + AR_PLOT_BEST_SAME_FRAC)) {
            continue;
        }
        if (best == SIZE_MAX || time_s < best_s * (1 - AR_PLOT_BEST_SAME_FRAC)) {
            best = rows.rows[i];
            best_s = time_s;
            *alike = 0;
        } else if (time_s <= best_s * (1 + AR_PLOT_BEST_SAME_FRAC)) {
            ++*alike;
        }
    }
    return best;
}

static void write_cells(FILE *file, const struct ar_plot_table *table, size_t row,
                        const enum ar_plot_column *columns, char end)
{
    for (const enum ar_plot_column *column = columns; *column != AR_COL_END; column++) {
        if (row != SIZE_MAX) {
            ar_plot_write_cell(file, ar_plot_cell(table, row, *column));
        }
        fputc(column[1] != AR_COL_END ? ',' : end, file);
    }
}

void ar_plot_best_write(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    static const enum ar_plot_column first[] = {AR_COL_OPERATION, AR_COL_GPUS,  AR_COL_PAYLOAD,
                                                AR_COL_ALGORITHM, AR_COL_SHAPE, AR_COL_EXACT,
                                                AR_COL_ALLREDUCE, AR_COL_END};
    static const enum ar_plot_column next[] = {AR_COL_ALGORITHM, AR_COL_SHAPE, AR_COL_ALLREDUCE,
                                               AR_COL_END};
    fputs("operation,gpus,payload_bytes,algorithm,shape,exact,allreduce_s,same_count,"
          "next_algorithm,next_shape,next_s\n",
          file);
    for (size_t i = 0, count; i < rows.count; i += count) {
        count = ar_plot_rows_alike(table, cell_keys, rows, i);
        struct ar_plot_rows cell = {rows.rows + i, count};
        size_t alike, ignored;
        size_t best = find_fastest(table, cell, 0, &alike);
        double best_s = ar_plot_value(table, best, AR_COL_ALLREDUCE);
        write_cells(file, table, best, first, ',');
        fprintf(file, "%zu,", alike);
        write_cells(file, table, find_fastest(table, cell, best_s, &ignored), next, '\n');
    }
}
