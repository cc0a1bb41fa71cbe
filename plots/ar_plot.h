/** \file ar_plot.h
 * Pictures of a sweep: SVG and PNG, drawn by gnuplot.
 *
 * ar_plot_sweep() reads `sweep.csv` (and `payload.csv` beside it, when there is one), selects the
 * rows each picture shows, and leaves four files for each picture in the output directory:
 *
 * | file            | content                                                                     |
 * |-----------------|-----------------------------------------------------------------------------|
 * | NAME.csv        | the rows drawn, under the column names of the sweep (`payload_curves.csv`   |
 * |                 | for the picture `payload`, whose input is called `payload.csv`)             |
 * | NAME.gp         | a complete script; `gnuplot NAME.gp` in that directory draws NAME again     |
 * | NAME.svg, .png  | the picture                                                                 |
 *
 * Pictures: `efficiency`, `throughput`, `shapes`, `breakdown`, `payload`, `shapes_counts`,
 * `crossover`. A picture without data is left out and the report says why.
 *
 * Selection. Rows whose `status` is not `ok` are skipped and counted. The curve of an algorithm is,
 * at each GPU count, its row with the least iteration_s; with the same times the engine simgrid
 * goes before recurrence and recurrence before closed. Shapes and payloads take the least
 * allreduce_s instead. All rows must agree on cluster, trace and baseline, since a picture that
 * mixes them would compare what cannot be compared. If there are several batches, precisions or
 * gradient scales, all pictures but `crossover` show the first combination of the file, by
 * preference one of gradient scale 1, and the report says which.
 *
 * The files appear together, after gnuplot has drawn every picture, or not at all: they are made in
 * a temporary directory inside the output directory and renamed. Existing files of these names
 * are replaced.
 */
#ifndef AR_PLOT_H
#define AR_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

/** What to draw and where. */
struct ar_plot_request {
    const char *path;         /**< a directory that holds `sweep.csv`, or such a file */
    const char *template_dir; /**< where `style.gp` and the pictures' templates lie */
    const char *output_dir;   /**< made if missing; NULL: beside the CSV file */
    FILE *ascii_file;         /**< receives text versions of efficiency and shapes; NULL: none */
    uint32_t ascii_columns;   /**< width of the text versions, at least 79; 0: 79 */
    const char *gnuplot;      /**< program, found in PATH; NULL: `gnuplot` */
};

enum { AR_PLOT_PICTURES = 7, AR_PLOT_REASON = 160 };

/** What became of one picture. */
struct ar_plot_picture {
    const char *name;            /**< base name of its files; static storage */
    bool is_drawn;               /**< false: left out for the reason below */
    uint64_t rows_count;         /**< rows drawn */
    char reason[AR_PLOT_REASON]; /**< one line; empty when drawn without a remark */
};

/** The result of a successful call. */
struct ar_plot_report {
    char output_dir[3800];     /**< directory of the pictures */
    uint64_t rows_used;        /**< rows with status ok, of both files */
    uint64_t rows_failed;      /**< rows skipped since their status was not ok */
    uint64_t rows_failed_line; /**< line of the first of them; 0: none */
    char remark[256];          /**< which condition was chosen; empty when there is one */
    struct ar_plot_picture pictures[AR_PLOT_PICTURES];
};

/** Draws the pictures of a sweep.
 *
 * Errors: AR_NO_INPUT (no such file, unreadable), AR_BAD_DATA (empty file, missing column, a cell
 * that is no number, no row that succeeded; the line begins `file:line: column "..."`), AR_IO
 * (unwritable directory, full disk), AR_INTERNAL (gnuplot missing or failing; its message is in the
 * line), AR_NO_MEMORY. On an error the output directory is as it was before, except that pictures
 * stay when only `ascii_file` could not be written. */
enum ar_status ar_plot_sweep(const struct ar_plot_request *request, struct ar_plot_report *report,
                             struct ar_error *err);

#endif
