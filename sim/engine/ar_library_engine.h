/** \file ar_library_engine.h
 * The engines of a communication library, `library` and `nccl`: what may be known of them outside.
 */
#pragma once

#include "ar_library_table.h"
#include "ar_trial.h"

/** The calls of the library that an all-reduce of `elements` is; returns how many. */
size_t ar_library_engine_calls(const struct ar_collective *collective, uint64_t elements,
                               struct ar_library_run runs[AR_LIBRARY_CALLS_MAX]);

/** Bandwidth of the rings across the network, of the nodes that the library sees; 0: not known. */
double ar_library_engine_net_bus(const struct ar_cluster_facts *facts);

/** A measured call as the library sees it: hosts of one NVLink domain are one node to it. */
struct ar_library_row ar_library_engine_row(const struct ar_cluster *cluster,
                                            const struct ar_library_row *row);

/** Whether a key of a cluster (`net.latency`) is of its links, and the engine one of these, which
 * do not know them; NCCL's own model asks what joins GPUs and HCAs. */
bool ar_library_engine_ignores(const struct ar_engine *engine, const char *key);

/** NCCL's own table with the rates of a cluster (0: it does not say): of `release` (`--tuning`), if
 * it is NULL of `library.release`, if nothing says that of the fitted table, if that is NULL too of
 * 2.8.4. AR_BAD_DATA for an unknown release, AR_USAGE for one of `--tuning`. */
enum ar_status ar_library_engine_tuning(const struct ar_cluster *cluster, const char *release,
                                        const struct ar_library_table *table,
                                        struct ar_tuning *tuning, struct ar_error *err);
