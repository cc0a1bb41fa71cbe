/** \file ar_plot_rows.h
 * Which rows of a table a picture shows. All functions shorten or sort a list in place; lists of
 * columns are ended by AR_COL_END.
 */
#ifndef AR_PLOT_ROWS_H
#define AR_PLOT_ROWS_H

#include "ar_plot_table.h"

/** A copy of all rows of a table with status ok. */
enum ar_status ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena,
                                struct ar_plot_rows *rows, struct ar_error *err);

/** Sorts the rows by the keys (numbers rise, texts are in order of appearance) and keeps, of those
 * that are alike in all keys, the one with the least `least`, the first of equal ones. */
void ar_plot_rows_best(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                       enum ar_plot_column least, struct ar_plot_rows *rows);

/** Keeps the rows whose value is in a range (NAN is in none). */
void ar_plot_rows_within(const struct ar_plot_table *table, enum ar_plot_column column, double min,
                         double max, struct ar_plot_rows *rows);

/** Keeps up to `max` rows, those of the largest magnitude, `min` at the least, and sorts them by
 * `group`, then by magnitude, the largest first. */
void ar_plot_rows_largest(const struct ar_plot_table *table, enum ar_plot_column column,
                          enum ar_plot_column group, double min, size_t max,
                          struct ar_plot_rows *rows);

/** Keeps the rows whose cell is one of the texts, of which the second may be NULL. */
void ar_plot_rows_of(const struct ar_plot_table *table, enum ar_plot_column column,
                     const char *text, const char *other, struct ar_plot_rows *rows);

/** Rows from `first` on that are alike in all keys, by which the rows are sorted. */
size_t ar_plot_rows_alike(const struct ar_plot_table *table, const enum ar_plot_column *keys,
                          struct ar_plot_rows rows, size_t first);

/** Whether a column has several values among the rows. */
bool ar_plot_rows_vary(const struct ar_plot_table *table, enum ar_plot_column column,
                       struct ar_plot_rows rows);

/** How many GPU counts there are among the rows, which are in order of them. */
size_t ar_plot_rows_counts(const struct ar_plot_table *table, struct ar_plot_rows rows);

/** Keeps so many GPU counts, spread evenly, ends included. */
void ar_plot_rows_spread(const struct ar_plot_table *table, size_t wanted,
                         struct ar_plot_rows *rows);

#endif
