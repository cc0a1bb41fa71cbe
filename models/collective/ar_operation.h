/** \file ar_operation.h
 * What a collective achieves, whichever algorithm does it: what every rank holds before and wants
 * after, what its payload counts, and how its bandwidth compares with that of the hardware.
 *
 * A buffer has `elements` elements on every rank. A contribution is what one rank has put into an
 * element; an operation that reduces joins the contributions of several ranks in one element.
 */
#ifndef AR_OPERATION_H
#define AR_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

/** An element on a rank, as a part of the whole. */
struct ar_operation_place {
    uint32_t ranks;
    uint32_t rank;
    uint64_t elements;
    uint64_t element;
};

struct ar_operation {
    const char *name;    /**< "all-reduce" */
    const char *payload; /**< which bytes its payload counts, as nccl-tests do */

    /** Bus bandwidth of nccl-tests from payload over time: the rate at which an algorithm that is
     * optimal in bytes would send on every link. */
    double (*busbw_Bps)(double algbw_Bps, uint32_t ranks);

    /** Whether a place holds a contribution before; and whether it must hold it after. */
    bool (*holds)(const struct ar_operation_place *place, uint32_t contributor);
    bool (*wants)(const struct ar_operation_place *place, uint32_t contributor);
};

/** Every rank holds its own contribution to all elements, and wants the sum of all. */
extern const struct ar_operation ar_operation_all_reduce;

#endif
