/** \file plot_condition.h
 * Rows that may be compared: one batch, one precision, one gradient scale.
 */
#ifndef AR_PLOT_CONDITION_H
#define AR_PLOT_CONDITION_H

#include "plot_table.h"

/** Copies the rows of the first condition of a table, by preference the first one whose gradients
 * are those of the trace; `count` is the number of conditions. `chosen` is freed with
 * ar_plot_table_clear(). */
enum ar_status ar_plot_condition_choose(const struct ar_plot_table *table,
                                        struct ar_plot_table *chosen, size_t *count,
                                        struct ar_error *err);

#endif
