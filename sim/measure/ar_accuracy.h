/** \file ar_accuracy.h
 * How wrong predictions of the shipped measured sets are: with nothing fitted, with all rows
 * fitted, and of the largest node counts by a fit to the others.
 */
#ifndef AR_ACCURACY_H
#define AR_ACCURACY_H

#include "ar_comparison.h"

/** Goals of the median of a set's held-out rows, and of the pairs. */
#define AR_ACCURACY_GOAL       0.10
#define AR_ACCURACY_RIGHT_GOAL 0.90

/** Two algorithms whose times differ by this factor or more are a pair. */
#define AR_ACCURACY_PAIR_RATIO 1.1

/** Rows from these sizes on count, and are large. */
enum { AR_ACCURACY_BYTES_MIN = 1024, AR_ACCURACY_LARGE_BYTES = 1 << 20 };

/** Errors of one operation of a set or, with an empty operation, of all its rows, or of several
 * sets. */
struct ar_accuracy {
    ar_cell_string set; /**< `all`: of all sets; `all_unseen`, ...: of some of them */
    ar_cell_string operation;
    struct ar_library_error zero_shot; /**< nothing fitted */
    struct ar_library_error large;     /**< the same of large rows */
    struct ar_library_error own;       /**< calls by NCCL's own constants, */
    struct ar_library_error own_large; /**< and large ones */
    struct ar_library_error fit;       /**< all rows fitted */
    ar_cell_count unused;          /**< rows of the set's files that do not count; of the last line
                                        of a set, */
    ar_cell_string unused_why;     /**< and why not: `12 of ...; 96 of less than 1 KiB` */
    ar_cell_string fitted_nodes;   /**< counts, `8 64`, that are fitted where others are held out */
    ar_cell_string held_out_nodes; /**< these, `100 1000`; empty: none, and no errors */
    struct ar_library_error held_out; /**< of these, fitted without them */
    ar_cell_count pairs;       /**< held-out rows of two algorithms, ranks and size alike, whose
                                    times differ by AR_ACCURACY_PAIR_RATIO or more, */
    ar_cell_number right_frac; /**< and the share of them whose faster one is predicted to be */
    ar_cell_flag unseen;       /**< `seen` is empty; AR_NO_FLAG of several sets */
    ar_cell_string seen;       /**< ar_measured_set.seen */
    ar_cell_string why; /**< where the error of the held-out rows sits, if a goal is missed */
};

struct ar_accuracies {
    struct ar_accuracy *rows;
    size_t count;
};

/** Predicts the sets that have one of `names` as their name or that of a file (none: all). A fit
 * that fails is noted, and its errors are empty. AR_NO_INPUT for a name that no set has. */
enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario,
                               struct ar_inputs *inputs, FILE *notes, struct ar_arena *arena,
                               struct ar_accuracies *accuracies, struct ar_error *err);

extern const struct ar_columns ar_accuracy_columns;

/* --- where the error of held-out rows comes from ------------------------------------------- */

/** A held-out row: its prediction, that of a fit to it, too, and of the law time ~ nodes^x through
 * the same call on the two largest node counts that were fitted; NAN: there is none. */
struct ar_accuracy_row {
    const struct ar_measured_row *row;
    double predicted_s, fitted_s, law_s;
};

/** Whether the measurements of a row themselves scatter: their 90th percentile is beyond
 * AR_ACCURACY_SCATTER times their 10th. False if these are not known. */
bool ar_accuracy_scatters(const struct ar_measured_row *row);
#define AR_ACCURACY_SCATTER 1.3

/** Which rows err most: at most two groups of one node count, operation, or algorithm of an
 * operation, in a range of sizes, without which the median falls most, by how much they are off and
 * what is left without them; all rows, if there is no such group; how many rows scatter; and the
 * errors of the law and of the fit to these rows, which show whether smaller counts told of them
 * and whether the model can describe them. `rows` are reordered. "" if the median is at most
 * `goal_frac`. The text is the arena's. */
const char *ar_accuracy_why(struct ar_accuracy_row *rows, size_t count, double goal_frac,
                            struct ar_arena *arena);

#endif
