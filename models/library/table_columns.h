/** \file table_columns.h
 * Private to this folder: what writer and reader of a table agree on.
 */
#ifndef AR_LIBRARY_TABLE_COLUMNS_H
#define AR_LIBRARY_TABLE_COLUMNS_H

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

#endif
