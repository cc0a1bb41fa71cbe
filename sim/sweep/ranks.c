#include "ranks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ar_file.h"
#include "sweep.h"

/* The variables that say how many ranks there are, which one this is, and how many are here. */
static const char *const launchers[][3] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE"},
};

struct launcher launcher_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        uint32_t counts[3] = {1, 0, 0}, known = 0;
        for (; known < 3; known++) {
            const char *text = getenv(launchers[i][known]);
            if (text == NULL || text[0] < '0' || text[0] > '9') {
                break;
            }
            /* Slurm says "4(x2)" for four tasks on each of two nodes. */
            counts[known] = (uint32_t)strtoul(text, NULL, 10);
        }
        if (known >= 2 && counts[0] > 1) {
            return (struct launcher){counts[0], counts[1], counts[2]};
        }
    }
    return (struct launcher){.ranks = 1};
}

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
#ifdef AR_HAS_MPI
    const void *runner;
    AR_TRY(ar_module_load("sweep", "liballreckon-mpi.so", "ar_ranks_runner", &runner, err));
    return (*(const __typeof__(ar_ranks_runner) *)runner)(sweep, status, err);
#else
    AR_TRY(status);
    return ar_error_set(err, AR_USAGE,
                        "sweep: found %" PRIu32 " ranks of a launcher, but this allreckon was "
                        "built without MPI; expected one process, or a build with MPI",
                        sweep->request->launcher.ranks);
#endif
}
