/** \file condition.h
 * Rows that may be compared: those that differ in choices only.
 */
#ifndef AR_PLOT_CONDITION_H
#define AR_PLOT_CONDITION_H

#include <stdio.h>

#include "ar_plot_rows.h"

/** Keeps the rows of one combination of batch, precision, gradient scale, wire, framework,
 * settings, jitter and seed: that of the first row, by preference the first one of gradient
 * scale 1. With `has_all_batches` rows may differ in the first three. */
void ar_plot_condition_keep(const struct ar_plot_table *table, bool has_all_batches,
                            struct ar_plot_rows *rows);

/** Says which combination that is; nothing if there is only one. Sorts `rows`, which are all. */
void ar_plot_condition_say(const struct ar_plot_table *table, struct ar_plot_rows rows, char *text,
                           size_t size);

#endif
