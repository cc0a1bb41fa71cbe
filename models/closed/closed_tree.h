/** \file closed_tree.h
 * The closed form of a phase that is a tree.
 */
#ifndef AR_CLOSED_TREE_H
#define AR_CLOSED_TREE_H

#include "ar_closed.h"
#include "ar_pattern.h"
#include "tree_rates.h"

/** Room for a walk through a tree: a position, on one channel. */
struct closed_station {
    double reached_s;  /**< by the first part */
    double left_s;     /**< that the last part goes on from here */
    uint32_t hop;      /**< by which the first part came last; AR_NEVER at a leaf */
    uint32_t next_hop; /**< by which the last part takes longest; AR_NEVER where all ends */
};

/** Fills in what ar_phase_time says of a tree whose messages are `bytes` long and take `reduce_s`
 * to be summed up; name, steps and message are there. `stations` are as many as positions. */
void closed_tree_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_pattern *pattern, const struct tree_shares *shares,
                      double bytes, double reduce_s, struct closed_station *stations,
                      struct ar_phase_time *time);

#endif
