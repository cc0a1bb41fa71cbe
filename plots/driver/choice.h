/** \file choice.h
 * Rows that may be drawn as one: those that differ only in what a picture shows.
 */
#ifndef AR_PLOT_CHOICE_H
#define AR_PLOT_CHOICE_H

#include "ar_plot_rows.h"

/** Keeps the rows of all tables for which `where`, KEY=VALUE[,KEY=VALUE], holds. A key is a column
 * of a file, or one of the settings that stand in the column `settings`; `none` is an empty cell. A
 * table in which no row says anything of the key stays as it is. AR_USAGE for a key that no file
 * has, or a value that no row has; the line says which there are. */
enum ar_status ar_plot_choose(const char *where, struct ar_arena *arena,
                              struct ar_plot_table *tables, size_t tables_count,
                              struct ar_error *err);

/** Why the rows of a table are not to be drawn as one, the arena's: which columns have several
 * values that the picture does not show, and what to choose; NULL if they may be. All must agree on
 * machine, workload, framework, settings, jitter; with `has_all_batches` they may differ in batch,
 * precision and gradient scale. Rows of the same point (algorithm, GPUs, shape, payload) must agree
 * on bucket, channels, window and engine. */
enum ar_status ar_plot_check_alike(const struct ar_plot_table *table, bool has_all_batches,
                                   struct ar_arena *arena, const char **reason,
                                   struct ar_error *err);

enum ar_plot_series {
    AR_PLOT_UNNAMED,      /**< too many to be told apart */
    AR_PLOT_NAMED,        /**< an algorithm, and what else rows differ in: `ring+zero1` */
    AR_PLOT_NAMED_FASTEST /**< what rows differ in, each at its fastest algorithm: `zero1` */
};

/** A copy of a table, the arena's, in which the algorithm of a row is followed, or replaced, by
 * whatever else rows must not differ in, such as `ring+zero1` or `ssp:3+servers=4`, so that they
 * may be drawn as series of one picture. */
enum ar_status ar_plot_name_series(const struct ar_plot_table *table, struct ar_arena *arena,
                                   struct ar_plot_table *named, enum ar_plot_series *series,
                                   struct ar_error *err);

#endif
