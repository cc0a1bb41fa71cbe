/** \file ar_plot_best.h
 * Which algorithm is the fastest at each payload and number of GPUs, and which one comes next.
 */
#ifndef AR_PLOT_BEST_H
#define AR_PLOT_BEST_H

#include <stdio.h>

#include "ar_plot_rows.h"

/** Times that differ by less are the same, since engines agree no better. */
#define AR_PLOT_BEST_SAME_FRAC 1e-6

/** Keeps the fastest row of each algorithm at each operation, GPU count and payload, in that order;
 * none if there are fewer than two algorithms, GPU counts or payloads. */
void ar_plot_best_pick(const struct ar_plot_table *table, struct ar_plot_rows *rows);

/** Writes a line for each operation, GPU count and payload: the fastest algorithm with its shape
 * and time, how many others take the same time, and the fastest of those that take longer, empty if
 * there is none. Of algorithms that take the same time the first one of the file is the fastest. */
void ar_plot_best_write(FILE *file, const struct ar_plot_table *table, struct ar_plot_rows rows);

#endif
