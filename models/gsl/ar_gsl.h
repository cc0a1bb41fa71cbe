/** \file ar_gsl.h
 * GSL without its habit of aborting: its codes become statuses here and nowhere else.
 *
 * Whoever calls GSL where it can fail switches its handler off meanwhile, checks what
 * is allocated against NULL and passes codes to ar_gsl_status().
 */
#ifndef AR_GSL_H
#define AR_GSL_H

#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>

#include "ar_error.h"

/** AR_OK for GSL_SUCCESS, AR_NO_MEMORY for GSL_ENOMEM, else AR_INTERNAL with GSL's text; `what` was
 * done. */
enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err);

/** An mt19937 of a seed; the caller frees it with gsl_rng_free(). */
enum ar_status ar_gsl_generator(unsigned long seed, gsl_rng **generator, struct ar_error *err);

#endif
