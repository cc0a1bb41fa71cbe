/** \file result.h
 * Measurements as CSV: where they come from as lines "# key: value", one header, one row each.
 */
#ifndef AR_VALIDATE_RESULT_H
#define AR_VALIDATE_RESULT_H

#include <stdio.h>

#include "backend.h"

/** The fraction `frac` of the times lies at or below the result; linear between two of them (the
 * median of two is their mean). `times_s` is sorted and not empty. */
double times_quantile_s(const double *times_s, uint32_t count, double frac);

/** Writes machine, system, versions, date and command, and what the backend has to say. */
void result_write_provenance(FILE *file, const struct backend *backend,
                             const struct run_config *config, int argc, char *const *argv);

/** Writes the names of the columns. */
void result_write_header(FILE *file);

/** Writes one row; columns of times stay empty if only the result was checked. Sorts the times. */
void result_write_row(FILE *file, const struct backend *backend, struct measurement *measurement);

#endif
