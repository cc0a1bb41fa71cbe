/** \file plot_columns.h
 * The columns of a sweep that pictures use: where they are, what their cells may hold.
 */
#ifndef AR_PLOT_COLUMNS_H
#define AR_PLOT_COLUMNS_H

#include <stdbool.h>

#include "plot_table.h"

enum { AR_PLOT_COLUMNS = 21 };

/** Place of every used column in the file; SIZE_MAX for one the kind of table does not need. */
struct ar_plot_header {
    size_t places[AR_PLOT_COLUMNS];
};

/** The cells of a row and what is needed to read them. */
struct ar_plot_cells {
    const char *path;
    enum ar_plot_kind kind;
    char *const *texts;
    const struct ar_plot_header *header;
    struct ar_plot_names *algorithms, *engines;
    const struct ar_plot_subject *subject; /**< of the rows before; NULL for the first row */
};

/** Finds the columns in the header line; a missing or a doubled one is AR_BAD_DATA. */
enum ar_status ar_plot_header_read(const char *path, uint64_t line, enum ar_plot_kind kind,
                                   char *const *names, size_t names_count,
                                   struct ar_plot_header *header, struct ar_error *err);

/** Whether the row's `status` is `ok`. */
bool ar_plot_header_is_ok(const struct ar_plot_header *header, char *const *cells);

/** Reads a row; `row->line` is set by the caller. The first row sets the subject, later rows must
 * agree with it. */
enum ar_status ar_plot_row_read(const struct ar_plot_cells *cells, struct ar_plot_row *row,
                                struct ar_plot_subject *subject, struct ar_error *err);

#endif
