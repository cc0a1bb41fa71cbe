/** \file ar_gsl.h
 * GSL without its habit of aborting: its codes become statuses here and nowhere else.
 *
 * Callers of GSL switch its handler off where a call can fail, hand what is allocated to
 * ar_arena_own(), where NULL is a failure of memory, and pass codes to ar_gsl_status().
 */
#pragma once

#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>

#include "ar_arena.h"
#include "ar_error.h"

/** AR_OK for GSL_SUCCESS, else AR_INTERNAL with GSL's text behind `what` was done. */
enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err);

/** An mt19937 of a seed; it ends with the arena. */
gsl_rng *ar_gsl_generator(struct ar_arena *arena, unsigned long seed);
