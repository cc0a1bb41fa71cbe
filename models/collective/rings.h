/** \file rings.h
 * Building blocks of algorithms: moves along a ring and along a chain.
 *
 * All are written for member `index` of `size` members; peers come out as members, 0 .. size-1, and
 * spans as part numbers of the buffer that the members share. The caller maps both to its own
 * positions and spans.
 */
#ifndef AR_RINGS_H
#define AR_RINGS_H

#include "ar_algorithm.h"

/** A move in terms of members and part numbers. */
struct part_move {
    bool sends;
    enum ar_receive receive;
    uint32_t send_to;
    uint32_t receive_from;
    uint32_t send_part;
    uint32_t receive_part;
};

/** Reduce-scatter around a ring, step 0 .. size-2: member i ends with the sum of part i. */
struct part_move ring_reduce_scatter(uint32_t size, uint32_t index, uint32_t step);

/** All-gather around a ring, step 0 .. size-2: member i begins with part i, ends with all. */
struct part_move ring_all_gather(uint32_t size, uint32_t index, uint32_t step);

/** Reduce-scatter, then all-gather: step 0 .. 2*size-3. */
struct part_move ring_all_reduce(uint32_t size, uint32_t index, uint32_t step);

/** Gather along the chain size-1 -> ... -> 0, step 0 .. size-2: member i begins with part i,
 * member 0 ends with all. */
struct part_move chain_gather(uint32_t size, uint32_t index, uint32_t step);

/** Scatter along the chain 0 -> ... -> size-1, step 0 .. size-2: member 0 begins with all, member i
 * ends with part i. */
struct part_move chain_scatter(uint32_t size, uint32_t index, uint32_t step);

/** Turns members into positions (first + member * stride) and parts into spans of `whole`. */
struct ar_move move_of_parts(struct part_move parts, uint32_t first, uint32_t stride,
                             struct ar_span whole, uint32_t size);

#endif
