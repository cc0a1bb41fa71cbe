/** \file ar_engines.h
 * The table of engines. A new engine is a row (ar_engine.h) in a file of its own, and its name
 * here.
 */
#ifndef AR_ENGINES_H
#define AR_ENGINES_H

#include <stddef.h>

#include "ar_trial.h"

/** SimGrid: every rank an actor per channel, every message a communication on the platform; a
 * dataflow recurrence over ranks with max-min shared rates; the closed form of ar_closed.h; the
 * times of a fitted library (ar_library_fit.h); NCCL's own cost model (ar_library.h). */
#define AR_ENGINE_LIST(X) X(simgrid) X(recurrence) X(closed) X(library) X(nccl)

#define X(name) extern const struct ar_engine ar_engine_##name;
AR_ENGINE_LIST(X)
#undef X

/** The table of all engines. */
extern const struct ar_engine *const ar_engines[];
extern const size_t ar_engines_count;

/** Finds an engine by name; the error names the nearest known one. */
enum ar_status ar_engine_find(const char *where, const char *name, const struct ar_engine **engine,
                              struct ar_error *err);

/** The engine beside which another one is checked: of those that follow messages the first
 * simulation, or for a simulation the first that is none. */
const struct ar_engine *ar_engine_checker(const struct ar_engine *engine);

#endif
