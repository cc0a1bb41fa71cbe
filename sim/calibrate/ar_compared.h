/** \file ar_compared.h
 * Predictions beside measured rows, and their errors: |predicted / measured - 1|, summed up by what
 * was fitted and by node count.
 */
#ifndef AR_COMPARED_H
#define AR_COMPARED_H

#include "ar_arena.h"
#include "ar_library_table.h"

/** What a row was to the fit that predicts it. */
enum ar_compared_set {
    AR_COMPARED_FITTED,   /**< fitted: says how well the model describes, not how it predicts */
    AR_COMPARED_HELD_OUT, /**< not fitted */
    AR_COMPARED_FOLD,     /**< of cross-validation: not fitted by the fit that predicts it */
    AR_COMPARED_SETS
};

/** `fitted`, `held-out` or `fold`. */
const char *ar_compared_set_name(enum ar_compared_set set);

enum { AR_COMPARED_CHOICE = 24 };

/** A measured all-reduce and what is predicted for it. */
struct ar_compared {
    struct ar_library_row row;
    enum ar_compared_set set;
    double predicted_s;
    double low_s, high_s;            /**< of the 95 % band; NAN: none */
    double tuning_s;                 /**< by NCCL's own constants; NAN: its rates are not known */
    char choice[AR_COMPARED_CHOICE]; /**< `ring/simple` */
};

/** A row beside its prediction, and beside NCCL's own constants of `reference`. */
struct ar_compared ar_compared_by(const struct ar_library_prediction *prediction,
                                  const struct ar_tuning *reference,
                                  const struct ar_library_row *row, enum ar_compared_set set);

/** Predicts a row with a fitted library; the reference is its own table. */
struct ar_compared ar_compared_by_library(const struct ar_library *library,
                                          const struct ar_library_row *row,
                                          enum ar_compared_set set);

/** The errors of some rows. */
struct ar_compared_error {
    enum ar_compared_set set;
    uint32_t nodes; /**< or GPUs; 0: all counts */
    struct ar_library_error model;
    struct ar_library_error tuning; /**< NCCL's own constants on the same rows; count 0: none */
    bool has_bands;
};

struct ar_compared_errors {
    struct ar_compared_error *lines;
    size_t count;
    bool is_by_gpus; /**< counts are of GPUs, else of nodes */
};

/** Sums up: for every set that has rows all of it, then each count. Lines are the arena's. */
enum ar_status ar_compared_sum(const struct ar_compared *rows, size_t rows_count,
                               const struct ar_library_nodes *counts, bool is_by_gpus,
                               struct ar_arena *arena, struct ar_compared_errors *errors,
                               struct ar_error *err);

/** The median error of all rows that were held out; NAN if none was. */
double ar_compared_held_out(const struct ar_compared_errors *errors);

enum { AR_COMPARED_TEXT = 220 };

/** A line as a sentence for a comment (`8 nodes held out, 24 rows: median 4.0 %, ...`). */
const char *ar_compared_text(const struct ar_compared_errors *errors, size_t line,
                             char text[AR_COMPARED_TEXT]);

#endif
