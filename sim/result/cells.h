/** \file cells.h
 * Single values of CSV and JSON outputs: texts, counts and numbers.
 *
 * What does not apply is empty in CSV and null in JSON: an empty text, CELL_NO_COUNT, a number that
 * is not finite. Texts may be any bytes; in JSON what is no UTF-8 becomes U+FFFD.
 */
#ifndef AR_CELLS_H
#define AR_CELLS_H

#include <stdint.h>
#include <stdio.h>

#define CELL_NO_COUNT UINT64_MAX

void cell_csv_text(FILE *file, const char *value);
void cell_csv_count(FILE *file, uint64_t value);
void cell_csv_number(FILE *file, double value);

void cell_json_text(FILE *file, const char *value);
void cell_json_count(FILE *file, uint64_t value);
void cell_json_number(FILE *file, double value);

/* Bodies of the X of a list of columns X(kind, name, help), for functions that have the variables
 * FILE *file, const char *comma and, for values, a pointer `row` to a struct with a field of each
 * name. */
#define CELLS_CSV_NAME(kind, name, help)                                                           \
    fprintf(file, "%s%s", comma, #name);                                                           \
    comma = ",";
#define CELLS_CSV_VALUE(kind, name, help)                                                          \
    fputs(comma, file);                                                                            \
    cell_csv_##kind(file, row->name);                                                              \
    comma = ",";
#define CELLS_JSON_VALUE(kind, name, help)                                                         \
    fprintf(file, "%s\"%s\": ", comma, #name);                                                     \
    cell_json_##kind(file, row->name);                                                             \
    comma = ", ";

#endif
