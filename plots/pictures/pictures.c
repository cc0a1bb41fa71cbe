/* The table of pictures, and the two results that are computed here: best and crossover. */
#include "pictures.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ar_text.h"

enum { PANELS_MAX = 6, BARS_MAX = 16, BAR_GROUPS_MAX = 4, COUNTS_MAX = 12 };

void ar_plot_pick(const struct ar_plot_kind *kind, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows)
{
    AR_EACH_WORD(column, kind->above_0 != NULL ? kind->above_0 : "") {
        ar_plot_rows_within(table, column, DBL_MIN, DBL_MAX, rows);
    }
    if (kind->keys != NULL) {
        ar_plot_rows_best(table, kind->keys, kind->least, rows);
    }
    if (kind->narrow != NULL) {
        kind->narrow(table, rows);
    }
    if (kind->counts_max > 0) {
        ar_plot_rows_spread(table, kind->counts_max, rows);
    }
    if (ar_plot_rows_counts(table, *rows) < kind->counts_min) {
        rows->count = 0;
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
    for (size_t i = 0, count; i < rows.count; i += count) {
        count = ar_plot_rows_alike(table, "algorithm", rows, i);
        if (count > 1 && ar_plot_value(table, rows.rows[i + count - 2], "shape") > 0) {
            return true;
        }
    }
    return false;
}

/* Keeps the GPU counts at which an algorithm has several grids. */
static void narrow_grids(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0, count; i < rows->count; i += count) {
        count = ar_plot_rows_alike(table, "gpus", *rows, i);
        bool is_kept = has_grids(table, (struct ar_plot_rows){rows->rows + i, count});
        for (size_t k = 0; k < count && is_kept; k++) {
            rows->rows[kept++] = rows->rows[i + k];
        }
    }
    rows->count = kept;
}

/* Rows at the largest GPU count. */
static void narrow_largest_count(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    double max = 0;
    for (size_t i = 0; i < rows->count; i++) {
        max = fmax(max, ar_plot_value(table, rows->rows[i], "gpus"));
    }
    ar_plot_rows_within(table, "gpus", max, max, rows);
}

/* Keeps the rows that have one of the words in a column, or with no words nothing there. */
static void keep_named(const struct ar_plot_table *table, const char *column, const char *words,
                       struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const char *cell = ar_csv_text(table->csv, rows->rows[i], column);
        if (words[0] != '\0' ? ar_text_has_word(words, cell) : cell[0] == '\0') {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

/* Rows that nothing was fitted to. */
static void narrow_published(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    keep_named(table, "fitted", "", rows);
}

/* The last line of each set sums up all its operations. */
static void narrow_sets(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count;) {
        i += ar_plot_rows_alike(table, "set", *rows, i);
        rows->rows[kept++] = rows->rows[i - 1];
    }
    rows->count = kept;
}

#define LAYOUT_NAME "gpus mesh micro_batch strategy schedule recompute"
#define LAYOUT      LAYOUT_NAME " iteration_s"

/* The fastest layout of each GPU count, or those of one, options without a name at their best. */
static void narrow_layouts(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_best(table, LAYOUT_NAME, "iteration_s", rows);
    ar_plot_rows_sort(table, "gpus", "iteration_s", rows);
    if (ar_plot_rows_vary(table, "gpus", *rows)) {
        ar_plot_rows_best(table, "gpus", "iteration_s", rows);
        ar_plot_rows_spread(table, BARS_MAX, rows);
    }
    rows->count = rows->count > BARS_MAX ? BARS_MAX : rows->count;
}

/* --- the fastest algorithm at each payload and GPU count ---------------------------------- */

#define BEST_CELL "operation gpus payload_bytes"

/* Keeps the fastest row of each algorithm at each operation, GPU count and payload; none if there
 * are fewer than two algorithms, GPU counts or payloads. */
static void narrow_best(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_best(table, BEST_CELL " algorithm", "allreduce_s", rows);
    if (!ar_plot_rows_vary(table, "gpus", *rows) ||
        !ar_plot_rows_vary(table, "payload_bytes", *rows) ||
        !ar_plot_rows_vary(table, "algorithm", *rows)) {
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
        double time_s = ar_plot_value(table, rows.rows[i], "allreduce_s");
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

/* A line for each operation, GPU count and payload: the fastest algorithm with its shape and time,
 * how many others take the same time, and the fastest of those that take longer. */
static void write_best_algorithms(FILE *file, const struct ar_plot_table *table,
                                  struct ar_plot_rows rows)
{
    fputs("operation,gpus,payload_bytes,algorithm,shape,exact,allreduce_s,same_count,"
          "next_algorithm,next_shape,next_s\n",
          file);
    for (size_t i = 0, count; i < rows.count; i += count) {
        count = ar_plot_rows_alike(table, BEST_CELL, rows, i);
        struct ar_plot_rows cell = {rows.rows + i, count};
        size_t alike, ignored;
        size_t best = find_fastest_row(table, cell, 0, &alike);
        double best_s = ar_plot_value(table, best, "allreduce_s");
        ar_plot_write_cells(file, table, best, BEST_CELL " algorithm shape exact allreduce_s");
        fprintf(file, ",%zu,", alike);
        ar_plot_write_cells(file, table, find_fastest_row(table, cell, best_s, &ignored),
                            "algorithm shape allreduce_s");
        fputc('\n', file);
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

#define CROSSING_CELL "precision payload_bytes batch_per_gpu"
#define CROSSING_KEYS CROSSING_CELL " gpus algorithm"

/* `from_gpus` becomes the first count since the last one without a gain. */
static void count_gain(bool has_gain, double gpus, double *from_gpus)
{
    if (!has_gain) {
        *from_gpus = 0;
    } else if (*from_gpus == 0) {
        *from_gpus = gpus;
    }
}

/* Reads the crossing that begins at row `*next` of a list sorted by CROSSING_KEYS, and moves on to
 * the next one. False: fewer than two counts have both algorithms, so that nothing can be said. */
static bool read_crossing(const struct ar_plot_table *table, struct ar_plot_rows rows, size_t *next,
                          struct crossing *crossing)
{
    size_t end = *next + ar_plot_rows_alike(table, CROSSING_CELL, rows, *next);
    *crossing = (struct crossing){.row = rows.rows[*next]};
    for (size_t i = *next + 1; i < end; i++) { /* pairs: a count has one row of each at most */
        size_t a = rows.rows[i - 1], b = rows.rows[i];
        double gpus = ar_plot_value(table, b, "gpus");
        if (gpus > 1 && ar_plot_value(table, a, "gpus") == gpus) {
            const char *name = ar_csv_text(table->csv, a, "algorithm");
            bool is_swapped = strcmp(name, CROSSOVER_GRID) == 0;
            double ring_s = ar_plot_value(table, is_swapped ? b : a, "iteration_s");
            double grid_s = ar_plot_value(table, is_swapped ? a : b, "iteration_s");
            crossing->min_gpus = crossing->min_gpus == 0 ? gpus : crossing->min_gpus;
            crossing->max_gpus = gpus;
            count_gain(grid_s < ring_s * (1 - AR_PLOT_SAME_FRAC), gpus, &crossing->from_gpus);
            count_gain(grid_s * (1 + CROSSOVER_CLEAR_FRAC) <= ring_s, gpus, &crossing->clear_gpus);
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
    keep_named(table, "algorithm", CROSSOVER_GRID " " CROSSOVER_RING, rows);
    ar_plot_rows_best(table, CROSSING_KEYS, "iteration_s", rows);
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
    struct crossing crossing;
    fputs("precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,min_gpus,"
          "max_gpus\n",
          file);
    for (size_t next = 0; next < rows.count;) {
        if (!read_crossing(table, rows, &next, &crossing)) {
            continue;
        }
        ar_plot_write_cells(file, table, crossing.row,
                            "precision payload_bytes gradient_scale batch_per_gpu");
        fputc(',', file);
        write_count(file, crossing.from_gpus);
        write_count(file, crossing.clear_gpus);
        fprintf(file, "%.0f,%.0f\n", crossing.min_gpus, crossing.max_gpus);
    }
}

/* --- the pictures ------------------------------------------------------------------------- */

#define STEP "cluster trace batch_per_gpu precision channels engine"
#define COMPARED                                                                                   \
    "operation nodes gpus set payload_bytes measured_s predicted_s low_s high_s error_frac"
#define LEAD "gpus algorithm shape engine exact"

/* The time of an all-reduce by grid and algorithm. */
#define GRIDS                                                                                      \
    .columns = LEAD " allreduce_s", .above_0 = "allreduce_s", .keys = "gpus algorithm shape",      \
    .least = "allreduce_s", .narrow = narrow_grids

/* A column against the payload; zero has no place on a logarithmic axis. */
#define PAYLOADS(data, shown)                                                                      \
    .template_name = "payload", .facts = "cluster gpus precision channels engine",                 \
    .data_name = data, .columns = LEAD " operation payload_bytes " shown,                          \
    .above_0 = "payload_bytes " shown, .keys = "algorithm payload_bytes gpus",                     \
    .least = "allreduce_s", .narrow = narrow_largest_count

#define TEXT_OF(name)  #name
#define VALUE_OF(name) TEXT_OF(name)

const struct ar_plot_kind ar_plot_kinds[] = {
    {"efficiency", AR_PLOT_STEPS, .has_series = true, .facts = STEP " baseline",
     .columns = LEAD " efficiency_frac iteration_s", .keys = "algorithm gpus",
     .least = "iteration_s"},
    {"throughput", AR_PLOT_STEPS, .has_series = true, .facts = STEP " baseline",
     .columns = LEAD " samples_per_s efficiency_frac", .keys = "algorithm gpus",
     .least = "iteration_s"},
    {"shapes", AR_PLOT_STEPS, .facts = STEP " gpus",
     .empty_reason = "no GPU count has several grid shapes X x Y", GRIDS, .counts_max = 1},
    {"breakdown", AR_PLOT_STEPS, .has_series = true, .facts = STEP " baseline",
     .columns = LEAD " overhead_s forward_s backward_s exposed_s optimizer_s input_wait_s "
                     "iteration_s efficiency_frac",
     .keys = "gpus algorithm", .least = "iteration_s", .narrow = narrow_bars},
    {"payload", AR_PLOT_COLLECTIVES,
     .settings = "heading = 'Time of one %s'\nquantity = 'time of one %s (ms)'"
                 "\nshown = 'allreduce_s'\nscale = 1e3\n",
     PAYLOADS("payload_curves", "allreduce_s")},
    {"busbw", AR_PLOT_COLLECTIVES,
     .settings = "heading = 'Bus bandwidth of one %s'\nquantity = 'bus bandwidth "
                 "(GB/s)'\nshown = 'busbw_Bps'\nscale = 1e-9\n",
     PAYLOADS("busbw_curves", "busbw_Bps")},
    {"shapes_counts", AR_PLOT_STEPS, .facts = STEP,
     .empty_reason = "fewer than two GPU counts have several grid shapes X x Y", GRIDS,
     .counts_max = PANELS_MAX, .counts_min = 2},
    {"crossover", AR_PLOT_STEPS, .has_all_batches = true, .facts = "cluster trace channels engine",
     .settings = "grid = '" CROSSOVER_GRID "'\nring = '" CROSSOVER_RING "'\n"
                 "clear_frac = " VALUE_OF(CROSSOVER_CLEAR_FRAC) "\n",
     .empty_reason = "needs steps by " CROSSOVER_RING " and " CROSSOVER_GRID
                     " on two GPU counts or more, with several gradient scales or batches",
     .narrow = narrow_crossover, .write = write_crossover},
    {"best", AR_PLOT_COLLECTIVES, .facts = "cluster precision channels engine",
     .empty_reason = "needs collectives alone (--payload) of several algorithms and GPU counts",
     .above_0 = "payload_bytes allreduce_s", .narrow = narrow_best, .write = write_best_algorithms},
    {"compare_time", AR_PLOT_COMPARED, .data_name = "compare", .columns = COMPARED},
    {"compare_error", AR_PLOT_COMPARED, .data_name = "compare", .columns = COMPARED},
    {"expect_time", AR_PLOT_EXPECTED, .data_name = "expect",
     .columns = "operation nodes gpus payload_bytes measured_s expected_s low_s high_s suspect_s "
                "suspect"},
    {"predicted", AR_PLOT_RESULTS,
     .empty_reason = "reproduce.csv has no row that is measured and predicted",
     .columns = "row title table gpus measured_s predicted_s", .above_0 = "measured_s predicted_s",
     .keys = "table row", .least = "measured_s", .narrow = narrow_published},
    {"accuracy", AR_PLOT_SETS,
     .columns = "set zero_shot_median_frac fit_median_frac held_out_median_frac "
                "held_out_p95_frac",
     .narrow = narrow_sets},
    {"layers", AR_PLOT_LAYER_TIMES,
     .columns = "layer kind forward_measured_s forward_predicted_s backward_measured_s "
                "backward_predicted_s ready_measured_s ready_predicted_s"},
    {"pipeline", AR_PLOT_TASKS, .columns = "stage kind stream begin_s end_s"},
    {"layouts_counts", AR_PLOT_LAID_OUT, .facts = "cluster trace global_batch precision engine",
     .empty_reason = "needs layouts on two GPU counts or more",
     .columns = LAYOUT " efficiency_frac baseline", .above_0 = "efficiency_frac", .keys = "gpus",
     .least = "iteration_s", .counts_max = COUNTS_MAX, .counts_min = 2},
    {"layouts_memory", AR_PLOT_LAID_OUT,
     .facts = "cluster trace global_batch precision engine gpus",
     .empty_reason = "no row says what memory it takes", .columns = LAYOUT " memory_bytes",
     .above_0 = "memory_bytes", .narrow = narrow_largest_count},
    {"layouts_best", AR_PLOT_LAID_OUT, .facts = "cluster trace global_batch precision engine",
     .columns = LAYOUT " tokens_per_s forward_s backward_s optimizer_s bubble_s exposed_tp_s "
                       "exposed_cp_s exposed_ep_s exposed_pp_s exposed_dp_s",
     .narrow = narrow_layouts},
};

const size_t ar_plot_kinds_count = sizeof ar_plot_kinds / sizeof ar_plot_kinds[0];
