/** \file plot_script.h
 * The data and the settings of each picture, as text for gnuplot.
 *
 * A script is: comment, settings (this file), `style.gp`, the picture's template. Everything that
 * takes a decision or a computation (ranges, ticks, labels, positions of bars) is settled here, so
 * that templates only draw.
 */
#ifndef AR_PLOT_SCRIPT_H
#define AR_PLOT_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

#include "ar_plot.h"
#include "plot_pick.h"

/** What a picture shows. */
struct ar_plot_scene {
    const struct ar_plot_subject *subject;
    const struct ar_plot_names *algorithms, *engines;
    const struct ar_plot_pick *pick; /**< at least one row */
};

/** One picture: a row of the table of pictures. */
struct ar_plot_drawing {
    const char *name;      /**< base name of template and files */
    const char *data_name; /**< base name of its data file */
    enum ar_plot_kind kind;
    bool has_text_version;
    bool has_all_conditions;  /**< shows all batches, precisions and gradient scales */
    const char *empty_reason; /**< why there is nothing to draw, when the pick is empty */
    enum ar_status (*pick)(const struct ar_plot_table *table, const struct ar_plot_names *engines,
                           struct ar_plot_pick *pick, struct ar_error *err);
    void (*write_data)(FILE *file, const struct ar_plot_scene *scene);
    void (*write_settings)(FILE *file, const struct ar_plot_scene *scene);
};

/** The pictures, in the order of the report. */
extern const struct ar_plot_drawing *const ar_plot_drawings[AR_PLOT_PICTURES];

extern const struct ar_plot_drawing ar_plot_efficiency;
extern const struct ar_plot_drawing ar_plot_throughput;
extern const struct ar_plot_drawing ar_plot_shapes;
extern const struct ar_plot_drawing ar_plot_breakdown;
extern const struct ar_plot_drawing ar_plot_payload;
extern const struct ar_plot_drawing ar_plot_shapes_counts;
extern const struct ar_plot_drawing ar_plot_crossover;

/* --- pieces the pictures share ------------------------------------------------------------ */

/** A labelled place on an axis. */
struct ar_plot_tick {
    double value;
    char label[AR_PLOT_NAME + 32];
};

/** The columns every data file begins with. */
#define AR_PLOT_LEAD_COLUMNS "gpus,algorithm,shape,engine"

/** Writes the cells of these columns. */
void ar_plot_write_lead(FILE *file, const struct ar_plot_scene *scene,
                        const struct ar_plot_row *row);

enum { AR_PLOT_BASELINE_TEXT = AR_PLOT_NAME + 16 };

/** Says what 100 % is (`100 % = one GPU`); returns `text`. */
const char *ar_plot_baseline_text(const struct ar_plot_scene *scene,
                                  char text[AR_PLOT_BASELINE_TEXT]);

/** Writes a text in single quotes, inner ones doubled; control characters become spaces and bytes
 * that are no UTF-8 question marks. */
void ar_plot_write_quoted(FILE *file, const char *text);

/** Writes `name = 'text'`, quoted so. */
void ar_plot_write_text(FILE *file, const char *name, const char *text);

/** Writes the array `name` and its count, `name_count`; gnuplot has no arrays of length 0. */
void ar_plot_write_texts(FILE *file, const char *name, const char *const *texts, size_t count);

/** Cuts a text to `max` bytes, at least 3, ending in `...`, between characters. */
void ar_plot_cut_text(char *text, size_t max);

/** Writes the arrays `algorithms` and `styles` of the algorithms in the pick, `engines`, and the
 * extent of the key. With `grids_only`, algorithms without a grid go to `references` and
 * `reference_styles`. Each array has a count beside it, since gnuplot knows no empty ones. */
void ar_plot_write_series(FILE *file, const struct ar_plot_scene *scene, bool grids_only);

/** Writes `key_columns` and `key_rows` for a key of so many entries, the longest of so many
 * letters; ar_plot_write_series() does it itself. */
void ar_plot_write_key(FILE *file, size_t entries_count, size_t longest);

/** Says that the curve of an algorithm with grids shows its best one; NULL when none has grids. */
const char *ar_plot_grid_note(const struct ar_plot_scene *scene);

/** Writes the array `subtitle`: the pieces (NULL ones are left out) joined by commas and broken
 * into lines; the engines of the pick are added. */
void ar_plot_write_subtitle(FILE *file, const struct ar_plot_scene *scene,
                            const char *const *pieces, size_t pieces_count);

/** The same with cluster, trace, batch and precision of the scene before the notes; a note may be
 * NULL. */
void ar_plot_write_step_subtitle(FILE *file, const struct ar_plot_scene *scene, const char *note,
                                 const char *other_note);

/** Writes `set <axis> (...)`. A tick closer than a `1 / max_count` part of the axis to another one
 * is left out; `first` is always kept and the others follow in order. Logarithmic axes only. */
void ar_plot_write_ticks(FILE *file, const char *axis, const struct ar_plot_tick *ticks,
                         size_t ticks_count, size_t first, size_t max_count);

/** Ticks at the GPU counts of the pick: powers of two, or all counts when few are powers. */
void ar_plot_write_gpu_ticks(FILE *file, const struct ar_plot_scene *scene);

/** Ticks of a logarithmic axis between `min` and `max`: powers of ten, with 2 and 5 between
 * them, or multiples of a round step, whichever suits the range. Labels have the prefixes k, M, G
 * and `unit`, or plain numbers when `unit` is NULL. */
void ar_plot_write_log_ticks(FILE *file, const char *axis, double min, double max,
                             const char *unit);

/** The same with at most so many labels, for small panels. */
void ar_plot_write_few_log_ticks(FILE *file, const char *axis, double min, double max,
                                 const char *unit, size_t max_count);

/** Writes `<axis>_min` and `<axis>_max`: the extremes stretched by a factor; twice as much when
 * they coincide. */
void ar_plot_write_range(FILE *file, const char *axis, double min, double max, double stretch);

#endif
