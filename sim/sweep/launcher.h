/** \file launcher.h
 * Whether the program was started several times at once, by mpirun or srun.
 *
 * Told from the environment, so that a run without a launcher never touches MPI. Open MPI sets
 * OMPI_COMM_WORLD_*, MPICH and those after it PMI_*, srun SLURM_*. A shell within an allocation of
 * Slurm is no launch: SLURM_STEP_NUM_TASKS is set for the tasks of a step only.
 */
#ifndef AR_LAUNCHER_H
#define AR_LAUNCHER_H

#include <stdint.h>

struct launcher {
    uint32_t ranks;       /**< 1: started alone */
    uint32_t rank;        /**< from 0 */
    uint32_t local_ranks; /**< on this machine; 0 if the launcher does not say */
};

struct launcher launcher_find(void);

#endif
