/** \file ar_gsl.h
 * GSL without its habit of aborting: its codes become statuses here and nowhere else.
 *
 * GSL has one handler of errors for the process, which aborts, or is that of a program that uses
 * the C library. Callers of GSL hold it where a call can fail, hand what is allocated to
 * ar_arena_own(), where NULL is a failure of memory, and pass codes to ar_gsl_status().
 */
#pragma once

#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>

#include "ar_arena.h"
#include "ar_error.h"

/** AR_OK for GSL_SUCCESS, else AR_INTERNAL with GSL's text behind `what` was done. */
enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err);

/** From here to the end, which is in the same thread, calls of GSL by this thread only return
 * codes. Errors of other threads still go to the handler that there was, which comes back when the
 * last thread ends. Threads may hold it together, and more than once. */
void ar_gsl_begin(void);
void ar_gsl_end(void);

/** The same until the arena ends, as it does when memory fails: for calls that allocate. */
void ar_gsl_hold(struct ar_arena *arena);

/** An mt19937 of a seed; it ends with the arena. */
gsl_rng *ar_gsl_generator(struct ar_arena *arena, unsigned long seed);
