/** \file ar_plot_kind.h
 * The pictures: one row each of what it is called, which file it needs, and which of its rows and
 * columns it shows. How it looks is its template's matter (../templates/NAME.gp), which also
 * computes what axes and marks need; nothing is computed here but `crossover`, which is a result.
 */
#ifndef AR_PLOT_KIND_H
#define AR_PLOT_KIND_H

#include <stdio.h>

#include "ar_plot_rows.h"

/** A data file of a picture. */
struct ar_plot_part {
    enum ar_plot_file file;
    const char *name; /**< base name of the data file; that of its own input: the input is drawn */
    const char *columns; /**< copied into it, separated by commas */
    /** Leaves the rows to be drawn, none if the picture makes no sense; NULL: all. */
    void (*pick)(const struct ar_plot_table *table, struct ar_plot_rows *rows);
};

enum { AR_PLOT_PARTS = 2, AR_PLOT_KINDS = 13 };

struct ar_plot_kind {
    const char *name;          /**< base name of its files */
    const char *template_name; /**< without ending */
    enum ar_plot_set set;
    bool has_text_version;
    bool has_all_batches;     /**< shows rows of all batches, precisions and gradient scales */
    const char *facts;        /**< columns whose values stand below the title, by commas */
    const char *settings;     /**< lines for the head of the script, or "" */
    const char *empty_reason; /**< why it is left out when no part has rows */
    struct ar_plot_part parts[AR_PLOT_PARTS]; /**< the second may be without name: there is none */
    /** Writes the first part's file instead of copying columns; NULL: copied. */
    void (*write)(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows);
};

extern const struct ar_plot_kind *const ar_plot_kinds[AR_PLOT_KINDS];

/** One of the kinds is the crossover (ar_plot_crossover.h). */
extern const struct ar_plot_kind ar_plot_crossover;

#endif
