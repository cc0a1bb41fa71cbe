/** \file accuracy_sum.h
 * Errors of judged sets, summed up in lines.
 */
#ifndef ACCURACY_SUM_H
#define ACCURACY_SUM_H

#include "ar_accuracy.h"

/** A set and its three estimates; NULL where there is none. */
struct judged {
    const struct ar_set_rows *rows;
    const struct ar_estimate *zero_shot, *fit, *held_out;
    bool *is_held_out;         /**< rows of the largest counts, */
    const char *held_out_text; /**< these, `8 16`, */
    const char *fitted_text;   /**< and those that are fitted then */
};

/** One line: of some sets, and one operation or all (NULL); what the line is called is left to the
 * caller. `errors` has room for all rows. Texts are the arena's. */
enum ar_status accuracy_sum(const struct judged *judged, size_t count,
                            const struct ar_operation *operation, double *errors,
                            struct ar_arena *arena, struct ar_accuracy *made, struct ar_error *err);

/** Writes into the line of these sets how many rows of their files are not judged, and why. */
enum ar_status accuracy_unused(const struct judged *judged, size_t count, struct ar_arena *arena,
                               struct ar_accuracy *line, struct ar_error *err);

#endif
