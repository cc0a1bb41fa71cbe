/** \file accuracy.h
 * How far predictions are from measurements, summed up by what was fitted and by node count.
 */
#ifndef AR_ACCURACY_H
#define AR_ACCURACY_H

#include <stdio.h>

#include "ar_library_table.h"
#include "ar_row.h"

/** What a row was to the fit that predicts it. */
enum judged_set {
    JUDGED_FITTED,   /**< fitted: says how well the model describes, not how well it predicts */
    JUDGED_HELD_OUT, /**< not fitted */
    JUDGED_FOLD,     /**< of cross-validation: not fitted by the fit that predicts it */
    JUDGED_SETS
};

/** `fitted`, `held-out` or `fold`. */
const char *judged_set_name(enum judged_set set);

/** A measured all-reduce and what is predicted for it. */
struct judged {
    struct ar_library_row row;
    enum judged_set set;
    double predicted_s;
    double low_s, high_s; /**< of the 95 % band; NAN: none */
    double tuning_s;      /**< by NCCL's own constants; NAN: its rates are not known */
    char choice[24];      /**< `ring/simple` */
};

/** A row beside its prediction, and beside NCCL's own constants of `yardstick`. */
struct judged judged_by(const struct ar_library_prediction *prediction,
                        const struct ar_tuning *yardstick, const struct ar_library_row *row,
                        enum judged_set set);

/** Predicts a row with a fitted library; the yardstick is its own table. */
struct judged judged_by_library(const struct ar_library *library, const struct ar_library_row *row,
                                enum judged_set set);

/** One line of a summary. */
struct accuracy {
    enum judged_set set;
    bool by_gpus;   /**< the count below is of GPUs, not of nodes */
    uint32_t nodes; /**< 0: all counts */
    struct ar_library_error model;
    struct ar_library_error tuning; /**< NCCL's own constants on the same rows; count 0: none */
    bool has_bands;
};

enum { ACCURACY_MAX = JUDGED_SETS * (AR_LIBRARY_NODES_MAX + 1) };

/** Sums up: for every set that has rows all of it, then each node count, or GPU count if `by_gpus`.
 */
enum ar_status accuracy_sum(const struct judged *rows, size_t rows_count,
                            const struct ar_library_nodes *counts, bool by_gpus,
                            struct accuracy lines[ACCURACY_MAX], size_t *lines_count,
                            struct ar_error *err);

void accuracy_write_table(FILE *file, const struct accuracy *lines, size_t count);

/** An array with an object per line of the summary. */
void accuracy_write_json(FILE *file, const struct accuracy *lines, size_t count);

/** Columns of accuracy_write_csv(); the first one is `set`, the second `nodes` or `gpus`. */
const char *accuracy_columns(bool by_gpus);

/** Cells of one line; no newline. */
void accuracy_write_csv(FILE *file, const struct accuracy *line);

enum { ACCURACY_TEXT = 220 };

/** A line as a sentence for a comment (`8 nodes held out, 24 rows: median 4.0 %, ...`). */
const char *accuracy_text(const struct accuracy *line, char text[ACCURACY_TEXT]);

#endif
