/** \file script.h
 * The data files and the script of a picture.
 */
#ifndef AR_PLOT_SCRIPT_H
#define AR_PLOT_SCRIPT_H

#include <stdio.h>

#include "ar_plot_kind.h"
#include "choice.h"

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

#endif
