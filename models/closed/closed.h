/** \file closed.h
 * What the files of a closed form share.
 */
#ifndef AR_CLOSED_PRIVATE_H
#define AR_CLOSED_PRIVATE_H

#include "ar_closed.h"
#include "ar_pattern.h"
#include "closed_tree.h"
#include "tree_rates.h"

struct ar_closed {
    struct ar_collective collective;
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_pattern patterns[AR_PHASES_MAX];
    uint32_t phases_count;
    double busiest_s_per_byte; /* of the buffer of a channel */
    uint64_t even_elements;    /* of such a buffer, whose messages have equal sizes in all phases */
    struct tree_rates *rates[AR_PHASES_MAX]; /* of phases that are trees, else NULL */
    struct closed_station *stations;         /* [position]: for them */
    struct ar_arena memory;
};

/** Why the time of a payload is not exact; empty if it is. */
const char *closed_why_not_exact(const struct ar_closed *closed, uint64_t elements);

/** Whether ranks finish at different times, and so begin the next collective. */
bool closed_is_ragged(const struct ar_closed *closed);

#endif
