#include "plot_crossover.h"

#include <stdlib.h>
#include <string.h>

/* Engines agree to this; what differs by less is the same. */
#define SAME_FRAC 1e-6

static uint32_t find_name(const struct ar_plot_names *names, const char *name)
{
    uint32_t i = 0;
    while (i < names->count && strcmp(names->names[i], name) != 0) {
        i++;
    }
    return i;
}

static bool is_payload_alike(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    return a->payload_bytes == b->payload_bytes && strcmp(a->precision, b->precision) == 0;
}

static bool is_cell_alike(const struct ar_plot_row *a, const struct ar_plot_row *b)
{
    return is_payload_alike(a, b) && a->batch_per_gpu == b->batch_per_gpu;
}

/* The first count since the last one without a gain. */
static void count_gain(bool has_gain, uint64_t gpus, uint64_t *from_gpus)
{
    if (!has_gain) {
        *from_gpus = 0;
    } else if (*from_gpus == 0) {
        *from_gpus = gpus;
    }
}

/* Takes a GPU count at which both algorithms ran; counts come in rising order. */
static void take_count(struct ar_plot_crossing *cell, const struct ar_plot_row *ring,
                       const struct ar_plot_row *grid)
{
    cell->min_gpus = cell->min_gpus == 0 ? ring->gpus : cell->min_gpus;
    cell->max_gpus = ring->gpus;
    count_gain(grid->iteration_s < ring->iteration_s * (1 - SAME_FRAC), ring->gpus,
               &cell->from_gpus);
    count_gain(grid->iteration_s * (1 + AR_PLOT_CROSSOVER_CLEAR_FRAC) <= ring->iteration_s,
               ring->gpus, &cell->clear_gpus);
}

/* `rows` are those of one cell, in order of GPUs. */
static struct ar_plot_crossing find_cell(const struct ar_plot_row *const *rows, size_t count,
                                         uint32_t ring, uint32_t grid)
{
    struct ar_plot_crossing cell = {.row = rows[0]};
    const struct ar_plot_row *rings = NULL;
    const struct ar_plot_row *grids = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct ar_plot_row *row = rows[i];
        rings = row->algorithm == ring ? row : rings;
        grids = row->algorithm == grid ? row : grids;
        bool is_either = row->algorithm == ring || row->algorithm == grid;
        if (is_either && row->gpus > 1 && rings != NULL && grids != NULL &&
            rings->gpus == grids->gpus) {
            take_count(&cell, rings, grids);
        }
    }
    return cell;
}

static int compare_batches(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Numbers the distinct batches in rising order. */
static void place_columns(struct ar_plot_crossings *crossings)
{
    uint64_t batches[AR_PLOT_CROSSOVER_BATCHES * AR_PLOT_CROSSOVER_PAYLOADS];
    size_t columns = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        batches[i] = crossings->cells[i].row->batch_per_gpu;
    }
    qsort(batches, crossings->count, sizeof batches[0], compare_batches);
    for (size_t i = 0; i < crossings->count; i++) {
        if (columns == 0 || batches[columns - 1] != batches[i]) {
            batches[columns++] = batches[i];
        }
    }
    for (size_t i = 0; i < crossings->count; i++) {
        size_t column = 0;
        while (batches[column] != crossings->cells[i].row->batch_per_gpu) {
            column++;
        }
        crossings->cells[i].column = column;
    }
    crossings->columns = columns;
    crossings->is_too_many = crossings->is_too_many || columns > AR_PLOT_CROSSOVER_BATCHES;
}

/* Cells come in order of their payloads. */
static void add_cell(struct ar_plot_crossings *crossings, struct ar_plot_crossing cell)
{
    enum { CELLS_MAX = AR_PLOT_CROSSOVER_BATCHES * AR_PLOT_CROSSOVER_PAYLOADS };
    size_t count = crossings->count;
    if (cell.min_gpus == cell.max_gpus) {
        return;
    }
    if (count == CELLS_MAX) {
        crossings->is_too_many = true;
        return;
    }
    crossings->lines += count == 0 || !is_payload_alike(crossings->cells[count - 1].row, cell.row);
    cell.line = crossings->lines - 1;
    crossings->cells[crossings->count++] = cell;
}

void ar_plot_crossings_find(const struct ar_plot_pick *pick, const struct ar_plot_names *algorithms,
                            struct ar_plot_crossings *crossings)
{
    uint32_t ring = find_name(algorithms, "ring");
    uint32_t grid = find_name(algorithms, "torus2d");
    crossings->count = crossings->columns = crossings->lines = 0;
    crossings->is_too_many = false;
    for (size_t i = 0, end; i < pick->rows_count; i = end) {
        for (end = i; end < pick->rows_count && is_cell_alike(pick->rows[i], pick->rows[end]);) {
            end++;
        }
        add_cell(crossings, find_cell(pick->rows + i, end - i, ring, grid));
    }
    place_columns(crossings);
    crossings->is_too_many =
        crossings->is_too_many || crossings->lines > AR_PLOT_CROSSOVER_PAYLOADS;
}

enum ar_status ar_plot_pick_crossover(const struct ar_plot_table *table,
                                      const struct ar_plot_names *engines,
                                      struct ar_plot_pick *pick, struct ar_error *err)
{
    struct ar_plot_crossings *crossings = calloc(1, sizeof *crossings);
    if (crossings == NULL) {
        return ar_error_no_memory(err, "the crossover");
    }
    enum ar_status status = ar_plot_pick_crossing(table, engines, pick, err);
    if (status == AR_OK) {
        ar_plot_crossings_find(pick, table->algorithms, crossings);
        pick->rows_count = crossings->count < 2 || crossings->is_too_many ? 0 : pick->rows_count;
    }
    free(crossings);
    return status;
}
