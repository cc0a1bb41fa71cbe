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

#endif
