/** \file ar_shape.h
 * The logical arrangement of the ranks of a collective, and the spans of a buffer.
 *
 * A shape is a grid of X columns by Y rows with X * Y = N, or one of up to four dimensions, X x Y x
 * Z x W. It is logical: it has nothing to do with wires. Position p of the grid is column p % X of
 * row p / X; the first dimension varies fastest. What X and Y mean is up to the algorithm: the flat
 * ring has X = N and Y = 1; the two-level algorithm has Y groups of X. Each channel of a collective
 * carries its own part of the buffer over the same shape in a rank order of its own (ar_order.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_error.h"

/** A run of elements of a buffer. */
struct ar_span {
    uint64_t first;
    uint64_t count;
};

/** Part `index` of `parts` of a span. The parts tile the span in order, differ by at most one
 * element, and the last part is never smaller than another (nothing is dropped when `parts` does
 * not divide the count). */
static inline struct ar_span ar_span_part(struct ar_span whole, uint32_t parts, uint32_t index)
{
    uint64_t quotient = whole.count / parts;
    uint64_t remainder = whole.count % parts;
    uint64_t begin = index * quotient + index * remainder / parts;
    uint64_t end = (index + 1ull) * quotient + (index + 1ull) * remainder / parts;
    return (struct ar_span){.first = whole.first + begin, .count = end - begin};
}

/** The elements of a message: a span, or some parts of one. Part i is there if (i - first) mod
 * period is below `run`, with period >= run; so `period` is that of stripes, or the number of parts
 * for a run that may go on at the beginning after the last part. */
struct ar_slice {
    uint64_t count; /**< elements of all its parts */
    struct ar_span whole;
    uint32_t parts; /**< of the whole; 1: the slice is all of it */
    uint32_t first, run, period;
};

/** All of a span. */
static inline struct ar_slice ar_slice_all(struct ar_span span)
{
    return (struct ar_slice){.count = span.count, .whole = span, .parts = 1, .run = 1, .period = 1};
}

/** The parts of `whole` that `first`, `run` and `period` say. O(1) but for stripes of a span that
 * its parts do not divide evenly, which take O(parts / period). */
struct ar_slice ar_slice_of_parts(struct ar_span whole, uint32_t parts, uint32_t first,
                                  uint32_t run, uint32_t period);

/** Goes through the spans that a slice is made of, in the order of their elements; spans beside
 * each other are one. `*part` is 0 before the first; returns false after the last. */
bool ar_slice_next(const struct ar_slice *slice, uint32_t *part, struct ar_span *span);

enum { AR_DIMENSIONS_MAX = 4, AR_PARTS_MAX = 1024 };

struct ar_shape {
    uint32_t x;     /**< columns */
    uint32_t y;     /**< rows */
    uint32_t z;     /**< of the third dimension, 0 as 1 */
    uint32_t w;     /**< of the fourth, 0 as 1 */
    uint32_t parts; /**< in which a buffer goes through trees and chains; 0: the standard ones */
};

/** The length of a dimension, 0 to AR_DIMENSIONS_MAX - 1. */
uint32_t ar_shape_length(const struct ar_shape *shape, uint32_t dimension);

/** N, the product of the lengths. */
uint32_t ar_shape_ranks(const struct ar_shape *shape);

/** Dimensions up to the last one that is longer than 1, at least 2. */
uint32_t ar_shape_dimensions(const struct ar_shape *shape);

bool ar_shape_equal(const struct ar_shape *a, const struct ar_shape *b);

enum { AR_SHAPE_TEXT = 48 };

/** Writes `XxY` with as many dimensions as it has; returns `text`. */
const char *ar_shape_format(const struct ar_shape *shape, char text[AR_SHAPE_TEXT]);
#define AR_SHOW_SHAPE(shape) ar_shape_format((shape), (char[AR_SHAPE_TEXT]){""})

/** Parses `XxY`, `XxYxZ` or `XxYxZxW` with a product below 2^32. `where` begins the error line. */
enum ar_status ar_shape_parse(const char *where, const char *text, struct ar_shape *shape,
                              struct ar_error *err);

/** The shape nearest to a square with x * y = ranks and x <= y (a prime gives 1 x N). */
struct ar_shape ar_shape_squarest(uint32_t ranks);
