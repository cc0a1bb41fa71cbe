/** \file engines.h
 * The rows of the engine table.
 */
#ifndef AR_ENGINES_H
#define AR_ENGINES_H

#include "ar_trial.h"

/** SimGrid: every rank an actor per channel, every message a communication on the platform. */
extern const struct ar_engine ar_engine_simgrid;

/** A dataflow recurrence over ranks with max-min shared rates. */
extern const struct ar_engine ar_engine_recurrence;

/** The closed form of ar_closed.h. */
extern const struct ar_engine ar_engine_closed;

/** The times of a fitted library (ar_library_fit.h). */
extern const struct ar_engine ar_engine_library;

/** ar_engine_check() of that engine. */
enum ar_status ar_library_engine_check(const struct ar_collective *collective,
                                       const struct ar_library *library, struct ar_error *err);

#endif
