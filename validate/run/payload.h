/** \file payload.h
 * What the ranks put in and what must come out.
 *
 * Rank r holds in element i a small integer, a hash of r and i modulo PAYLOAD_PERIOD; the period is
 * prime and larger than a cache, so that a part that ends up in the wrong place shows. The sum that
 * is expected is formed from these integers, not from the elements. Values are so small that no sum
 * of any subset of the ranks is rounded.
 */
#ifndef AR_VALIDATE_PAYLOAD_H
#define AR_VALIDATE_PAYLOAD_H

#include "ar_arena.h"
#include "element.h"

enum { PAYLOAD_PERIOD = 65521 };

struct payload {
    const struct element_type *type;
    uint32_t ranks;
    uint64_t elements;
    uint64_t period; /**< elements of the pattern: the period, or all if they are fewer */
    const unsigned char *expected; /**< the sum, one period */
};

/** Where a result is not what it should be. */
struct mismatch {
    uint64_t wrong; /**< elements that are */
    uint32_t rank;  /**< the first one: who has it, where, what it is; valid if any is wrong */
    uint64_t element;
    double found;
    double expected;
};

/** The integer of a rank in an element. */
uint32_t payload_value(const struct element_type *type, uint32_t ranks, uint32_t rank,
                       uint64_t element);

/** Computes the expected sum, which is the arena's. AR_USAGE if there are more ranks than the type
 * can count. */
enum ar_status payload_create(const struct element_type *type, uint32_t ranks, uint64_t elements,
                              struct ar_arena *arena, struct payload *payload,
                              struct ar_error *err);

/** Writes all elements of a rank. */
void payload_fill(const struct payload *payload, uint32_t rank, unsigned char *buffer);

/** Compares every element of a buffer with the expected sum, and adds what is wrong to `mismatch`,
 * which keeps the first one it is given. */
void payload_check(const struct payload *payload, uint32_t rank, const unsigned char *buffer,
                   struct mismatch *mismatch);

#endif
