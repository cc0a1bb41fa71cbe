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

/** NCCL's own cost model (ar_library.h), fitted to nothing. */
extern const struct ar_engine ar_engine_nccl;

#endif
