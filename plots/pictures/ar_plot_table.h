/** \file ar_plot_table.h
 * The CSV files that pictures are drawn from, and functions that select rows of one that was read.
 *
 * Lists of columns are names with blanks between them. Functions named ar_plot_rows_* shorten or
 * sort a list of rows in place.
 */
#pragma once

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
    AR_PLOT_LAYOUTS,
    AR_PLOT_EXPECT
};

enum ar_plot_file {
    AR_PLOT_STEPS,       /**< training steps; without any: COLLECTIVES */
    AR_PLOT_COLLECTIVES, /**< single collectives */
    AR_PLOT_COMPARED,    /**< measured and predicted calls */
    AR_PLOT_RESULTS,     /**< published and predicted ones */
    AR_PLOT_LAYER_TIMES, /**< of a trace, measured and computed */
    AR_PLOT_SETS,        /**< errors of measured sets */
    AR_PLOT_TASKS,       /**< of a step */
    AR_PLOT_LAID_OUT,    /**< steps by layout, the fastest first */
    AR_PLOT_EXPECTED,    /**< measured and expected calls */
    AR_PLOT_FILES
};

/** Facts on each file, in the order of reading. */
extern const struct ar_plot_source {
    const char *name; /**< without directory */
    enum ar_plot_set set;
    bool is_needed;         /**< the set is not drawn without it */
    const char *columns;    /**< that it must have */
    const char *conditions; /**< columns on which all rows of a picture agree */
    const char *choices;    /**< columns on which rows of the same point (algorithm, GPUs, shape,
                                 payload, batch) agree */
} ar_plot_sources[AR_PLOT_FILES];

/** Conditions in which a picture may show several values. */
#define AR_PLOT_BATCHES "batch_per_gpu precision gradient_scale"

/** Indices of rows. */
struct ar_plot_rows {
    size_t *rows;
    size_t count;
};

/** A file that was read, without the rows whose status is not ok. All zero: no such file. */
struct ar_plot_table {
    struct ar_csv *csv;
    double *values; /**< [row][column]: numbers, one number for each distinct text, X of a grid XxY
                         and 0 of another shape; NAN for an empty cell of a column of numbers */
    uint64_t failed_count; /**< rows left out since their status is not ok */
};

/** Reads a file. `*file` says which one; it is changed from STEPS to COLLECTIVES for a sweep.csv in
 * which no row has a trace. All memory belongs to the arena. Errors: AR_NO_INPUT, AR_BAD_DATA (a
 * missing column, a cell that is no number, no row with status ok; texts begin `file:line:`). */
enum ar_status ar_plot_table_read(const char *path, enum ar_plot_file *file, struct ar_arena *arena,
                                  struct ar_plot_table *table, struct ar_error *err);

/** Refuses cells that are no numbers in columns that count or have a unit; they may be empty. */
enum ar_status ar_plot_check_numbers(const struct ar_csv *csv, struct ar_error *err);

/** A cell as a number; 0 when the file has no such column. */
double ar_plot_value(const struct ar_plot_table *table, size_t row, const char *column);

/** All rows of a table, to be shortened. */
struct ar_plot_rows ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena);

/** Sorts the rows by the keys (numbers rise, texts are in order of appearance), those with equal
 * keys by `least`; ar_plot_rows_best() keeps the first of these. */
void ar_plot_rows_sort(const struct ar_plot_table *table, const char *keys, const char *least,
                       struct ar_plot_rows *rows);
void ar_plot_rows_best(const struct ar_plot_table *table, const char *keys, const char *least,
                       struct ar_plot_rows *rows);

/** Keeps the rows whose value is in a range (NAN is in none). */
void ar_plot_rows_within(const struct ar_plot_table *table, const char *column, double min,
                         double max, struct ar_plot_rows *rows);

/** How many rows from `first` on have equal keys; the rows are sorted by them. */
size_t ar_plot_rows_alike(const struct ar_plot_table *table, const char *keys,
                          struct ar_plot_rows rows, size_t first);

/** Whether a column has several values among the rows. */
bool ar_plot_rows_vary(const struct ar_plot_table *table, const char *column,
                       struct ar_plot_rows rows);

/** How many GPU counts there are among the rows, which are sorted by them. */
size_t ar_plot_rows_counts(const struct ar_plot_table *table, struct ar_plot_rows rows);

/** Keeps `wanted` GPU counts, spread evenly, ends included. */
void ar_plot_rows_spread(const struct ar_plot_table *table, size_t wanted,
                         struct ar_plot_rows *rows);
