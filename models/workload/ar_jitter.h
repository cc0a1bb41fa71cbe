/** \file ar_jitter.h
 * Jitter: the compute time of a GPU differs from step to step and from GPU to GPU.
 *
 * The time of every rank in every step is its traced time multiplied by a lognormal random factor
 * of mean 1 and coefficient of variation `frac` (sigma^2 = ln(1 + frac^2), mu = -sigma^2 / 2),
 * independent of the others. Nobody has the sum of a bucket before the last rank has given its
 * part, so a step follows its slowest rank, and the expected factor of the slowest grows with their
 * number.
 *
 * The draws come from ar_draw_create() without a name.
 */
#ifndef AR_JITTER_H
#define AR_JITTER_H

#include "ar_draw.h"

/** Writes the factors of `ranks` ranks in the next step; `frac` >= 0. */
void ar_jitter_factors(struct ar_draw *draw, double frac, uint32_t ranks, double *factors);

/** Half the width of the 95 % confidence interval of the mean of `count` independent values, given
 * the sum of their squared deviations from the mean (Student's t); 0 for fewer than two values. */
double ar_confidence95(double squared_deviations, uint32_t count);

#endif
