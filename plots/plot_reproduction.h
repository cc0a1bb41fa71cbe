/** \file plot_reproduction.h
 * Published rows, predicted curves and sensitivities, as far as pictures need them, and the pieces
 * that their pictures share.
 */
#ifndef AR_PLOT_REPRODUCTION_H
#define AR_PLOT_REPRODUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

enum { AR_PLOT_TITLE = 160, AR_PLOT_SHORT = 64 };

enum ar_plot_quantity {
    AR_PLOT_EFFICIENCY,
    AR_PLOT_TRAIN,
    AR_PLOT_ITERATION,
    AR_PLOT_IMAGES,
    AR_PLOT_QUANTITIES
};

/** A row of reproduce.csv. */
struct ar_plot_published {
    size_t number; /**< from 1, of the rows with a prediction; 0: of a cluster without a model */
    char row[AR_PLOT_SHORT], title[AR_PLOT_TITLE], algorithm[AR_PLOT_SHORT];
    enum ar_plot_quantity quantity;
    double gpus;
    double measured;  /**< NAN: none */
    double predicted; /**< NAN: none, measured only */
    double low, high; /**< the prediction where there is no band */
    bool has_band;
    bool is_inside;
};

/** A row of curves.csv. */
struct ar_plot_curve_point {
    char curve[AR_PLOT_TITLE], algorithm[AR_PLOT_SHORT];
    enum ar_plot_quantity quantity;
    double gpus, value;
    double low, high; /**< the value where there is no band */
};

/** A row of sensitivity.csv. */
struct ar_plot_change {
    char row[AR_PLOT_SHORT], assumption[AR_PLOT_SHORT], value[AR_PLOT_SHORT];
    double change_frac;
};

/** Files that are missing have no rows. */
struct ar_plot_reproduction {
    struct ar_plot_published *rows;
    size_t rows_count;
    struct ar_plot_curve_point *points;
    size_t points_count;
    struct ar_plot_change *changes;
    size_t changes_count;
};

/** Reads the files of a directory; freed with ar_plot_reproduction_clear(). */
enum ar_status ar_plot_reproduction_read(const char *directory,
                                         struct ar_plot_reproduction *reproduction,
                                         struct ar_error *err);

void ar_plot_reproduction_clear(struct ar_plot_reproduction *reproduction);

/** One picture: a row of the table of pictures. `write_curves` may be NULL. */
struct ar_plot_reproduced {
    const char *name, *data_name, *template_name;
    const char *empty_reason;
    size_t (*count)(const struct ar_plot_reproduction *reproduction); /**< rows drawn */
    void (*write_data)(FILE *file, const struct ar_plot_reproduction *reproduction);
    void (*write_curves)(FILE *file, const struct ar_plot_reproduction *reproduction);
    void (*write_settings)(FILE *file, const struct ar_plot_reproduction *reproduction);
};

extern const struct ar_plot_reproduced ar_plot_predicted;
extern const struct ar_plot_reproduced ar_plot_efficiency_published;
extern const struct ar_plot_reproduced ar_plot_time_to_train;
extern const struct ar_plot_reproduced ar_plot_sensitivity;

/* --- places: in pixels of the SVG, from the lower left ------------------------------------- */

enum {
    AR_PLOT_WIDTH = 720,
    AR_PLOT_TABLE_LINE = 14,
    AR_PLOT_PUBLISHED_MAX = 60,
    AR_PLOT_CURVES_MAX = 12
};

/** An axis from `min` to `max` that begins at pixel `from` and is `size` long. */
struct ar_plot_axis {
    double min, max;
    double from, size;
    bool is_log;
};

double ar_plot_axis_pixel(const struct ar_plot_axis *axis, double value);
double ar_plot_axis_value(const struct ar_plot_axis *axis, double pixel);

/** A point that wants a label beside it. */
struct ar_plot_spot {
    double x, y;              /**< of its mark */
    double bar_low, bar_high; /**< ends of its vertical bar */
    double width;             /**< of the label */
    double label_x, label_y;  /**< result: the middle of the label */
    bool has_leader;          /**< result: so far away that a line must lead there */
};

/** Places labels near their marks, clear of each other, of all marks and, if possible, of bars,
 * within the axes. */
void ar_plot_spots_place(struct ar_plot_spot *spots, size_t count, const struct ar_plot_axis *x,
                         const struct ar_plot_axis *y);

/** Width of the number of a row, or of its name, as a label. */
double ar_plot_number_width(size_t number);
double ar_plot_name_width(const char *name);

/* --- texts -------------------------------------------------------------------------------- */

/** The columns of a line of the table below a picture, and their cells for the row of line `line`
 * of `lines`. */
#define AR_PLOT_TABLE_COLUMNS                                                                      \
    "table_y,table_row,number,gpus_text,measured_text,predicted_text,band_text,error_text,row"
void ar_plot_write_table_cells(FILE *file, const struct ar_plot_published *row, size_t line,
                               size_t lines);

/** Writes the arrays `table_titles` and `table_algorithms` for the lines of the table, and the
 * height of its head. */
void ar_plot_write_table_texts(FILE *file, const struct ar_plot_published *const *rows,
                               size_t count);

/** Writes `curves_count`, `curves_names`, `curves_colours` and `curves_dashes`, by a point of each
 * curve, at most AR_PLOT_CURVES_MAX. Curves of one algorithm have one colour; their dashes tell
 * rows apart. */
void ar_plot_write_curve_styles(FILE *file, const struct ar_plot_curve_point *const *curves,
                                size_t count);

/** Pixel at which line i of a table of so many lines stands, and the top of the table with its
 * head.
 */
double ar_plot_table_line(size_t lines, size_t i);
double ar_plot_table_top(size_t lines);

/** Writes `set xtics (...);` or the like as ar_plot_write_log_ticks(), with a semicolon for the end
 * of the line, so that it may be a part of a text. */
void ar_plot_write_axis(FILE *file, const char *axis, const struct ar_plot_axis *range,
                        size_t max_count);

/** Writes `<name>[index] = '...'` with what `write` writes. */
void ar_plot_write_settings_text(FILE *file, const char *name, size_t index, const char *text);

#endif
