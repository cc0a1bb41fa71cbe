/** \file ar_gsl.h
 * GSL without its habit of aborting: its codes become statuses here and nowhere else.
 *
 * Whoever calls GSL where it can fail stands between ar_gsl_begin() and ar_gsl_end(), checks what
 * is allocated against NULL and passes codes to ar_gsl_status().
 */
#ifndef AR_GSL_H
#define AR_GSL_H

#include <gsl/gsl_errno.h>
#include <gsl/gsl_rng.h>

#include "ar_error.h"

/** Switches GSL's handler off, and back to what it was. */
gsl_error_handler_t *ar_gsl_begin(void);
void ar_gsl_end(gsl_error_handler_t *handler);

/** AR_OK for GSL_SUCCESS, AR_NO_MEMORY for GSL_ENOMEM, else AR_INTERNAL with GSL's text; `what` was
 * done. */
enum ar_status ar_gsl_status(int code, const char *what, struct ar_error *err);

/** An mt19937 of a seed; the caller frees it with gsl_rng_free(). */
enum ar_status ar_gsl_generator(unsigned long seed, gsl_rng **generator, struct ar_error *err);

#endif
