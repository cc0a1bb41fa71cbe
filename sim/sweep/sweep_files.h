/** \file sweep_files.h
 * What a sweep leaves: DIR/sweep.csv with the steps, DIR/payload.csv with bare all-reduces, and the
 * rows on stdout. Rows come from the journal, in the order of the points.
 */
#ifndef AR_SWEEP_FILES_H
#define AR_SWEEP_FILES_H

#include <stdbool.h>

#include "journal.h"

/** Says whether the directory can be written to or made; makes nothing. */
enum ar_status sweep_files_check(const char *directory, struct ar_error *err);

/** Writes the files, each whole or not at all and on the disk, payload.csv only if it has rows. */
enum ar_status sweep_files_write(const char *directory, const struct space *space,
                                 const struct journal *journal, struct ar_error *err);

bool sweep_files_has_payload(const char *directory);

/** Writes all rows to stdout. A table has a column in front for every axis with several values,
 * but for the engine, which it has anyway. `estimates` counts the rows that say approximate. */
enum ar_status sweep_print(const struct space *space, const struct journal *journal,
                           enum ar_format format, size_t *estimates, struct ar_error *err);

/** Writes the fastest step of each GPU count and combination of conditions (variants.h) to stdout.
 */
enum ar_status sweep_print_best(const struct space *space, const struct journal *journal,
                                enum ar_format format, struct ar_error *err);

#endif
