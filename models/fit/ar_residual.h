/** \file ar_residual.h
 * The errors that a fit leaves, as a field over size, nodes and the way a row ran: rows near a
 * measured one err as it does (kriging).
 *
 * The error e = log(predicted / measured) of a row is taken as a Gaussian process of mean zero and
 * some noise. Two rows with s and s' bytes on n and n' nodes are correlated by
 *
 *     exp(-|log2(s / s')| / 2 - |log2(n / n')| / 3) x 0.3 if they ran different ways
 *                                                   x 0.3 if they are of different operations
 *
 * and the noise has 0.3 of the variance of the field. These five numbers were chosen by
 * cross-validation in which no row of the largest node counts took part (README.md); errors of more
 * than three standard deviations count as three, so that single odd runs pull little.
 *
 * Source: C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning (2006), 2.2.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** A row of a fit. */
struct ar_residual {
    double bytes;
    double nodes;
    uint32_t way; /**< the same number: the same algorithm and protocol on as many GPUs per node */
    uint32_t operation; /**< the same */
    double error;       /**< log(predicted / measured); of rows that are asked for, see below */
    double share;       /**< of rows that are asked for */
};

/** Writes for each of the rows `asked` the error that those of `known` let expect, and which share
 * of their variance is left. `spread` is the standard deviation of the known errors. Without known
 * rows errors are 0 and shares 1. */
void ar_residual_expect(const struct ar_residual *known, size_t known_count, double spread,
                        struct ar_residual *asked, size_t asked_count);

/** Variance of the logarithm of a time on more nodes than were fitted: that of 25 % for each
 * doubling. With it 94 % of the rows of ABCI, Polaris and MareNostrum 5 on their second largest
 * node count lie in the bands of fits to smaller ones. 0 if none were fitted. */
double ar_residual_away(double nodes, double nodes_max);
