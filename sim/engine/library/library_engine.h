/** \file library_engine.h
 * Private to the engines of a communication library: what they have in common.
 */
#ifndef AR_LIBRARY_ENGINE_H
#define AR_LIBRARY_ENGINE_H

#include "ar_trial.h"

/** The calls of the library that an all-reduce of `elements` is; returns how many. */
size_t library_engine_calls(const struct ar_collective *collective, uint64_t elements,
                            struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]);

/** Whether a key of a cluster (`net.latency`) is of its links, which these engines do not know. */
bool library_engine_ignores(const char *key);

/** ar_engine_check() of these engines. */
enum ar_status library_engine_check(const struct ar_engine *engine,
                                    const struct ar_collective *collective,
                                    const struct ar_library *library, struct ar_error *err);

/** Runs a trial by engine->predict. `head` begins the text of its options, which names the choices
 * that were made. */
void library_engine_run(struct ar_trial *trial, const struct ar_engine *engine, const char *head);

#endif
