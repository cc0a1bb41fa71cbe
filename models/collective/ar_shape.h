/** \file ar_shape.h
 * The logical arrangement of the ranks of a collective, and the spans of a buffer.
 *
 * A shape is a grid of X columns by Y rows with X * Y = N. It is logical: it says nothing about
 * wires. Position p of the grid is column p % X of row p / X. What X and Y mean is up to the
 * algorithm: the flat ring has X = N and Y = 1; the two-level algorithm has groups of X and Y of
 * them; the 2D torus has rows of X and columns of Y.
 *
 * A collective may run on several channels. Each channel carries its own part of the buffer over
 * the same shape but with a rank order of its own, so that the links and HCAs of a node share the
 * work (see ar_order_rank()).
 */
#ifndef AR_SHAPE_H
#define AR_SHAPE_H

#include <stdint.h>

#include "ar_error.h"
#include "ar_gpu_order.h"

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

struct ar_shape {
    uint32_t x; /**< columns */
    uint32_t y; /**< rows */
};

/** N = X * Y. */
static inline uint32_t ar_shape_ranks(const struct ar_shape *shape)
{
    return shape->x * shape->y;
}

enum { AR_SHAPE_TEXT = 24 };

/** Writes `XxY`; returns `text`. */
const char *ar_shape_format(const struct ar_shape *shape, char text[AR_SHAPE_TEXT]);

/** Parses `XxY` with X * Y below 2^32. `where` begins the error line. */
enum ar_status ar_shape_parse(const char *where, const char *text, struct ar_shape *shape,
                              struct ar_error *err);

/** The shape nearest to a square with x * y = ranks and x <= y (a prime gives 1 x N). */
struct ar_shape ar_shape_squarest(uint32_t ranks);

/** Groups of one node, or of all ranks if they do not fill one; ranks that do not fill whole nodes
 * fall into groups of the largest divisor of N that fits a node. */
struct ar_shape ar_shape_groups(uint32_t ranks, uint32_t gpus_per_node);

/** How ranks are laid over the nodes, for the rank orders of the channels. */
struct ar_order {
    uint32_t ranks;
    uint32_t gpus_per_node; /**< the last node may be filled in part */
    uint32_t channels;
    uint32_t mirror_group; /**< 0: none. Else the second half of the channels, the smaller one if
                                their number is odd, see the groups mirrored */
    const struct ar_gpu_orders
        *gpu_orders; /**< of full nodes of `gpus_per_node`; NULL: the plain zigzags */
};

/** The rank that stands at a position of a channel.
 *
 * A channel never moves a rank to another node: it permutes the GPUs within each node. (A mirrored
 * one then takes groups of `mirror_group` positions in the reverse order, or, if the number of
 * groups is odd, moves all of them on by one.)
 *
 * With `gpu_orders`, a channel takes the GPUs of a node in its order (ar_gpu_order.h): along
 * NVLinks, and so that every HCA is the first and the last one of equally many channels. A node
 * that is filled in part is walked in the same order without the GPUs that are not there, so
 * neighbours may then have no NVLink.
 *
 * Without, channel pair i uses the i-th Hamiltonian path of Walecki's zigzag (0, 1, g-1, 2, g-2,
 * ... shifted by i), odd channels run it backwards. For an even number of GPUs the g/2 paths have
 * no GPU pair in common and each starts in one half of the node and ends in the other; so, where
 * all pairs have an NVLink and two HCAs serve a half each, the NVLinks are used evenly, and the HCA
 * a channel leaves a node by is not the one it enters by. */
uint32_t ar_order_rank(const struct ar_order *order, uint32_t channel, uint32_t position);

/** The inverse of ar_order_rank(), and as fast: with GPU orders, a look into a table, or one pass
 * over the walk for a rank of a node that is filled in part. */
uint32_t ar_order_position(const struct ar_order *order, uint32_t channel, uint32_t rank);

#endif
