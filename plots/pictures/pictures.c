/* The table of pictures, and the two results that are computed here: best and crossover. */
#include "pictures.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ar_plot_text.h"

enum { PANELS_MAX = 6, BARS_MAX = 16, BAR_GROUPS_MAX = 4 };

bool ar_plot_has_part(const struct ar_plot_kind *kind, size_t part)
{
    return kind->parts[part].columns[0] != AR_COL_END || kind->parts[part].write != NULL;
}

void ar_plot_pick(const struct ar_plot_part *part, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows)
{
    for (const enum ar_plot_column *column = part->above_0; *column != AR_COL_END; column++) {
        ar_plot_rows_within(table, *column, DBL_MIN, DBL_MAX, rows);
    }
    if (part->keys[0] != AR_COL_END) {
        ar_plot_rows_best(table, part->keys, part->least, rows);
    }
    if (part->narrow != NULL) {
        part->narrow(table, rows);
    }
}

/* --- which rows a picture shows ----------------------------------------------------------- */

/* Fewer GPU counts when there are many algorithms, so that bars stay readable. */
static void narrow_bars(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t groups = ar_plot_rows_counts(table, *rows);
    size_t bars = groups == 0 ? 1 : (rows->count + groups - 1) / groups;
    size_t wanted = BARS_MAX / bars < 1 ? 1 : BARS_MAX / bars;
    ar_plot_rows_spread(table, wanted > BAR_GROUPS_MAX ? BAR_GROUPS_MAX : wanted, rows);
}

/* Whether an algorithm has several grids among rows of one GPU count. */
static bool has_grids(const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    static const enum ar_plot_column algorithm[] = {AR_COL_ALGORITHM, AR_COL_END};
    for (size_t i = 0, count; i < rows.count; i += count) {
        count = ar_plot_rows_alike(table, algorithm, rows, i);
        if (count > 1 && ar_plot_value(table, rows.rows[i + count - 2], AR_COL_SHAPE) > 0) {
            return true;
        }
    }
    return false;
}

/* Keeps the GPU counts at which an algorithm has several grids. */
static void narrow_grids(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static const enum ar_plot_column gpus[] = {AR_COL_GPUS, AR_COL_END};
    size_t kept = 0;
    for (size_t i = 0, count; i < rows->count; i += count) {
        count = ar_plot_rows_alike(table, gpus, *rows, i);
        bool is_kept = has_grids(table, (struct ar_plot_rows){rows->rows + i, count});
        for (size_t k = 0; k < count && is_kept; k++) {
            rows->rows[kept++] = rows->rows[i + k];
        }
    }
    rows->count = kept;
}

static void narrow_shapes(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    narrow_grids(table, rows);
    ar_plot_rows_spread(table, 1, rows);
}

static void narrow_shapes_counts(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    narrow_grids(table, rows);
    ar_plot_rows_spread(table, PANELS_MAX, rows);
    rows->count = ar_plot_rows_counts(table, *rows) < 2 ? 0 : rows->count;
}

/* Rows at the largest GPU count. */
static void narrow_largest_count(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    double max = 0;
    for (size_t i = 0; i < rows->count; i++) {
        max = fmax(max, ar_plot_value(table, rows->rows[i], AR_COL_GPUS));
    }
    ar_plot_rows_within(table, AR_COL_GPUS, max, max, rows);
}

/* The last line of each set sums up all its operations. */
static void narrow_sets(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool is_last =
            i + 1 == rows->count || strcmp(ar_plot_cell(table, rows->rows[i], AR_COL_SET),
                                           ar_plot_cell(table, rows->rows[i + 1], AR_COL_SET)) != 0;
        if (is_last) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

/* The fastest layout of each GPU count; if there is one count, the fastest layouts of it. */
static void narrow_layouts(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static const enum ar_plot_column gpus[] = {AR_COL_GPUS, AR_COL_END};
    if (ar_plot_rows_vary(table, AR_COL_GPUS, *rows)) {
        ar_plot_rows_best(table, gpus, AR_COL_ITERATION, rows);
        ar_plot_rows_spread(table, BARS_MAX, rows);
    }
    rows->count = rows->count > BARS_MAX ? BARS_MAX : rows->count;
}

/* --- the fastest algorithm at each payload and GPU count ---------------------------------- */

static const enum ar_plot_column best_cell[] = {AR_COL_OPERATION, AR_COL_GPUS, AR_COL_PAYLOAD,
                                                AR_COL_END};
static const enum ar_plot_column best_keys[] = {AR_COL_OPERATION, AR_COL_GPUS, AR_COL_PAYLOAD,
                                                AR_COL_ALGORITHM, AR_COL_END};

/* Keeps the fastest row of each algorithm at each operation, GPU count and payload; none if there
 * are fewer than two algorithms, GPU counts or payloads. */
static void narrow_best(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_best(table, best_keys, AR_COL_ALLREDUCE, rows);
    if (!ar_plot_rows_vary(table, AR_COL_GPUS, *rows) ||
        !ar_plot_rows_vary(table, AR_COL_PAYLOAD, *rows) ||
        !ar_plot_rows_vary(table, AR_COL_ALGORITHM, *rows)) {
        rows->count = 0;
    }
}

/* The fastest of the rows that take longer than `least_s`, the first of equal ones; SIZE_MAX: none.
 * `alike` counts the others that are as fast. */
static size_t find_fastest_row(const struct ar_plot_table *table, struct ar_plot_rows rows,
                               double least_s, size_t *alike)
{
    size_t best = SIZE_MAX;
    double best_s = 0;
    *alike = 0;
    for (size_t i = 0; i < rows.count; i++) {
        double time_s = ar_plot_value(table, rows.rows[i], AR_COL_ALLREDUCE);
        if (time_s <= least_s * (1 + AR_PLOT_SAME_FRAC)) {
            continue;
        }
        if (best == SIZE_MAX || time_s < best_s * (1 - AR_PLOT_SAME_FRAC)) {
            best = rows.rows[i];
            best_s = time_s;
            *alike = 0;
        } else if (time_s <= best_s * (1 + AR_PLOT_SAME_FRAC)) {
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

/* A line for each operation, GPU count and payload: the fastest algorithm with its shape and time,
 * how many others take the same time, and the fastest of those that take longer. */
static void write_best_algorithms(FILE *file, const struct ar_plot_table *table,
                                  struct ar_plot_rows rows)
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
        count = ar_plot_rows_alike(table, best_cell, rows, i);
        struct ar_plot_rows cell = {rows.rows + i, count};
        size_t alike, ignored;
        size_t best = find_fastest_row(table, cell, 0, &alike);
        double best_s = ar_plot_value(table, best, AR_COL_ALLREDUCE);
        write_cells(file, table, best, first, ',');
        fprintf(file, "%zu,", alike);
        write_cells(file, table, find_fastest_row(table, cell, best_s, &ignored), next, '\n');
    }
}

/* --- from how many GPUs on a grid is faster than the flat ring ---------------------------- */

/* A gain of this part of the grid's step is worth a change of algorithm (chosen, not measured). */
#define CROSSOVER_CLEAR_FRAC 0.05

/* The algorithms that are compared: the challenger on its best grid, and the champion. */
#define CROSSOVER_GRID "torus2d"
#define CROSSOVER_RING "ring"

/* One payload (with its precision) and one batch. */
struct crossing {
    size_t row;                /* one of its rows: has precision, payload, batch and scale */
    double from_gpus;          /* the grid is faster there and at all larger counts; 0: never */
    double clear_gpus;         /* the same, by CROSSOVER_CLEAR_FRAC of the step at least */
    double min_gpus, max_gpus; /* GPU counts above 1 at which both algorithms have a row */
};

static const enum ar_plot_column crossing_cell[] = {AR_COL_PRECISION, AR_COL_PAYLOAD, AR_COL_BATCH,
                                                    AR_COL_END};
static const enum ar_plot_column crossing_keys[] = {
    AR_COL_PRECISION, AR_COL_PAYLOAD, AR_COL_BATCH, AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_END};

/* `from_gpus` becomes the first count since the last one without a gain. */
static void count_gain(bool has_gain, double gpus, double *from_gpus)
{
    if (!has_gain) {
        *from_gpus = 0;
    } else if (*from_gpus == 0) {
        *from_gpus = gpus;
    }
}

/* Adds a count at which both algorithms ran; counts come in rising order. */
static void add_count(struct crossing *crossing, double gpus, double ring_s, double grid_s)
{
    crossing->min_gpus = crossing->min_gpus == 0 ? gpus : crossing->min_gpus;
    crossing->max_gpus = gpus;
    count_gain(grid_s < ring_s * (1 - AR_PLOT_SAME_FRAC), gpus, &crossing->from_gpus);
    count_gain(grid_s * (1 + CROSSOVER_CLEAR_FRAC) <= ring_s, gpus, &crossing->clear_gpus);
}

/* Reads the crossing that begins at row `*next` of a list sorted by crossing_keys, and moves on to
 * the next one. False: fewer than two counts have both algorithms, so that nothing can be said. */
static bool read_crossing(const struct ar_plot_table *table, struct ar_plot_rows rows, size_t *next,
                          struct crossing *crossing)
{
    size_t end = *next + ar_plot_rows_alike(table, crossing_cell, rows, *next);
    *crossing = (struct crossing){.row = rows.rows[*next]};
    for (size_t i = *next + 1; i < end; i++) { /* pairs: a count has one row of each at most */
        size_t a = rows.rows[i - 1];
        size_t b = rows.rows[i];
        double gpus = ar_plot_value(table, b, AR_COL_GPUS);
        if (gpus > 1 && ar_plot_value(table, a, AR_COL_GPUS) == gpus) {
            const char *name = ar_plot_cell(table, a, AR_COL_ALGORITHM);
            bool is_swapped = strcmp(name, CROSSOVER_GRID) == 0;
            add_count(crossing, gpus, ar_plot_value(table, is_swapped ? b : a, AR_COL_ITERATION),
                      ar_plot_value(table, is_swapped ? a : b, AR_COL_ITERATION));
        }
    }
    *next = end;
    return crossing->max_gpus > crossing->min_gpus;
}

/* Keeps the fastest rows of both algorithms; none if there are fewer than two crossings. */
static void narrow_crossover(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t crossings = 0;
    struct crossing crossing;
    ar_plot_rows_of(table, AR_COL_ALGORITHM, CROSSOVER_GRID, CROSSOVER_RING, rows);
    ar_plot_rows_best(table, crossing_keys, AR_COL_ITERATION, rows);
    for (size_t next = 0; next < rows->count;) {
        crossings += read_crossing(table, *rows, &next, &crossing);
    }
    rows->count = crossings < 2 ? 0 : rows->count;
}

static void write_count(FILE *file, double gpus)
{
    if (gpus > 0) {
        fprintf(file, "%.0f", gpus);
    }
    fputc(',', file);
}

static void write_crossover(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows)
{
    static const enum ar_plot_column copied[] = {AR_COL_PRECISION, AR_COL_PAYLOAD, AR_COL_SCALE,
                                                 AR_COL_BATCH};
    struct crossing crossing;
    fputs("precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,min_gpus,"
          "max_gpus\n",
          file);
    for (size_t next = 0; next < rows.count;) {
        if (!read_crossing(table, rows, &next, &crossing)) {
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

/* --- the pictures ------------------------------------------------------------------------- */

#define STEP                                                                                       \
    AR_COL_CLUSTER, AR_COL_TRACE, AR_COL_BATCH, AR_COL_PRECISION, AR_COL_CHANNELS, AR_COL_ENGINE
#define LAID_OUT AR_COL_CLUSTER, AR_COL_TRACE, AR_COL_GLOBAL_BATCH, AR_COL_PRECISION, AR_COL_ENGINE
#define LEAD     AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_SHAPE, AR_COL_ENGINE, AR_COL_EXACT

#define COMPARED                                                                                   \
    AR_COL_NODES, AR_COL_GPUS, AR_COL_SET, AR_COL_PAYLOAD, AR_COL_MEASURED_S, AR_COL_PREDICTED_S,  \
        AR_COL_LOW_S, AR_COL_HIGH_S, AR_COL_ERROR

#define PUBLISHED                                                                                  \
    AR_COL_ROW, AR_COL_TITLE, AR_COL_QUANTITY, AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_MEASURED,     \
        AR_COL_PREDICTED, AR_COL_LOW, AR_COL_HIGH, AR_COL_INSIDE

/* The time of an all-reduce by grid and algorithm. */
#define GRIDS(narrow_rows)                                                                         \
    .parts = {{.file = AR_PLOT_STEPS,                                                              \
               .columns = {LEAD, AR_COL_ALLREDUCE},                                                \
               .above_0 = {AR_COL_ALLREDUCE},                                                      \
               .keys = {AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_SHAPE},                              \
               .least = AR_COL_ALLREDUCE,                                                          \
               .narrow = narrow_rows}}

/* A column against the payload; zero has no place on a logarithmic axis. */
#define PAYLOADS(data, shown)                                                                      \
    .template_name = "payload",                                                                    \
    .facts = {AR_COL_CLUSTER, AR_COL_GPUS, AR_COL_PRECISION, AR_COL_CHANNELS, AR_COL_ENGINE},      \
    .parts = {{.file = AR_PLOT_COLLECTIVES,                                                        \
               .name = data,                                                                       \
               .columns = {LEAD, AR_COL_OPERATION, AR_COL_PAYLOAD, shown},                         \
               .above_0 = {AR_COL_PAYLOAD, shown},                                                 \
               .keys = {AR_COL_ALGORITHM, AR_COL_PAYLOAD, AR_COL_GPUS},                            \
               .least = AR_COL_ALLREDUCE,                                                          \
               .narrow = narrow_largest_count}}

#define TEXT_OF(name)  #name
#define VALUE_OF(name) TEXT_OF(name)

const struct ar_plot_kind ar_plot_kinds[] = {
    {.name = "efficiency",
     .has_series = true,
     .has_text_version = true,
     .facts = {STEP, AR_COL_BASELINE},
     .parts = {{.file = AR_PLOT_STEPS,
                .columns = {LEAD, AR_COL_EFFICIENCY, AR_COL_ITERATION},
                .keys = {AR_COL_ALGORITHM, AR_COL_GPUS},
                .least = AR_COL_ITERATION}}},
    {.name = "throughput",
     .has_series = true,
     .facts = {STEP, AR_COL_BASELINE},
     .parts = {{.file = AR_PLOT_STEPS,
                .columns = {LEAD, AR_COL_SAMPLES, AR_COL_EFFICIENCY},
                .keys = {AR_COL_ALGORITHM, AR_COL_GPUS},
                .least = AR_COL_ITERATION}}},
    {.name = "shapes",
     .has_text_version = true,
     .facts = {STEP, AR_COL_GPUS},
     .empty_reason = "no GPU count has several grid shapes X x Y",
     GRIDS(narrow_shapes)},
    {.name = "breakdown",
     .has_series = true,
     .facts = {STEP, AR_COL_BASELINE},
     .parts = {{.file = AR_PLOT_STEPS,
                .columns = {LEAD, AR_COL_OVERHEAD, AR_COL_FORWARD, AR_COL_BACKWARD, AR_COL_EXPOSED,
                            AR_COL_OPTIMIZER, AR_COL_INPUT_WAIT, AR_COL_ITERATION,
                            AR_COL_EFFICIENCY},
                .keys = {AR_COL_GPUS, AR_COL_ALGORITHM},
                .least = AR_COL_ITERATION,
                .narrow = narrow_bars}}},
    {.name = "payload",
     .settings = "heading = 'Time of one %s'\nquantity = 'time of one %s (ms)'"
                 "\nshown = 'allreduce_s'\nscale = 1e3\n",
     PAYLOADS("payload_curves", AR_COL_ALLREDUCE)},
    {.name = "busbw",
     .settings = "heading = 'Bus bandwidth of one %s'\nquantity = 'bus bandwidth "
                 "(GB/s)'\nshown = 'busbw_Bps'\nscale = 1e-9\n",
     PAYLOADS("busbw_curves", AR_COL_BUSBW)},
    {.name = "shapes_counts",
     .facts = {STEP},
     .empty_reason = "fewer than two GPU counts have several grid shapes X x Y",
     GRIDS(narrow_shapes_counts)},
    {.name = "crossover",
     .has_all_batches = true,
     .facts = {AR_COL_CLUSTER, AR_COL_TRACE, AR_COL_CHANNELS, AR_COL_ENGINE},
     .settings = "grid = '" CROSSOVER_GRID "'\nring = '" CROSSOVER_RING "'\n"
                 "clear_frac = " VALUE_OF(CROSSOVER_CLEAR_FRAC) "\n",
     .empty_reason = "needs " CROSSOVER_RING " and " CROSSOVER_GRID
                     " on two GPU counts or more, with several payloads or batches",
     .parts = {{.file = AR_PLOT_STEPS, .narrow = narrow_crossover, .write = write_crossover}}},
    {.name = "best",
     .facts = {AR_COL_CLUSTER, AR_COL_PRECISION, AR_COL_CHANNELS, AR_COL_ENGINE},
     .empty_reason = "needs collectives of several algorithms, GPU counts and payloads",
     .parts = {{.file = AR_PLOT_COLLECTIVES,
                .above_0 = {AR_COL_PAYLOAD, AR_COL_ALLREDUCE},
                .narrow = narrow_best,
                .write = write_best_algorithms}}},
    {.name = "compare_time",
     .parts = {{.file = AR_PLOT_COMPARED, .name = "compare", .columns = {COMPARED}}}},
    {.name = "compare_error",
     .parts = {{.file = AR_PLOT_COMPARED, .name = "compare", .columns = {COMPARED}}}},
    {.name = "predicted",
     .empty_reason = "reproduce.csv has no row that is measured and predicted",
     .parts = {{.file = AR_PLOT_RESULTS,
                .columns = {PUBLISHED},
                .above_0 = {AR_COL_MEASURED, AR_COL_PREDICTED},
                .keys = {AR_COL_QUANTITY, AR_COL_ROW},
                .least = AR_COL_MEASURED}}},
    {.name = "accuracy",
     .parts = {{.file = AR_PLOT_SETS,
                .columns = {AR_COL_SET, AR_COL_ZERO_SHOT_MEDIAN, AR_COL_FIT_MEDIAN,
                            AR_COL_HELD_OUT_MEDIAN, AR_COL_HELD_OUT_P95},
                .narrow = narrow_sets}}},
    {.name = "layers",
     .parts = {{.file = AR_PLOT_LAYER_TIMES,
                .columns = {AR_COL_LAYER, AR_COL_KIND, AR_COL_FORWARD_MEASURED,
                            AR_COL_FORWARD_PREDICTED, AR_COL_BACKWARD_MEASURED,
                            AR_COL_BACKWARD_PREDICTED, AR_COL_READY_MEASURED,
                            AR_COL_READY_PREDICTED}}}},
    {.name = "pipeline",
     .parts = {{.file = AR_PLOT_TASKS,
                .columns = {AR_COL_STAGE, AR_COL_KIND, AR_COL_STREAM, AR_COL_BEGINS,
                            AR_COL_ENDS}}}},
    {.name = "layouts_memory",
     .facts = {LAID_OUT, AR_COL_GPUS},
     .empty_reason = "no row says what memory it takes",
     .parts = {{.file = AR_PLOT_LAID_OUT,
                .columns = {AR_COL_GPUS, AR_COL_LAYOUT, AR_COL_MICRO_BATCH, AR_COL_STRATEGY,
                            AR_COL_SCHEDULE, AR_COL_RECOMPUTE, AR_COL_ITERATION, AR_COL_MEMORY},
                .above_0 = {AR_COL_MEMORY},
                .narrow = narrow_largest_count}}},
    {.name = "layouts_best",
     .facts = {LAID_OUT},
     .parts = {{.file = AR_PLOT_LAID_OUT,
                .columns = {AR_COL_GPUS, AR_COL_LAYOUT, AR_COL_MICRO_BATCH, AR_COL_STRATEGY,
                            AR_COL_SCHEDULE, AR_COL_RECOMPUTE, AR_COL_ITERATION, AR_COL_TOKENS,
                            AR_COL_FORWARD, AR_COL_BACKWARD, AR_COL_OPTIMIZER, AR_COL_BUBBLE,
                            AR_COL_EXPOSED_TP, AR_COL_EXPOSED_EP, AR_COL_EXPOSED_PP,
                            AR_COL_EXPOSED_DP},
                .narrow = narrow_layouts}}},
};

const size_t ar_plot_kinds_count = sizeof ar_plot_kinds / sizeof ar_plot_kinds[0];
