/** \file closed_tree.h
 * The closed form of a phase that is a tree.
 */
#ifndef AR_CLOSED_TREE_H
#define AR_CLOSED_TREE_H

#include "ar_closed.h"
#include "ar_pattern.h"
#include "tree_rates.h"

/** What a closed form needs to walk through a tree: a few numbers for each position. */
struct closed_scratch;

enum ar_status closed_scratch_create(uint32_t ranks, struct closed_scratch **capacity,
                                     struct ar_error *err);
/** NULL is allowed. */
void closed_scratch_destroy(struct closed_scratch *capacity);

/** Fills in what ar_phase_time says of a tree whose messages are `bytes` long; name, steps and
 * message are there. */
void closed_tree_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_pattern *pattern, const struct tree_shares *shares,
                      double bytes, struct closed_scratch *capacity, struct ar_phase_time *time);

#endif
