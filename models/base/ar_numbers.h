/** \file ar_numbers.h
 * Order statistics, common divisors and multiples.
 */
#ifndef AR_BASE_NUMBERS_H
#define AR_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/** Sorts values in increasing order; none may be NAN. */
void ar_sort(double *values, size_t count);

/** The value below which `fraction` (0 to 1) of sorted values lie, linear between neighbours: that
 * at index fraction * (count - 1). The median has fraction 0.5. `count` is at least 1. */
double ar_quantile(const double *sorted, size_t count, double fraction);

/** The greatest count that divides both; 0 if both are 0. */
static inline uint32_t ar_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/** The least count above 0 that both divide, which must fit; both are above 0. */
static inline uint32_t ar_common_multiple(uint32_t a, uint32_t b)
{
    return a / ar_common_divisor(a, b) * b;
}

#endif
