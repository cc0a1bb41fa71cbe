/** \file closed_sums.h
 * The time of a phase in which switches sum.
 */
#ifndef AR_CLOSED_SUMS_H
#define AR_CLOSED_SUMS_H

#include "ar_closed.h"
#include "ar_line_sums.h"

/** Adds up the time of a phase of sums: with A the time of a part in a stage alone, R that from
 * part to part while all stages are at work, L the latency, each of the slowest line of a stage,
 * the sum of A + L over the stages and what the P - 1 other parts add at the slowest one, R each,
 * or, if its window is full, A + L for every W parts. `bytes` is the size of a piece of the buffer.
 * Writes time_s, its terms and the slowest link. */
void closed_sums_time(const struct ar_collective *collective, const struct ar_phase *phase,
                      const struct ar_line_sums *sums, double piece_bytes,
                      struct ar_phase_time *time);

#endif
