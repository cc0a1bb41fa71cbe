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

/** The files, in the order of reading. */
enum ar_plot_file {
    AR_PLOT_STEPS,       /**< sweep.csv: training steps; if there are none, the next one */
    AR_PLOT_COLLECTIVES, /**< payload.csv: single collectives */
    AR_PLOT_COMPARED,    /**< compare.csv: measured and predicted calls */
    AR_PLOT_RESULTS,     /**< reproduce.csv: published results */
    AR_PLOT_CURVES,      /**< curves.csv: predictions of published rows at many GPU counts */
    AR_PLOT_CHANGES,     /**< sensitivity.csv: what assumptions change */
    AR_PLOT_LAYER_TIMES, /**< layers.csv: layers of a trace, measured and computed */
    AR_PLOT_SETS,        /**< sets.csv: errors of measured sets */
    AR_PLOT_TASKS,       /**< pipeline.csv: tasks of a step of a workload */
    AR_PLOT_LAID_OUT,    /**< layouts.csv: steps of a workload, the fastest first */
    AR_PLOT_FILES
};

struct ar_plot_source {
    const char *name; /**< without directory */
    enum ar_plot_set set;
    bool is_needed; /**< by its set; of the others there must be one */
};

extern const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES];

/** The columns of all files, named as they are; AR_COL_END ends a list of them. */
enum ar_plot_column {
    AR_COL_END,
    AR_COL_STATUS,
    AR_COL_CLUSTER,
    AR_COL_TRACE,
    AR_COL_BASELINE,
    AR_COL_BATCH,
    AR_COL_PRECISION,
    AR_COL_SCALE,
    AR_COL_WIRE,
    AR_COL_FRAMEWORK,
    AR_COL_SETTINGS,
    AR_COL_JITTER,
    AR_COL_SEED,
    AR_COL_BUCKET,
    AR_COL_CHANNELS,
    AR_COL_WINDOW,
    AR_COL_OPERATION,
    AR_COL_MESH,
    AR_COL_ALONG,
    AR_COL_ROOT,
    AR_COL_ALGORITHM,
    AR_COL_ENGINE,
    AR_COL_EXACT,
    AR_COL_SHAPE,
    AR_COL_NODES,
    AR_COL_GPUS,
    AR_COL_PAYLOAD,
    AR_COL_ITERATION,
    AR_COL_ALLREDUCE,
    AR_COL_BUSBW,
    AR_COL_EXPOSED,
    AR_COL_FORWARD,
    AR_COL_BACKWARD,
    AR_COL_OPTIMIZER,
    AR_COL_OVERHEAD,
    AR_COL_INPUT_WAIT,
    AR_COL_SAMPLES,
    AR_COL_EFFICIENCY,
    AR_COL_SET,
    AR_COL_MEASURED_S,
    AR_COL_PREDICTED_S,
    AR_COL_LOW_S,
    AR_COL_HIGH_S,
    AR_COL_ERROR,
    AR_COL_ROW,
    AR_COL_TITLE,
    AR_COL_QUANTITY,
    AR_COL_MEASURED,
    AR_COL_PREDICTED,
    AR_COL_LOW,
    AR_COL_HIGH,
    AR_COL_INSIDE,
    AR_COL_CURVE,
    AR_COL_VALUE,
    AR_COL_ASSUMPTION,
    AR_COL_ASSUMED,
    AR_COL_CHANGE,
    AR_COL_LAYER,
    AR_COL_KIND,
    AR_COL_FORWARD_MEASURED,
    AR_COL_FORWARD_PREDICTED,
    AR_COL_BACKWARD_MEASURED,
    AR_COL_BACKWARD_PREDICTED,
    AR_COL_READY_MEASURED,
    AR_COL_READY_PREDICTED,
    AR_COL_ZERO_SHOT_MEDIAN,
    AR_COL_FIT_MEDIAN,
    AR_COL_HELD_OUT_MEDIAN,
    AR_COL_HELD_OUT_P95,
    AR_COL_STAGE,
    AR_COL_STREAM,
    AR_COL_BEGINS,
    AR_COL_ENDS,
    AR_COL_LAYOUT,
    AR_COL_GLOBAL_BATCH,
    AR_COL_MICRO_BATCH,
    AR_COL_STRATEGY,
    AR_COL_EXCHANGE, /**< the strategy of a step of a trace */
    AR_COL_SCHEDULE,
    AR_COL_RECOMPUTE,
    AR_COL_TOKENS,
    AR_COL_BUBBLE,
    AR_COL_EXPOSED_PP,
    AR_COL_EXPOSED_DP,
    AR_COL_EXPOSED_EP,
    AR_COL_EXPOSED_TP,
    AR_COL_MEMORY,
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
