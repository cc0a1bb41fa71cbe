/** \file payload.h
 * The contents of the ranks' buffers before and after a collective.
 *
 * The operation (ar_operation.h) decides which elements a rank begins with, and whose contributions
 * it must end with, for the position that the rank has on each channel. Rank r begins with a small
 * integer in element i, a hash of r and i modulo PAYLOAD_PERIOD; the period is prime and larger
 * than a cache, so that a part in the wrong place is noticed. Elements that a rank does not begin
 * with are NaN; elements that it need not end with are not checked. Expected sums are formed from
 * the integers, not from the elements. Values are so small that no sum of any subset of the ranks
 * is rounded.
 */
#pragma once

#include "measurement.h"

enum { PAYLOAD_PERIOD = 65521 };

struct payload {
    const struct measurement *measurement;
    uint64_t period;          /**< elements of the pattern: the period, or all if they are fewer */
    const unsigned char *sum; /**< the sum over all ranks, one period */
};

/** Consecutive elements of a rank with the same rank or ranks as contributors. */
struct payload_stretch {
    struct ar_span span;
    bool holds;          /**< the rank begins with its own contribution */
    uint32_t wants;      /**< number of contributors at the end; 0: not checked */
    uint32_t *wanted_of; /**< the contributors; NULL: all ranks */
};

/** The expected contents of one rank. */
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

/** Asks the operation for the contents of a rank; O(N), with parts O(N^2) a channel. */
struct payload_view payload_see(const struct payload *payload, uint32_t rank,
                                struct ar_arena *arena);

/** Writes all elements of a rank. */
void payload_fill(const struct payload_view *view, unsigned char *buffer);

/** Writes what each element should be at the end; all ones where it is not checked. */
void payload_expect(const struct payload_view *view, unsigned char *buffer);

/** Compares every element of a buffer with its expected value and adds the wrong ones to
 * `mismatch`, which describes the first. */
void payload_check(const struct payload_view *view, const unsigned char *buffer,
                   struct mismatch *mismatch);
