/** \file ar_plot_rows.h
 * Which rows of a table a picture shows. All functions shorten or sort a list in place.
 */
#ifndef AR_PLOT_ROWS_H
#define AR_PLOT_ROWS_H

#include "ar_plot_table.h"

enum { AR_PLOT_KEYS_MAX = 8 };

/** Columns, ended by NULL; at most AR_PLOT_KEYS_MAX. */
typedef const char *const ar_plot_keys[];

/** A copy of all rows of a table with status ok. */
enum ar_status ar_plot_rows_all(const struct ar_plot_table *table, struct ar_arena *arena,
                                struct ar_plot_rows *rows, struct ar_error *err);

/** Sorts the rows by the keys (numbers rise, texts are in order of appearance) and keeps, of those
 * that are alike in all keys, the one with the least `least`, the first of equal ones. */
void ar_plot_rows_best(const struct ar_plot_table *table, const char *const *keys,
                       const char *least, struct ar_plot_rows *rows);

/** Keeps the rows whose value is in a range (NAN is in none). */
void ar_plot_rows_within(const struct ar_plot_table *table, const char *column, double min,
                         double max, struct ar_plot_rows *rows);

/** Keeps up to `max` rows, those of the largest magnitude above 0, and sorts them by `group`, then
 * by magnitude, the largest first. */
void ar_plot_rows_largest(const struct ar_plot_table *table, const char *column, const char *group,
                          size_t max, struct ar_plot_rows *rows);

/** Keeps the rows whose cell is a text. */
void ar_plot_rows_of(const struct ar_plot_table *table, const char *column, const char *text,
                     struct ar_plot_rows *rows);

/** How many combinations of values the keys have among the rows, which are sorted by them. */
size_t ar_plot_rows_groups(const struct ar_plot_table *table, const char *const *keys,
                           struct ar_plot_rows rows);

/** Whether a column has several values among the rows. */
bool ar_plot_rows_vary(const struct ar_plot_table *table, size_t column, struct ar_plot_rows rows);

/** Keeps so many GPU counts, spread evenly, ends included; the rows are in order of them. */
void ar_plot_rows_spread(const struct ar_plot_table *table, size_t wanted,
                         struct ar_plot_rows *rows);

#endif
