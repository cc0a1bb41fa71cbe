/** \file test_recurrence.h
 * For tests of rings: a recurrence that is ready to run lanes of a trial, whose messages cost no
 * more than their paths, and two of them beside each other.
 */
#pragma once

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "recurrence.h"

static inline void test_recurrence_create(struct ar_arena *arena, const struct ar_flows *flows,
                                          struct ar_trial *trial, struct recurrence *recurrence)
{
    struct ar_message_cost *cost = ar_arena_alloc(arena, 1, sizeof *cost);
    memcpy(cost->path_s, ar_cluster_facts(trial->collective.cluster)->message.path_s,
           sizeof cost->path_s);
    *recurrence = (struct recurrence){.trial = trial,
                                      .flows = flows,
                                      .collective = &trial->collective,
                                      .order = ar_collective_order(&trial->collective),
                                      .positions = ar_shape_ranks(&trial->collective.shape),
                                      .ranks = ar_collective_ranks(&trial->collective),
                                      .reduce_s_per_byte = 3.8e-12,
                                      .cost = cost};
    recurrence_create(arena, recurrence);
}

static inline void test_expect_near(double a_s, double b_s, double most_s, const char *what)
{
    cr_expect(fabs(a_s - b_s) <= most_s, "%s: %.17g, %.17g", what, a_s, b_s);
}

/* Time, connection and window of every rank, but for a part of the time since the first rank began;
 * flights of messages never sent are zero. */
static inline void test_expect_same_states(const struct recurrence *a, const struct recurrence *b,
                                           double tolerance, const char *what)
{
    uint32_t window = a->collective->window;
    for (uint32_t position = 0; position < a->positions; position++) {
        const struct rank_state *left = &a->states[position];
        const struct rank_state *right = &b->states[position];
        double most_s = tolerance * a->now_s[position];
        test_expect_near(a->now_s[position], b->now_s[position], most_s, what);
        test_expect_near(left->free_s, right->free_s, most_s, what);
        cr_expect_eq(left->peer, right->peer, "%s: position %u", what, position);
        for (uint32_t age = 0; age < window; age++) {
            size_t flight = (size_t)age * a->positions + position;
            test_expect_near(a->flights_s[flight], b->flights_s[flight], most_s, what);
        }
    }
}
