/** \file ar_conformal.h
 * Bands of 95 % from what was left out: split conformal prediction by machine.
 *
 * The score of a row is |log(predicted / measured)| over what its prediction knows of its scatter.
 * The band of a row of one machine reaches as far as the finite-sample quantile of the scores of
 * all other machines' rows of the same kind: of n scores the one at place ceil(0.95 (n + 1)); or
 * further, to the score that 95 % of rows have in the mean of those machines, so that none decides
 * alone. It holds for a new machine as long as machines are exchangeable, whatever the model.
 *
 * Sources: V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005), 2.2;
 * R. Dunn, L. Wasserman, A. Ramdas, Distribution-Free Prediction Sets for Two-Layer Hierarchical
 * Models, J. Am. Stat. Assoc. 118 (2023): pooled distributions of groups.
 */
#pragma once

#include "ar_arena.h"
#include "ar_library_fit.h"

/** How far a row is off, and what it is of: rows of one machine follow each other. */
struct ar_score {
    const char *machine;
    double score;
    double share; /**< of the rows of its machine: worked out by the next function */
};

/** The score that a share `covered` of rows stays below, as above; sorts them. NAN: too few. */
double ar_conformal_quantile(struct ar_score *scores, size_t count, double covered);

/** A predicted row that was not fitted. */
struct ar_left_out {
    const char *machine;
    uint32_t kind; /**< rows of one kind tell of each other */
    double measured_s;
    double scatter; /**< of the logarithm of the prediction, as its fit knows it; 1: it does not */
    struct ar_library_prediction *prediction; /**< gets its band, */
    double reach; /**< gets how often the scatter it reaches; NAN: fewer than 19 rows of others */
};

/** How often its scatter a row of this kind reaches, by the rows of all machines but one
 * (`without`, NULL: all); NAN: fewer than 19 rows. */
double ar_conformal_reach(const struct ar_left_out *rows, size_t count, uint32_t kind,
                          const char *without);

/** Gives every prediction a band from the rows of other machines. Where fewer than 19 rows of its
 * kind are known, the ends are NAN: 95 % cannot be had. */
void ar_conformal_bands(struct ar_left_out *rows, size_t count);
