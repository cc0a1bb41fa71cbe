/** \file ar_hierarchy.h
 * Fits of many machines, of which each tells something about a machine that was never measured.
 *
 * Machine m has the logarithms d_m[k] of K factors on what is stated of it. A fit to its rows says
 * of them, as a Gaussian, precision times (d - most likely). They are taken as
 *
 *     d_m[k] = mean[k] + class[k][c] + own[k][m],    c the class of k on m (its GPUs, its NICs)
 *     mean ~ N(0, mean_spread^2), class ~ N(0, class_spread^2), own ~ N(0, own_spread^2)
 *
 * a linear mixed model, whose means and classes are found in closed form (generalised least
 * squares). The spreads are given. A machine's own deviation is Student's t of `freedom` degrees:
 * one unlike the others has a wider spread and moves them less. Each solution takes these weights
 * from the deviations that the one before found (IRLS); with 1e9 degrees they are normal, and it is
 * one.
 *
 * Sources: N. Laird, J. Ware, Random-Effects Models for Longitudinal Data, Biometrics 38 (1982);
 * K. Lange, R. Little, J. Taylor, Robust Statistical Modeling Using the t Distribution, J. Am.
 * Stat. Assoc. 84 (1989).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

/** Parameters of a hierarchy, and classes of one parameter. */
enum { AR_HIERARCHY_PARAMETERS_MAX = 32, AR_HIERARCHY_CLASSES = 8 };

/** The fit of a machine. */
struct ar_hierarchy_group {
    double precision[AR_HIERARCHY_PARAMETERS_MAX][AR_HIERARCHY_PARAMETERS_MAX];
    double pull[AR_HIERARCHY_PARAMETERS_MAX]; /**< precision times the most likely logarithms */
    uint32_t classes[AR_HIERARCHY_PARAMETERS_MAX]; /**< below AR_HIERARCHY_CLASSES */
    double own[AR_HIERARCHY_PARAMETERS_MAX]; /**< its most likely own deviations; 0 to begin with */
};

struct ar_hierarchy {
    size_t parameters_count;
    double mean_spread[AR_HIERARCHY_PARAMETERS_MAX];  /**< given, above 0: of means, */
    double class_spread[AR_HIERARCHY_PARAMETERS_MAX]; /**< between classes, */
    double own_spread[AR_HIERARCHY_PARAMETERS_MAX];   /**< and between machines of a class, */
    double freedom;                                   /**< Student's t of so many degrees */
    bool leaves_errors; /**< given: nobody asks for errors, which become NAN */
    /** mean + class, of a class without machines the mean; and its standard error. */
    double factors[AR_HIERARCHY_PARAMETERS_MAX][AR_HIERARCHY_CLASSES];
    double errors[AR_HIERARCHY_PARAMETERS_MAX][AR_HIERARCHY_CLASSES];
};

/** Makes a group from a fit that had priors of mean 0: `logs` and their `covariance` (row by row,
 * `stride` to the next), the spreads of the priors, which are taken off again. Parameters that
 * `is_fitted` (NULL: all) does not mark say nothing. Errors: AR_INTERNAL, a singular covariance. */
enum ar_status ar_hierarchy_group(size_t parameters_count, const double *logs,
                                  const double *covariance, const double *prior_spreads,
                                  const bool *is_fitted, struct ar_hierarchy_group *group,
                                  struct ar_error *err);

/** Finds the factors of a hierarchy and their errors, and the groups' own deviations. AR_INTERNAL:
 * a machine says what is no number. */
enum ar_status ar_hierarchy_solve(struct ar_hierarchy_group *const *groups, size_t count,
                                  struct ar_hierarchy *hierarchy, struct ar_error *err);
