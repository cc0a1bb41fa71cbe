/** \file ar_operation.h
 * Operations: what every rank holds before a collective and wants after, what its payload counts,
 * and how its bandwidth compares with that of the hardware.
 *
 * A buffer has `elements` elements on every rank: the larger one of what it gives and gets. A
 * contribution is what one rank has put into an element; an operation that reduces joins the
 * contributions of several ranks in one element.
 *
 * Where ranks have parts of the buffer (reduce-scatter, all-gather, gather, scatter), that of
 * position (x, y, ...) of a shape is part x of X, of that part y of Y, and so on: part i of N in
 * one row.
 *
 * In an all-to-all part x Y + y of N of a buffer is for the position x columns and y rows further
 * on, and has come, in the end, from the one as far behind: part k for the k-th next rank in one
 * row. So every message has one place on both ranks, whatever the remainders.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_shape.h"

/** An element at a position, as a part of the whole. */
struct ar_operation_place {
    const struct ar_shape *shape;
    uint32_t position;
    uint64_t elements;
    uint64_t element;
};

/** A set of positions. */
enum ar_operation_who {
    AR_WHO_ALL,
    AR_WHO_ROOT,  /**< position 0 */
    AR_WHO_LAST,  /**< the last one */
    AR_WHO_OWNER, /**< the one whose part of the buffer has the element */
    AR_WHO_BEHIND /**< of an all-to-all: as far behind as the element's part is from the first */
};

struct ar_operation {
    const char *name;    /**< "all-reduce" */
    const char *command; /**< "allreduce", as nccl-tests and the command line have it */
    const char *title;   /**< what it does, "every GPU gets the sum of all" */
    const char *payload; /**< which bytes its payload counts, as nccl-tests do */
    bool has_parts;      /**< elements of the buffer differ by the part they are in */
    bool has_root;       /**< one rank, at position 0, begins with all or ends with all */
    bool is_in_order; /**< positions of every channel are the ranks in order, from the root on: what
                           is at one position is meant for one rank */

    uint32_t rounds; /**< in which every rank sends at least (N-1)/N of the payload; 0: all of it */
    enum ar_operation_who holds; /**< they hold their own contribution before, others none */
    enum ar_operation_who wants, wants_from; /**< they must hold after what these contributed, and
                                                  nothing else; others may hold anything */
};

/** Bus bandwidth of nccl-tests from payload over time: the rate at which an algorithm that is
 * optimal in bytes would send on every link. */
double ar_operation_busbw_Bps(const struct ar_operation *operation, double algbw_Bps,
                              uint32_t ranks);

/** Whether a place holds a contribution before; and whether it must hold it after. */
bool ar_operation_holds(const struct ar_operation *operation,
                        const struct ar_operation_place *place, uint32_t contributor);
bool ar_operation_wants(const struct ar_operation *operation,
                        const struct ar_operation_place *place, uint32_t contributor);

#define AR_OPERATION_LIST(X)                                                                       \
    X(all_reduce)                                                                                  \
    X(reduce_scatter)                                                                              \
    X(all_gather)                                                                                  \
    X(broadcast)                                                                                   \
    X(reduce)                                                                                      \
    X(gather)                                                                                      \
    X(scatter)                                                                                     \
    X(all_to_all)                                                                                  \
    X(send)

#define AR_DECLARE_OPERATION(name) extern const struct ar_operation ar_operation_##name;
AR_OPERATION_LIST(AR_DECLARE_OPERATION)

extern const struct ar_operation *const ar_operations[];
extern const size_t ar_operations_count;

/** Finds an operation by its command; the error names the nearest known one. */
enum ar_status ar_operation_find(const char *where, const char *command,
                                 const struct ar_operation **operation, struct ar_error *err);
