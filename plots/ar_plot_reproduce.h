/** \file ar_plot_reproduce.h
 * Pictures of published results beside their predictions: SVG and PNG, drawn by gnuplot.
 *
 * ar_plot_reproduce() draws what a directory holds, and leaves there for each picture its data, its
 * script and the pictures (`sensitivity_bars.csv` for `sensitivity`, whose input has that name):
 *
 * | picture              | shows                                            | from              |
 * |----------------------|--------------------------------------------------|-------------------|
 * | predicted            | predicted against measured, with bands: scaling efficiencies, times, and
 * images per second if there are any | reproduce.csv | | efficiency_published | efficiency against
 * GPUs: curves, published points | curves.csv, reproduce.csv | | time_to_train        | the same of
 * the time to train                    | the same          | | sensitivity          | change of
 * each prediction by each assumption     | sensitivity.csv   |
 *
 * `reproduce.csv`: row, title, quantity (efficiency_frac, images_per_s, iteration_s, train_s),
 * gpus, algorithm, measured, predicted, low, high, inside (yes or no). A row without a measured
 * value is context: it is drawn beside curves only, as an open mark at what is predicted. One
 * without a prediction is left out. `curves.csv`: curve, quantity, gpus, value, low, high.
 * `sensitivity.csv`: row, assumption, value, change_frac. Other columns are allowed. `low` and
 * `high` may be empty: no band. Points are numbered as the rows of reproduce.csv are, and named in
 * a table below the picture.
 */
#ifndef AR_PLOT_REPRODUCE_H
#define AR_PLOT_REPRODUCE_H

#include "ar_plot.h"

struct ar_plot_reproduce_request {
    const char *directory;    /**< has the CSV files and gets the pictures */
    const char *template_dir; /**< where `style.gp` and the templates lie */
    const char *gnuplot;      /**< program, found in PATH; NULL: `gnuplot` */
};

enum { AR_PLOT_REPRODUCE_PICTURES = 4 };

struct ar_plot_reproduce_report {
    struct ar_plot_picture pictures[AR_PLOT_REPRODUCE_PICTURES];
};

/** Draws the pictures, all or none; existing files of their names are replaced. A picture without
 * data is left out, and the report says why.
 *
 * Errors: AR_NO_INPUT (none of the three files is there, or one is unreadable), AR_BAD_DATA
 * (missing column, a cell that is no number; the line begins `file:line: column "..."`), AR_IO and
 * AR_INTERNAL as ar_plot_sweep(), AR_NO_MEMORY. */
enum ar_status ar_plot_reproduce(const struct ar_plot_reproduce_request *request,
                                 struct ar_plot_reproduce_report *report, struct ar_error *err);

#endif
