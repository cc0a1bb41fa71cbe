/** \file ar_plot_table.h
 * The CSV files that pictures are drawn from, with the one list of columns that pictures know, and
 * functions that select rows of a file that was read.
 *
 * Functions named ar_plot_rows_* shorten or sort a list of rows in place. A list of columns ends
 * with AR_COL_END.
 */
#ifndef AR_PLOT_TABLE_H
#define AR_PLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_csv.h"

/** Engines agree no better than this: times that differ by less are the same. */
#define AR_PLOT_SAME_FRAC 1e-6

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
 * needs it. A set that needs none of its files needs at least one of them. */
#define AR_PLOT_FILE_LIST(X)                                                                       \
    X(STEPS, "sweep.csv", SWEEP, true)          /* training steps; without any: COLLECTIVES */     \
    X(COLLECTIVES, "payload.csv", SWEEP, false) /* single collectives */                           \
    X(COMPARED, "compare.csv", COMPARE, true)   /* measured and predicted calls */                 \
    X(RESULTS, "reproduce.csv", PUBLISHED, true)                                                   \
    X(LAYER_TIMES, "layers.csv", LAYERS, true) /* of a trace, measured and computed */             \
    X(SETS, "sets.csv", ACCURACY, true)        /* errors of measured sets */                       \
    X(TASKS, "pipeline.csv", PIPELINE, true)   /* of a step of a workload */                       \
    X(LAID_OUT, "layouts.csv", LAYOUTS, true)  /* steps by layout, the fastest first */

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

/** The columns that pictures know: symbol, name in the file, what its cells hold, and three sets of
 * files (bits, see table.c): those that have the column, those among them that may lack it, and
 * those in which its cells may be empty. Names end with their unit (ar_plot_text.h). */
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
    X(ALGORITHM, "algorithm", NAME, SWEEPS | RESULTS, 0, RESULTS | STEPS)                          \
    X(ENGINE, "engine", NAME, SWEEPS | LAID_OUT, 0, 0)                                             \
    X(EXACT, "exact", TEXT, SWEEPS, SWEEPS, 0)                                                     \
    X(SHAPE, "shape", SHAPE, SWEEPS, 0, 0)                                                         \
    X(NODES, "nodes", COUNT, COMPARED, 0, 0)                                                       \
    X(GPUS, "gpus", COUNT, SWEEPS | LAID_OUT | COMPARED | RESULTS, 0, RESULTS)                     \
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
    X(ROW, "row", TEXT, RESULTS, 0, 0)                                                             \
    X(TITLE, "title", TEXT, RESULTS, 0, 0)                                                         \
    X(QUANTITY, "quantity", NAME, RESULTS, 0, 0)                                                   \
    X(MEASURED, "measured", POSITIVE, RESULTS, 0, RESULTS)                                         \
    X(PREDICTED, "predicted", POSITIVE, RESULTS, 0, RESULTS)                                       \
    X(LOW, "low", POSITIVE, RESULTS, 0, RESULTS)                                                   \
    X(HIGH, "high", POSITIVE, RESULTS, 0, RESULTS)                                                 \
    X(INSIDE, "inside", TEXT, RESULTS, 0, 0)                                                       \
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

/** AR_COL_END ends a list of columns. AR_COL_EXCHANGE is the strategy of a step of a trace. */
enum ar_plot_column {
    AR_COL_END,
#define X(symbol, ...) AR_COL_##symbol,
    AR_PLOT_COLUMN_LIST(X)
#undef X
        AR_COLS
};

/** The name of a column in its file. */
const char *ar_plot_column_name(enum ar_plot_column column);

/** Indices of rows. */
struct ar_plot_rows {
    size_t *rows;
    size_t count;
};

/** A file that was read, without the rows whose status is not ok. All zero: no such file. */
struct ar_plot_table {
    const struct ar_csv *csv;
    const char *(*texts)[AR_COLS]; /**< [row][column]; NULL: empty, or not in the file */
    double (*values)[AR_COLS];     /**< [row][column] as numbers: NAN for an empty cell, 0 where the
                                        file has no such column, one number for each distinct text,
                                        X of a grid XxY and 0 of another shape */
    struct ar_plot_rows rows;      /**< all of them */
    uint64_t failed_count;         /**< rows left out since their status is not ok */
    uint64_t failed_line;          /**< line of the first of them; 0: none */
};

/** Reads a file. `*file` says which one; it is changed from STEPS to COLLECTIVES for a sweep.csv in
 * which no row has a trace. All memory belongs to the arena. Errors: AR_NO_INPUT, AR_BAD_DATA (a
 * missing or doubled column, a wrong cell, no row with status ok; the line begins `file:line:`). */
enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file *file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err);

/** A cell as a number; 0 when the file has no such column. */
double ar_plot_value(const struct ar_plot_table *table, size_t row, enum ar_plot_column column);

/** A cell as text; empty when the file has no such column. */
const char *ar_plot_cell(const struct ar_plot_table *table, size_t row, enum ar_plot_column column);

/** A copy of all rows of a table, to be shortened. */
struct ar_plot_rows ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena);

/** Sorts the rows by the keys (numbers rise, texts are in order of appearance) and keeps one of
 * those with equal keys: the one with the least `least`, the first of equal ones. */
void ar_plot_rows_best(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                       enum ar_plot_column least, struct ar_plot_rows *rows);

/** Keeps the rows whose value is in a range (NAN is in none). */
void ar_plot_rows_within(const struct ar_plot_table *table, enum ar_plot_column column, double min,
                         double max, struct ar_plot_rows *rows);

/** Keeps the rows whose cell is one of two texts; the second may be NULL. */
void ar_plot_rows_of(const struct ar_plot_table *table, enum ar_plot_column column,
                     const char *text, const char *other, struct ar_plot_rows *rows);

/** How many rows from `first` on have equal keys; the rows are sorted by them. */
size_t ar_plot_rows_alike(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                          struct ar_plot_rows rows, size_t first);

/** Whether a column has several values among the rows. */
bool ar_plot_rows_vary(const struct ar_plot_table *table, enum ar_plot_column column,
                       struct ar_plot_rows rows);

/** How many GPU counts there are among the rows, which are sorted by them. */
size_t ar_plot_rows_counts(const struct ar_plot_table *table, struct ar_plot_rows rows);

/** Keeps `wanted` GPU counts, spread evenly, ends included. */
void ar_plot_rows_spread(const struct ar_plot_table *table, size_t wanted,
                         struct ar_plot_rows *rows);

#endif
