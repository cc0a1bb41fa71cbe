/** \file cases.h
 * From a command line to the measurements it asks for.
 */
#ifndef AR_VALIDATE_CASES_H
#define AR_VALIDATE_CASES_H

#include <stdio.h>

#include "arguments.h"
#include "backend.h"

/** All measurements, in the order they are run. The same on all processes of a run. */
struct cases {
    struct measurement *rows;
    size_t count;
    struct ar_arena *arena; /**< holds them, their times, and the lists they are made from */
};

/** Lays out the measurements on a machine. */
enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct machine *machine, struct ar_arena *arena,
                            struct cases *cases, struct ar_error *err);

/** Writes machine, system, versions, date and command, and what the backend has to say. */
void result_write_provenance(FILE *file, const struct backend *backend,
                             const struct run_config *config, int argc, char *const *argv);

/** Writes the names of the columns. */
void result_write_header(FILE *file);

/** Writes one row; columns of times stay empty if only the result was checked. Sorts the times. */
void result_write_row(FILE *file, const struct backend *backend, struct measurement *measurement);

#endif
