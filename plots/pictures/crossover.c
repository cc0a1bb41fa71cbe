#include "ar_plot_crossover.h"

#include <string.h>

#include "ar_plot_kind.h"
#include "ar_plot_quote.h"

/* Engines agree to this; what differs by less is the same. */
#define SAME_FRAC 1e-6

static ar_plot_keys cell_keys = {"precision", "payload_bytes", "batch_per_gpu", NULL};
static ar_plot_keys row_keys = {"precision", "payload_bytes", "batch_per_gpu",
                                "gpus",      "algorithm",     NULL};

struct columns {
    size_t algorithm, gpus, iteration_s;
};

static struct columns find_columns(const struct ar_plot_table *table)
{
    return (struct columns){ar_plot_column(table, "algorithm"), ar_plot_column(table, "gpus"),
                            ar_plot_column(table, "iteration_s")};
}

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

static bool is_grid(const struct ar_plot_table *table, size_t row, size_t algorithm)
{
    return strcmp(ar_plot_cell(table, row, algorithm), AR_PLOT_CROSSOVER_GRID) == 0;
}

bool ar_plot_crossover_next(const struct ar_plot_table *table, struct ar_plot_rows rows,
                            size_t *next, struct ar_plot_crossing *crossing)
{
    struct columns of = find_columns(table);
    struct ar_plot_rows cell = {rows.rows + *next, 1};
    *crossing = (struct ar_plot_crossing){.row = rows.rows[*next]};
    while (*next + cell.count < rows.count) {
        cell.count++;
        if (ar_plot_rows_groups(table, cell_keys,
                                (struct ar_plot_rows){cell.rows + cell.count - 2, 2}) > 1) {
            cell.count--;
            break;
        }
    }
    *next += cell.count;
    for (size_t i = 1; i < cell.count; i++) { /* pairs: a count has one row of each at most */
        size_t a = cell.rows[i - 1];
        size_t b = cell.rows[i];
        double gpus = ar_plot_value(table, b, of.gpus);
        if (gpus > 1 && ar_plot_value(table, a, of.gpus) == gpus) {
            bool is_swapped = is_grid(table, a, of.algorithm);
            take_count(crossing, gpus, ar_plot_value(table, is_swapped ? b : a, of.iteration_s),
                       ar_plot_value(table, is_swapped ? a : b, of.iteration_s));
        }
    }
    return crossing->max_gpus > crossing->min_gpus;
}

static void keep_both(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t algorithm = ar_plot_column(table, "algorithm");
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = ar_plot_cell(table, rows->rows[i], algorithm);
        if (strcmp(name, AR_PLOT_CROSSOVER_GRID) == 0 ||
            strcmp(name, AR_PLOT_CROSSOVER_RING) == 0) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

void ar_plot_crossover_pick(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t crossings = 0;
    struct ar_plot_crossing crossing;
    keep_both(table, rows);
    ar_plot_rows_best(table, row_keys, "iteration_s", rows);
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

static void write_crossover(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    static const char *const copied[] = {"precision", "payload_bytes", "gradient_scale",
                                         "batch_per_gpu"};
    struct ar_plot_crossing crossing;
    fputs("precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,min_gpus,"
          "max_gpus\n",
          file);
    for (size_t next = 0; next < rows.count;) {
        if (!ar_plot_crossover_next(table, rows, &next, &crossing)) {
            continue;
        }
        for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
            size_t column = ar_plot_column(table, copied[i]);
            ar_plot_write_cell(file, ar_plot_cell(table, crossing.row, column));
            fputc(',', file);
        }
        write_count(file, crossing.from_gpus);
        write_count(file, crossing.clear_gpus);
        fprintf(file, "%.0f,%.0f\n", crossing.min_gpus, crossing.max_gpus);
    }
}

#define TEXT_OF(name)  #name
#define VALUE_OF(name) TEXT_OF(name)

const struct ar_plot_kind ar_plot_crossover = {
    .name = "crossover",
    .template_name = "crossover",
    .set = AR_PLOT_SWEEP,
    .has_all_batches = true,
    .facts = "cluster,trace,engine",
    .settings = "grid = '" AR_PLOT_CROSSOVER_GRID "'\nring = '" AR_PLOT_CROSSOVER_RING "'\n"
                "clear_frac = " VALUE_OF(AR_PLOT_CROSSOVER_CLEAR_FRAC) "\n",
    .empty_reason = "needs " AR_PLOT_CROSSOVER_RING " and " AR_PLOT_CROSSOVER_GRID
                    " on two GPU counts or more, with several payloads or batches",
    .parts = {{AR_PLOT_STEPS, "crossover", "", ar_plot_crossover_pick}},
    .write = write_crossover,
};
