/** \file ar_comparison.h
 * Predictions beside measured rows: what `compare` prints and draws.
 */
#ifndef AR_COMPARISON_H
#define AR_COMPARISON_H

#include "ar_compared.h"
#include "ar_measured.h"
#include "ar_record.h"
#include "ar_trial.h"

/** What predicts. */
struct ar_comparison_model {
    const struct ar_engine *engine;
    const struct ar_algorithm *algorithm; /**< of rows that do not say their own; NULL: auto */
    const char *option_asked; /**< `algorithm` or `channels` if they were given, else NULL */
    /** Cluster, channels, window and element_bytes; algorithm and shape are those of a row. */
    struct ar_collective collective;
    const struct ar_library *library;   /**< of the engine; NULL: none */
    const struct ar_library_table *fit; /**< of the cluster; NULL: none */
    const struct ar_tuning *reference;  /**< NCCL's own constants; NULL: not known */
};

struct ar_comparison {
    struct ar_compared *rows; /**< in order of nodes, GPUs and payload */
    size_t rows_count;
    struct ar_compared_errors errors;
};

/** Predicts every measured row; what is made is the arena's. AR_USAGE for options that the rows do
 * not take, AR_BAD_DATA for rows that the engine cannot run. */
enum ar_status ar_comparison_run(const struct ar_calibrate_request *request,
                                 const struct ar_comparison_model *model,
                                 const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err);

/** Writes the rows and their errors; of CSV the rows alone. */
enum ar_status ar_comparison_write(FILE *file, enum ar_format format,
                                   const struct ar_comparison *comparison, struct ar_arena *arena,
                                   struct ar_error *err);

/** Writes `directory`/compare.csv and accuracy.csv. */
enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_arena *arena, struct ar_error *err);

#endif
