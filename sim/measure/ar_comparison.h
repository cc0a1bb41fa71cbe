/** \file ar_comparison.h
 * Measured rows beside their predictions: one list, of which `compare`, `calibrate` and `accuracy`
 * print rows and sum up errors, |predicted / measured - 1|.
 */
#pragma once

#include "ar_estimate.h"
#include "ar_measured_set.h"
#include "ar_record.h"

/** How a row was used by the fit that predicts it. */
enum ar_compared_set {
    AR_COMPARED_FITTED,   /**< fitted: shows how well the model describes, not how it predicts */
    AR_COMPARED_HELD_OUT, /**< not fitted */
    AR_COMPARED_FOLD,     /**< of cross-validation: not fitted by the fit that predicts it */
    AR_COMPARED_UNFITTED, /**< nothing was fitted */
    AR_COMPARED_SETS      /**< how many; none of them, written as an empty cell */
};

/** A measured collective and its prediction, as they are written. */
struct ar_compared {
    const struct ar_measured_row *measured;
    struct ar_library_row row;
    ar_cell_string operation; /**< command: `allreduce` */
    ar_cell_string called;    /**< the algorithm's name in a table of a library; else empty */
    enum ar_compared_set set;
    ar_cell_count payload_bytes; /**< of one rank */
    ar_cell_string choice;       /**< the algorithm that ran: `ring/simple`, `torus2d 4x2` */
    struct ar_library_prediction prediction;
    ar_cell_number error_frac;
    ar_cell_number tuning_s, tuning_error_frac; /**< by NCCL's constants; NAN: unknown */
};

/** The errors of some rows, as they are written. */
struct ar_compared_error {
    enum ar_compared_set set;
    ar_cell_count nodes; /**< or GPUs; AR_NO_COUNT: all counts */
    struct ar_library_error model;
    struct ar_library_error tuning; /**< NCCL's own constants on the same rows; NAN: none */
};

struct ar_comparison {
    struct ar_arena *arena; /**< of all that follows */
    struct ar_compared *rows;
    size_t rows_count;
    struct ar_compared_error *errors;
    size_t errors_count;
    bool is_by_gpus; /**< counts of errors are of GPUs, else of nodes */
};

/** An empty comparison with room for `capacity` rows, the arena's. */
struct ar_comparison ar_comparison_begin(size_t capacity, struct ar_arena *arena);

/** Adds a row beside its prediction and, unless `reference` is NULL, NCCL's own constants; there
 * is room for it. Returns it as it lies in the list. */
struct ar_compared *ar_comparison_add(struct ar_comparison *comparison,
                                      const struct ar_measured_row *row, enum ar_compared_set set,
                                      const struct ar_library_prediction *prediction,
                                      const struct ar_tuning *reference);

/** Sums up the errors of the rows: all rows of each use, then each count of nodes or GPUs. */
void ar_comparison_sum(const struct ar_library_nodes *counts, bool is_by_gpus,
                       struct ar_comparison *comparison);

/** Errors that are summed up. */
struct ar_error_sum {
    struct ar_arena *arena;
    double *errors, *ratios;       /**< of all; of the ends of bands */
    size_t count, covered, banded; /**< all, inside their bands, with a band */
};

/** Adds a prediction of a measured time; one that is NAN counts nothing. */
void ar_error_sum_add(struct ar_error_sum *sum, double measured_s,
                      const struct ar_library_prediction *prediction);

/** The sum; its share inside the band is that of the rows with a band, NAN if there are none. */
struct ar_library_error ar_error_sum_end(const struct ar_error_sum *sum);

/** NCCL's own constants that predictions are compared with: of the release of the scenario, of its
 * cluster or of the table; NULL: not known. */
const struct ar_tuning *ar_comparison_reference(const struct ar_scenario *scenario);

/** Predicts every measured row by the engine and, of rows that do not name their own, the algorithm
 * of the request's scenario. AR_USAGE for keys that the rows do not take, AR_BAD_DATA for rows that
 * the engine cannot run. */
enum ar_status ar_comparison_run(const struct ar_measured *measured, struct ar_arena *arena,
                                 struct ar_comparison *comparison, struct ar_error *err);

/** Predicts the further rows of a set by a fit to its shipped rows: rows that the set has, too,
 * count as fitted, all others as held out. Rows of a kind that cannot be fitted are predicted with
 * nothing fitted. */
enum ar_status ar_comparison_run_set(const struct ar_set_rows *rows, struct ar_arena *arena,
                                     struct ar_comparison *comparison, struct ar_error *err);

extern const struct ar_columns ar_comparison_columns;

/** Writes the rows, of the columns of the view; below a table their errors. */
void ar_comparison_write(FILE *file, const struct ar_view *view,
                         const struct ar_comparison *comparison);

/** Writes the errors. */
void ar_comparison_write_errors(FILE *file, const struct ar_view *view,
                                const struct ar_comparison *comparison);

/** The columns of an ar_compared_error that begins at `offset` of a record. */
enum { AR_COMPARED_ERROR_COLUMNS = 12 };
void ar_compared_error_columns(bool is_by_gpus, size_t offset,
                               struct ar_column columns[AR_COMPARED_ERROR_COLUMNS]);

/** Writes `directory`/compare.csv and accuracy.csv. */
enum ar_status ar_comparison_save(const struct ar_comparison *comparison, const char *directory,
                                  struct ar_error *err);
