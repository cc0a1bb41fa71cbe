/** \file ar_verify.h
 * Symbolic verification of an algorithm: proof by execution on sets instead of numbers.
 *
 * Every rank starts with the contributions that the operation says (ar_operation.h). The moves of
 * all ranks are executed step by step; an element holds the set of ranks whose contribution it
 * contains. The verification fails, naming step and rank, when
 *
 * - a send has no matching receive in the same step, or their spans differ;
 * - a span reaches beyond the buffer, or a peer is out of range or the rank itself;
 * - a reduction, or a switch, adds a contribution that is already there (it would count twice);
 * - members of a switch's line do not agree on it, somebody asks for what nobody has sent, or what
 *   somebody has sent nobody asks for;
 * - an element of some rank lacks a contribution at the end that the operation wants there, or has
 *   another one as well;
 * - a phase says something about peers, messages or receives that the moves do not do, or breaks
 *   what phases of its kind promise (ar_algorithm.h).
 *
 * Cost: N * elements * N/8 bytes, steps * N * span operations.
 */
#pragma once

#include "ar_algorithm.h"

/** Verifies one algorithm on one shape and element count. On failure the error (AR_INTERNAL: the
 * algorithm is wrong, not the user) names what broke. */
enum ar_status ar_verify(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                         uint64_t elements, struct ar_error *err);

/** Verifies all shapes of `ranks` that the algorithm accepts, of the four-dimensional ones those
 * whose second length is 1, for the element counts 0, 1,
 * N-1, N, N+1 and a prime; `cases` counts what was verified and is updated also on failure. */
enum ar_status ar_verify_ranks(const struct ar_algorithm *algorithm, uint32_t ranks,
                               uint64_t *cases, struct ar_error *err);
