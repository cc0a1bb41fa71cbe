/** \file test_golden_cases.h
 * The collectives whose predicted times are frozen in golden_allreduce.csv.
 */
#ifndef AR_TEST_GOLDEN_CASES_H
#define AR_TEST_GOLDEN_CASES_H

#include <stdio.h>

#include "ar_error.h"

/** Runs all cases on all frozen engines and writes the golden file: comment lines, a header, a row
 * for each. `topologies` is the folder of the cluster files. */
enum ar_status golden_write(const char *topologies, FILE *file, struct ar_error *err);

#endif
