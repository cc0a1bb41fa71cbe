/** \file ar_plot_table.h
 * The files that pictures are drawn from: which columns they need, and their cells as numbers.
 */
#ifndef AR_PLOT_TABLE_H
#define AR_PLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_csv.h"

/** The commands that leave files for pictures. */
enum ar_plot_set {
    AR_PLOT_SWEEP,
    AR_PLOT_COMPARE,
    AR_PLOT_PUBLISHED,
    AR_PLOT_LAYERS,
    AR_PLOT_ACCURACY,
    AR_PLOT_PIPELINE,
    AR_PLOT_LAYOUTS
};

/** The files, in the order of reading: symbol, name without directory, set, and whether the set
 * needs it; of the others of a set there must be one. */
#define AR_PLOT_FILE_LIST(X)                                                                       \
    X(STEPS, "sweep.csv", SWEEP, true)          /* training steps; if there are none, the next */  \
    X(COLLECTIVES, "payload.csv", SWEEP, false) /* single collectives */                           \
    X(COMPARED, "compare.csv", COMPARE, true)   /* measured and predicted calls */                 \
    X(RESULTS, "reproduce.csv", PUBLISHED, false)                                                  \
    X(CURVES, "curves.csv", PUBLISHED, false)       /* predictions at many GPU counts */           \
    X(CHANGES, "sensitivity.csv", PUBLISHED, false) /* what assumptions change */                  \
    X(LAYER_TIMES, "layers.csv", LAYERS, true)      /* of a trace, measured and computed */        \
    X(SETS, "sets.csv", ACCURACY, true)             /* errors of measured sets */                  \
    X(TASKS, "pipeline.csv", PIPELINE, true)        /* of a step of a workload */                  \
    X(LAID_OUT, "layouts.csv", LAYOUTS, true)       /* its steps, the fastest first */

enum ar_plot_file {
#define X(symbol, ...) AR_PLOT_##symbol,
    AR_PLOT_FILE_LIST(X)
#undef X
        AR_PLOT_FILES
};

struct ar_plot_source {
    const char *name;
    enum ar_plot_set set;
    bool is_needed;
};

extern const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES];

/** The columns of all files: symbol, name, what a cell may hold, and, as sets of files (table.c),
 * those that have it, that may be without it, and where cells may be empty. */
#define AR_PLOT_COLUMN_LIST(X)                                                                     \
    X(STATUS, "status", STATUS, SWEEPS | LAID_OUT, 0, 0)                                           \
    X(CLUSTER, "cluster", TEXT, SWEEPS | LAID_OUT, 0, 0)                                           \
    X(TRACE, "trace", TEXT, STEPS | LAID_OUT, 0, 0)                                                \
    X(BASELINE, "baseline", TEXT, STEPS, 0, 0)                                                     \
    X(BATCH, "batch_per_gpu", COUNT, STEPS, 0, 0)                                                  \
    X(PRECISION, "precision", TEXT, SWEEPS | LAID_OUT, COLLECTIVES, 0)                             \
    X(SCALE, "gradient_scale", POSITIVE, STEPS, STEPS, 0)                                          \
    X(WIRE, "wire", TEXT, STEPS | LAID_OUT, STEPS, 0)                                              \
    X(FRAMEWORK, "framework", TEXT, STEPS, STEPS, 0)                                               \
    X(SETTINGS, "settings", TEXT, SWEEPS | LAID_OUT, SWEEPS, 0)                                    \
    X(JITTER, "jitter_frac", TEXT, STEPS, STEPS, 0)                                                \
    X(SEED, "seed", TEXT, STEPS, STEPS, 0)                                                         \
    X(BUCKET, "bucket", TEXT, STEPS, STEPS, 0)                                                     \
    X(CHANNELS, "channels", TEXT, SWEEPS, SWEEPS, 0)                                               \
    X(WINDOW, "window", TEXT, SWEEPS, SWEEPS, 0)                                                   \
    X(OPERATION, "operation", TEXT, SWEEPS, SWEEPS, 0)                                             \
    X(MESH, "mesh", TEXT, COLLECTIVES, COLLECTIVES, 0)                                             \
    X(ALONG, "along", TEXT, COLLECTIVES, COLLECTIVES, 0)                                           \
    X(ROOT, "root", TEXT, COLLECTIVES, COLLECTIVES, 0)                                             \
    X(ALGORITHM, "algorithm", NAME, SWEEPS | RESULTS | CURVES, 0, RESULTS | STEPS)                 \
    X(ENGINE, "engine", NAME, SWEEPS | LAID_OUT, 0, 0)                                             \
    X(EXACT, "exact", TEXT, SWEEPS, SWEEPS, 0)                                                     \
    X(SHAPE, "shape", SHAPE, SWEEPS, 0, 0)                                                         \
    X(NODES, "nodes", COUNT, COMPARED, 0, 0)                                                       \
    X(GPUS, "gpus", COUNT, SWEEPS | LAID_OUT | COMPARED | RESULTS | CURVES, 0, RESULTS)            \
    X(PAYLOAD, "payload_bytes", BYTES, SWEEPS | COMPARED, 0, 0)                                    \
    X(ITERATION, "iteration_s", POSITIVE, STEPS | LAID_OUT, 0, 0)                                  \
    X(ALLREDUCE, "allreduce_s", DURATION, SWEEPS, 0, STEPS)                                        \
    X(BUSBW, "busbw_Bps", RATE, COLLECTIVES, COLLECTIVES, COLLECTIVES)                             \
    X(EXPOSED, "exposed_s", DURATION, STEPS, 0, STEPS)                                             \
    X(FORWARD, "forward_s", DURATION, STEPS | LAID_OUT, 0, STEPS | LAID_OUT)                       \
    X(BACKWARD, "backward_s", DURATION, STEPS | LAID_OUT, 0, STEPS | LAID_OUT)                     \
    X(OPTIMIZER, "optimizer_s", DURATION, STEPS | LAID_OUT, 0, STEPS | LAID_OUT)                   \
    X(OVERHEAD, "overhead_s", DURATION, STEPS, 0, 0)                                               \
    X(INPUT_WAIT, "input_wait_s", DURATION, STEPS, STEPS, 0)                                       \
    X(SAMPLES, "samples_per_s", POSITIVE, STEPS, 0, 0)                                             \
    X(EFFICIENCY, "efficiency_frac", FRACTION, STEPS, 0, 0)                                        \
    X(SET, "set", NAME, COMPARED | SETS, 0, 0)                                                     \
    X(MEASURED_S, "measured_s", POSITIVE, COMPARED, 0, 0)                                          \
    X(PREDICTED_S, "predicted_s", POSITIVE, COMPARED, 0, 0)                                        \
    X(LOW_S, "low_s", POSITIVE, COMPARED, 0, COMPARED)                                             \
    X(HIGH_S, "high_s", POSITIVE, COMPARED, 0, COMPARED)                                           \
    X(ERROR, "error_frac", NUMBER, COMPARED, 0, 0)                                                 \
    X(ROW, "row", TEXT, RESULTS | CHANGES, 0, 0)                                                   \
    X(TITLE, "title", TEXT, RESULTS, 0, 0)                                                         \
    X(QUANTITY, "quantity", NAME, RESULTS | CURVES, 0, 0)                                          \
    X(MEASURED, "measured", POSITIVE, RESULTS, 0, RESULTS)                                         \
    X(PREDICTED, "predicted", POSITIVE, RESULTS, 0, RESULTS)                                       \
    X(LOW, "low", POSITIVE, RESULTS | CURVES, 0, RESULTS | CURVES)                                 \
    X(HIGH, "high", POSITIVE, RESULTS | CURVES, 0, RESULTS | CURVES)                               \
    X(INSIDE, "inside", TEXT, RESULTS, 0, 0)                                                       \
    X(CURVE, "curve", TEXT, CURVES, 0, 0)                                                          \
    X(VALUE, "value", POSITIVE, CURVES, 0, 0)                                                      \
    X(ASSUMPTION, "assumption", TEXT, CHANGES, 0, 0)                                               \
    X(ASSUMED, "value", TEXT, CHANGES, 0, 0)                                                       \
    X(CHANGE, "change_frac", NUMBER, CHANGES, 0, 0)                                                \
    X(LAYER, "layer", TEXT, LAYER_TIMES, 0, 0)                                                     \
    X(KIND, "kind", NAME, LAYER_TIMES | TASKS, 0, 0)                                               \
    X(FORWARD_MEASURED, "forward_measured_s", DURATION, LAYER_TIMES, 0, 0)                         \
    X(FORWARD_PREDICTED, "forward_predicted_s", DURATION, LAYER_TIMES, 0, 0)                       \
    X(BACKWARD_MEASURED, "backward_measured_s", DURATION, LAYER_TIMES, 0, 0)                       \
    X(BACKWARD_PREDICTED, "backward_predicted_s", DURATION, LAYER_TIMES, 0, 0)                     \
    X(READY_MEASURED, "ready_measured_s", DURATION, LAYER_TIMES, 0, LAYER_TIMES)                   \
    X(READY_PREDICTED, "ready_predicted_s", DURATION, LAYER_TIMES, 0, LAYER_TIMES)                 \
    X(ZERO_SHOT_MEDIAN, "zero_shot_median_frac", FRACTION, SETS, 0, SETS)                          \
    X(FIT_MEDIAN, "fit_median_frac", FRACTION, SETS, 0, SETS)                                      \
    X(HELD_OUT_MEDIAN, "held_out_median_frac", FRACTION, SETS, 0, SETS)                            \
    X(HELD_OUT_P95, "held_out_p95_frac", FRACTION, SETS, 0, SETS)                                  \
    X(STAGE, "stage", NUMBER, TASKS, 0, 0)                                                         \
    X(STREAM, "stream", NAME, TASKS, 0, 0)                                                         \
    X(BEGINS, "begin_s", DURATION, TASKS, 0, 0)                                                    \
    X(ENDS, "end_s", DURATION, TASKS, 0, 0)                                                        \
    X(LAYOUT, "mesh", TEXT, LAID_OUT, 0, 0)                                                        \
    X(GLOBAL_BATCH, "global_batch", COUNT, LAID_OUT, 0, LAID_OUT)                                  \
    X(MICRO_BATCH, "micro_batch", COUNT, LAID_OUT, 0, LAID_OUT)                                    \
    X(STRATEGY, "strategy", NAME, LAID_OUT, 0, LAID_OUT)                                           \
    X(EXCHANGE, "strategy", NAME, STEPS, STEPS, STEPS)                                             \
    X(SCHEDULE, "schedule", TEXT, LAID_OUT, 0, 0)                                                  \
    X(RECOMPUTE, "recompute", NAME, LAID_OUT, 0, LAID_OUT)                                         \
    X(TOKENS, "tokens_per_s", POSITIVE, LAID_OUT, 0, LAID_OUT)                                     \
    X(BUBBLE, "bubble_s", DURATION, LAID_OUT, 0, LAID_OUT)                                         \
    X(EXPOSED_PP, "exposed_pp_s", DURATION, LAID_OUT, 0, LAID_OUT)                                 \
    X(EXPOSED_DP, "exposed_dp_s", DURATION, LAID_OUT, 0, LAID_OUT)                                 \
    X(EXPOSED_EP, "exposed_ep_s", DURATION, LAID_OUT, 0, LAID_OUT)                                 \
    X(EXPOSED_TP, "exposed_tp_s", DURATION, LAID_OUT, 0, LAID_OUT)                                 \
    X(MEMORY, "memory_bytes", POSITIVE, LAID_OUT, 0, LAID_OUT)

/** AR_COL_END ends a list of them; AR_COL_EXCHANGE is the strategy of a step of a trace. */
enum ar_plot_column {
    AR_COL_END,
#define X(symbol, ...) AR_COL_##symbol,
    AR_PLOT_COLUMN_LIST(X)
#undef X
        AR_COLS
};

/** The name of a column in its file. */
const char *ar_plot_column_name(enum ar_plot_column column);

/** Numbers of rows. */
struct ar_plot_rows {
    size_t *rows;
    size_t count;
};

/** A file that was read, but for the rows whose status is not ok; all zero: there is none. */
struct ar_plot_table {
    const struct ar_csv *csv;
    const char *(*texts)[AR_COLS]; /**< of each row, by column; NULL: empty, or not in the file */
    double (*values)[AR_COLS];     /**< the same as numbers: NAN for an empty one, 0 where the file
                                        has no such column, a text as a number that equal texts
                                        share, X of a grid XxY and 0 of another shape */
    struct ar_plot_rows rows;      /**< all of them */
    uint64_t failed_count;         /**< rows left out */
    uint64_t failed_line;          /**< line of the first of them; 0: none */
};

/** Reads a file; `*file` says which one it is, also if it is sweep.csv of collectives alone. All
 * that is made belongs to the arena. Errors: AR_NO_INPUT, AR_BAD_DATA (a missing
 * or doubled column, a wrong cell, no row with status ok; the line begins `file:line:`),
 * AR_NO_MEMORY. */
enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file *file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err);

/** A cell as a number; 0 when the file has no such column. */
double ar_plot_value(const struct ar_plot_table *table, size_t row, enum ar_plot_column column);

/** A cell as text; empty when the file has no such column. */
const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, enum ar_plot_column column);

#endif
