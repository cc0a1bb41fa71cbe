/** \file explain_terms.h
 * What each term of a framework costs: the difference to the step without it.
 */
#ifndef AR_EXPLAIN_TERMS_H
#define AR_EXPLAIN_TERMS_H

#include "ar_scenario.h"

/** Writes every term that is on, its value and source, and how much longer the step takes than with
 * that term alone at its default, everything else being the same. Each such step is really run.
 * `iteration_s` is that of the step with all terms. */
enum ar_status explain_terms_write(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                   double iteration_s, struct ar_error *err);

#endif
