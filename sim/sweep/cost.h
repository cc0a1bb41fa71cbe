/** \file cost.h
 * What a point costs to compute, for the order of a sweep and its estimates of time.
 */
#ifndef AR_COST_H
#define AR_COST_H

#include "plan.h"

/** Estimated seconds on one core, its baseline included: messages times the time each takes its
 * engine. The rates are measured (sim/README.md) and good to a factor of two or so. */
double cost_s(const struct plan *plan, const struct point *point);

#endif
