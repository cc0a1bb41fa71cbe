/** \file verify_sets.h
 * Private to verify*.c: the sets of contributions while moves are executed on them.
 */
#ifndef AR_VERIFY_SETS_H
#define AR_VERIFY_SETS_H

#include "ar_algorithm.h"

/** The sets of contributions of all elements of all ranks, one bit per contributing rank. */
struct sets {
    const struct ar_algorithm *algorithm;
    const struct ar_shape *shape;
    uint32_t ranks;
    uint64_t elements;
    size_t words;     /**< 64-bit words of one set */
    uint64_t *now;    /**< [rank][element][word] */
    uint64_t *before; /**< the same, before the step */
    uint32_t *part; /**< [element]: of a pipeline that it is in, counted from 1; 0: not seen yet */
    uint64_t *sums; /**< [element][word]: of a switch */
    uint8_t *state; /**< [element]: of a switch */
};

static inline uint64_t *set_of(const struct sets *sets, uint64_t *all, uint32_t rank,
                               uint64_t element)
{
    return all + (rank * sets->elements + element) * sets->words;
}

static inline struct ar_move move_of(const struct sets *sets, uint32_t rank, uint32_t step)
{
    return ar_algorithm_move(sets->algorithm, sets->shape, sets->elements, rank, step);
}

/** Reports what is wrong with the move of a rank. */
enum ar_status verify_broken(const struct sets *sets, uint32_t step, uint32_t rank,
                             const char *what, struct ar_error *err);

/** Within the buffer, and of as many elements as it says. */
bool verify_is_sound(const struct sets *sets, const struct ar_slice *slice);

/** Executes a step of a phase of sums, on a part of its pipeline; adds to the messages. */
enum ar_status verify_sums(const struct sets *sets, uint32_t step, uint32_t part,
                           uint64_t *messages, struct ar_error *err);

#endif
