/** \file generator.h
 * GSL's random generator, made without GSL's habit of aborting.
 */
#ifndef AR_MODELS_GENERATOR_H
#define AR_MODELS_GENERATOR_H

#include <gsl/gsl_rng.h>

#include "ar_error.h"

/** An mt19937 of a seed; the caller frees it with gsl_rng_free(). */
enum ar_status generator_create(unsigned long seed, gsl_rng **generator, struct ar_error *err);

#endif
