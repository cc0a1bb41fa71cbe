/** \file ar_accuracy.h
 * The measured sets that are shipped: their rows, further rows of the same machines, and how wrong
 * predictions are.
 */
#ifndef AR_ACCURACY_H
#define AR_ACCURACY_H

#include "ar_comparison.h"
#include "ar_estimate.h"

/** A set whose rows were taken. */
struct ar_set_rows {
    const struct ar_measured_set *set;
    struct ar_scenario *scenario;
    struct ar_calibrate_request request;
    struct ar_measured *measured;
};

/** Gives a scenario the cluster, the engine and those settings of a set that it does not have. */
enum ar_status ar_set_scenario(const struct ar_measured_set *set, struct ar_arena *arena,
                               struct ar_scenario *scenario, struct ar_error *err);

/** Asks for the rows of a set alone, and by default those on more nodes than it fits held out. */
void ar_set_ask_rows(const struct ar_measured_set *set, struct ar_calibrate_request *request);

/** Asks for rows as those of a set, whose scenario the request has: messages or calls, of what. */
void ar_set_ask_algorithm(const struct ar_measured_set *set, struct ar_calibrate_request *request);

/** Takes the rows of a set, and behind them those of `more` files; `scenario` is what the command
 * line says of all sets. */
enum ar_status ar_set_load(const struct ar_measured_index *index, const struct ar_measured_set *set,
                           const struct ar_scenario *scenario, struct ar_inputs *inputs,
                           const char *const *more, size_t more_count, FILE *notes,
                           struct ar_arena *arena, struct ar_set_rows **rows, struct ar_error *err);

/** Notes the further rows of sets, all of which were loaded with the same further files, that are
 * of none of their machines; AR_BAD_DATA if there are no others. */
enum ar_status ar_sets_check(const char *command, struct ar_set_rows *const *sets, size_t count,
                             struct ar_arena *arena, struct ar_error *err);

/** Fits to the rows of the set, predicts those of its further files and adds them: as fitted those
 * that the set has, too, as held out all others. */
enum ar_status ar_set_compare(const struct ar_set_rows *rows, const char *cluster,
                              struct ar_arena *arena, struct ar_comparison *comparison,
                              struct ar_error *err);

/** Errors of predictions of a set or, with an empty operation, of all its rows, or of several sets;
 * sizes from AR_ACCURACY_BYTES_MIN on. */
struct ar_accuracy {
    ar_cell_string set; /**< `all`: of all sets; `all_unseen`, ...: of some of them */
    ar_cell_string operation;
    struct ar_library_error zero_shot; /**< nothing fitted */
    struct ar_library_error large;     /**< the same from AR_ACCURACY_LARGE_BYTES on */
    struct ar_library_error own;       /**< calls by NCCL's own constants, */
    struct ar_library_error own_large; /**< and those from AR_ACCURACY_LARGE_BYTES on */
    struct ar_library_error fit;       /**< all rows fitted */
    /** Rows of the set's files that are not judged, and why not; of the last line of a set. */
    ar_cell_count unused;
    ar_cell_string unused_why;     /**< `12 of ...; 96 of less than 1 KiB` */
    ar_cell_string fitted_nodes;   /**< counts, `8 64`, that are fitted where others are held out */
    ar_cell_string held_out_nodes; /**< these, `100 1000`; empty: none, and no errors */
    struct ar_library_error held_out; /**< of these, fitted without them */
    /** Of two algorithms on the same nodes and size whose measured times differ by a tenth or more,
     * held out: how many pairs, and in how many the faster one is predicted to be. */
    ar_cell_count pairs;
    ar_cell_number right_frac;
    ar_cell_flag unseen; /**< `seen` is empty; AR_NO_FLAG of several sets */
    ar_cell_string seen; /**< ar_measured_set.seen */
    ar_cell_string why;  /**< where the error of what was held out sits (accuracy_why.h), if it is
                              more than AR_ACCURACY_GOAL, or fewer pairs are right than
                              AR_ACCURACY_RIGHT_GOAL; else empty */
};

/** Goals of the median of a set's held-out rows, and of the pairs. */
#define AR_ACCURACY_GOAL       0.10
#define AR_ACCURACY_RIGHT_GOAL 0.90

/** Times of two algorithms that differ by this factor or more are a pair that is judged. */
#define AR_ACCURACY_PAIR_RATIO 1.1

enum { AR_ACCURACY_BYTES_MIN = 1024, AR_ACCURACY_LARGE_BYTES = 1 << 20 };

struct ar_accuracies {
    struct ar_accuracy *rows;
    size_t count;
};

/** Judges the sets whose name or a file of which `names` has (none: all). What cannot be fitted is
 * noted, and its errors are empty. AR_USAGE for a name that no set has. */
enum ar_status ar_accuracy_run(const struct ar_measured_index *index, const char *const *names,
                               size_t names_count, const struct ar_scenario *scenario,
                               struct ar_inputs *inputs, FILE *notes, struct ar_arena *arena,
                               struct ar_accuracies *accuracies, struct ar_error *err);

extern const struct ar_columns ar_accuracy_columns;

#endif
