/** \file ar_plot_crossover.h
 * From how many GPUs on a grid is faster than the flat ring, by payload and batch.
 */
#ifndef AR_PLOT_CROSSOVER_H
#define AR_PLOT_CROSSOVER_H

#include <stdio.h>

#include "ar_plot_rows.h"

/** A gain of this part of the grid's step is worth a change of algorithm (chosen, not measured). */
#define AR_PLOT_CROSSOVER_CLEAR_FRAC 0.05

/** The algorithms that are compared: the challenger on its best grid, and the champion. */
#define AR_PLOT_CROSSOVER_GRID "torus2d"
#define AR_PLOT_CROSSOVER_RING "ring"

/** One payload (with its precision) and one batch. */
struct ar_plot_crossing {
    size_t row;        /**< one of its rows: has precision, payload, batch and scale */
    double from_gpus;  /**< the grid is faster there and at all larger counts; 0: never */
    double clear_gpus; /**< the same, by AR_PLOT_CROSSOVER_CLEAR_FRAC of the step at least */
    double min_gpus, max_gpus; /**< GPU counts above 1 at which both algorithms have a row */
};

/** Keeps the rows of both algorithms, the fastest for each precision, payload, batch, count and
 * algorithm, in that order; none if there are fewer than two crossings. */
void ar_plot_crossover_pick(const struct ar_plot_table *table, struct ar_plot_rows *rows);

/** Reads the crossing that begins at row `*next` of such a list, and moves on to the next one.
 * Equal to 1e-6 is not faster, since engines agree no better. False: fewer than two counts have
 * both algorithms, so that nothing can be said. */
bool ar_plot_crossover_next(const struct ar_plot_table *table, struct ar_plot_rows rows,
                            size_t *next, struct ar_plot_crossing *crossing);

/** Writes a line for each of them. */
void ar_plot_crossover_write(FILE *file, const struct ar_plot_table *table,
                             struct ar_plot_rows rows);

#endif
