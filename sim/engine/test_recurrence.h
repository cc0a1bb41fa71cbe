/** \file test_recurrence.h
 * For tests of rings: a recurrence that is ready to run lanes of a trial, whose messages cost no
 * more than their paths.
 */
#pragma once

#include "recurrence.h"

static inline void test_recurrence_create(struct ar_arena *arena, const struct ar_flows *flows,
                                          struct ar_trial *trial, struct recurrence *recurrence)
{
    static const struct ar_message_cost no_cost = {.is_any = false};
    *recurrence = (struct recurrence){.trial = trial,
                                      .flows = flows,
                                      .collective = &trial->collective,
                                      .order = ar_collective_order(&trial->collective),
                                      .positions = ar_shape_ranks(&trial->collective.shape),
                                      .ranks = ar_collective_ranks(&trial->collective),
                                      .reduce_s_per_byte = 3.8e-12,
                                      .cost = &no_cost};
    recurrence_create(arena, recurrence);
}
