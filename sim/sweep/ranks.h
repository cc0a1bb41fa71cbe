/** \file ranks.h
 * A sweep on the ranks of a launcher, mpirun or srun.
 *
 * Whether the program was started several times at once is found in the environment, so that a run
 * without a launcher never touches MPI. Open MPI sets OMPI_COMM_WORLD_*, MPICH and those after it
 * PMI_*, srun SLURM_*. A shell within an allocation of Slurm is no launch: SLURM_STEP_NUM_TASKS is
 * set for the tasks of a step only.
 */
#pragma once

#include <stdint.h>

#include "ar_error.h"

struct launcher {
    uint32_t ranks;       /**< 1: started alone */
    uint32_t rank;        /**< from 0 */
    uint32_t local_ranks; /**< on this machine; 0 if the launcher does not say */
};

struct launcher launcher_find(void);

struct sweep;

/** Runs a sweep on all ranks.
 *
 * Every rank reads the same command line and files and finds the same points, which the ranks make
 * sure of. Rank 0 gives points out, gathers the rows, keeps the journal and writes the output;
 * every rank computes with worker processes of its own, which are forked before MPI starts.
 *
 * Every rank has made its space, or failed to (`status` and `err`). Rank 0 returns how the sweep
 * went, the others AR_OK. A program that was built without MPI fails (AR_USAGE): it would do the
 * same sweep on every rank. */
enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err);

/** The same in the module liballreckon-mpi.so. */
extern enum ar_status (*const ar_ranks_runner)(struct sweep *, enum ar_status, struct ar_error *);
