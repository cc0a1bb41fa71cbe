/** \file ar_numbers.h
 * Order statistics, later times, common divisors and multiples, hashes, and the one clock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/** -1, 0 or 1 where `a` is less than, equal to or greater than `b`, as qsort() asks. */
#define AR_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/** Defines `name`, which compares elements of `type` for qsort() by the first key that tells them
 * apart. A key is one of the three below, or another comparison of `*a` with `*b`. */
#define AR_ORDER(name, type, ...)                                                                  \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = left;                                                                      \
        const type *b = right;                                                                     \
        const int orders[] = {__VA_ARGS__};                                                        \
        size_t key = 0;                                                                            \
        while (orders[key] == 0 && key + 1 < sizeof orders / sizeof orders[0]) {                   \
            key++;                                                                                 \
        }                                                                                          \
        return orders[key];                                                                        \
    }

#define AR_RISES(member)  AR_COMPARE(a->member, b->member)
#define AR_FALLS(member)  AR_COMPARE(b->member, a->member)
#define AR_SPELLS(member) strcmp(a->member, b->member) /* texts */

/** Sorts values in increasing order; none may be NAN. */
void ar_sort(double *values, size_t count);

/** The value below which `fraction` (0 to 1) of sorted values lie, linear between neighbours: that
 * at index fraction * (count - 1). The median has fraction 0.5. `count` is at least 1. */
double ar_quantile(const double *sorted, size_t count, double fraction);

/** The later of two times, without fmax()'s care for NAN, so that loops become vector code. */
static inline double ar_later_s(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

/** The last of some times, none of which is below 0; 0 of none. */
static inline double ar_last_s(const double *times_s, size_t count)
{
    double last_s[4] = {0}; /* of every fourth one: comparisons need not wait for each other */
    for (size_t i = 0; i < count / 4 * 4; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            last_s[k] = ar_later_s(last_s[k], times_s[i + k]);
        }
    }
    for (size_t i = count / 4 * 4; i < count; i++) {
        last_s[0] = ar_later_s(last_s[0], times_s[i]);
    }
    return ar_later_s(ar_later_s(last_s[0], last_s[1]), ar_later_s(last_s[2], last_s[3]));
}

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

/** A hash that tells whether two runs are about the same thing (FNV-1a, 64 bits). */
#define AR_HASH_BEGIN 0xcbf29ce484222325u /* FNV's offset basis */

static inline void ar_hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * 0x100000001b3u;
    }
}

/** Hashes a text with its end, so that "ab" and "c" differ from "a" and "bc". */
static inline void ar_hash_text(uint64_t *hash, const char *text)
{
    ar_hash_bytes(hash, text, strlen(text) + 1);
}

/** Seconds since some moment; it never goes back. */
static inline double ar_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
