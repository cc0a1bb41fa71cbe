/** \file sizes.h
 * Types of numbers, and how many elements the gradients have.
 */
#ifndef AR_KINETO_SIZES_H
#define AR_KINETO_SIZES_H

#include "steps.h"

/** Bytes of a type as PyTorch calls it ("Float", "c10::Half"), 0 if it is not known. */
uint32_t kineto_type_bytes(const char *type);

/** Its precision; false if it has none here. */
bool kineto_type_precision(const char *type, enum ar_precision *precision);

/** Where the sizes of gradients come from. */
enum kineto_sizes { KINETO_SIZES_SHAPES, KINETO_SIZES_PARAMETERS, KINETO_SIZES_BUCKETS };

/** The elements of each arrival of a step; 0 for those that are not known or not of its last
 * backward pass. AR_BAD_DATA if nothing is known, or `parameters` (NULL: none) are others. */
enum ar_status kineto_sizes_find(const struct kineto_steps *steps, const struct kineto_step *step,
                                 const struct ar_trace *parameters, struct ar_arena *arena,
                                 uint64_t **elements, enum kineto_sizes *from,
                                 struct ar_error *err);

/** How many arrivals are of the last backward pass: the last ones. */
size_t kineto_sizes_count(const struct kineto_steps *steps, const struct kineto_step *step);

#endif
