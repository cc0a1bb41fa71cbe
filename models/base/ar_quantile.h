/** \file ar_quantile.h
 * Order statistics.
 */
#ifndef AR_BASE_QUANTILE_H
#define AR_BASE_QUANTILE_H

#include <stddef.h>

/** Sorts values in increasing order; none may be NAN. */
void ar_sort(double *values, size_t count);

/** The value below which `fraction` (0 to 1) of sorted values lie, linear between neighbours: that
 * of the place fraction * (count - 1). The median is that of 0.5. `count` is at least 1. */
double ar_quantile(const double *sorted, size_t count, double fraction);

#endif
