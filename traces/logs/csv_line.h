/** \file csv_line.h
 * The cells of one line, by libcsv, and columns by name.
 */
#ifndef AR_LOGS_CSV_LINE_H
#define AR_LOGS_CSV_LINE_H

#include <csv.h>

#include "build.h"

enum { AR_CSV_CELLS_MAX = 64, AR_CSV_LINE_BYTES = 4096 };

/** The cells of a line, copied one behind the other. */
struct ar_csv_line {
    struct csv_parser parser;
    char text[AR_CSV_LINE_BYTES];
    size_t text_bytes;
    struct ar_span cells[AR_CSV_CELLS_MAX];
    size_t cells_count; /**< may exceed what is stored */
};

enum ar_status ar_csv_line_begin(struct ar_csv_line *line, struct ar_error *err);
void ar_csv_line_end(struct ar_csv_line *line);

/** Splits a line. `where` begins the error line. */
enum ar_status ar_csv_line_split(struct ar_csv_line *line, const char *where, struct ar_span text,
                                 struct ar_error *err);

/** Place of a cell that is `text`; SIZE_MAX if there is none. */
size_t ar_csv_find(const struct ar_csv_line *line, const char *text);

#endif
