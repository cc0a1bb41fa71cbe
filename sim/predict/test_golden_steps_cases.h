/** \file test_golden_steps_cases.h
 * The training steps whose predicted times are frozen in golden_steps.csv.
 */
#ifndef AR_TEST_GOLDEN_STEPS_CASES_H
#define AR_TEST_GOLDEN_STEPS_CASES_H

#include <stdio.h>

#include "ar_error.h"

/** Runs all cases and writes the golden file. `root` is the folder of the sources. */
enum ar_status golden_steps_write(const char *root, FILE *file, struct ar_error *err);

#endif
