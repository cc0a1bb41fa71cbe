/** \file table.h
 * Private to this folder: what writer and reader of a table agree on, and whether what a table says
 * can be.
 */
#ifndef AR_LIBRARY_TABLE_PRIVATE_H
#define AR_LIBRARY_TABLE_PRIVATE_H

#include "ar_library_table.h"

enum {
    TABLE_FORMAT = 1,
    COLUMN_PARAMETER = 0,
    COLUMN_VALUE,
    COLUMN_UNIT,
    COLUMN_ERROR,
    COLUMN_IDENTIFIED,
    COLUMN_PRIOR,
    COLUMN_PRIOR_SOURCE,
    COLUMN_COVARIANCE, /**< the first of one for each parameter */
    COLUMNS_COUNT = COLUMN_COVARIANCE + AR_LIBRARY_PARAMETERS_COUNT
};

/** Names of the columns before the covariance. */
#define TABLE_LEAD_COLUMNS                                                                         \
    {                                                                                              \
        "parameter", "value", "unit", "relative_standard_error", "identified", "prior",            \
            "prior_source"                                                                         \
    }

/** Values of `node_links`. */
#define TABLE_NVLINK "nvlink"
#define TABLE_PCIE   "pcie"

#define TABLE_COVARIANCE "covariance."

/** Refuses, with AR_BAD_DATA, a covariance that is not symmetric or by which some combination of
 * parameters would have a negative variance. */
enum ar_status ar_library_check_covariance(const char *path, const struct ar_library *library,
                                           struct ar_error *err);

/** Takes the release of a line `tuning` and leaves the rates, which are lines of their own.
 * AR_BAD_DATA for an unknown one. */
enum ar_status ar_library_read_release(const char *where, const char *value,
                                       struct ar_tuning *tuning, struct ar_error *err);

#endif
