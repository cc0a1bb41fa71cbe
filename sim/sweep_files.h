/** \file sweep_files.h
 * The files of a sweep: DIR/sweep.csv with the steps, DIR/payload.csv with bare all-reduces.
 */
#ifndef AR_SWEEP_FILES_H
#define AR_SWEEP_FILES_H

#include <stdbool.h>

#include "ar_row.h"

/** Says whether the directory can be written to or made; makes nothing. */
enum ar_status sweep_files_check(const char *directory, struct ar_error *err);

/** Writes the files, each whole or not at all, payload.csv only if it has rows. Makes the directory
 * if it is missing. */
enum ar_status sweep_files_write(const char *directory, const struct ar_row *steps,
                                 size_t steps_count, const struct ar_row *payloads,
                                 size_t payloads_count, struct ar_error *err);

bool sweep_files_has_payload(const char *directory);

#endif
