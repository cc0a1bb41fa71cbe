/** \file table.h
 * Private to this folder: whether what a table says can be.
 */
#ifndef AR_LIBRARY_TABLE_PRIVATE_H
#define AR_LIBRARY_TABLE_PRIVATE_H

#include "ar_library_table.h"

/** Refuses, with AR_BAD_DATA, a covariance that is not symmetric or by which some combination of
 * parameters would have a negative variance. */
enum ar_status ar_library_check_covariance(const char *path, const struct ar_library *library,
                                           struct ar_error *err);

/** Takes the release of a line `tuning` and leaves the rates, which are lines of their own.
 * AR_BAD_DATA for an unknown one. */
enum ar_status ar_library_read_release(const char *where, const char *value,
                                       struct ar_tuning *tuning, struct ar_error *err);

#endif
