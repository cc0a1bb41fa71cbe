/** \file pictures.h
 * Private to this folder: the table of pictures, and the steps from one of its rows to files.
 *
 * pictures.c has the rows, choice.c finds the table rows that may be drawn as one, script.c writes
 * data and script and puts values into the SVG, gnuplot.c runs gnuplot, plot.c calls them all.
 * How a picture looks is the matter of its template (../templates/NAME.gp), which also computes
 * what axes and marks need. Nothing is computed here but `crossover` and `best`, which are results.
 */
#ifndef AR_PLOT_PICTURES_H
#define AR_PLOT_PICTURES_H

#include <stdio.h>
#include <sys/types.h>

#include "ar_arena.h"
#include "ar_plot_table.h"

/** A data file of a picture. */
struct ar_plot_part {
    enum ar_plot_file file;
    const char *name; /**< base name of the data file; NULL: the picture's; that of its input: the
                           input itself is drawn */
    enum ar_plot_column columns[20]; /**< copied into the data file */
    enum ar_plot_column above_0[3];  /**< only rows in which these are above zero */
    /** Of the rows with equal `keys` the one with the least `least` is shown, in order of the keys;
     * without keys all rows are shown, in the order of the file. */
    enum ar_plot_column keys[4], least;
    /** Leaves fewer rows, none if the picture makes no sense; NULL: all stay. */
    void (*narrow)(const struct ar_plot_table *table, struct ar_plot_rows *rows);
    /** Writes the data file in place of `columns`; NULL: they are copied. */
    void (*write)(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows);
};

enum { AR_PLOT_PARTS = 2 };

/** A picture. */
struct ar_plot_kind {
    const char *name;          /**< base name of its files */
    const char *template_name; /**< without ending; NULL: its own name */
    bool has_text_version;
    bool has_series;               /**< rows that differ in more than their algorithm are series */
    bool has_all_batches;          /**< shows rows of all batches, precisions and gradient scales */
    enum ar_plot_column facts[10]; /**< columns whose values stand below the title; other columns
                                      follow where their values are not the usual ones */
    const char *settings;          /**< lines for the head of the script, or NULL */
    const char *empty_reason;      /**< why it is left out when no part has rows; NULL: just that */
    struct ar_plot_part parts[AR_PLOT_PARTS]; /**< the second may be all zero: there is none */
};

extern const struct ar_plot_kind ar_plot_kinds[];
extern const size_t ar_plot_kinds_count;

/** Whether a kind has this part. */
bool ar_plot_has_part(const struct ar_plot_kind *kind, size_t part);

/** Leaves the rows of a table that a part shows. */
void ar_plot_pick(const struct ar_plot_part *part, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows);

/** How the algorithms of a table are named (ar_plot_name_series()). */
enum ar_plot_series {
    AR_PLOT_UNNAMED,      /**< as in the file */
    AR_PLOT_NAMED,        /**< an algorithm, and what else rows differ in: `ring+zero1` */
    AR_PLOT_NAMED_FASTEST /**< what rows differ in, each at its fastest algorithm: `zero1` */
};

/** A picture and the rows it shows, by the parts of its kind. */
struct ar_plot_drawing {
    const struct ar_plot_kind *kind;
    const struct ar_plot_table *tables[AR_PLOT_PARTS]; /**< NULL: no such file or part */
    struct ar_plot_rows rows[AR_PLOT_PARTS];
    enum ar_plot_series series;
    const char *subject; /**< first text below the title; NULL: none */
};

/* choice.c */

/** Keeps the rows of all tables for which `where`, KEY=VALUE[,KEY=VALUE], holds. A key is a column
 * of a file, or a setting in the column `settings`; the value `none` is an empty cell. A table
 * without any value of the key stays as it is. AR_USAGE for a key that no file has, or a value that
 * no row has; the line lists those there are. */
enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err);

/** Returns why the rows of a table are not to be drawn as one: which columns have several values
 * that the picture does not show, and what to choose. NULL: they may be drawn. All must agree on
 * machine, workload, framework, settings, jitter; with `has_all_batches` they may differ in batch,
 * precision and gradient scale. Rows of the same point (algorithm, GPUs, shape, payload) must agree
 * on bucket, channels, window and engine. */
const char *ar_plot_check_alike(const struct ar_plot_table *table, bool has_all_batches,
                                struct ar_arena *arena);

/** Makes `named` a copy of a table in which the algorithm of a row is followed, or replaced, by
 * whatever else rows must not differ in, such as `ring+zero1` or `ssp:3+servers=4`, so that they
 * may be drawn as series of one picture. AR_PLOT_UNNAMED: they would be too many. */
enum ar_plot_series ar_plot_name_series(const struct ar_plot_table *table, struct ar_arena *arena,
                                        struct ar_plot_table *named);

/* script.c */

/** The base name of the data file of a part. */
const char *ar_plot_data_name(const struct ar_plot_drawing *drawing, size_t part);

/** Writes the data file of a part. */
void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing, size_t part);

/** Writes the head of a script: the names of the picture and of its data files (`data`,
 * `curve_data`; '' if there is none), the array `facts` and the settings of its kind. The style and
 * the template follow. */
void ar_plot_write_head(FILE *file, const struct ar_plot_drawing *drawing);

/** Rewrites the SVG of a picture in `directory`, where its data lie, too. gnuplot, told
 * `has_values`, has made hypertexts PART:ROW, since it escapes no quotes in them: each becomes a
 * group of class `value` whose title is that row, a line for each cell that is not empty, times and
 * sizes with units. */
enum ar_status ar_plot_add_values(const struct ar_plot_drawing *drawing, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err);

/* gnuplot.c */

/** One run of a script. */
struct ar_plot_run {
    const char *name;      /**< base name: runs NAME.gp, leaves NAME.svg and NAME.png */
    uint32_t text_columns; /**< 0; else leaves NAME.txt, too, so wide */
    bool has_values;       /**< no PNG; in the SVG points have hypertexts (ar_plot_add_values()) */
    const char **warning;  /**< receives a warning of gnuplot in the arena; NULL if there is none */
    pid_t child;           /**< set by ar_plot_gnuplot_run() */
};

/** Runs all of them in `directory`, where scripts and data lie, as many at a time as there are
 * processors. `program` without a slash is looked for in PATH. All are waited for; the error is
 * that of the first one that failed. Pictures are checked to be whole: gnuplot does not report a
 * full disk. */
enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory,
                                   struct ar_plot_run *runs, size_t count, struct ar_arena *arena,
                                   struct ar_error *err);

#endif
