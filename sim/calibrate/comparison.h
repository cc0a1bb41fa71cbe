/** \file comparison.h
 * Predictions beside measured all-reduces: what `compare` prints and draws.
 */
#ifndef AR_COMPARISON_H
#define AR_COMPARISON_H

#include <stdio.h>

#include "accuracy.h"

struct comparison {
    struct judged *rows; /**< in order of nodes, GPUs and payload */
    size_t rows_count;
    struct accuracy lines[ACCURACY_MAX];
    size_t lines_count;
    bool is_by_gpus; /**< the lines are of GPU counts, else of node counts */
};

/** The rows and their summary, to stdout. */
void comparison_write_table(const struct comparison *comparison);
void comparison_write_json(const struct comparison *comparison);

/** The rows alone. */
void comparison_write_csv(FILE *file, const struct comparison *comparison);

#endif
