/** \file ar_draw.h
 * Random draws of what is not known.
 *
 * The generator is GSL's mt19937; the same seed gives the same draws, whatever else is drawn from
 * other generators.
 */
#ifndef AR_DRAW_H
#define AR_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

struct ar_draw;

/** Makes the generator of `name` under `seed`: other names give independent draws; NULL: that of
 * the seed itself. Freed with ar_draw_destroy(). */
enum ar_status ar_draw_create(uint64_t seed, const char *name, struct ar_draw **draw,
                              struct ar_error *err);

/** NULL is allowed. */
void ar_draw_destroy(struct ar_draw *draw);

/** A number from [low, high), all equally likely; `low` if both are equal. */
double ar_draw_uniform(struct ar_draw *draw, double low, double high);

/** One of 0 to count - 1, all equally likely; `count` > 0. */
uint32_t ar_draw_choice(struct ar_draw *draw, uint32_t count);

/** A standard normal number. */
double ar_draw_normal(struct ar_draw *draw);

#endif
