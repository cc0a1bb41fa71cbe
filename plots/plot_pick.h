/** \file plot_pick.h
 * Which rows of a table a picture shows.
 */
#ifndef AR_PLOT_PICK_H
#define AR_PLOT_PICK_H

#include "plot_table.h"

/** Chosen rows; they point into the table, which must outlive the pick. */
struct ar_plot_pick {
    const struct ar_plot_row **rows;
    size_t rows_count;
};

/** A chosen row per algorithm and GPU count: the least iteration_s. In order of algorithm, then
 * GPUs. */
enum ar_status ar_plot_pick_curves(const struct ar_plot_table *table,
                                   const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                   struct ar_error *err);

/** At the largest GPU count where some algorithm ran on several grids X x Y: a row per algorithm
 * and grid, the least allreduce_s, in order of algorithm, then X; algorithms without grids
 * contribute the row of least allreduce_s. Empty when no count has several grids. */
enum ar_status ar_plot_pick_shapes(const struct ar_plot_table *table,
                                   const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                   struct ar_error *err);

enum { AR_PLOT_PANELS_MAX = 6 };

/** The same at up to six GPU counts with several grids, the largest and the smallest among them, in
 * order of GPUs, algorithm and X. Empty when fewer than two counts have several grids. */
enum ar_status ar_plot_pick_shapes_counts(const struct ar_plot_table *table,
                                          const struct ar_plot_names *engines,
                                          struct ar_plot_pick *pick, struct ar_error *err);

/** A row per precision, payload, batch, GPU count and algorithm, in that order: the least
 * iteration_s. */
enum ar_status ar_plot_pick_crossing(const struct ar_plot_table *table,
                                     const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                     struct ar_error *err);

/** Curves at up to four GPU counts, the largest and the smallest among them, in order of GPUs, then
 * algorithm; fewer counts when there are many algorithms, so that bars stay readable. */
enum ar_status ar_plot_pick_breakdown(const struct ar_plot_table *table,
                                      const struct ar_plot_names *engines,
                                      struct ar_plot_pick *pick, struct ar_error *err);

/** At the largest GPU count: a row per algorithm and payload, the least allreduce_s, in order of
 * algorithm, then payload. A payload or a time of zero has no place on a logarithmic axis and is
 * left out. */
enum ar_status ar_plot_pick_payloads(const struct ar_plot_table *table,
                                     const struct ar_plot_names *engines, struct ar_plot_pick *pick,
                                     struct ar_error *err);

/** Frees the array of the pick; a zeroed pick is allowed. */
void ar_plot_pick_clear(struct ar_plot_pick *pick);

/** The row of a pick with the least allreduce_s among those on a grid; NULL when none is. */
const struct ar_plot_row *ar_plot_pick_best_grid(const struct ar_plot_pick *pick);

#endif
