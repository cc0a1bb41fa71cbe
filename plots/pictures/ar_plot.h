/** \file ar_plot.h
 * Pictures of the files that a command left in a directory: SVG and PNG, drawn by gnuplot.
 *
 * ar_plot_draw() reads the files of one set, selects the rows each picture shows (pictures.h),
 * and leaves for each picture in the output directory:
 *
 * | file            | content                                                                     |
 * |-----------------|-----------------------------------------------------------------------------|
 * | NAME.csv        | the rows drawn, under the column names of the input (`NAME_curves.csv`      |
 * |                 | for `payload` and `busbw`; none for `compare_*`, `layers` and `pipeline`,   |
 * |                 | which draw their input)                                                     |
 * | NAME.gp         | a complete script; `gnuplot NAME.gp` in that directory draws NAME again     |
 * | NAME.svg, .png  | the picture                                                                 |
 *
 * ar_plot_table.h lists the files of each set.
 *
 * A picture without data is left out and the report says why. Rows whose `status` is not `ok` are
 * skipped and counted. Where rows differ in something that a picture does not show, there is one
 * for each value (`best-allgather`); where these would be more than six, it is left out, and the
 * reason says which column it is and what to choose with `where`. If nothing else is left to draw,
 * that is an error.
 *
 * The files appear together, after gnuplot has drawn every picture, or not at all: they are made in
 * a temporary directory inside the output directory and renamed. They replace files of their names.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"
#include "ar_plot_table.h"

/** Which pictures are drawn, from which files, and where they go. */
struct ar_plot_request {
    enum ar_plot_set set;
    const char *path;         /**< a directory with the files of the set, or its first file */
    const char *template_dir; /**< where `style.gp` and the pictures' templates lie */
    const char *output_dir;   /**< made if missing; NULL: beside the files */
    const char *where;        /**< KEY=VALUE[,KEY=VALUE]: only rows for which it holds; NULL: all */
    const char *subject;      /**< what the files do not say, for below the title; NULL: nothing */
    bool is_for_page;         /**< only SVG, in which points have their rows as titles; it is no
                                 error if rows differ so that there is no picture at all */
    const char *gnuplot;      /**< program, found in PATH; NULL: `gnuplot` */
};

/** The outcome of one picture. */
struct ar_plot_picture {
    const char *name;    /**< base name of its files */
    bool is_drawn;       /**< false: left out for the reason below */
    uint64_t rows_count; /**< rows drawn */
    const char *reason;  /**< one line, the arena's; NULL when drawn without a note */
};

/** The result of a successful call. */
struct ar_plot_report {
    const char *output_dir; /**< directory of the pictures */
    uint64_t rows_failed;   /**< rows skipped since their status was not ok */
    size_t pictures_count;
    struct ar_plot_picture *pictures; /**< those of the set, in the order of pictures.c */
    const char *reasons;              /**< lines `NAME: REASON`; NULL: there is none */
};

/** Draws the pictures of a set.
 *
 * Errors: AR_USAGE (`where` names what is not there), AR_NO_INPUT (no such file, unreadable),
 * AR_BAD_DATA (empty file, missing column, a cell that is no number, no row that succeeded; the
 * line begins `file:line: column "..."`; nothing to draw since rows differ), AR_IO (gnuplot
 * missing, unwritable directory, full disk), AR_INTERNAL (gnuplot failing; its message is in the
 * line). On an error the output directory is as it was before. */
enum ar_status ar_plot_draw(const struct ar_plot_request *request, struct ar_arena *arena,
                            struct ar_plot_report *report, struct ar_error *err);

/** Leaves in files of such sets the rows for which `where` holds, as in a request. A file that is
 * not there is NULL. Error: AR_USAGE. */
enum ar_status ar_plot_where(const char *where, struct ar_arena *arena, struct ar_csv *const *files,
                             size_t count, struct ar_error *err);
