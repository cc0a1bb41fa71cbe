/** \file explain_library.h
 * What explain says of an all-reduce that is made of calls of a library.
 */
#ifndef AR_EXPLAIN_LIBRARY_H
#define AR_EXPLAIN_LIBRARY_H

#include "ar_step.h"

/** Writes the calls of a step that an engine of a library has run, all buckets summed up, to
 * stdout. */
void explain_library(const struct ar_step *step);

#endif
