/** \file pictures.h
 * Private to this folder: the table of pictures, and the steps from one of its rows to files.
 *
 * pictures.c has the rows, choice.c finds the table rows that may be drawn as one, script.c writes
 * data and script and puts values into the SVG, gnuplot.c runs gnuplot, plot.c calls them all.
 * How a picture looks is the matter of its template (../templates/NAME.gp), which also computes
 * what axes and marks need. Nothing is computed here but `crossover` and `best`, which are results.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "ar_arena.h"
#include "ar_plot_table.h"

/** A picture. Lists of columns are names with blanks between them. */
struct ar_plot_kind {
    const char *name;          /**< base name of its files */
    enum ar_plot_file file;    /**< whose rows it shows */
    const char *template_name; /**< without ending; NULL: its own name */
    const char *data_name;     /**< base name of the data file; NULL: the picture's; that of its
                                    input: the input itself is drawn */
    bool has_series;           /**< rows that differ in more than their algorithm are series */
    bool has_all_batches;      /**< shows rows of all batches, precisions and gradient scales */
    const char *facts;         /**< columns whose values stand below the title; other columns follow
                                    where their values are not the usual ones; NULL: none */
    const char *settings;      /**< lines for the head of the script, or NULL */
    const char *empty_reason;  /**< why it is left out when there are no rows; NULL: just that */
    const char *columns;       /**< copied into the data file */
    const char *above_0;       /**< only rows in which these are above zero; NULL: all */
    /** The one with the least `least` of rows with equal `keys` is shown, in order of the keys;
     * without keys (NULL) all rows are shown, in the order of the file. */
    const char *keys, *least;
    /** Leaves fewer rows, none if the picture makes no sense; NULL: all stay. */
    void (*narrow)(const struct ar_plot_table *table, struct ar_plot_rows *rows);
    /** GPU counts that are shown at most, spread evenly (0: all), and that there must be. */
    size_t counts_max, counts_min;
    /** Writes the data file in place of `columns`; NULL: they are copied. */
    void (*write)(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows);
};

extern const struct ar_plot_kind ar_plot_kinds[];
extern const size_t ar_plot_kinds_count;

/** Leaves the rows of a table that a picture shows. */
void ar_plot_pick(const struct ar_plot_kind *kind, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows);

/** A picture and the rows it shows. */
struct ar_plot_drawing {
    const struct ar_plot_kind *kind;
    const char *name, *data_name;      /**< base names of its files */
    const struct ar_plot_table *table; /**< NULL: no such file */
    struct ar_plot_rows rows;          /**< without any it is not drawn */
    bool has_named_series;
    const char *subject; /**< first text below the title; NULL: none */
    const char *warning; /**< of gnuplot, in the arena; NULL: none */
    pid_t child;         /**< set by ar_plot_gnuplot_run() */
};

/* choice.c */

/** Keeps the rows of all tables for which `where`, KEY=VALUE[,KEY=VALUE], holds. A key is a column
 * of a file, or a setting in the column `settings`; the value `none` is an empty cell. A table
 * without any value of the key stays as it is. AR_USAGE for a key that no file has, or a value that
 * no row has; the line lists those there are. */
enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err);

/** Returns why the rows of a table are not to be drawn as one: which conditions and choices
 * (ar_plot_table.h) have several values that the picture does not show, and what to choose. NULL:
 * they may be drawn. */
const char *ar_plot_check_alike(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                                struct ar_arena *arena);

enum { AR_PLOT_PARTS_MAX = 6 };

/** Rows that may be drawn as one, and the name of their picture: `best-allgather`. */
struct ar_plot_part {
    const char *name;
    struct ar_plot_rows rows;
};

/** Splits the rows of a table by the values that must not differ. Returns the number of parts; 0:
 * they would be too many, or their names not fit for files. */
size_t ar_plot_split(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                     struct ar_arena *arena, struct ar_plot_part parts[AR_PLOT_PARTS_MAX]);

/** Makes `named` a copy of a table in which the algorithm of a row is followed by whatever else
 * rows must not differ in, such as `ring+zero1` or `ssp:3+servers=4`, so that they may be drawn as
 * series of one picture. Returns whether these are few enough. */
bool ar_plot_name_series(const struct ar_plot_table *table, const struct ar_plot_kind *kind,
                         struct ar_arena *arena, struct ar_plot_table *named);

/* script.c */

/** Writes some cells of a row, with commas between them; SIZE_MAX for a row of empty ones. */
void ar_plot_write_cells(FILE *file, const struct ar_plot_table *table, size_t row,
                         const char *columns);

/** Writes the data file. */
void ar_plot_write_data(FILE *file, const struct ar_plot_drawing *drawing);

/** Writes the head of a script: the names of the picture and of its data file, the array `facts`
 * and the settings of its kind. The style and the template follow. */
void ar_plot_write_head(FILE *file, const struct ar_plot_drawing *drawing);

/** Rewrites the SVG of a picture in `directory`, where its data lie, too. gnuplot, told
 * `has_values`, has made hypertexts 0:ROW, since it escapes no quotes in them: each becomes a
 * group of class `value` whose title is that row, a line for each cell that is not empty, times and
 * sizes with units. */
enum ar_status ar_plot_add_values(const struct ar_plot_drawing *drawing, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err);

/* gnuplot.c */

/** Runs gnuplot on NAME.gp of all drawings that have rows, in `directory`, where scripts and data
 * lie, at the same time. With `has_values` it leaves no PNG, and points in
 * the SVG have hypertexts (ar_plot_add_values()). `program` without a slash is looked for in PATH.
 * All are waited for; the error is that of the first one that failed. Pictures are checked to be
 * whole: gnuplot does not report a full disk. */
enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory, bool has_values,
                                   struct ar_plot_drawing *drawings, size_t count,
                                   struct ar_arena *arena, struct ar_error *err);
