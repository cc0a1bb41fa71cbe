/** \file ar_runnable.h
 * Which libraries run an algorithm by themselves, and from which release on.
 *
 * A library runs an algorithm if one call of it, in the right circumstances, sends those messages:
 * NCCL_ALGO, coll_tuned_*_algorithm of Open MPI and MPIR_CVAR_*_INTRA_ALGORITHM of MPICH force it.
 * All-to-alls and the like that programs make of ncclSend and ncclRecv are not in the table.
 */
#pragma once

#include <stdbool.h>

#include "ar_algorithm.h"

/** A library in a release, as asked for: `nccl-2.23`; without a text (NULL) anything runs. */
struct ar_runner {
    const char *text;
    size_t name_size; /**< of the library, at the beginning of the text */
    uint32_t release; /**< 1000 times the major number plus the minor one */
};

/** Reads `nccl-2.23`, `openmpi-5.0.3`, or `rccl`, its newest release. AR_USAGE: another library, no
 * release, or one before those of the table. `text` is borrowed. */
enum ar_status ar_runner_parse(const char *where, const char *text, struct ar_runner *runner,
                               struct ar_error *err);

/** Where the ranks are: an algorithm that runs at one of these runs at those after it. */
enum ar_spread { AR_ONE_NODE, AR_NODES, AR_NODES_OF_ONE_RANK };

/** Whether it runs the algorithm (NULL: its choice) there. */
bool ar_runner_runs(const struct ar_runner *runner, const struct ar_algorithm *algorithm,
                    enum ar_spread spread);

/** Writes the libraries that run it, each with its first release: `nccl-2.4 openmpi-4.1`; nothing
 * if there are none. Returns `text`. */
enum { AR_RUNNERS_TEXT = 64 }; /* a word of ar_record.h */
const char *ar_runners_format(const struct ar_algorithm *algorithm, enum ar_spread spread,
                              char text[AR_RUNNERS_TEXT]);
