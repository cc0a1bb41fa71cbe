/** \file result.h
 * Measurements as CSV: where they come from as lines "# key: value", one header, one row each.
 */
#ifndef AR_VALIDATE_RESULT_H
#define AR_VALIDATE_RESULT_H

#include <stdio.h>

#include "backend.h"

/** Writes machine, system, versions, date and command, and what the backend has to say. */
void result_write_provenance(FILE *file, const struct backend *backend,
                             const struct run_config *config, int argc, char *const *argv);

/** Writes the names of the columns. */
void result_write_header(FILE *file);

/** Writes one row; columns of times stay empty if only the result was checked. Sorts the times. */
void result_write_row(FILE *file, const struct backend *backend, struct measurement *measurement);

#endif
