/** \file driver.h
 * Private to this folder: how a picture is made. Rows that may be drawn as one are chosen
 * (choice.c), its data files and its script written (script.c), gnuplot run (gnuplot.c), and values
 * of points put into the SVG (hover.c).
 */
#ifndef AR_PLOT_DRIVER_H
#define AR_PLOT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_plot_kind.h"
#include "ar_plot_rows.h"

/** Keeps the rows of all tables for which `where`, KEY=VALUE[,KEY=VALUE], holds. A key is a column
 * of a file, or one of the settings that stand in the column `settings`; `none` is an empty cell. A
 * table in which no row says anything of the key stays as it is. AR_USAGE for a key that no file
 * has, or a value that no row has; the line says which there are. */
enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err);

/** Why the rows of a table are not to be drawn as one, the arena's: which columns have several
 * values that the picture does not show, and what to choose; NULL if they may be. All must agree on
 * machine, workload, framework, settings, jitter; with `has_all_batches` they may differ in batch,
 * precision and gradient scale. Rows of the same point (algorithm, GPUs, shape, payload) must agree
 * on bucket, channels, window and engine. */
enum ar_status ar_plot_check_alike(const struct ar_plot_table *table, bool has_all_batches,
                                   struct ar_arena *arena, const char **reason,
                                   struct ar_error *err);

enum ar_plot_series {
    AR_PLOT_UNNAMED,      /**< too many to be told apart */
    AR_PLOT_NAMED,        /**< an algorithm, and what else rows differ in: `ring+zero1` */
    AR_PLOT_NAMED_FASTEST /**< what rows differ in, each at its fastest algorithm: `zero1` */
};

/** A copy of a table, the arena's, in which the algorithm of a row is followed, or replaced, by
 * whatever else rows must not differ in, such as `ring+zero1` or `ssp:3+servers=4`, so that they
 * may be drawn as series of one picture. */
enum ar_status ar_plot_name_series(const struct ar_plot_table *table, struct ar_arena *arena,
                                   struct ar_plot_table *named, enum ar_plot_series *series,
                                   struct ar_error *err);

/** A picture and the rows it shows, by the parts of its kind. */
struct ar_plot_drawing {
    const struct ar_plot_kind *kind;
    const struct ar_plot_table *tables[AR_PLOT_PARTS]; /**< NULL: no such file or part */
    struct ar_plot_rows rows[AR_PLOT_PARTS];
    enum ar_plot_series series; /**< what the algorithms of the tables are */
    const char *subject;        /**< first text below the title; NULL: none */
};

/** Writes the data file of a part: the columns it wants, or what its kind writes itself. */
void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing, size_t part);

/** Writes the head of a script: the names of the picture and of its data files (`data`,
 * `curve_data`; '' if there is none), the array `facts` and the settings of its kind. The style and
 * the template follow. */
void ar_plot_write_head(FILE *file, const struct ar_plot_drawing *drawing);

/** One run of a script. */
struct ar_plot_run {
    const char *name;       /**< base name: runs NAME.gp, leaves NAME.svg and NAME.png */
    uint32_t text_columns;  /**< 0; else leaves NAME.txt, too, so wide */
    bool has_values;        /**< no PNG; in the SVG points have hypertexts (ar_plot_hover_add()) */
    const char **warning;   /**< receives a warning of gnuplot, if there is one */
    struct ar_arena *arena; /**< that it is in */
    pid_t child;            /**< inner */
};

/** Runs all of them in `directory`, where scripts and data lie, as many at a time as there are
 * processors. `program` without a slash is looked for in PATH. All are waited for; the error is
 * that of the first one that failed. Pictures are checked to be whole: gnuplot does not report a
 * full disk. */
enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory,
                                   struct ar_plot_run *runs, size_t count, struct ar_error *err);

/** Rewrites the SVG of a picture in `directory`, where its data lie, too. gnuplot, told
 * `has_values`, has made hypertexts PART:ROW, since it escapes no quotes in them: each becomes a
 * group of class `value` whose title is that row, a line for each cell that is not empty, times and
 * sizes with units. */
enum ar_status ar_plot_hover_add(const struct ar_plot_drawing *drawing, const char *directory,
                                 struct ar_arena *arena, struct ar_error *err);

#endif
