/** \file test_golden_file.h
 * For tests: a file of predictions that were frozen, beside what the program predicts now.
 */
#ifndef AR_TEST_GOLDEN_FILE_H
#define AR_TEST_GOLDEN_FILE_H

#include <stdio.h>

#include "ar_error.h"

/** Writes a golden file: comment lines, a header, a row for each case. `folder` is where the inputs
 * are. */
typedef enum ar_status golden_writer(const char *folder, FILE *file, struct ar_error *err);

/** Expects that the writer writes the file at `path`, which has at least `rows_min` rows: comments
 * and header byte by byte, texts as they are, numbers to 1e-9. */
void golden_file_expect(const char *path, const char *folder, golden_writer *write, int rows_min);

#endif
