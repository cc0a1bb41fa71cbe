/** \file plot_crossover.h
 * From how many GPUs on a grid is faster than the flat ring, by payload and batch.
 */
#ifndef AR_PLOT_CROSSOVER_H
#define AR_PLOT_CROSSOVER_H

#include <stdbool.h>

#include "plot_pick.h"

/** A gain of this part of the grid's step is worth a change of algorithm (chosen, not measured). */
#define AR_PLOT_CROSSOVER_CLEAR_FRAC 0.05

enum { AR_PLOT_CROSSOVER_BATCHES = 16, AR_PLOT_CROSSOVER_PAYLOADS = 24 };

/** One payload (with its precision) and one batch. */
struct ar_plot_crossing {
    const struct ar_plot_row *row; /**< has precision, payload, batch and gradient scale */
    uint64_t from_gpus;  /**< the grid is faster there and at all larger counts; 0: never */
    uint64_t clear_gpus; /**< the same, by AR_PLOT_CROSSOVER_CLEAR_FRAC of the step at least */
    uint64_t min_gpus, max_gpus; /**< GPU counts above 1 at which both algorithms have a row */
    size_t column, line;         /**< place of the batch and of the payload, from 0 */
};

/** The crossings of a table, in order of precision, payload and batch. */
struct ar_plot_crossings {
    struct ar_plot_crossing cells[AR_PLOT_CROSSOVER_BATCHES * AR_PLOT_CROSSOVER_PAYLOADS];
    size_t count;
    size_t columns, lines; /**< distinct batches; distinct pairs of precision and payload */
    bool is_too_many;      /**< more of them than the above */
};

/** Finds, for each payload and batch, the smallest GPU count from which on the fastest grid of
 * torus2d has a smaller iteration_s than the flat ring. Equal to 1e-6 is not faster, since engines
 * agree no better. `pick` is that of ar_plot_pick_crossing(). Payloads and batches without two
 * counts to compare are left out; without ring and torus2d there are none. */
void ar_plot_crossings_find(const struct ar_plot_pick *pick, const struct ar_plot_names *algorithms,
                            struct ar_plot_crossings *crossings);

/** The rows of ar_plot_pick_crossing(), none if there are fewer than two crossings or too many. */
enum ar_status ar_plot_pick_crossover(const struct ar_plot_table *table,
                                      const struct ar_plot_names *engines,
                                      struct ar_plot_pick *pick, struct ar_error *err);

#endif
