/** \file closed.h
 * What the files of a closed form share.
 */
#ifndef AR_CLOSED_PRIVATE_H
#define AR_CLOSED_PRIVATE_H

#include "ar_closed.h"
#include "ar_line_sums.h"
#include "ar_pattern.h"
#include "tree_rates.h"

/** Room for a walk through a tree: a position, on one channel. */
struct closed_station {
    double reached_s;  /**< by the first part */
    double left_s;     /**< that the last part goes on from here */
    uint32_t hop;      /**< by which the first part came last; AR_NEVER at a leaf */
    uint32_t next_hop; /**< by which the last part takes longest; AR_NEVER where all ends */
};

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

/** Fills in what ar_phase_time says of a tree whose messages are `bytes` long and take `reduce_s`
 * to be summed up; name, steps and message are there. `stations` are as many as positions. */
void closed_tree_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_pattern *pattern, const struct tree_shares *shares,
                      double bytes, double reduce_s, struct closed_station *stations,
                      struct ar_phase_time *time);

/** Adds up the time of a phase of sums: with A the time of a part in a stage alone, R that from
 * part to part while all stages are at work, L the latency, each of the slowest line of a stage,
 * the sum of A + L over the stages and what the P - 1 other parts add at the slowest one, R each,
 * or, if its window is full, A + L for every W parts. `bytes` is the size of a piece of the buffer.
 * Writes time_s, its terms and the slowest link. */
void closed_sums_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_line_sums *sums, double piece_bytes,
                      struct ar_phase_time *time);

#endif
