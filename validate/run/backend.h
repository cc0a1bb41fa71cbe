/** \file backend.h
 * A backend runs measurements: by threads of the host, processes of MPI, GPUs, or NCCL.
 *
 * A program uses one backend. start() comes first, stop() last; in between run() is called for one
 * measurement after the other, by all processes of the run in the same order.
 */
#pragma once

#include <stdio.h>

#include "measurement.h"

enum { HOST_RANKS_MAX = 1024, BACKEND_MEMORIES = 2 };

/** The machine as a backend found it. */
struct machine {
    bool is_first;           /**< this process reports; the others are silent */
    uint32_t ranks_max;      /**< ranks it can run */
    uint32_t ranks_standard; /**< if the user names none */
    uint32_t ranks_per_node; /**< 0: all ranks are on one node */
};

struct backend {
    const char *name;
    const char *summary;                             /**< one line for --help */
    const struct memory *memories[BACKEND_MEMORIES]; /**< the first is the default */
    bool is_library; /**< has collectives of its own, with channels of its own: `nccl-allreduce` */
    bool (*can_run)(const struct ar_algorithm *algorithm); /**< NULL: all of them */

    /** Starts libraries and looks at the machine. */
    enum ar_status (*start)(const struct run_config *config, struct machine *machine,
                            struct ar_error *err);

    /** Ends the libraries, also after a start() that failed. `code` is 0, or the exit code of a
     * process that failed alone: then the others of the run are ended too. NULL: nothing ends. */
    void (*stop)(int code);

    /** Writes the machine and the libraries as lines "# key: value". */
    void (*describe)(FILE *file);

    /** The tier of the link between two ranks, static storage. NULL: the backend has no probes. */
    const char *(*tier)(uint32_t from, uint32_t to);

    /** Runs a measurement and fills in its results. Wrong elements are a result, not an error. The
     * arena ends with the measurement. After a failure the program ends, too: the next measurement
     * would wait for the GPU or peer that hangs. */
    enum ar_status (*run)(const struct run_config *config, struct ar_arena *arena,
                          struct measurement *measurement, struct ar_error *err);
};

extern const struct backend backend_host;
extern const struct backend backend_mpi;
extern const struct backend backend_cuda;
extern const struct backend backend_nccl;
