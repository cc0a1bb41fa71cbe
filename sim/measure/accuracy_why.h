/** \file accuracy_why.h
 * Where the error of held-out rows sits: computed, for goals that are missed.
 */
#ifndef ACCURACY_WHY_H
#define ACCURACY_WHY_H

#include "ar_measured.h"

/** A held-out row, what was predicted of it, what a fit to it, too, predicts, and what the law
 * time ~ nodes^x through the same call on the two largest node counts that were fitted; NAN: there
 * is none. */
struct why_row {
    const struct ar_measured_row *row;
    double predicted_s, fitted_s, law_s;
};

/** Whether the measurements of a row themselves scatter beyond ACCURACY_SCATTER: their 90th
 * percentile over their 10th. False if these are not known. */
bool accuracy_scatters(const struct ar_measured_row *row);
#define ACCURACY_SCATTER 1.3

/** Which rows err most, at most two groups of one node count, operation, or algorithm of an
 * operation, in a range of sizes: those without which the median falls most, by how much they are
 * off and what is left without them; all rows, if there is no such group; how many rows scatter;
 * and what the law and the fit to these rows err, which say whether smaller counts told of them and
 * whether the model can describe them. `rows` are reordered. "" if the median is at most
 * `goal_frac`; NULL without memory. The text is the arena's. */
const char *accuracy_why(struct why_row *rows, size_t count, double goal_frac,
                         struct ar_arena *arena);

#endif
