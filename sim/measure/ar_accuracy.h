/** \file ar_accuracy.h
 * How wrong predictions of the shipped measured sets are: with nothing fitted, with all rows
 * fitted, and of the largest node counts by a fit to the others.
 */
#pragma once

#include "ar_comparison.h"
#include "ar_new_machine.h"

/** Two algorithms whose times differ by this factor or more are a pair. */
#define AR_ACCURACY_PAIR_RATIO 1.1

/** Rows from these sizes on count, and are large. */
enum { AR_ACCURACY_BYTES_MIN = 1024, AR_ACCURACY_LARGE_BYTES = AR_LIBRARY_LARGE_BYTES };

/** The predictions whose errors a line has, and of which rows. */
enum ar_accuracy_error {
    AR_ZERO_SHOT,       /**< nothing fitted */
    AR_ZERO_SHOT_LARGE, /**< the same of large rows */
    AR_OWN_LARGE,       /**< large calls by NCCL's own constants */
    AR_NEW_MACHINE,     /**< by all other machines, own rows unseen; */
    AR_NEW_LARGE,       /**< the same of large rows, */
    AR_NEW_NODE,        /**< and of rows on one node */
    AR_FIT,             /**< all rows fitted */
    AR_HELD_OUT,        /**< rows of `held_out_nodes`, fitted without them */
    AR_ACCURACY_ERRORS
};

/** Errors of one operation of a set or, with an empty operation, of all rows or several sets. */
struct ar_accuracy {
    ar_cell_string set; /**< `all`: of all sets; `all_unseen`, ...: of some of them */
    ar_cell_string operation;
    struct ar_library_error errors[AR_ACCURACY_ERRORS];
    ar_cell_count unused;          /**< rows of the set's files that do not count; of the last line
                                        of a set, */
    ar_cell_string unused_why;     /**< and why not: `12 of ...; 96 of less than 1 KiB` */
    ar_cell_string fitted_nodes;   /**< counts, `8 64`, that are fitted where others are held out */
    ar_cell_string held_out_nodes; /**< these, `100 1000`; empty: none, and no errors */
    ar_cell_count pairs;           /**< held-out rows of two algorithms, ranks and size alike, whose
                                        times differ by AR_ACCURACY_PAIR_RATIO or more, */
    ar_cell_number right_frac;     /**< and the share of them whose faster one is predicted to be */
    ar_cell_flag unseen;           /**< `seen` is empty; AR_NO_FLAG of several sets */
    ar_cell_string seen;           /**< ar_measured_set.seen */
};

/** How rows of all sets are predicted that one kind of fit leaves out, as it is written. */
struct ar_coverage {
    ar_cell_string kind; /**< own rows (every fifth), more nodes, other algorithm, new machine */
    struct ar_library_error error;
    ar_cell_count unbanded; /**< rows without a band */
    ar_cell_string why;     /**< why; empty: all have one */
};

enum { AR_COVERAGES = 4 };

struct ar_accuracies {
    struct ar_accuracy *rows;
    size_t count;
    struct ar_learnt_factor
        *factors; /**< what all machines tell of a new one; NULL: not all sets */
    size_t factors_count;
    struct ar_coverage coverages[AR_COVERAGES];    /**< not filled in without factors */
    struct ar_learnt_kind kinds[AR_MACHINE_KINDS]; /**< and how well, by kind of rows; not filled in
                                                      without factors */
};

/** Predicts the sets that have one of `names` as their name or that of a file (none: all). A fit
 * that fails is noted, and its errors are empty. AR_NO_INPUT for a name that no set has. */
enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario, FILE *notes,
                               struct ar_arena *arena, struct ar_accuracies *accuracies,
                               struct ar_error *err);

extern const struct ar_columns ar_accuracy_columns;
extern const struct ar_columns ar_coverage_columns;
