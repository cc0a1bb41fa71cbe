/** \file plot_table.h
 * The rows of a sweep, as far as pictures need them.
 */
#ifndef AR_PLOT_TABLE_H
#define AR_PLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

enum { AR_PLOT_NAME = 64, AR_PLOT_NAMES_MAX = 32 };

/** Distinct names in the order of their first appearance; the index of a name picks its colour. */
struct ar_plot_names {
    uint32_t count;
    char names[AR_PLOT_NAMES_MAX][AR_PLOT_NAME];
};

/** One successful row. Columns that the kind of table does not need are zero. */
struct ar_plot_row {
    uint64_t line;      /**< where the row begins in its file, from 1 */
    uint32_t algorithm; /**< index into the names of algorithms */
    uint32_t engine;    /**< index into the names of engines */
    char shape[AR_PLOT_NAME];
    uint32_t grid_x, grid_y; /**< of a shape XxY; both 0 for any other */
    uint64_t gpus;
    uint64_t payload_bytes;
    uint64_t batch_per_gpu;
    char precision[AR_PLOT_NAME];
    double gradient_scale; /**< 1 in files without the column */
    double iteration_s, allreduce_s, exposed_s;
    double forward_s, backward_s, optimizer_s, overhead_s;
    double images_per_s, efficiency_frac;
};

/** What all rows of a table have in common; texts as the file has them. */
struct ar_plot_subject {
    char cluster[256], trace[256], baseline[AR_PLOT_NAME];
};

/** A sweep has training steps; a payload table has single collectives, with the columns of the
 * step empty. */
enum ar_plot_kind { AR_PLOT_STEPS = 1, AR_PLOT_COLLECTIVES = 2 };

struct ar_plot_table {
    struct ar_plot_subject subject;
    const struct ar_plot_names *algorithms; /**< that the rows name */
    struct ar_plot_row *rows;
    size_t rows_count;
    uint64_t failed_count; /**< rows whose status is not ok */
    uint64_t failed_line;  /**< line of the first of them; 0: none */
};

/** Reads a CSV file (RFC 4180, one header line, columns in any order). Names met for the first time
 * are added to `algorithms` and `engines`. A table without a successful row is AR_BAD_DATA. The
 * rows are freed with ar_plot_table_clear(). */
enum ar_status ar_plot_table_read(const char *path, enum ar_plot_kind kind,
                                  struct ar_plot_names *algorithms, struct ar_plot_names *engines,
                                  struct ar_plot_table *table, struct ar_error *err);

/** Frees the rows; a zeroed table is allowed. */
void ar_plot_table_clear(struct ar_plot_table *table);

#endif
