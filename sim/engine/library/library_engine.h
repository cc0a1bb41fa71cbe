/** \file library_engine.h
 * Private to the engines of a communication library: what they have in common.
 */
#ifndef AR_SIM_LIBRARY_ENGINE_H
#define AR_SIM_LIBRARY_ENGINE_H

#include "ar_library_engine.h"

/** A formula per all-reduce. */
#define LIBRARY_ENGINE_COST                                                                        \
    {                                                                                              \
        .trial_s = 50e-6, .rank_s = 100e-9                                                         \
    }

/** Their ar_engine.check. */
enum ar_status library_engine_check(const struct ar_engine *engine,
                                    const struct ar_collective *collective,
                                    const struct ar_library *library, struct ar_error *err);

/** Runs a trial by engine->predict. `head` begins the text of its options, which names the choices
 * that were made. */
void library_engine_run(struct ar_trial *trial, const struct ar_engine *engine, const char *head);

#endif
