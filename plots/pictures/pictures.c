/* The table of pictures. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ar_plot_best.h"
#include "ar_plot_crossover.h"
#include "ar_plot_kind.h"

enum { PANELS_MAX = 6, BARS_MAX = 16, BAR_GROUPS_MAX = 4, CHANGES_MAX = 30 };

/* Of a prediction; a smaller change would be said to be 0.0 %. */
#define CHANGE_MIN_FRAC 0.0005

void ar_plot_pick(const struct ar_plot_part *part, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows)
{
    if (part->quantity != NULL) {
        ar_plot_rows_of(table, AR_COL_QUANTITY, part->quantity, NULL, rows);
    }
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

/* At the largest GPU count. */
static void narrow_payloads(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    double max = 0;
    for (size_t i = 0; i < rows->count; i++) {
        max = fmax(max, ar_plot_value(table, rows->rows[i], AR_COL_GPUS));
    }
    ar_plot_rows_within(table, AR_COL_GPUS, max, max, rows);
}

/* A change of nothing is no bar. */
static void narrow_changes(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_largest(table, AR_COL_CHANGE, AR_COL_ROW, CHANGE_MIN_FRAC, CHANGES_MAX, rows);
}

/* Of each set the line of all its operations, its last one. */
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

/* The fastest layout of each GPU count; of one count some of the fastest. */
static void narrow_layouts(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static const enum ar_plot_column gpus[] = {AR_COL_GPUS, AR_COL_END};
    if (ar_plot_rows_vary(table, AR_COL_GPUS, *rows)) {
        ar_plot_rows_best(table, gpus, AR_COL_ITERATION, rows);
        ar_plot_rows_spread(table, BARS_MAX, rows);
    }
    rows->count = rows->count > BARS_MAX ? BARS_MAX : rows->count;
}

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
#define CURVE AR_COL_CURVE, AR_COL_ALGORITHM, AR_COL_GPUS, AR_COL_VALUE, AR_COL_LOW, AR_COL_HIGH

/* A column against the payload; zero has no place on a logarithmic axis. */
#define PAYLOADS(data, shown)                                                                      \
    .template_name = "payload",                                                                    \
    .facts = {AR_COL_CLUSTER, AR_COL_GPUS, AR_COL_PRECISION, AR_COL_CHANNELS, AR_COL_ENGINE},      \
    .empty_reason = "no row of payload.csv to draw",                                               \
    .parts = {{.file = AR_PLOT_COLLECTIVES,                                                        \
               .name = data,                                                                       \
               .columns = {LEAD, AR_COL_OPERATION, AR_COL_PAYLOAD, shown},                         \
               .above_0 = {AR_COL_PAYLOAD, shown},                                                 \
               .keys = {AR_COL_ALGORITHM, AR_COL_PAYLOAD, AR_COL_GPUS},                            \
               .least = AR_COL_ALLREDUCE,                                                          \
               .narrow = narrow_payloads}}

#define TEXT_OF(name)  #name
#define VALUE_OF(name) TEXT_OF(name)

const struct ar_plot_kind ar_plot_kinds[AR_PLOT_KINDS] = {
    {.name = "efficiency",
     .has_series = true,
     .has_text_version = true,
     .facts = {STEP, AR_COL_BASELINE},
     .empty_reason = "no row to draw",
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "efficiency",
                .columns = {LEAD, AR_COL_EFFICIENCY, AR_COL_ITERATION},
                .keys = {AR_COL_ALGORITHM, AR_COL_GPUS},
                .least = AR_COL_ITERATION}}},
    {.name = "throughput",
     .has_series = true,
     .facts = {STEP, AR_COL_BASELINE},
     .empty_reason = "no row to draw",
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "throughput",
                .columns = {LEAD, AR_COL_SAMPLES, AR_COL_EFFICIENCY},
                .keys = {AR_COL_ALGORITHM, AR_COL_GPUS},
                .least = AR_COL_ITERATION}}},
    {.name = "shapes",
     .has_text_version = true,
     .facts = {STEP, AR_COL_GPUS},
     .empty_reason = "no GPU count has several grid shapes X x Y",
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "shapes",
                .columns = {LEAD, AR_COL_ALLREDUCE},
                .above_0 = {AR_COL_ALLREDUCE},
                .keys = {AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_SHAPE},
                .least = AR_COL_ALLREDUCE,
                .narrow = narrow_shapes}}},
    {.name = "breakdown",
     .has_series = true,
     .facts = {STEP, AR_COL_BASELINE},
     .empty_reason = "no row to draw",
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "breakdown",
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
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "shapes_counts",
                .columns = {LEAD, AR_COL_ALLREDUCE},
                .above_0 = {AR_COL_ALLREDUCE},
                .keys = {AR_COL_GPUS, AR_COL_ALGORITHM, AR_COL_SHAPE},
                .least = AR_COL_ALLREDUCE,
                .narrow = narrow_shapes_counts}}},
    {.name = "crossover",
     .has_all_batches = true,
     .facts = {AR_COL_CLUSTER, AR_COL_TRACE, AR_COL_CHANNELS, AR_COL_ENGINE},
     .settings = "grid = '" AR_PLOT_CROSSOVER_GRID "'\nring = '" AR_PLOT_CROSSOVER_RING "'\n"
                 "clear_frac = " VALUE_OF(AR_PLOT_CROSSOVER_CLEAR_FRAC) "\n",
     .empty_reason = "needs " AR_PLOT_CROSSOVER_RING " and " AR_PLOT_CROSSOVER_GRID
                     " on two GPU counts or more, with several payloads or batches",
     .parts = {{.file = AR_PLOT_STEPS,
                .name = "crossover",
                .narrow = ar_plot_crossover_pick,
                .write = ar_plot_crossover_write}}},
    {.name = "best",
     .facts = {AR_COL_CLUSTER, AR_COL_PRECISION, AR_COL_CHANNELS, AR_COL_ENGINE},
     .empty_reason = "needs collectives of several algorithms, GPU counts and payloads",
     .parts = {{.file = AR_PLOT_COLLECTIVES,
                .name = "best",
                .above_0 = {AR_COL_PAYLOAD, AR_COL_ALLREDUCE},
                .narrow = ar_plot_best_pick,
                .write = ar_plot_best_write}}},
    {.name = "compare_time",
     .empty_reason = "compare.csv has no row",
     .parts = {{.file = AR_PLOT_COMPARED, .name = "compare", .columns = {COMPARED}}}},
    {.name = "compare_error",
     .empty_reason = "compare.csv has no row",
     .parts = {{.file = AR_PLOT_COMPARED, .name = "compare", .columns = {COMPARED}}}},
    {.name = "predicted",
     .empty_reason = "reproduce.csv has no row that is measured and predicted",
     .parts = {{.file = AR_PLOT_RESULTS,
                .name = "predicted",
                .columns = {PUBLISHED},
                .above_0 = {AR_COL_MEASURED, AR_COL_PREDICTED},
                .keys = {AR_COL_QUANTITY, AR_COL_ROW},
                .least = AR_COL_MEASURED}}},
    {.name = "efficiency_published",
     .template_name = "published",
     .settings = "heading = 'Scaling efficiency, published and predicted'\n"
                 "quantity = 'scaling efficiency (%)'\nscale = 100.0\nis_log = 0\n",
     .empty_reason = "neither reproduce.csv nor curves.csv has a row of efficiency_frac",
     .parts = {{.file = AR_PLOT_RESULTS,
                .name = "efficiency_published",
                .columns = {PUBLISHED},
                .quantity = "efficiency_frac",
                .above_0 = {AR_COL_GPUS}},
               {.file = AR_PLOT_CURVES,
                .name = "efficiency_published_curves",
                .columns = {CURVE},
                .quantity = "efficiency_frac"}}},
    {.name = "time_to_train",
     .template_name = "published",
     .settings = "heading = 'Time to train, published and predicted'\n"
                 "quantity = 'time to train (s)'\nscale = 1.0\nis_log = 1\n",
     .empty_reason = "neither reproduce.csv nor curves.csv has a row of train_s",
     .parts = {{.file = AR_PLOT_RESULTS,
                .name = "time_to_train",
                .columns = {PUBLISHED},
                .quantity = "train_s",
                .above_0 = {AR_COL_GPUS}},
               {.file = AR_PLOT_CURVES,
                .name = "time_to_train_curves",
                .columns = {CURVE},
                .quantity = "train_s"}}},
    {.name = "sensitivity",
     .empty_reason = "no sensitivity.csv with changes",
     .parts = {{.file = AR_PLOT_CHANGES,
                .name = "sensitivity_bars",
                .columns = {AR_COL_ROW, AR_COL_ASSUMPTION, AR_COL_ASSUMED, AR_COL_CHANGE},
                .narrow = narrow_changes}}},
    {.name = "accuracy",
     .empty_reason = "sets.csv has no row",
     .parts = {{.file = AR_PLOT_SETS,
                .name = "accuracy",
                .columns = {AR_COL_SET, AR_COL_ZERO_SHOT_MEDIAN, AR_COL_FIT_MEDIAN,
                            AR_COL_HELD_OUT_MEDIAN, AR_COL_HELD_OUT_P95},
                .narrow = narrow_sets}}},
    {.name = "layers",
     .empty_reason = "layers.csv has no row",
     .parts = {{.file = AR_PLOT_LAYER_TIMES,
                .name = "layers",
                .columns = {AR_COL_LAYER, AR_COL_KIND, AR_COL_FORWARD_MEASURED,
                            AR_COL_FORWARD_PREDICTED, AR_COL_BACKWARD_MEASURED,
                            AR_COL_BACKWARD_PREDICTED, AR_COL_READY_MEASURED,
                            AR_COL_READY_PREDICTED}}}},
    {.name = "pipeline",
     .empty_reason = "pipeline.csv has no row",
     .parts = {{.file = AR_PLOT_TASKS,
                .name = "pipeline",
                .columns = {AR_COL_STAGE, AR_COL_KIND, AR_COL_STREAM, AR_COL_BEGINS,
                            AR_COL_ENDS}}}},
    {.name = "layouts_memory",
     .facts = {LAID_OUT, AR_COL_GPUS},
     .empty_reason = "no row says what memory it takes",
     .parts = {{.file = AR_PLOT_LAID_OUT,
                .name = "layouts_memory",
                .columns = {AR_COL_GPUS, AR_COL_LAYOUT, AR_COL_MICRO_BATCH, AR_COL_STRATEGY,
                            AR_COL_SCHEDULE, AR_COL_RECOMPUTE, AR_COL_ITERATION, AR_COL_MEMORY},
                .above_0 = {AR_COL_MEMORY},
                .narrow = narrow_payloads}}},
    {.name = "layouts_best",
     .facts = {LAID_OUT},
     .empty_reason = "layouts.csv has no row",
     .parts = {{.file = AR_PLOT_LAID_OUT,
                .name = "layouts_best",
                .columns = {AR_COL_GPUS, AR_COL_LAYOUT, AR_COL_MICRO_BATCH, AR_COL_STRATEGY,
                            AR_COL_SCHEDULE, AR_COL_RECOMPUTE, AR_COL_ITERATION, AR_COL_TOKENS,
                            AR_COL_FORWARD, AR_COL_BACKWARD, AR_COL_OPTIMIZER, AR_COL_BUBBLE,
                            AR_COL_EXPOSED_TP, AR_COL_EXPOSED_EP, AR_COL_EXPOSED_PP,
                            AR_COL_EXPOSED_DP},
                .narrow = narrow_layouts}}},
};
