/* The table of pictures. */
#include <float.h>
#include <math.h>

#include "ar_plot_kind.h"

enum { PANELS_MAX = 6, BARS_MAX = 16, BAR_GROUPS_MAX = 4, CHANGES_MAX = 30 };

/* --- sweeps ------------------------------------------------------------------------------- */

/* The curve of an algorithm is its fastest row at each GPU count. */
static void pick_curves(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys keys = {"algorithm", "gpus", NULL};
    ar_plot_rows_best(table, keys, "iteration_s", rows);
}

/* Fewer GPU counts when there are many algorithms, so that bars stay readable. */
static void pick_bars(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys counts = {"gpus", NULL};
    static ar_plot_keys keys = {"gpus", "algorithm", NULL};
    ar_plot_rows_best(table, keys, "iteration_s", rows);
    size_t groups = ar_plot_rows_groups(table, counts, *rows);
    size_t bars = groups == 0 ? 1 : (rows->count + groups - 1) / groups;
    size_t wanted = BARS_MAX / bars;
    ar_plot_rows_spread(table,
                        wanted < 1                ? 1
                        : wanted > BAR_GROUPS_MAX ? BAR_GROUPS_MAX
                                                  : wanted,
                        rows);
}

/* Keeps the GPU counts at which an algorithm has several grids; the rows are in order of count and
 * algorithm. */
static void keep_counts_with_grids(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys counts = {"gpus", NULL};
    static ar_plot_keys algorithms = {"gpus", "algorithm", NULL};
    size_t shape = ar_plot_column(table, "shape");
    size_t kept = 0;
    for (size_t i = 0, end; i < rows->count; i = end) {
        bool has_grids = false;
        end = i + 1;
        for (; end < rows->count; end++) {
            struct ar_plot_rows pair = {rows->rows + end - 1, 2};
            if (ar_plot_rows_groups(table, counts, pair) > 1) {
                break;
            }
            has_grids = has_grids || (ar_plot_rows_groups(table, algorithms, pair) == 1 &&
                                      ar_plot_value(table, pair.rows[0], shape) > 0);
        }
        for (size_t k = i; has_grids && k < end; k++) {
            rows->rows[kept++] = rows->rows[k];
        }
    }
    rows->count = kept;
}

static void pick_grids(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys keys = {"gpus", "algorithm", "shape", NULL};
    ar_plot_rows_within(table, "allreduce_s", DBL_MIN, DBL_MAX, rows);
    ar_plot_rows_best(table, keys, "allreduce_s", rows);
    keep_counts_with_grids(table, rows);
}

static void pick_shapes(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    pick_grids(table, rows);
    ar_plot_rows_spread(table, 1, rows);
}

static void pick_shapes_counts(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys counts = {"gpus", NULL};
    pick_grids(table, rows);
    ar_plot_rows_spread(table, PANELS_MAX, rows);
    rows->count = ar_plot_rows_groups(table, counts, *rows) < 2 ? 0 : rows->count;
}

/* At the largest GPU count; what is zero has no place on a logarithmic axis. */
static void pick_payloads(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys keys = {"algorithm", "payload_bytes", NULL};
    size_t gpus = ar_plot_column(table, "gpus");
    double max = 0;
    for (size_t i = 0; i < rows->count; i++) {
        max = fmax(max, ar_plot_value(table, rows->rows[i], gpus));
    }
    ar_plot_rows_within(table, "gpus", max, max, rows);
    ar_plot_rows_within(table, "payload_bytes", 1, DBL_MAX, rows);
    ar_plot_rows_within(table, "allreduce_s", DBL_MIN, DBL_MAX, rows);
    ar_plot_rows_best(table, keys, "allreduce_s", rows);
}

#define STEP "cluster,trace,batch_per_gpu,precision,gradient_scale,"
#define LEAD "gpus,algorithm,shape,engine,exact,"

static const struct ar_plot_kind efficiency = {
    .name = "efficiency",
    .template_name = "efficiency",
    .set = AR_PLOT_SWEEP,
    .has_text_version = true,
    .facts = STEP "baseline,engine",
    .settings = "",
    .empty_reason = "no row to draw",
    .parts = {{AR_PLOT_STEPS, "efficiency", LEAD "efficiency_frac,iteration_s", pick_curves}},
};

static const struct ar_plot_kind throughput = {
    .name = "throughput",
    .template_name = "throughput",
    .set = AR_PLOT_SWEEP,
    .facts = STEP "baseline,engine",
    .settings = "",
    .empty_reason = "no row to draw",
    .parts = {{AR_PLOT_STEPS, "throughput", LEAD "images_per_s,efficiency_frac", pick_curves}},
};

static const struct ar_plot_kind shapes = {
    .name = "shapes",
    .template_name = "shapes",
    .set = AR_PLOT_SWEEP,
    .has_text_version = true,
    .facts = STEP "gpus,engine",
    .settings = "",
    .empty_reason = "no GPU count has several grid shapes X x Y",
    .parts = {{AR_PLOT_STEPS, "shapes", LEAD "allreduce_s", pick_shapes}},
};

static const struct ar_plot_kind breakdown = {
    .name = "breakdown",
    .template_name = "breakdown",
    .set = AR_PLOT_SWEEP,
    .facts = STEP "baseline,engine",
    .settings = "",
    .empty_reason = "no row to draw",
    .parts = {{AR_PLOT_STEPS, "breakdown",
               LEAD "overhead_s,forward_s,backward_s,exposed_s,optimizer_s,input_wait_s,"
                    "iteration_s,efficiency_frac",
               pick_bars}},
};

static const struct ar_plot_kind payload = {
    .name = "payload",
    .template_name = "payload",
    .set = AR_PLOT_SWEEP,
    .facts = "cluster,gpus,engine",
    .settings = "",
    .empty_reason = "no payload.csv beside the sweep",
    .parts = {{AR_PLOT_COLLECTIVES, "payload_curves", LEAD "payload_bytes,allreduce_s",
               pick_payloads}},
};

static const struct ar_plot_kind shapes_counts = {
    .name = "shapes_counts",
    .template_name = "shapes_counts",
    .set = AR_PLOT_SWEEP,
    .facts = STEP "engine",
    .settings = "",
    .empty_reason = "fewer than two GPU counts have several grid shapes X x Y",
    .parts = {{AR_PLOT_STEPS, "shapes_counts", LEAD "allreduce_s", pick_shapes_counts}},
};

/* --- predictions beside measurements ------------------------------------------------------ */

#define COMPARED "nodes,gpus,set,payload_bytes,measured_s,predicted_s,low_s,high_s,error_frac"

static const struct ar_plot_kind compare_time = {
    .name = "compare_time",
    .template_name = "compare_time",
    .set = AR_PLOT_COMPARE,
    .facts = "",
    .settings = "",
    .empty_reason = "compare.csv has no row",
    .parts = {{AR_PLOT_COMPARED, "compare", COMPARED, NULL}},
};

static const struct ar_plot_kind compare_error = {
    .name = "compare_error",
    .template_name = "compare_error",
    .set = AR_PLOT_COMPARE,
    .facts = "",
    .settings = "",
    .empty_reason = "compare.csv has no row",
    .parts = {{AR_PLOT_COMPARED, "compare", COMPARED, NULL}},
};

/* --- published results -------------------------------------------------------------------- */

static void pick_predicted(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    static ar_plot_keys keys = {"quantity", "row", NULL};
    ar_plot_rows_best(table, keys, "measured", rows);
    ar_plot_rows_within(table, "measured", DBL_MIN, DBL_MAX, rows);
    ar_plot_rows_within(table, "predicted", DBL_MIN, DBL_MAX, rows);
}

/* Rows of a number of GPUs that are measured, predicted or both. */
static void pick_efficiencies(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_of(table, "quantity", "efficiency_frac", rows);
    ar_plot_rows_within(table, "gpus", 1, DBL_MAX, rows);
}

static void pick_times(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_of(table, "quantity", "train_s", rows);
    ar_plot_rows_within(table, "gpus", 1, DBL_MAX, rows);
}

static void pick_efficiency_curves(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_of(table, "quantity", "efficiency_frac", rows);
}

static void pick_time_curves(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_of(table, "quantity", "train_s", rows);
}

/* A change of nothing is no bar. */
static void pick_changes(const struct ar_plot_table *table, struct ar_plot_rows *rows)
{
    ar_plot_rows_largest(table, "change_frac", "row", CHANGES_MAX, rows);
}

#define PUBLISHED "row,title,quantity,gpus,algorithm,measured,predicted,low,high,inside"
#define CURVE     "curve,algorithm,gpus,value,low,high"

static const struct ar_plot_kind predicted = {
    .name = "predicted",
    .template_name = "predicted",
    .set = AR_PLOT_PUBLISHED,
    .facts = "",
    .settings = "",
    .empty_reason = "reproduce.csv has no row that is measured and predicted",
    .parts = {{AR_PLOT_ROWS, "predicted", PUBLISHED, pick_predicted}},
};

static const struct ar_plot_kind efficiency_published = {
    .name = "efficiency_published",
    .template_name = "published",
    .set = AR_PLOT_PUBLISHED,
    .facts = "",
    .settings = "heading = 'Scaling efficiency, published and predicted'\n"
                "quantity = 'scaling efficiency (%)'\nscale = 100.0\nis_log = 0\n",
    .empty_reason = "neither reproduce.csv nor curves.csv has a row of efficiency_frac",
    .parts = {{AR_PLOT_ROWS, "efficiency_published", PUBLISHED, pick_efficiencies},
              {AR_PLOT_CURVES, "efficiency_published_curves", CURVE, pick_efficiency_curves}},
};

static const struct ar_plot_kind time_to_train = {
    .name = "time_to_train",
    .template_name = "published",
    .set = AR_PLOT_PUBLISHED,
    .facts = "",
    .settings = "heading = 'Time to train, published and predicted'\n"
                "quantity = 'time to train (s)'\nscale = 1.0\nis_log = 1\n",
    .empty_reason = "neither reproduce.csv nor curves.csv has a row of train_s",
    .parts = {{AR_PLOT_ROWS, "time_to_train", PUBLISHED, pick_times},
              {AR_PLOT_CURVES, "time_to_train_curves", CURVE, pick_time_curves}},
};

static const struct ar_plot_kind sensitivity = {
    .name = "sensitivity",
    .template_name = "sensitivity",
    .set = AR_PLOT_PUBLISHED,
    .facts = "",
    .settings = "",
    .empty_reason = "no sensitivity.csv with changes",
    .parts = {{AR_PLOT_CHANGES, "sensitivity_bars", "row,assumption,value,change_frac",
               pick_changes}},
};

const struct ar_plot_kind *const ar_plot_kinds[AR_PLOT_KINDS] = {
    &efficiency,           &throughput,        &shapes,       &breakdown,     &payload,
    &shapes_counts,        &ar_plot_crossover, &compare_time, &compare_error, &predicted,
    &efficiency_published, &time_to_train,     &sensitivity,
};
