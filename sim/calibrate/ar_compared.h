/** \file ar_compared.h
 * Predictions beside measured rows, and their errors: |predicted / measured - 1|, summed up by what
 * was fitted and by node count.
 */
#ifndef AR_COMPARED_H
#define AR_COMPARED_H

#include "ar_arena.h"
#include "ar_library_table.h"
#include "ar_measured.h"
#include "ar_record.h"

/** What a row was to the fit that predicts it. */
enum ar_compared_set {
    AR_COMPARED_FITTED,   /**< fitted: says how well the model describes, not how it predicts */
    AR_COMPARED_HELD_OUT, /**< not fitted */
    AR_COMPARED_FOLD,     /**< of cross-validation: not fitted by the fit that predicts it */
    AR_COMPARED_SETS
};

/** A measured all-reduce and what is predicted for it, as it is written. */
struct ar_compared {
    struct ar_library_row row;
    enum ar_compared_set set;
    ar_cell_string set_name; /**< `fitted`, `held-out` or `fold` */
    ar_cell_string choice;   /**< `ring/simple`, `torus2d 4x2` */
    ar_cell_number predicted_s, error_frac;
    ar_cell_number low_s, high_s;               /**< of the 95 % band; NAN: none */
    ar_cell_number tuning_s, tuning_error_frac; /**< by NCCL's own constants; NAN: its rates are
                                                     not known */
};

/** A row beside its prediction and, unless `reference` is NULL, NCCL's own constants. `choice` lies
 * where it stays. */
struct ar_compared ar_compared_make(const struct ar_library_row *row, enum ar_compared_set set,
                                    const char *choice,
                                    const struct ar_library_prediction *prediction,
                                    const struct ar_tuning *reference);

/** What a row of our own algorithms ran, `torus2d 4x2`; the arena's. */
const char *ar_compared_own(const struct ar_collective *collective, struct ar_arena *arena);

/** The errors of some rows, as they are written. */
struct ar_compared_error {
    enum ar_compared_set set;
    ar_cell_string set_name;
    ar_cell_count nodes; /**< or GPUs; AR_NO_COUNT: all counts */
    struct ar_library_error model;
    struct ar_library_error tuning; /**< NCCL's own constants on the same rows; NAN: none */
};

enum { AR_COMPARED_ERROR_COLUMNS = 12 };

struct ar_compared_errors {
    struct ar_compared_error *lines;
    size_t count;
    bool is_by_gpus; /**< counts are of GPUs, else of nodes */
};

/** Sums up: for every set that has rows all of it, then each count. Lines are the arena's. */
enum ar_status ar_compared_sum(const struct ar_compared *rows, size_t rows_count,
                               const struct ar_measured *measured, struct ar_arena *arena,
                               struct ar_compared_errors *errors, struct ar_error *err);

/** The median error of all rows that were held out; NAN if none was. */
double ar_compared_held_out(const struct ar_compared_errors *errors);

/** A line as a sentence for a comment (`8 nodes held out, 24 rows: median 4.0 %, ...`). */
char *ar_compared_text(const struct ar_compared_errors *errors, size_t line,
                       struct ar_arena *arena);

/** The columns of an ar_compared_error that begins at `offset` of a record. */
void ar_compared_error_columns(bool is_by_gpus, size_t offset,
                               struct ar_column columns[AR_COMPARED_ERROR_COLUMNS]);

/** Writes errors as records; JSON is an array without a newline behind it. */
enum ar_status ar_compared_write(FILE *file, enum ar_format format,
                                 const struct ar_compared_errors *errors, struct ar_error *err);

#endif
