/** \file ar_plot_kind.h
 * The pictures: one row each of what it is called, which file it needs, and which of its rows and
 * columns it shows. How it looks is its template's matter (../templates/NAME.gp), which also
 * computes what axes and marks need; nothing is computed here but `crossover` and `best`, which are
 * results.
 */
#ifndef AR_PLOT_KIND_H
#define AR_PLOT_KIND_H

#include <stdio.h>

#include "ar_plot_rows.h"

/** A data file of a picture. */
struct ar_plot_part {
    enum ar_plot_file file;
    const char *name; /**< base name of the data file; that of its own input: the input is drawn */
    enum ar_plot_column columns[20]; /**< copied into it */
    const char *quantity;            /**< only rows of this one; NULL: all */
    enum ar_plot_column above_0[3];  /**< only rows in which these are above zero */
    /** Of the rows that are alike in `keys` the one with the least `least` is shown, in order of
     * the keys; without keys all, in the order of the file. */
    enum ar_plot_column keys[4], least;
    /** Leaves fewer of them, none if the picture makes no sense; NULL: all stay. */
    void (*narrow)(const struct ar_plot_table *table, struct ar_plot_rows *rows);
    /** Writes the file instead of copying columns; NULL: copied. */
    void (*write)(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows);
};

enum { AR_PLOT_PARTS = 2, AR_PLOT_KINDS = 20 };

struct ar_plot_kind {
    const char *name;          /**< base name of its files */
    const char *template_name; /**< without ending; NULL: its own name */
    bool has_text_version;
    bool has_series;               /**< rows that differ in more than their algorithm are series */
    bool has_all_batches;          /**< shows rows of all batches, precisions and gradient scales */
    enum ar_plot_column facts[10]; /**< columns whose values stand below the title; others, too, if
                                      they are not as usual */
    const char *settings;          /**< lines for the head of the script, or NULL */
    const char *empty_reason;      /**< why it is left out when no part has rows */
    struct ar_plot_part parts[AR_PLOT_PARTS]; /**< the second may be without name: there is none */
};

extern const struct ar_plot_kind ar_plot_kinds[AR_PLOT_KINDS];

/** Leaves the rows of a table that a part shows. */
void ar_plot_pick(const struct ar_plot_part *part, const struct ar_plot_table *table,
                  struct ar_plot_rows *rows);

#endif
