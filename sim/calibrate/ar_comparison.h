/** \file ar_comparison.h
 * Predictions beside measured rows: what `compare` prints and draws.
 */
#ifndef AR_COMPARISON_H
#define AR_COMPARISON_H

#include "ar_compared.h"

struct ar_comparison {
    struct ar_compared *rows; /**< in order of nodes, GPUs and payload */
    size_t rows_count;
    struct ar_compared_errors errors;
};

/** NCCL's own constants that predictions stand beside: of the release of the scenario, of its
 * cluster or of the table; NULL: not known. */
const struct ar_tuning *ar_comparison_reference(const struct ar_scenario *scenario);

/** Predicts every measured row by the engine and, of rows that do not say their own, the algorithm
 * of the request's scenario; what is made is the arena's. AR_USAGE for keys that the rows do not
 * take, AR_BAD_DATA for rows that the engine cannot run. */
enum ar_status ar_comparison_run(const struct ar_calibrate_request *request,
                                 const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err);

/** Writes the rows and their errors; of CSV the rows alone. */
enum ar_status ar_comparison_write(FILE *file, enum ar_format format,
                                   const struct ar_comparison *comparison, struct ar_error *err);

/** Writes `directory`/compare.csv and accuracy.csv. */
enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err);

#endif
