/** \file ar_draw.h
 * Random draws of what is not known.
 *
 * The generator is GSL's mt19937; the same seed gives the same draws, whatever else is drawn from
 * other generators.
 *
 * Jitter: the compute time of a GPU differs from step to step and from GPU to GPU.
 *
 * The time of every rank in every step is its traced time multiplied by a lognormal random factor
 * of mean 1 and coefficient of variation `frac` (sigma^2 = ln(1 + frac^2), mu = -sigma^2 / 2),
 * independent of the others. Nobody has the sum of a bucket before the last rank has given its
 * part, so a step follows its slowest rank, and the expected factor of the slowest grows with their
 * number.
 */
#pragma once

#include <stdint.h>

#include "ar_arena.h"

struct ar_draw;

/** Makes the generator of `name` under `seed`, independent of other names; NULL: of the seed. */
struct ar_draw *ar_draw_create(uint64_t seed, const char *name, struct ar_arena *arena);

/** A number from [low, high), all equally likely; `low` if both are equal. */
double ar_draw_uniform(struct ar_draw *draw, double low, double high);

/** One of 0 to count - 1, all equally likely; `count` > 0. */
uint32_t ar_draw_choice(struct ar_draw *draw, uint32_t count);

/** A standard normal number. */
double ar_draw_normal(struct ar_draw *draw);

/** Writes the factors of jitter of `ranks` ranks in the next step; `frac` >= 0. */
void ar_jitter_factors(struct ar_draw *draw, double frac, uint32_t ranks, double *factors);

/** The factor of the slowest of `ranks` ranks, as the mean of many steps: the quantile of Blom
 * (Statistical Estimates and Transformed Beta-Variables, 1958), good to 1 % of its part above 1. */
double ar_jitter_slowest(double frac, uint32_t ranks);

/** Half the width of the 95 % confidence interval of the mean of `count` independent values, given
 * the sum of their squared deviations from the mean (Student's t); 0 for fewer than two values. */
double ar_confidence95(double squared_deviations, uint32_t count);
