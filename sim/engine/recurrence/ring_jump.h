/** \file ring_jump.h
 * Rings that have become steady, many steps at a time.
 *
 * A step of a ring computes, for each place, the latest of what it waits for (recurrence.h): a
 * linear map of the max-plus algebra. So if over a round of c steps each place has advanced by a
 * constant of its own, it goes on doing so for as long as what it waits for stays the latest. When
 * something else that grows faster overtakes that, follows by a division; until then a jump of k
 * rounds adds k times its constant to each number of a place, and is exact.
 *
 * For this a round must meet the same hops and the same messages as the one before. That is so
 *
 * - at each place, where all messages of a ring have equal sizes;
 * - seen from each message, which travels along the ring by a place per step, where the hops of the
 *   ring repeat after c places: each message keeps its size.
 *
 * Rings with neither are walked. To compare without rounding, times are whole numbers here, of
 * units of 2^-61 of what the steps can take at most or less: a time t of S steps differs from that
 * in double precision by some S * 2^-62 of that at most, and by what is rounded there.
 */
#ifndef AR_RING_JUMP_H
#define AR_RING_JUMP_H

#include "recurrence.h"

/** Room for the numbers of a ring; 0 for a bundle that is none or too large. */
size_t ring_jump_capacity(const struct bundle *bundle, uint32_t window);

/** Runs all steps of a ring on the lanes, as they are loaded before its first step and stored after
 * its last. False, with the lanes as they were, if it has not become steady early. */
bool ring_jump_run(const struct bundle_run *run, int64_t *room);

#endif
