/** \file ar_multiple.h
 * Common divisors and multiples of counts.
 */
#ifndef AR_BASE_MULTIPLE_H
#define AR_BASE_MULTIPLE_H

#include <stdint.h>

/** The greatest count that divides both; 0 of two zeros. */
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
