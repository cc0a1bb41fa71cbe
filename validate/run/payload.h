/** \file payload.h
 * What the ranks put in and what must come out.
 *
 * Which elements a rank begins with, and whose contributions it must end with, is said by the
 * operation (ar_operation.h), for the position that the rank has on each channel. Rank r puts into
 * element i a small integer, a hash of r and i modulo PAYLOAD_PERIOD; the period is prime and
 * larger than a cache, so that a part that ends up in the wrong place shows. What a rank does not
 * begin with is not a number; what it need not end with is not looked at. Sums that are expected
 * are formed from the integers, not from the elements. Values are so small that no sum of any
 * subset of the ranks is rounded.
 */
#ifndef AR_VALIDATE_PAYLOAD_H
#define AR_VALIDATE_PAYLOAD_H

#include "measurement.h"

enum { PAYLOAD_PERIOD = 65521 };

struct payload {
    const struct measurement *measurement;
    uint64_t period;          /**< elements of the pattern: the period, or all if they are fewer */
    const unsigned char *sum; /**< of all ranks, one period */
};

/** Elements of a rank that are alike. */
struct payload_stretch {
    struct ar_span span;
    bool holds;          /**< the rank begins with its own contribution */
    uint32_t wants;      /**< contributions of so many ranks; 0: not looked at */
    uint32_t *wanted_of; /**< ranks; NULL: of all */
};

/** What one rank begins and ends with. */
struct payload_view {
    const struct payload *payload;
    uint32_t rank;
    struct payload_stretch *stretches;
    size_t stretches_count;
};

/** The integer of a rank in an element. */
uint32_t payload_value(const struct element_type *type, uint32_t ranks, uint32_t rank,
                       uint64_t element);

/** Computes sums for a measurement, which must stay. AR_USAGE if there are more ranks than the type
 * can count. Memory is the arena's, here and below. */
enum ar_status payload_create(const struct measurement *measurement, struct ar_arena *arena,
                              struct payload *payload, struct ar_error *err);

/** Asks the operation what a rank begins and ends with. O(N) for operations without parts, else
 * O(N^2) on each channel. */
struct payload_view payload_see(const struct payload *payload, uint32_t rank,
                                struct ar_arena *arena);

/** Writes all elements of a rank. */
void payload_fill(const struct payload_view *view, unsigned char *buffer);

/** Compares every element of a buffer with what is expected there, and adds what is wrong to
 * `mismatch`, which keeps the first one it is given. */
void payload_check(const struct payload_view *view, const unsigned char *buffer,
                   struct mismatch *mismatch);

#endif
