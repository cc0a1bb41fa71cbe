#include "ar_plot_crossover.h"

#include <string.h>

#include "ar_plot_quote.h"

/* Engines agree to this; what differs by less is the same. */
#define SAME_FRAC 1e-6

static const enum ar_plot_column cell_keys[] = {AR_COL_PRECISION, AR_COL_PAYLOAD, AR_COL_BATCH,
                                                AR_COL_END};
static const enum ar_plot_column row_keys[] = {AR_COL_PRECISION, AR_COL_PAYLOAD,   AR_COL_BATCH,
                                               AR_COL_GPUS,      AR_COL_ALGORITHM, AR_COL_END};

/* The first count since the last one without a gain. */
static void count_gain(bool has_gain, double gpus, double *from_gpus)
{
    if (!has_gain) {
        *from_gpus = 0;
    } else if (*from_gpus == 0) {
        *from_gpus = gpus;
    }
}

/* Takes a count at which both algorithms ran; counts come in rising order. */
static void take_count(struct ar_plot_crossing *crossing, double gpus, double ring_s, double grid_s)
{
    crossing->min_gpus = crossing->min_gpus == 0 ? gpus : crossing->min_gpus;
    crossing->max_gpus = gpus;
    count_gain(grid_s < ring_s * (1 - SAME_FRAC), gpus, &crossing->from_gpus);
    count_gain(grid_s * (1 + AR_PLOT_CROSSOVER_CLEAR_FRAC) <= ring_s, gpus, &crossing->clear_gpus);
}

bool ar_plot_crossover_next(const struct ar_plot_table *table, struct ar_plot_rows rows,
                            size_t *next, struct ar_plot_crossing *crossing)
{
    size_t end = *next + ar_plot_rows_alike(table, cell_keys, rows, *next);
    *crossing = (struct ar_plot_crossing){.row = rows.rows[*next]};
    for (size_t i = *next + 1; i < end; i++) { /* pairs: a count has one row of each at most */
        size_t a = rows.rows[i - 1];
        size_t b = rows.rows[i];
        double gpus = ar_plot_value(table, b, AR_COL_GPUS);
        if (gpus > 1 && ar_plot_value(table, a, AR_COL_GPUS) == gpus) {
            const char *name = ar_plot_cell(table, a, AR_COL_ALGORITHM);
            bool is_swapped = strcmp(name, AR_PLOT_CROSSOVER_GRID) == 0;
            take_count(crossing, gpus, ar_plot_value(table, is_swapped ? b : a, AR_COL_ITERATION),
                       ar_plot_value(table, is_swapped ? a : b, AR_COL_ITERATION));
        }
    }
    *next = end;
    return crossing->max_gpus > crossing->min_gpus;
}

void ar_plot_crossover_pick(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t crossings = 0;
    struct ar_plot_crossing crossing;
    ar_plot_rows_of(table, AR_COL_ALGORITHM, AR_PLOT_CROSSOVER_GRID, AR_PLOT_CROSSOVER_RING, rows);
    ar_plot_rows_best(table, row_keys, AR_COL_ITERATION, rows);
    for (size_t next = 0; next < rows->count;) {
        crossings += ar_plot_crossover_next(table, *rows, &next, &crossing);
    }
    rows->count = crossings < 2 ? 0 : rows->count;
}

/* --- the picture -------------------------------------------------------------------------- */

static void write_count(FILE *file, double gpus)
{
    if (gpus > 0) {
        fprintf(file, "%.0f", gpus);
    }
    fputc(',', file);
}

void ar_plot_crossover_write(FILE *file, const struct ar_plot_table *table,
                             struct ar_plot_rows rows)
{
    static const enum ar_plot_column copied[] = {AR_COL_PRECISION, AR_COL_PAYLOAD, AR_COL_SCALE,
                                                 AR_COL_BATCH};
    struct ar_plot_crossing crossing;
    fputs("precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,min_gpus,"
          "max_gpus\n",
          file);
    for (size_t next = 0; next < rows.count;) {
        if (!ar_plot_crossover_next(table, rows, &next, &crossing)) {
            continue;
        }
        for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
            ar_plot_write_cell(file, ar_plot_cell(table, crossing.row, copied[i]));
            fputc(',', file);
        }
        write_count(file, crossing.from_gpus);
        write_count(file, crossing.clear_gpus);
        fprintf(file, "%.0f,%.0f\n", crossing.min_gpus, crossing.max_gpus);
    }
}
