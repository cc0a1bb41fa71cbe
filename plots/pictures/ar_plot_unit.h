/** \file ar_plot_unit.h
 * Cells of result files as people read them: names of columns end with their SI unit (`busy_s`,
 * `payload_bytes`, `busbw_Bps`, `error_frac`), values have nine digits.
 */
#ifndef AR_PLOT_UNIT_H
#define AR_PLOT_UNIT_H

#include <stddef.h>
#include <stdio.h>

/** How a column is shown. */
struct ar_plot_unit {
    size_t name_size; /**< bytes of the name before the ending that the unit stands for */
    const char *name; /**< `ms`; empty: none, values are shown as they are */
    double factor;    /**< from the SI unit to that one */
};

/** The unit of a column in which its largest magnitude, `max`, is at least 1, if there is one. */
struct ar_plot_unit ar_plot_unit_of(const char *column, double max);

/** Writes a cell in a unit, numbers with four significant digits and without exponent where that
 * is shorter; whole numbers without unit, and what is no number, are as they are, escaped for HTML.
 */
void ar_plot_write_value(FILE *file, const char *cell, struct ar_plot_unit unit);

/** The number that a cell is, NAN if it is none. */
double ar_plot_number_of(const char *cell);

#endif
