/** \file ar_jitter.h
 * Jitter: the compute time of a GPU differs from step to step and from GPU to GPU.
 *
 * The time of every rank in every step is its traced time multiplied by a lognormal random factor
 * of mean 1 and coefficient of variation `frac` (sigma^2 = ln(1 + frac^2), mu = -sigma^2 / 2),
 * independent of the others. Nobody has the sum of a bucket before the last rank has given its
 * part, so a step follows its slowest rank, and the expected factor of the slowest grows with their
 * number.
 *
 * The generator is GSL's mt19937 with the given seed; the same seed gives the same factors.
 */
#ifndef AR_JITTER_H
#define AR_JITTER_H

#include <stdint.h>

#include "ar_error.h"

struct ar_jitter;

/** `frac` >= 0; freed with ar_jitter_destroy(). */
enum ar_status ar_jitter_create(double frac, uint64_t seed, struct ar_jitter **jitter,
                                struct ar_error *err);

/** NULL is allowed. */
void ar_jitter_destroy(struct ar_jitter *jitter);

/** Writes the factors of `ranks` ranks in the next step. */
void ar_jitter_factors(struct ar_jitter *jitter, uint32_t ranks, double *factors);

/** Half the width of the 95 % confidence interval of the mean of `count` independent values, given
 * the sum of their squared deviations from the mean (Student's t); 0 for fewer than two values. */
double ar_confidence95(double squared_deviations, uint32_t count);

#endif
