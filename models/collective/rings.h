/** \file rings.h
 * Building blocks of algorithms: phases of rings and of chains in the rows or columns of a grid.
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

/** Turns members into positions (first + member * stride) and parts into spans of `whole`. */
struct ar_move move_of_parts(struct part_move parts, uint32_t first, uint32_t stride,
                             struct ar_span whole, uint32_t size);

/** What the members 0 .. size-1 of a row or column do; the parts are those of the buffer that they
 * share. */
enum ring_kind {
    RING_REDUCE_SCATTER, /**< size-1 steps: member i ends with the sum of part i */
    RING_ALL_GATHER,     /**< size-1 steps: member i begins with part i, ends with all */
    RING_ALL_REDUCE,     /**< one after the other */
    CHAIN_GATHER, /**< size-1 -> ... -> 0 in size-1 steps: member i begins with part i, 0 ends with
                       all */
    CHAIN_SCATTER /**< 0 -> ... -> size-1: member 0 begins with all, member i ends with part i */
};

enum ring_lines {
    RING_ROWS,        /**< of the whole buffer */
    RING_COLUMNS,     /**< column i of part i, of as many as there are columns */
    RING_FIRST_COLUMN /**< alone, of the whole buffer */
};

struct ring_phase {
    const char *name;
    enum ring_kind kind;
    enum ring_lines lines;
};

/** ar_algorithm.phases and .move of an algorithm that consists of these. */
uint32_t ring_phases(const struct ring_phase *list, uint32_t count, const struct ar_shape *shape,
                     struct ar_phase phases[AR_PHASES_MAX]);
struct ar_move ring_move(const struct ring_phase *list, const struct ar_shape *shape,
                         uint64_t elements, uint32_t position, uint32_t step);

#endif
